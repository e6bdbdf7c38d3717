#include "daemon/app/service.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "daemon/process/unique_fd.hpp"

namespace orange {

void tell_service_manager(const std::string& state) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    const std::string_view target = name ? name : "";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (target.size() < 2 || target.size() >= sizeof address.sun_path) return;
    if (target.front() != '/' && target.front() != '@') return;
    std::memcpy(address.sun_path, target.data(), target.size());
    if (target.front() == '@') address.sun_path[0] = '\0';  // Linux's abstract names
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
    if (!socket) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + target.size());
    // A manager that does not listen is no reason to wait.
    (void)::sendto(socket.get(), state.data(), state.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address),
                   size);
}

}  // namespace orange
