#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/config/socket_address.hpp"

/// A client of the daemon for measurements: it blocks, and any failure ends the program.
namespace orange::bench {

[[noreturn]] inline void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

inline std::string request(const std::string& method, const std::string& params = "{}") {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}\n";
}

class Connection {
  public:
    explicit Connection(const Path& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const auto address = SocketAddress::in_folder(socket);
        if (!address || ::connect(fd_, address->get(), address->size()) != 0) fail("cannot connect");
    }
    ~Connection() { ::close(fd_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    int fd() const { return fd_; }
    void send(const std::string& text) const {
        for (std::size_t sent = 0; sent < text.size();) {
            const auto n = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (n <= 0) fail("the daemon closed a connection");
            sent += static_cast<std::size_t>(n);
        }
    }
    /// Waits for at least one byte and reads what is there. Returns how many lines ended in it.
    std::size_t read(std::string* text = nullptr) const {
        static thread_local char chunk[1 << 16];
        const auto n = ::recv(fd_, chunk, sizeof chunk, 0);
        if (n <= 0) fail("the daemon closed a connection");
        if (text) text->append(chunk, static_cast<std::size_t>(n));
        return static_cast<std::size_t>(std::count(chunk, chunk + n, '\n'));
    }
    /// Waits for one reply to one request.
    std::string reply() const {
        std::string text;
        while (read(&text) == 0) {
        }
        return text;
    }
    std::string call(const std::string& line) const {
        send(line);
        return reply();
    }

  private:
    int fd_;
};

}  // namespace orange::bench
