#include "client/connection/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/config/program_path.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/retried.hpp"

extern char** environ;

namespace orange::connection {
namespace {

class SpawnSetup {
  public:
    SpawnSetup() {
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_init(&actions);
    }
    ~SpawnSetup() {
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&actions);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    /// Call it in the order of the targets: no target is the source of a later call, because the client's own
    /// descriptors are above 3.
    void descriptor(int from, int to) {
        if (from < 0) {
            ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", to == 0 ? O_RDONLY : O_WRONLY, 0);
        } else {
            ::posix_spawn_file_actions_adddup2(&actions, from, to);
        }
    }
    void signals_and_session(bool new_session) {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        const int session = new_session ? POSIX_SPAWN_SETSID : 0;
        ::posix_spawnattr_setflags(&attributes,
                                   static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session));
    }

    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
};

}  // namespace

Result<pid_t> start_child(const std::vector<std::string>& argv, const ChildOptions& options) {
    SpawnSetup setup;
    setup.signals_and_session(options.new_session);
    setup.descriptor(options.in, 0);
    setup.descriptor(options.out, 1);
    setup.descriptor(options.err, 2);
    if (options.extra >= 0) setup.descriptor(options.extra, 3);

    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::vector<char*> environment;
    for (char** entry = environ; *entry; ++entry) {
        const bool drop = options.without_git_environment && std::string_view(*entry).starts_with("GIT_");
        if (!drop) environment.push_back(*entry);
    }
    environment.push_back(nullptr);

    pid_t pid = 0;
    const int failed =
        ::posix_spawnp(&pid, words[0], &setup.actions, &setup.attributes, words.data(), environment.data());
    if (failed != 0) return io_error("starting " + argv.front(), failed);
    return pid;
}

void close_others(const std::vector<int>& kept) {
    std::vector<int> open;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/fd", error)) {
        open.push_back(std::atoi(entry.path().filename().c_str()));
    }
    for (const int fd : open) {
        if (fd > STDERR_FILENO && std::ranges::find(kept, fd) == kept.end()) ::close(fd);
    }
}

int exit_status(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int wait_for_child(pid_t child) {
    int status = 0;
    posix::retried([&] { return ::waitpid(child, &status, 0); });
    return exit_status(status);
}

int status_of(const std::vector<std::string>& argv, const ChildOptions& options) {
    const auto child = start_child(argv, options);
    return child ? wait_for_child(*child) : 127;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
    namespace fs = std::filesystem;
    if (const auto self = program_path()) {
        auto beside = self->parent_path() / name;
        if (::access(beside.c_str(), X_OK) == 0) return beside;
    }
    const char* path = std::getenv("PATH");
    for (const auto folder : split(path ? path : "", ':')) {
        auto candidate = fs::path(folder) / name;
        if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return std::nullopt;
}

std::optional<std::string> output_of(const std::vector<std::string>& argv, std::size_t limit,
                                     std::chrono::milliseconds patience) {
    using std::chrono::steady_clock;
    int ends[2];
    if (system::make_pipe(ends) != 0) return std::nullopt;
    const UniqueFd out(ends[0]);
    UniqueFd in(ends[1]);
    ChildOptions options;
    options.out = in.get();
    options.new_session = true;
    const auto pid = start_child(argv, options);
    in.reset();
    if (!pid) return std::nullopt;
    std::string text;
    const auto until = steady_clock::now() + patience;
    while (text.size() < limit) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
        pollfd readable{out.get(), POLLIN, 0};
        const int ready = left > 0 ? ::poll(&readable, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) break;
        char chunk[16384];
        const auto size =
            posix::retried([&] { return ::read(out.get(), chunk, std::min(sizeof chunk, limit - text.size())); });
        if (size <= 0) break;
        text.append(chunk, static_cast<std::size_t>(size));
    }
    ::kill(-*pid, SIGKILL);  // it has printed enough, or hangs, or has left a child behind
    wait_for_child(*pid);
    return text;
}

}  // namespace orange::connection
