#include "daemon/process/proc_info.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/support/pseudo_terminal.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("what the kernel tells of this process") {
    const auto self = ::getpid();
    CHECK(process::parent_of(self) == ::getppid());
    CHECK(process::session_of(self) == ::getsid(0));
    CHECK(process::group_of(self) == ::getpgrp());
    CHECK(process::cwd_of(self) == std::filesystem::current_path().string());
    CHECK(process::exe_of(self)->ends_with("daemon_test"));
    CHECK_FALSE(process::argv_of(self).empty());
    CHECK(process::start_time(self).value() > 0);
    const auto all = process::all_pids();
    CHECK(std::count(all.begin(), all.end(), self) == 1);
}

TEST_CASE("threads count, and a zombie counts until its parent has waited for it") {
    const auto self = ::getpid();
    const auto before = process::threads_of(self).value();
    std::atomic<bool> goes_on = true;
    std::thread thread([&] {
        while (goes_on) ::usleep(1'000);
    });
    CHECK(process::threads_of(self) == before + 1);
    goes_on = false;
    thread.join();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    CHECK(eventually([&] { return !process::start_time(child); }));
    CHECK(process::threads_of(child) == 1);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(process::threads_of(child));
}

TEST_CASE("the limit of processes of a process is known, unless the kernel does not hold it to one") {
    const auto self = ::getpid();
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NPROC, &limit) == 0);
    const auto held = ::geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY
                          ? std::optional(static_cast<std::int64_t>(limit.rlim_cur))
                          : std::nullopt;
    CHECK(process::processes_limit_of(self) == held);
    CHECK(process::user_namespace_of(self)->starts_with("user:["));
    CHECK_FALSE(process::processes_limit_of(-1));
    CHECK_FALSE(process::user_namespace_of(-1));
}

TEST_CASE("a name with blanks and parentheses does not confuse the fields") {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_NAME, "a) R 1 (b");
        for (;;) ::pause();
    }
    CHECK(eventually([&] { return process::name_of(pid) == "a) R 1 (b"; }));
    CHECK(process::parent_of(pid) == ::getpid());
    CHECK(process::start_time(pid));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    CHECK_FALSE(process::parent_of(pid));
    CHECK_FALSE(process::cwd_of(pid));
    CHECK_FALSE(process::start_time(pid));
}

TEST_CASE("the children of a process are those of all of its threads, as long as nobody has waited for them") {
    pid_t child = 0;
    std::atomic<bool> goes_on = true;
    std::thread thread([&] {
        child = ::fork();
        while (child == 0) ::pause();
        while (goes_on) ::usleep(1'000);
    });
    const auto is_there = [&] {
        const auto children = process::children_of(::getpid()).value();
        return child > 0 && std::count(children.begin(), children.end(), child) == 1;
    };
    CHECK(eventually(is_there));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(is_there());
    goes_on = false;
    thread.join();
    CHECK(process::children_of(child).value().empty());
}

TEST_CASE("a variable of another process's environment is read by its whole name") {
    CHECK_FALSE(process::environ_of(::getpid(), "PAT"));
    CHECK(process::environ_of(::getpid(), "PATH"));
    CHECK_FALSE(process::environ_of(-1, "PATH"));
}

TEST_CASE("without a descriptor a process cannot be looked at, which is not its end") {
    const auto self = ::getpid();
    CHECK(process::look_up_start_time(self).value() == process::start_time(self));
    CHECK(process::look_up_start_time(0).error().code == ErrorCode::not_found);
    CHECK(process::look_up_start_time(2'000'000'000).error().code == ErrorCode::not_found);
    const NoDescriptors none;
    CHECK(process::look_up_start_time(self).error().code == ErrorCode::io);
}

TEST_CASE("a process' terminal is known by its device file") {
    const PseudoTerminal terminal;
    CHECK(eventually([&] { return process::terminal_of(terminal.process()) == terminal.path(); }));
    CHECK_FALSE(process::terminal_of(-1));
    CHECK(process::is_in_foreground(terminal.process()));
    const pid_t without = ::fork();
    if (without == 0) {
        ::setsid();
        for (;;) ::pause();
    }
    CHECK(eventually([&] { return process::session_of(without) == without; }));
    CHECK_FALSE(process::terminal_of(without));
    CHECK_FALSE(process::is_in_foreground(without));
    CHECK(process::began_after(without, terminal.process()).value() >= 0ms);
    CHECK(process::began_after(terminal.process(), without).value() <= 0ms);
    CHECK_FALSE(process::began_after(-1, without));
    ::kill(without, SIGKILL);
    ::waitpid(without, nullptr, 0);
}
