/// A caller for the tests of who is calling, with nothing of the client in it: sends the lines of one file over one
/// connection, and puts the replies into another.
///
///     orange-wire [--gone PID] SOCKET REQUESTS REPLIES
///
/// `--gone`: not before that process has ended. REPLIES appears when all have come.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "common/config/socket_address.hpp"

namespace {

/// Replies hold an "id" at the top, events none; a line of ours has no line end inside.
bool is_reply(const std::string& line) {
    return line.find("\"id\":") != std::string::npos && line.find("\"method\":\"event\"") == std::string::npos;
}

int fail(const char* what) {
    std::perror(what);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 6 && std::strcmp(argv[1], "--gone") == 0) {
        while (::kill(std::atoi(argv[2]), 0) == 0) ::usleep(5000);
        argv += 2;
        argc -= 2;
    }
    if (argc != 4) return 2;
    std::ifstream requests(argv[2]);
    std::string text, line;
    int wanted = 0;
    for (; std::getline(requests, line); ++wanted) text += line + "\n";
    const auto address = orange::SocketAddress::in_folder(argv[1]);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!address || ::connect(fd, address->get(), address->size()) != 0) return fail("connect");
    for (std::size_t sent = 0; sent < text.size();) {
        const auto size = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) return fail("send");
        sent += static_cast<std::size_t>(size);
    }
    std::string buffer, replies;
    while (wanted > 0) {
        char chunk[65536];
        const auto size = ::read(fd, chunk, sizeof chunk);
        if (size <= 0) return fail("read");
        buffer.append(chunk, static_cast<std::size_t>(size));
        for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
            line = buffer.substr(0, end + 1);
            buffer.erase(0, end + 1);
            if (!is_reply(line)) continue;
            replies += line;
            --wanted;
        }
    }
    const std::string made = argv[3] + std::string(".new");
    std::ofstream(made, std::ios::binary) << replies;
    return std::rename(made.c_str(), argv[3]) == 0 ? 0 : fail("rename");
}
