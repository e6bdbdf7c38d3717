#include "client/commands/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "common/base/system.hpp"

namespace orange::commands {
namespace {

constexpr std::string_view k_has_nothing = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr int k_most_waiting = 16, k_patience_ms = 1000;

bool is_readable(int fd, int patience) {
    pollfd wanted{fd, POLLIN, 0};
    return ::poll(&wanted, 1, patience) == 1;
}

}  // namespace

Result<Listener> Listener::open() {
    Listener made;
    made.socket_.reset(::socket(AF_INET, SOCK_STREAM, 0));
    const int fd = made.socket_.get();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool is_open = fd >= 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && ::bind(fd, generic, size) == 0 &&
                         ::listen(fd, k_most_waiting) == 0 && ::getsockname(fd, generic, &size) == 0;
    if (!is_open) return io_error("listening on 127.0.0.1", errno);
    made.port_ = ntohs(address.sin_port);
    return made;
}

void Listener::answer() {
    while (is_readable(socket_.get(), 0)) {
        const UniqueFd client(::accept(socket_.get(), nullptr, nullptr));
        if (!client) return;
        was_reached_ = true;
        char request[4096];
        if (is_readable(client.get(), k_patience_ms)) (void)::recv(client.get(), request, sizeof request, 0);
        (void)::send(client.get(), k_has_nothing.data(), k_has_nothing.size(), system::send_flags());
    }
}

}  // namespace orange::commands
