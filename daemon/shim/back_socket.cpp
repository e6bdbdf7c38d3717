#include "daemon/shim/back_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/cluster_address.hpp"
#include "common/config/socket_address.hpp"
#include "common/model/json.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/node_hello.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/shim/relay.hpp"

namespace orange::shim {
namespace {

using namespace std::chrono_literals;

constexpr int k_most_connections = 64;  ///< more wait in the socket's queue
/// A daemon that is being restarted answers within the first time. The others limit a connect, and how long munge and
/// the daemon may take for a credential. Clients take five seconds of silence for a daemon that hangs.
constexpr auto k_restart = 3s, k_connect = 1s, k_munge = 3s, k_hello = 20s;
constexpr auto k_look_again = 100ms;
/// The daemon closes a connection of which it has read nothing if too many others come. The pauses between the tries
/// grow, and stay below the silence that clients wait for in all.
constexpr int k_tries = 6;
constexpr auto k_first_pause = 50ms;
constexpr std::size_t k_longest_answer = 4096;

std::string this_machine() {
    char host[256] = "";
    return ::gethostname(host, sizeof host - 1) == 0 ? printable(host) : "this machine";
}

/// Becomes munge in the child: reads the payload from `in`, and writes to `out`. System calls only.
[[noreturn]] void become_munge(const std::string& program, const std::string& uid, int in, int out) {
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    const char* argv[] = {"munge", "--restrict-uid", uid.c_str(), nullptr};
    ::execv(program.c_str(), const_cast<char**>(argv));
    ::_exit(127);
}

/// Returns a credential of MUNGE with that payload, which only processes of this user can decode. The payload goes
/// through a pipe, because all users can read the words of a command.
Result<std::string> credential(const RunSpec& spec, const std::string& payload) {
    const auto failed = [](const std::string& why) {
        return Error(ErrorCode::unavailable, "no credential for the daemon on " + this_machine() + ": " + why +
                                                 ". MUNGE has to run there; ask the administrator of the cluster");
    };
    const auto program = find_program("munge", path_in(spec.env));
    if (program.empty()) return failed("there is no program munge on PATH");
    int in[2], out[2];
    if (system::make_pipe(in) != 0 || system::make_pipe(out) != 0) return io_error("starting munge", errno);
    UniqueFd in_read(in[0]), in_write(in[1]), out_read(out[0]), out_write(out[1]);
    const auto uid = std::to_string(::geteuid());
    const pid_t pid = ::fork();
    if (pid < 0) return io_error("starting munge", errno);
    if (pid == 0) become_munge(program, uid, in_read.get(), out_write.get());
    in_read.reset();
    out_write.reset();
    (void)!::write(in_write.get(), payload.data(), payload.size());
    in_write.reset();
    std::string text;
    const auto end = Steady::now() + k_munge;
    while (wait_until_ready(out_read.get(), POLLIN, end) && read_more(out_read.get(), text)) {
    }
    if (Steady::now() >= end) ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    const auto begin = text.find("MUNGE:");  // perhaps behind a warning
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && begin != std::string::npos) {
        return first_line(std::string_view(text).substr(begin));
    }
    const auto why = printable(first_line(trim(text)));
    return failed(why.empty() ? "munge did not answer" : why);
}

/// The beginning of a connection: the daemon answers with the nonce if it could decode the line.
struct Hello {
    ClusterAddress address;
    std::string nonce, line;
};

Result<Hello> hello_for(const RunSpec& spec, const ClusterAddress& address) {
    const auto nonce = random_id(20);
    TRY(auto line, credential(spec, rpc::NodeHello{spec.token, nonce, address.text()}.payload()));
    return Hello{address, nonce, line + "\n"};
}

/// Returns the address that the daemon has written last. Another daemon may have another one.
Result<ClusterAddress> daemon_address(const RunSpec& spec) {
    std::ifstream in(spec.address_file);
    std::string line;
    if (!std::getline(in, line)) return Error(ErrorCode::unavailable, "it has not said where it answers");
    return ClusterAddress::parse(line);
}

Result<UniqueFd> connect_to(const ClusterAddress& address) {
    UniqueFd socket(address.make_socket());
    const auto failed = [&](int why) { return io_error("connecting to " + address.text(), why); };
    if (!socket) return failed(errno);
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    if (address.connect(socket.get()) != 0 && errno != EINPROGRESS) return failed(errno);
    if (!wait_until_ready(socket.get(), POLLOUT, Steady::now() + k_connect)) return failed(ETIMEDOUT);
    int why = 0;
    socklen_t size = sizeof why;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &why, &size);
    if (why != 0) return failed(why);
    return socket;
}

/// Connects to the daemon, and returns the hello for it. The hello is made before, because the daemon waits only a
/// moment for it.
Result<std::pair<UniqueFd, Hello>> connect(const RunSpec& spec) {
    std::optional<Hello> hello;
    const auto end = Steady::now() + k_restart;
    for (;;) {
        const auto address = daemon_address(spec);
        if (address && (!hello || hello->address.text() != address->text())) {
            TRY(hello, hello_for(spec, *address));
        }
        auto made = address ? connect_to(*address) : Result<UniqueFd>(address.error());
        if (made) return std::pair(std::move(*made), std::move(*hello));
        if (Steady::now() >= end) {
            return Error(ErrorCode::unavailable, "the daemon does not answer the agents on " + this_machine() + ": " +
                                                     made.error().message +
                                                     ". Ask a human to look, on the machine of the daemon:\n"
                                                     "  orange daemon status");
        }
        std::this_thread::sleep_for(k_look_again);
    }
}

/// The daemon's answer to a hello.
struct Greeting {
    Result<std::string> rest;   ///< what the daemon has sent after its welcome
    std::string refusal = {};   ///< the line with which it refuses
    bool was_looked_at = true;  ///< false: it has closed the connection without a word
};

/// Proves to the daemon which run calls, and lets the daemon prove that it could read that.
Greeting introduce(int daemon, const Hello& hello) {
    auto line = hello.line;
    const auto end = Steady::now() + k_hello;
    while (!line.empty() && wait_until_ready(daemon, POLLOUT, end) && write_some(daemon, line)) {
    }
    std::string answer;
    bool is_open = true;
    while (is_open && answer.find('\n') == std::string::npos && answer.size() < k_longest_answer &&
           wait_until_ready(daemon, POLLIN, end)) {
        is_open = read_more(daemon, answer);
    }
    const auto size = answer.find('\n');
    const auto first = answer.substr(0, size);
    if (size != std::string::npos && first == rpc::NodeHello::welcome(hello.nonce)) return {answer.substr(size + 1)};
    const auto at = "the daemon at " + hello.address.text();
    const auto failed = [](const std::string& why) { return Error(ErrorCode::unavailable, why); };
    if (first.starts_with('{')) return {failed(at + " refuses the call"), first};
    if (!answer.empty()) return {failed("what answers at " + hello.address.text() + " is not this agent's daemon")};
    if (is_open) return {failed(at + " has not answered within " + std::to_string(k_hello.count()) + " s")};
    return {failed("the call was refused before it was looked at: " + at +
                   " closed the connection, as it does when too many come from the network. Try again; if it stays so, "
                   "ask a human to look, on the machine of the daemon:\n  orange daemon status"),
            {},
            false};
}

/// Tells the client why nothing answers, and reads what it still sends, so that the answer is not lost.
void refuse(int client, std::string line) {
    line += "\n";
    const auto end = Steady::now() + 2s;
    while (!line.empty() && wait_until_ready(client, POLLOUT, end) && write_some(client, line)) {
    }
    ::shutdown(client, SHUT_WR);
    std::string ignored;
    while (wait_until_ready(client, POLLIN, end) && read_more(client, ignored)) ignored.clear();
}

std::string error_line(const Error& error) {
    return dump({{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", rpc::error_json(error)}});
}

void carry(int client, const RunSpec& spec) {
    auto pause = k_first_pause;
    for (int tries = 1;; ++tries, pause *= 2) {
        const auto daemon = connect(spec);
        if (!daemon) return refuse(client, error_line(daemon.error()));
        auto greeting = introduce(daemon->first.get(), daemon->second);
        if (greeting.rest) return relay(client, daemon->first.get(), std::move(*greeting.rest));
        if (greeting.was_looked_at || tries == k_tries) {
            return refuse(client, greeting.refusal.empty() ? error_line(greeting.rest.error()) : greeting.refusal);
        }
        std::this_thread::sleep_for(pause);
    }
}

void remove_socket(const std::filesystem::path& path) {
    ::unlink(path.c_str());
    ::rmdir(path.parent_path().c_str());
}

/// TMPDIR may come from the machine of the daemon, and name a folder that this one does not have.
Result<std::filesystem::path> private_folder() {
    const char* temporary = std::getenv("TMPDIR");
    const std::string wanted = temporary != nullptr && *temporary == '/' ? temporary : "/tmp";
    auto folder = wanted + "/orange-XXXXXX";
    bool made = ::mkdtemp(folder.data()) != nullptr;
    if (!made && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EROFS)) {
        folder = "/tmp/orange-XXXXXX";
        made = ::mkdtemp(folder.data()) != nullptr;
    }
    if (!made) return io_error("making the folder " + folder, errno);
    return std::filesystem::path(folder);
}

}  // namespace

Result<BackSocket> BackSocket::open(const RunSpec& spec) {
    TRY(const auto folder, private_folder());
    const auto path = folder / "s";
    auto listener = listen_at(path);
    const pid_t shim = ::getpid();
    const pid_t pid = listener ? ::fork() : -1;
    if (pid < 0) {
        const auto error = listener ? io_error("serving " + path.string(), errno) : listener.error();
        remove_socket(path);
        return error;
    }
    if (pid == 0) {
        ::setpgid(0, 0);
        close_standard();
        if (live_below(shim)) serve(listener->get(), k_most_connections, [&](int client) { carry(client, spec); });
        ::_exit(0);
    }
    ::setpgid(pid, pid);
    return BackSocket(path, pid);
}

BackSocket::BackSocket(BackSocket&& other) noexcept
    : path_(std::move(other.path_)), server_(std::exchange(other.server_, -1)) {}

BackSocket::~BackSocket() {
    if (server_ <= 0) return;
    ::kill(-server_, SIGKILL);
    remove_socket(path_);
}

}  // namespace orange::shim
