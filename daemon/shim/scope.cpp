#include "daemon/shim/scope.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "common/base/system.hpp"
#include "common/posix/fd.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/group.hpp"

extern char** environ;

namespace orange::shim {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

/// Limits the wait for a user manager that hangs: the agent must start anyway.
constexpr auto k_patience = 5s;

/// Starts the helper without output, which the agent would overwrite; the daemon reports why a manager refuses.
pid_t start_helper(const std::vector<std::string>& words) {
    const auto argv = pointers_to(words);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; ++fd) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    pid_t pid = -1;
    if (::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ) != 0) pid = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return pid;
}

/// Waits for the helper, and kills it after k_patience. Other signals stay pending for the caller.
void wait_for_helper(pid_t pid) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const auto end = Steady::now() + k_patience;
    while (::waitpid(pid, nullptr, WNOHANG) == 0) {
        const auto left = end - Steady::now();
        if (left > Steady::duration::zero()) {
            system::wait_for_signal(child, left);
            continue;
        }
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return;
    }
}

}  // namespace

std::optional<std::filesystem::path> enter_scope(const RunSpec& spec) {
    if (spec.scope.empty()) return std::nullopt;
    auto words = spec.scope;
    words.push_back(std::to_string(::getpid()));
    const pid_t pid = start_helper(words);
    if (pid < 0) return std::nullopt;
    wait_for_helper(pid);
    auto group = process::own_group();
    if (group && group->filename() != process::scope_of_run(spec.run.value)) group.reset();
    return group;
}

int join_scope(std::string_view pid) {
    const auto group = process::own_group();
    if (!group || !group->filename().string().starts_with("orange-run-")) return 1;
    const UniqueFd file(::open((*group / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), pid.data(), pid.size()) == static_cast<ssize_t>(pid.size()) ? 0 : 1;
}

}  // namespace orange::shim
