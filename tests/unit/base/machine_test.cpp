// The environment of the test programs (tests/machine.cpp).
#include "tests/machine.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/catch.hpp"

extern char** environ;

namespace {

/// Returns what this program's hidden test prints when a shell starts it after `foreign`. Catch2 3 prints the seed,
/// too.
std::string seen_after(const std::string& foreign) {
    const auto self = std::string(ORANGE_BINARY_DIR "/tests/common_test");
    const auto command = foreign + " exec '" + self + "' --rng-seed 1 'the machine as this program sees it'";
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        const char* const argv[] = {"sh", "-c", command.c_str(), nullptr};
        ::execv("/bin/sh", const_cast<char* const*>(argv));
        ::_exit(127);
    }
    ::close(ends[1]);
    std::string text;
    char chunk[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return text;
}

}  // namespace

TEST_CASE("the machine as this program sees it", "[.]") {
    for (char** variable = environ; *variable; ++variable) std::cout << *variable << "\n";
    for (int fd = 0; fd < 20; ++fd) std::cout << (::fcntl(fd, F_GETFD) >= 0 ? "open " : "closed ");
    struct sigaction hangup {};
    ::sigaction(SIGHUP, nullptr, &hangup);
    std::cout << "\nSIGHUP ends it: " << (hangup.sa_handler == SIG_DFL) << ", mask " << ::umask(0) << "\n";
}

TEST_CASE("tests see the same machine wherever their program is started from") {
    const auto seen = seen_after("");
    CHECK_THAT(seen, Holds("PATH=" + orange::tests::tools() + "\n") && Holds("mask 18\n"));
    CHECK(seen_after(
              "export PATH=/elsewhere HOME=/elsewhere ORANGE_HOME=/elsewhere TMUX=/elsewhere,1,0 GIT_DIR=/elsewhere "
              "SHELL=/bin/false LC_ALL=POSIX TZ=Asia/Kathmandu XDG_RUNTIME_DIR=/elsewhere NO_COLOR=1; umask 077; "
              "trap '' HUP; ulimit -f 1000; exec 7</dev/null <&-;") == seen);
}
