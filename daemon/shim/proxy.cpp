#include "daemon/shim/proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/socket_address.hpp"
#include "common/posix/write.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/shim/harness.hpp"
#include "daemon/shim/relay.hpp"

namespace orange::shim {
namespace {

using namespace std::chrono_literals;

constexpr int k_wrong_words = 2, k_no_proxy = 126, k_no_command = 127;
constexpr int k_most_proxied = 512;  ///< connections; more wait
constexpr int k_squid_tries = 5;     ///< another program may take the port first
constexpr auto k_squid_patience = 30s, k_squid_pause = 1s;
constexpr std::size_t k_most_refusals = 1000;  ///< lines of the log for each start
constexpr std::string_view k_ready = "ready";

UniqueFd loopback_socket() {
    UniqueFd made(::socket(AF_INET, SOCK_STREAM, 0));
    ::fcntl(made.get(), F_SETFD, FD_CLOEXEC);
    return made;
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Listens on a port of the loopback; 0: on any one.
Result<UniqueFd> listen_on_loopback(int port) {
    auto listener = loopback_socket();
    const int on = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto address = loopback(port);
    const bool listens = listener && ::fcntl(listener.get(), F_SETFL, O_NONBLOCK) == 0 &&
                         ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                         ::listen(listener.get(), 256) == 0;
    if (!listens) return io_error("listening on port " + std::to_string(port) + " of the loopback", errno);
    return listener;
}

/// Returns a port that nobody uses at the moment.
Result<int> free_port() {
    TRY(const auto listener, listen_on_loopback(0));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        return io_error("looking for a free port", errno);
    }
    return ntohs(address.sin_port);
}

/// A squid that runs, and how to start it again.
struct Squid {
    std::string program;
    std::vector<NetworkPlace> places;
    std::string name = "orange" + random_id(12);  ///< of its shared memory
    int port = 0;
    bool is_plain = false;
    pid_t pid = -1;
    UniqueFd says = {};     ///< the end of the pipe of its stderr
    std::string said = {};  ///< the beginning of that
};

/// Becomes the user that squid would change to, since a process that changes its user does not end with its parent.
void leave_root(int config, int says) {
    const passwd* user = nullptr;
    for (const char* name : {"proxy", "squid", "nobody"}) {
        if (user == nullptr) user = ::getpwnam(name);
    }
    if (user == nullptr) return;
    for (const int pipe : {config, says}) (void)!::fchown(pipe, user->pw_uid, user->pw_gid);  // squid opens them again
    (void)!::setgroups(0, nullptr);
    (void)!::setgid(user->pw_gid);
    (void)!::setuid(user->pw_uid);
}

/// Runs in the child.
[[noreturn]] void become_squid(const Squid& squid, pid_t parent, int config, int says) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (::geteuid() == 0) leave_root(config, says);
    if (!live_below(parent)) ::_exit(k_no_proxy);
    ::dup2(config, STDIN_FILENO);
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(says, standard);
    close_others_at_exec();
    const std::vector<std::string> argv = {squid.program, "-N", "-n", squid.name, "-d", "1", "-f", "/dev/stdin"};
    const std::vector<std::string> env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    ::execve(squid.program.c_str(), pointers_to(argv).data(), pointers_to(env).data());
    ::dprintf(STDERR_FILENO, "FATAL: %s: %s\n", squid.program.c_str(), std::strerror(errno));
    ::_exit(k_no_command);
}

Result<void> start(Squid& squid) {
    int config[2], says[2];
    if (system::make_pipe(config) != 0) return io_error("starting squid", errno);
    UniqueFd config_read(config[0]), config_write(config[1]);
    if (system::make_pipe(says) != 0) return io_error("starting squid", errno);
    UniqueFd says_read(says[0]), says_write(says[1]);
    const pid_t own = ::getpid();
    squid.pid = ::fork();
    if (squid.pid < 0) return io_error("starting squid", errno);
    if (squid.pid == 0) become_squid(squid, own, config_read.get(), says_write.get());
    config_read.reset();
    (void)posix::write_all(config_write.get(), proxy_config(squid.places, squid.port, squid.is_plain));
    squid.says = std::move(says_read);
    squid.said.clear();
    return {};
}

bool is_ready(const Squid& squid) {
    return squid.said.find(" connections at ") != std::string::npos;
}

/// Returns the reason if squid says in this line why it ends.
std::string reason_in(std::string_view line) {
    bool is_reason = false;
    for (const auto word : {"FATAL", "assertion failed", "unrecognized"}) is_reason |= line.find(word) != line.npos;
    const auto bar = line.find("| ");  // after the time
    return is_reason ? printable(trim(line.substr(bar == line.npos ? 0 : bar + 2))) : std::string();
}

/// Removes the names of the shared memory that squid uses, which a squid that is killed would leave.
void remove_names(const Squid& squid) {
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm", error)) {
        if (file.path().filename().string().starts_with(squid.name)) std::filesystem::remove(file.path(), error);
    }
}

/// Waits until a squid that was started accepts connections. Otherwise ends it.
Result<void> await(Squid& squid, Steady::time_point end) {
    bool runs = true;
    while (!is_ready(squid) && runs && wait_until_ready(squid.says.get(), POLLIN, end)) {
        runs = read_more(squid.says.get(), squid.said);
    }
    if (!is_ready(squid)) {
        ::kill(squid.pid, SIGKILL);
        ::waitpid(squid.pid, nullptr, 0);
    }
    remove_names(squid);
    if (is_ready(squid)) return {};
    std::string why =
        runs ? "it did not accept connections within " + std::to_string(k_squid_patience.count()) + " s" : "";
    for (const auto line : split_lines(squid.said)) {
        if (why.empty()) why = reason_in(line);
    }
    return Error(ErrorCode::unavailable, "squid could not be started: " + (why.empty() ? "it has ended" : why));
}

Result<void> open(Squid& squid) {
    const auto end = Steady::now() + k_squid_patience;
    Result<void> opened;
    for (int tries = 0; tries < k_squid_tries && Steady::now() < end; ++tries) {
        TRY(squid.port, free_port());
        TRY(start(squid));
        opened = await(squid, end);
        if (opened) break;
        squid.is_plain = squid.said.find("unrecognized") != std::string::npos;
    }
    return opened;
}

/// Writes each request that was refused to the log once.
class Refusals {
  public:
    explicit Refusals(int log) : log_(log) {}

    /// `line`: of squid.
    void take(std::string_view line) {
        const auto words = split(line, ' ');
        if (words.size() != 6 || words[0] != k_squid_line || !words[1].starts_with("TCP_DENIED")) return;
        const auto place = std::string(words[2]) + " " + std::string(words[3]) + ":" + std::string(words[4]);
        write(place + (words[5] == "yes" ? " (its name leads to an address that is not in the list)" : ""));
    }
    void write(const std::string& text) {
        if (written_.size() >= k_most_refusals || !written_.insert(text).second) return;
        const bool is_last = written_.size() == k_most_refusals;
        const auto line = is_last ? "More is not written here until the next start." : printable(text);
        ::dprintf(log_, "%s %s\n", to_rfc3339(SystemClock().now()).c_str(), line.c_str());
    }

  private:
    int log_;
    std::set<std::string> written_;
};

/// Reads what squid says until it has ended.
void follow(Squid& squid, Refusals& refusals) {
    constexpr std::size_t k_longest_line = 64 * 1024;
    std::string why;
    bool runs = true;
    while (runs) {
        std::size_t end;
        while ((end = squid.said.find('\n')) != std::string::npos) {
            const auto line = squid.said.substr(0, end);
            squid.said.erase(0, end + 1);
            refusals.take(line);
            if (why.empty()) why = reason_in(line);
        }
        if (squid.said.size() > k_longest_line) squid.said.clear();
        runs = read_more(squid.says.get(), squid.said);
    }
    ::waitpid(squid.pid, nullptr, 0);
    refusals.write("squid has ended, and is started again" + (why.empty() ? why : ": " + why));
}

/// Returns the socket if it can be connected to `address`.
UniqueFd connected(UniqueFd made, const sockaddr* address, socklen_t size) {
    if (::connect(made.get(), address, size) != 0) made.reset();
    return made;
}

/// Leads the client to what `connect` returns, also while squid is started again.
void lead(int client, const std::function<UniqueFd()>& connect) {
    const auto end = Steady::now() + k_squid_patience;
    for (;;) {
        const auto server = connect();
        if (server) return relay(client, server.get());
        if (Steady::now() >= end) return;
        std::this_thread::sleep_for(k_squid_pause / 10);
    }
}

/// The port of the squid that accepts connections; 0 while none does: any program may listen on the port of a squid
/// that has ended. The processes of the connections share it.
using SharedPort = std::atomic<int>;

SharedPort* make_shared_port() {
    void* place = ::mmap(nullptr, sizeof(SharedPort), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? nullptr : new (place) SharedPort(0);
}

void leave_terminal() {
    ::setsid();
    (void)!::chdir("/");
    close_standard();
}

/// The socket that clean_up() removes, with its folder if that was made for it.
char g_socket[PATH_MAX], g_folder[PATH_MAX];

/// Handles the end of COMMAND. The kernel ends the children of this process with it.
void clean_up(int) {
    ::unlink(g_socket);
    if (g_folder[0] != '\0') ::rmdir(g_folder);
    ::_exit(0);
}

/// Runs in the child, until its parent ends.
[[noreturn]] void run_proxy(Squid squid, int listener, int log, int report) {
    auto* port = make_shared_port();
    const auto opened = port == nullptr ? Result<void>(io_error("starting the proxy", errno)) : open(squid);
    const pid_t own = ::getpid(), pid = opened ? ::fork() : -1;
    if (pid == 0) {
        squid.says.reset();
        for (const int fd : {log, report}) ::close(fd);
        const auto connect = [port] {
            const auto address = loopback(*port);
            if (address.sin_port == 0) return UniqueFd();
            return connected(loopback_socket(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
        };
        if (live_below(own)) serve(listener, k_most_proxied, [&](int client) { lead(client, connect); });
        ::_exit(0);
    }
    if (opened) *port = squid.port;
    (void)posix::write_all(report, opened ? k_ready : std::string_view(opened.error().message));
    if (pid < 0) ::_exit(k_no_proxy);
    ::close(report);
    Refusals refusals(log);
    for (;;) {
        follow(squid, refusals);
        *port = 0;
        Result<void> again;
        do {
            std::this_thread::sleep_for(k_squid_pause);
            again = open(squid);
            if (!again) refusals.write(again.error().message);
        } while (!again);
        *port = squid.port;
    }
}

/// Starts the proxy. Returns when it accepts connections.
Result<void> start_proxy(Squid squid, const std::filesystem::path& socket, const char* log_file) {
    const UniqueFd log(::open(log_file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!log) return io_error("opening " + std::string(log_file), errno);
    const auto folder = socket.parent_path();
    const bool is_own = ::mkdir(folder.c_str(), 0700) == 0;
    std::snprintf(g_socket, sizeof g_socket, "%s", socket.c_str());
    std::snprintf(g_folder, sizeof g_folder, "%s", is_own ? folder.c_str() : "");
    ::unlink(socket.c_str());
    TRY(const auto listener, listen_at(socket));
    int report[2];
    if (system::make_pipe(report) != 0) return io_error("starting the proxy", errno);
    const UniqueFd report_read(report[0]);
    UniqueFd report_write(report[1]);
    const pid_t own = ::getpid(), pid = ::fork();
    if (pid < 0) return io_error("starting the proxy", errno);
    if (pid == 0) {
        leave_terminal();
        if (live_below(own, clean_up)) run_proxy(std::move(squid), listener.get(), log.get(), report_write.release());
        ::_exit(k_no_proxy);
    }
    report_write.reset();
    std::string text;
    while (read_more(report_read.get(), text)) {
    }
    if (text == k_ready) return {};
    return Error(ErrorCode::unavailable, text.empty() ? "the process of the proxy has ended" : text);
}

int fail(const std::string& message, int status) {
    std::fprintf(stderr, "orange-agent: %s\n", printable(message).c_str());
    return status;
}

int become(char** command) {
    ::execvp(command[0], command);
    return fail(std::string(command[0]) + ": " + std::strerror(errno), k_no_command);
}

void name_proxy() {
    const auto proxy = "http://127.0.0.1:" + std::to_string(k_proxy_port);
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
        ::setenv(name, proxy.c_str(), 1);
    }
    for (const char* name : {"NO_PROXY", "no_proxy"}) ::setenv(name, "localhost,127.0.0.1,::1", 1);
}

}  // namespace

int run_with_proxy(char** words) {
    Squid squid;
    char** word = words;
    std::string list;
    for (; *word != nullptr && std::string_view(*word) != "--"; ++word) {
        if (word - words >= 2) list += std::string(*word) + " ";
    }
    if (word - words < 3 || *word == nullptr || word[1] == nullptr) return k_wrong_words;
    auto network = network_in(list);
    if (!network) return fail(network.error().message, k_no_proxy);
    squid.places = std::move(network->places);
    const char* path = std::getenv("PATH");
    squid.program = find_squid(path == nullptr ? "" : path);
    if (squid.program.empty()) {
        return fail("a network of some places needs squid, which is not installed:\n  sudo apt-get install squid",
                    k_no_proxy);
    }
    const auto started = start_proxy(std::move(squid), words[0], words[1]);
    return started ? become(word + 1) : fail(started.error().message, k_no_proxy);
}

int run_through_proxy(char** words) {
    if (words[0] == nullptr || words[1] == nullptr || std::string_view(words[1]) != "--" || words[2] == nullptr) {
        return k_wrong_words;
    }
    const auto address = SocketAddress::in_folder(words[0]);
    if (!address) return fail(address.error().message, k_no_proxy);
    const auto listener = listen_on_loopback(k_proxy_port);
    if (!listener) return fail(listener.error().message, k_no_proxy);
    const pid_t own = ::getpid(), pid = ::fork();
    if (pid < 0) return fail("starting the way to the proxy: " + std::string(std::strerror(errno)), k_no_proxy);
    if (pid == 0) {
        leave_terminal();
        const auto connect = [&] {
            UniqueFd made(system::local_socket());
            ::fcntl(made.get(), F_SETFL, 0);  // it waits while the socket's queue is full
            return connected(std::move(made), address->get(), address->size());
        };
        if (live_below(own)) serve(listener->get(), k_most_proxied, [&](int client) { lead(client, connect); });
        ::_exit(k_no_proxy);
    }
    name_proxy();
    return become(words + 2);
}

}  // namespace orange::shim
