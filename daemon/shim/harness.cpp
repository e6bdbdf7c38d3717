#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "common/base/system.hpp"
#include "common/posix/fd.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/shim/harness.hpp"

extern char** environ;

namespace orange::shim {
namespace {

std::vector<std::string> environment_of(const RunSpec& spec) {
    auto env = spec.env;
    // The agent also gets the variables that an executor has added on its side, such as the number of a job.
    for (char** each = environ; !spec.started_file.empty() && *each != nullptr; ++each) {
        const std::string_view variable = *each;
        const auto end = std::min(variable.find('='), variable.size() - 1);
        env.emplace(variable.substr(0, end), variable.substr(end + 1));
    }
    // TERM describes the pane, which only this process knows.
    if (const char* term = ::getenv("TERM"); term && env.count("TERM") == 0) env["TERM"] = term;
    std::vector<std::string> list;
    list.reserve(env.size());
    for (const auto& [name, value] : env) list.push_back(name + "=" + value);
    return list;
}

void limit(int what, std::int64_t most) {
    const rlimit both{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
    if (most > 0) ::setrlimit(what, &both);
}

/// Runs in the child, between fork and exec: system calls only. Returns the errno of a failure.
int become(const char* program, char* const argv[], char* const env[], const char* cwd, pid_t shim,
           const ProcessLimits& limits) {
    if (const int error = end_with_shim(SIGKILL)) return error;
    if (::getppid() != shim) return ESRCH;  // the shim died before end_with_shim()
    if (::setpgid(0, 0) != 0) return errno;
    give_terminal_to(::getpid());
    if (::chdir(cwd) != 0) return errno;
    if (const int error = close_others_at_exec()) return error;
    go_first();
    // RLIMIT_AS would not work: node reserves much more address space than it uses.
    limit(RLIMIT_DATA, limits.data);
    limit(RLIMIT_NPROC, limits.processes);
    limit(RLIMIT_FSIZE, limits.file);
    reset_signals();
    ::execve(program, argv, env);
    return errno;
}

}  // namespace

void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void give_terminal_to(pid_t group) {
    // From the background this raises TTOU, which the shim blocks or ignores, and the child does so until it resets its
    // signals.
    if (::isatty(STDIN_FILENO)) (void)::tcsetpgrp(STDIN_FILENO, group);
}

Result<std::string> find_harness(const RunSpec& spec) {
    auto program = find_program(spec.argv[0], path_in(spec.env));
    if (!program.empty()) return program;
    return Error(ErrorCode::not_found, "starting " + spec.argv[0] + ": there is no such program on PATH");
}

Result<pid_t> start_harness(const RunSpec& spec, const std::string& program, const ProcessLimits& limits) {
    const auto doing = "starting " + spec.argv[0];
    const auto env = environment_of(spec);
    const auto argv_pointers = pointers_to(spec.argv), env_pointers = pointers_to(env);
    int ends[2];
    if (system::make_pipe(ends) != 0) return io_error(doing, errno);
    UniqueFd read(ends[0]), write(ends[1]);

    const pid_t shim = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return io_error(doing, errno);
    if (pid == 0) {
        const int error =
            become(program.c_str(), argv_pointers.data(), env_pointers.data(), spec.cwd.c_str(), shim, limits);
        (void)!::write(write.get(), &error, sizeof error);
        ::_exit(127);
    }
    write.reset();
    // Both processes do this, because either may run first. It fails harmlessly after the exec.
    ::setpgid(pid, pid);
    give_terminal_to(pid);
    int error = 0;
    ssize_t size;
    do {
        size = ::read(read.get(), &error, sizeof error);
    } while (size < 0 && errno == EINTR);
    if (size <= 0) return pid;
    ::waitpid(pid, nullptr, 0);
    if (error == ENOENT) return Error(ErrorCode::not_found, doing + ": there is no such program");
    return io_error(doing, error);
}

}  // namespace orange::shim
