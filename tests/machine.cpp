#include "tests/machine.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// The variables of the caller's environment that stay: the temporary folder, and how thorough a run is.
constexpr const char* k_kept[] = {
    "TMPDIR",           "ASAN_OPTIONS",      "LSAN_OPTIONS",       "TSAN_OPTIONS",
    "UBSAN_OPTIONS",    "GCOV_PREFIX",       "GCOV_PREFIX_STRIP",  "ORANGE_OLD_BIN",
    "ORANGE_OLD_SHARE", "ORANGE_ALL_FAULTS", "ORANGE_WRITE_VOICE", "ORANGE_TEST_GH",
    "ORANGE_ALL_TEXTS",
};
/// A home's sockets have to fit into 107 bytes.
constexpr std::size_t k_longest_temporary = 50;
constexpr rlim_t k_descriptors = 4096;

void forget_environment() {
    std::map<std::string, std::string> kept;
    for (const char* name : k_kept) {
        if (const char* value = std::getenv(name)) kept[name] = value;
    }
    std::error_code error;
    const auto& temporary = kept["TMPDIR"];
    const bool usable =
        temporary.starts_with('/') && temporary.size() <= k_longest_temporary && fs::is_directory(temporary, error);
    if (!usable) kept["TMPDIR"] = "/tmp";
    ::clearenv();
    for (const auto& [name, value] : kept) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("PATH", tools().c_str(), 1);
    ::setenv("SHELL", (tools() + "/login-shell").c_str(), 1);
    ::setenv("HOME", "/nonexistent", 1);
    ::setenv("LANG", "C.UTF-8", 1);
    ::setenv("TZ", "UTC", 1);
}

/// Orange takes a caller with a terminal for a human. The program stays in the foreground's group, so Ctrl-C still ends
/// it.
void leave_terminal() {
    if (::getsid(0) != ::getpid()) {
        const int terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal >= 0) ::ioctl(terminal, TIOCNOTTY);
        if (terminal >= 0) ::close(terminal);
    }
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, STDIN_FILENO);
    if (null > STDIN_FILENO) ::close(null);
}

void close_inherited() {
    std::vector<int> open;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/dev/fd", error)) {
        open.push_back(std::atoi(entry.path().filename().c_str()));
    }
    for (const int fd : open) {
        if (fd > STDERR_FILENO) ::close(fd);
    }
}

/// Resets the signals that `nohup` or a shell's background command ignores.
void forget_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void limit(decltype(RLIMIT_CORE) what, rlim_t to) {
    rlimit both{};
    if (::getrlimit(what, &both) != 0) return;
    both.rlim_cur = std::min(to, both.rlim_max);
    ::setrlimit(what, &both);
}

}  // namespace

std::string tools() {
    return ORANGE_TEST_TOOLS;
}

void forget_machine() {
    forget_environment();
    leave_terminal();
    close_inherited();
    forget_signals();
    ::umask(022);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    limit(RLIMIT_NOFILE, k_descriptors);
}

}  // namespace orange::tests
