#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/posix/fd.hpp"

namespace orange::test {

/// Listens on a port of 127.0.0.1, in place of a server that a command has started.
class LocalListener {
  public:
    explicit LocalListener(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        ::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
        const int on = 1;
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(socket_.get(), 16) != 0) {
            throw std::runtime_error("port " + std::to_string(port) + " is in use");
        }
    }

  private:
    UniqueFd socket_;
};

/// Returns the first of `count` ports on which no program listens, below those that the kernel gives to clients. Tests
/// that run at the same time begin at different ones.
inline int free_ports(int count) {
    constexpr int k_first = 21'000, k_step = 40, k_places = 250;
    for (int tried = 0; tried < k_places; ++tried) {
        const int first = k_first + (::getpid() + tried) % k_places * k_step;
        bool are_free = true;
        for (int port = first; port < first + count && are_free; ++port) {
            try {
                const LocalListener probe(port);
            } catch (const std::runtime_error&) {
                are_free = false;
            }
        }
        if (are_free) return first;
    }
    throw std::runtime_error("no ports are free");
}

}  // namespace orange::test
