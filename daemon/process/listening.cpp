#include "daemon/process/listening.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace orange::process {
namespace {

UniqueFd connection_to(const sockaddr* address, socklen_t size) {
    UniqueFd socket(::socket(address->sa_family, SOCK_STREAM, 0));
    if (!socket) return socket;
    ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    if (::connect(socket.get(), address, size) != 0 && errno != EINPROGRESS) socket.reset();
    return socket;
}

bool is_connected(const UniqueFd& connection) {
    pollfd watched{connection.get(), POLLOUT, 0};
    if (::poll(&watched, 1, 0) != 1 || (watched.revents & POLLOUT) == 0) return false;
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

std::vector<UniqueFd> begin_connections(int port) {
    sockaddr_in by_four{};
    by_four.sin_family = AF_INET;
    by_four.sin_port = htons(static_cast<std::uint16_t>(port));
    by_four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 by_six{};
    by_six.sin6_family = AF_INET6;
    by_six.sin6_port = by_four.sin_port;
    by_six.sin6_addr = in6addr_loopback;
    std::vector<UniqueFd> begun;
    const auto begin = [&](const auto& address) {
        auto connection = connection_to(reinterpret_cast<const sockaddr*>(&address), sizeof address);
        if (connection) begun.push_back(std::move(connection));
    };
    begin(by_four);
    begin(by_six);
    return begun;
}

bool is_any_connected(const std::vector<UniqueFd>& connections) {
    return std::ranges::any_of(connections, is_connected);
}

}  // namespace orange::process
