#include "daemon/shim/relay.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>
#include <utility>

#include "common/base/system.hpp"
#include "common/base/try.hpp"
#include "common/config/socket_address.hpp"
#include "daemon/shim/harness.hpp"

namespace orange::shim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_piece = 64 * 1024;

int left_until(Steady::time_point end) {
    return static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(end - Steady::now()).count()));
}

/// One direction of a relay: bytes that `from` has sent wait here until `to` takes them.
struct Direction {
    int from, to;
    std::string waiting = {};
    bool is_open = true;          ///< `from` may send more
    bool has_passed_end = false;  ///< `to` knows that nothing more comes

    bool wants_input() const { return is_open && waiting.size() < k_piece; }
    bool is_over() const { return !is_open && waiting.empty(); }
    /// `seen`: what poll() reports for `from`.
    void read(short seen) {
        if (wants_input() && (seen & (POLLIN | POLLHUP | POLLERR)) != 0) is_open = read_more(from, waiting);
    }
    /// Returns false if `to` can take nothing any more.
    bool write() { return waiting.empty() || write_some(to, waiting); }
    void pass_end() {
        if (is_over() && !std::exchange(has_passed_end, true)) ::shutdown(to, SHUT_WR);
    }
};

/// Returns what to wait for at a socket: `out` is the direction that reads from it, `in` the one that writes to it.
short events_between(const Direction& out, const Direction& in) {
    return static_cast<short>((out.wants_input() ? POLLIN : 0) | (in.waiting.empty() ? 0 : POLLOUT));
}

}  // namespace

bool wait_until_ready(int fd, short events, Steady::time_point end) {
    pollfd one{fd, events, 0};
    int ready = 0;
    do {
        ready = ::poll(&one, 1, left_until(end));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

bool read_more(int fd, std::string& into) {
    char piece[k_piece];
    const auto size = ::read(fd, piece, sizeof piece);
    if (size > 0) into.append(piece, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

bool write_some(int socket, std::string& text) {
    const auto size = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | system::send_flags());
    if (size > 0) text.erase(0, static_cast<std::size_t>(size));
    return size >= 0 || errno == EINTR || errno == EAGAIN;
}

Result<UniqueFd> listen_at(const std::filesystem::path& path) {
    TRY(const auto address, SocketAddress::in_folder(path));
    UniqueFd listener(system::local_socket());
    constexpr int k_backlog = 256;
    const bool listens = listener && ::fchmod(listener.get(), 0600) == 0 &&
                         ::bind(listener.get(), address.get(), address.size()) == 0 &&
                         ::listen(listener.get(), k_backlog) == 0;
    if (!listens) return io_error("listening on " + path.string(), errno);
    return listener;
}

void close_standard() {
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), standard);
}

bool live_below(pid_t parent, void (*at_end)(int)) {
    reset_signals();
    ::signal(SIGPIPE, SIG_IGN);
    if (at_end != nullptr) ::signal(SIGTERM, at_end);
    return end_with_shim(at_end != nullptr ? SIGTERM : SIGKILL) == 0 && ::getppid() == parent;
}

void serve(int listener, int most, const std::function<void(int)>& carry) {
    const pid_t own = ::getpid();
    int connections = 0;
    for (;;) {
        // The children that have ended; if there are too many, waits for one.
        while (connections > 0 && ::waitpid(-1, nullptr, connections < most ? WNOHANG : 0) > 0) {
            --connections;
        }
        pollfd ready{listener, POLLIN, 0};
        if (::poll(&ready, 1, connections > 0 ? 1000 : -1) <= 0) continue;  // children are reaped meanwhile
        const UniqueFd client(::accept(listener, nullptr, nullptr));
        if (!client) {
            if (errno != EAGAIN && errno != EINTR) std::this_thread::sleep_for(100ms);
            continue;
        }
        const pid_t pid = ::fork();
        if (pid > 0) ++connections;
        if (pid != 0) continue;
        ::close(listener);
        if (live_below(own)) carry(client.get());
        ::_exit(0);
    }
}

void relay(int client, int server, std::string to_client) {
    // Small messages go at once; a Unix socket refuses the option.
    const int on = 1;
    for (const int socket : {client, server}) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Direction up{client, server}, down{server, client, std::move(to_client)};
    bool client_gone = false;
    while (!down.is_over() && !(client_gone && up.waiting.empty())) {
        const auto of_client = events_between(up, down), of_server = events_between(down, up);
        // poll() reports the end of a client also without events. While nothing can be read of it, that would not wait.
        const bool ignores_client = client_gone || (up.is_open && of_client == 0);
        pollfd both[] = {{ignores_client ? -1 : client, of_client, 0}, {of_server != 0 ? server : -1, of_server, 0}};
        if (::poll(both, 2, -1) < 0) continue;
        const short at_client = both[0].revents, at_server = both[1].revents;
        up.read(at_client);
        down.read(at_server);
        if (!down.write()) break;
        if (!up.write()) up.waiting.clear();  // its answer may still come
        up.pass_end();
        client_gone = client_gone || (!up.is_open && (at_client & (POLLHUP | POLLERR)) != 0);
    }
    // A server distinguishes a client that has gone from one that only stops sending.
    const linger at_once{1, 0};
    if (down.is_open) ::setsockopt(server, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace orange::shim
