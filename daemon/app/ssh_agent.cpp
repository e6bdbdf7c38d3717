#include "daemon/app/ssh_agent.hpp"

namespace orange {

void SshAgent::heard_of(const std::string& socket) {
    if (socket == socket_ || !socket.starts_with('/') || !answers_(socket)) return;
    last_ = socket;
    (void)living();
}

std::string SshAgent::living() {
    if (!socket_.empty() && answers_(socket_)) return socket_;
    if (last_.empty() || last_ == socket_ || !answers_(last_)) return {};
    socket_ = last_;
    changed_(socket_);
    return socket_;
}

}  // namespace orange
