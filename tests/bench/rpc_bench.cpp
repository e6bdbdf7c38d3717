// How long one client waits for an answer while others send all they can: `daemon.ping` and `task.show`, asked one at a
// time over a connection of their own, beside nobody, beside 50 connections that each keep 64 `rpc.discover` under way,
// beside 4 that keep 256 `task.show` under way, and beside 50 that send `rpc.discover` and never read. The 99th
// percentile is to be below 50 ms. Prints the daemon's memory after each, too.
//
//     rpc_bench [ORANGED] [SECONDS]
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "daemon/files/posix_file_system.hpp"
#include "daemon/store/task_store.hpp"
#include "tests/bench/connection.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/unit/store/records.hpp"

using namespace orange;
using namespace orange::bench;

namespace {

using Clock = std::chrono::steady_clock;

/// Connections in a process of their own that keep so many requests under way.
class Flood {
  public:
    Flood(const Path& socket, std::size_t connections, std::size_t requests, const std::string& line, bool reads) {
        pid_ = ::fork();
        if (pid_ == 0) run(socket, connections, requests, line, reads);
    }
    ~Flood() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;

  private:
    [[noreturn]] static void run(const Path& socket, std::size_t connections, std::size_t requests,
                                 const std::string& line, bool reads) {
        std::vector<std::unique_ptr<Connection>> all;
        std::vector<pollfd> polled;
        std::string lines;
        for (std::size_t i = 0; i < requests; ++i) lines += line;
        for (std::size_t i = 0; i < connections; ++i) {
            all.push_back(std::make_unique<Connection>(socket));
            all.back()->send(lines);
            polled.push_back({all.back()->fd(), POLLIN, 0});
        }
        while (!reads) ::pause();
        for (;;) {
            if (::poll(polled.data(), polled.size(), -1) <= 0) fail("poll");
            for (std::size_t i = 0; i < all.size(); ++i) {
                if ((polled[i].revents & POLLIN) == 0) continue;
                for (auto answered = all[i]->read(); answered > 0; --answered) all[i]->send(line);
            }
        }
    }

    pid_t pid_ = 0;
};

void measure(const char* beside, const Path& socket, const std::string& show, std::chrono::seconds time) {
    const Connection good(socket);
    std::vector<double> waited;
    const auto end = Clock::now() + time;
    for (std::size_t i = 0; Clock::now() < end; ++i) {
        const auto start = Clock::now();
        good.call(i % 2 == 0 ? request("daemon.ping") : show);
        waited.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
        ::usleep(2'000);
    }
    const auto status = good.call(request("daemon.status"));
    const auto at = status.find("\"memory_kib\":");
    const long memory = at == std::string::npos ? 0 : std::atol(status.c_str() + at + 13);
    std::sort(waited.begin(), waited.end());
    std::printf("%-46s median %7.2f ms   p99 %7.2f ms   longest %7.2f ms   %4ld MiB   (%zu calls)\n", beside,
                waited[waited.size() / 2], waited[waited.size() * 99 / 100], waited.back(), memory >> 10,
                waited.size());
}

/// A home with one task that has ended, and a daemon there.
class Daemon {
  public:
    explicit Daemon(const std::string& program) {
        ::chmod(home_.path().c_str(), 0700);
        PosixFileSystem files;
        auto record = testing::example_record();
        record.task.status = "done";
        if (!store::TaskStore(files, home_.path()).create(record, "## Context\n\n" + std::string(20'000, 'x') + "\n")) {
            fail("cannot write a task");
        }
        show_ = request("task.show", R"({"id":")" + record.task.id.value + "\"}");
        const std::string variable = "ORANGE_HOME=" + home_.path().string();
        std::vector<std::string> words = {program};
        char* argv[] = {words[0].data(), nullptr};
        std::string own = variable, path = std::string("PATH=") + std::getenv("PATH");
        std::string user_home = "HOME=" + home_.path().string();
        char* environment[] = {own.data(), path.data(), user_home.data(), nullptr};
        if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv, environment) != 0) fail("cannot start " + program);
        for (int i = 0; i < 1'000 && ::access(socket().c_str(), F_OK) != 0; ++i) ::usleep(10'000);
    }
    ~Daemon() {
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    Path socket() const { return home_.path() / "orange.sock"; }
    const std::string& show() const { return show_; }

  private:
    testing::TemporaryFolder home_;
    std::string show_;
    pid_t pid_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    const Daemon daemon(argc > 1 ? argv[1] : ORANGE_BINARY_DIR "/bin/oranged");
    const std::chrono::seconds time(argc > 2 ? std::max(1, std::atoi(argv[2])) : 10);
    const auto& show = daemon.show();
    measure("alone", daemon.socket(), show, time);
    {
        const Flood flood(daemon.socket(), 50, 64, request("rpc.discover"), true);
        measure("beside 50 x 64 rpc.discover", daemon.socket(), show, time);
    }
    {
        const Flood flood(daemon.socket(), 4, 256, show, true);
        measure("beside 4 x 256 task.show", daemon.socket(), show, time);
    }
    const Flood flood(daemon.socket(), 50, 64, request("rpc.discover"), false);
    measure("beside 50 x 64 rpc.discover, never read", daemon.socket(), show, time);
}
