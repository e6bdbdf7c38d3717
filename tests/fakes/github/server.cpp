// Answers a real gh, which asks by HTTP through a socket: `fake-github FOLDER`, until it is ended. The socket and all
// that it knows are in FOLDER (world.hpp).

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <optional>
#include <sstream>

#include "tests/fakes/github/world.hpp"

namespace {

using orange::fakes::GitHubWorld;
using orange::fakes::Response;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// What comes over one connection.
class Reader {
  public:
    explicit Reader(int fd) : fd_(fd) {}

    std::string line() {
        while (have_.find("\r\n") == std::string::npos) more();
        const auto end = have_.find("\r\n");
        auto line = have_.substr(0, end);
        have_.erase(0, end + 2);
        return line;
    }
    std::string bytes(std::size_t count) {
        while (have_.size() < count) more();
        auto some = have_.substr(0, count);
        have_.erase(0, count);
        return some;
    }

  private:
    void more() {
        char some[4096];
        const auto n = ::read(fd_, some, sizeof some);
        if (n <= 0) throw std::runtime_error("the connection ended");
        have_.append(some, static_cast<std::size_t>(n));
    }

    int fd_;
    std::string have_;
};

struct Request {
    std::string method;
    std::string path;
    std::string token;
    std::string body;
};

Request read_request(int fd) {
    Reader reader(fd);
    Request request;
    std::istringstream(reader.line()) >> request.method >> request.path;
    std::size_t length = 0;
    bool in_chunks = false;
    for (auto line = reader.line(); !line.empty(); line = reader.line()) {
        const auto colon = line.find(':');
        const auto name = lower(line.substr(0, colon));
        const auto value = line.substr(std::min(colon + 2, line.size()));
        if (name == "content-length") length = std::stoul(value);
        if (name == "transfer-encoding") in_chunks = lower(value).find("chunked") != std::string::npos;
        if (name == "authorization") request.token = value.substr(value.find(' ') + 1);
    }
    if (!in_chunks) request.body = reader.bytes(length);
    while (in_chunks) {
        const auto size = std::stoul(reader.line(), nullptr, 16);
        request.body += reader.bytes(size);
        reader.line();
        in_chunks = size > 0;
    }
    return request;
}

void send(int fd, const Response& response) {
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " Status\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(response.body.size()) + "\r\nConnection: close\r\n\r\n";
    text += response.is_cut ? response.body.substr(0, response.body.size() / 2) : response.body;
    for (std::size_t sent = 0; sent < text.size();) {
        const auto n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += static_cast<std::size_t>(n);
    }
}

/// Closes the connection, unless it is to be silent for ever.
void serve(const std::string& folder, int fd) {
    try {
        const auto request = read_request(fd);
        std::optional<Response> response;
        {
            GitHubWorld world(folder);
            response = world.respond(request.method, request.path, request.body, request.token);
        }
        if (response->is_silent) return;
        if (!response->is_lost) send(fd, *response);
    } catch (const std::exception& error) {
        std::cerr << "fake-github: " << error.what() << '\n';
    }
    ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string folder = argv[1];
    const auto place = (std::filesystem::path(folder) / "socket").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (place.size() + 4 >= sizeof address.sun_path) return 2;
    const int door = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto draft = place + ".new";  // whoever sees the socket can connect to it
    draft.copy(address.sun_path, draft.size());
    // NOLINTNEXTLINE: the interface is C's
    if (::bind(door, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(door, 64) != 0)
        return 1;
    std::filesystem::rename(draft, place);
    for (;;) {
        const int fd = ::accept(door, nullptr, nullptr);
        if (fd >= 0) serve(folder, fd);
    }
}
