// Measures how long a client waits for an answer while many agents die at once. A daemon with a home and a tmux server
// of its own runs AGENTS tasks whose agents are `sleep`. DIE of them are killed. `daemon.ping` is asked every three
// milliseconds: before, until all deaths are dealt with, and until the notifications are sent. Prints the times of the
// answers, and each notification. The longest is to be below 50 ms, and there is to be one notification. The default of
// 300 and 150 needs 1 GiB of memory and 1,000 processes; 1000 and 500 three times that.
//
//     mass_death_bench [AGENTS [DIE]]        # 300 150
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "common/base/text.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/store/task_store.hpp"
#include "tests/bench/connection.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::bench;

namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr int k_largest_pool = 60;

bool succeeds(std::string line) {
    char shell[] = "sh", option[] = "-c";
    char* words[] = {shell, option, line.data(), nullptr};
    pid_t pid = 0;
    int status = 1;
    return ::posix_spawnp(&pid, shell, nullptr, nullptr, words, environ) == 0 && ::waitpid(pid, &status, 0) == pid &&
           status == 0;
}

void command(const std::string& line) {
    if (!succeeds(line)) fail("failed: " + line);
}

/// A crash is told to the human.
constexpr const char* k_workflow = R"(name: busy
version: 1
states:
  pending: {terminal: false}
  working: {terminal: false, agent: worker, respawn_prompt: worker}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks:
      - action: acquire_workspace
      - {action: spawn_agent, prompt: worker, harness: task, permissions: full}
  - {from: working, to: done, by: [system], hooks: [{action: release_workspace}]}
  - {from: pending, to: cancelled, by: [human, system], hooks: []}
  - {from: working, to: cancelled, by: [human, system], hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: "*", to: done, by: [system], force: true, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, action: crash, stuck_after: 9}
prompts:
  worker: Work on {summary}
)";

/// A home with a harness whose agents do nothing, and a daemon there.
class Daemon {
  public:
    Daemon() {
        const auto home = folder_.path().string();
        ::chmod(home.c_str(), 0700);
        ::setenv("HOME", home.c_str(), 1);
        ::setenv("ORANGE_HOME", home.c_str(), 1);
        ::setenv("TMUX_TMPDIR", home.c_str(), 1);
        ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        for (const char* name : {"TMUX", "GIT_DIR"}) ::unsetenv(name);
        testing::write_text(folder_ / "harnesses/idle.yml",
                            "name: idle\nprogram: sh\nargv:\n  full: [-c, \"exec sleep 3600\", --, \"{prompt}\"]\n");
        testing::write_text(folder_ / "workflows/busy.yml", k_workflow);
        testing::write_text(folder_ / "config.yml",
                            "limits: {worker: 0}\nnotify: [sh, -c, 'printf \"%s\\0\" \"$1\" >>\"" + home +
                                "/notified\"', --, \"{text}\"]\n");
        command("git config --global user.name bench && git config --global user.email bench@localhost");
        std::string program = ORANGE_BINARY_DIR "/bin/oranged";
        char* argv[] = {program.data(), nullptr};
        if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv, environ) != 0) fail("cannot start " + program);
        for (int i = 0; i < 1'000 && ::access(socket().c_str(), F_OK) != 0; ++i) ::usleep(10'000);
    }
    ~Daemon() {
        (void)succeeds("tmux -S \"$ORANGE_HOME/tmux.sock\" kill-server 2>/dev/null");
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    Path socket() const { return folder_ / "orange.sock"; }
    const Path& home() const { return folder_.path(); }
    pid_t pid() const { return pid_; }

    void start_agents(int count) const {
        const int projects = (count + k_largest_pool - 1) / k_largest_pool;
        std::vector<std::unique_ptr<Connection>> connections;
        for (int n = 0; n < projects; ++n) {
            const auto repository = (folder_ / ("p" + std::to_string(n))).string();
            command("git init -q -b main " + repository + " && git -C " + repository +
                    " commit -q --allow-empty -m Begin");
            connections.push_back(std::make_unique<Connection>(socket()));
            expect_result(
                connections.back()->call(request("project.add", R"({"path":")" + repository + R"(","pool_size":)" +
                                                                    std::to_string(k_largest_pool) + "}")));
        }
        for (int begun = 0; begun < count;) {
            const int round = std::min(projects, count - begun);
            for (int n = 0; n < round; ++n) {
                connections[static_cast<std::size_t>(n)]->send(request(
                    "task.create", R"({"harness":"idle","workflow":"busy","summary":"task )" +
                                       std::to_string(begun + n) + R"(","project":"p)" + std::to_string(n) + "\"}"));
            }
            for (int n = 0; n < round; ++n) expect_result(connections[static_cast<std::size_t>(n)]->reply());
            begun += round;
        }
    }

    /// The programs of all agents: the children of their shims.
    std::vector<pid_t> agents() const {
        PosixFileSystem files;
        store::TaskStore tasks(files, home() / "tasks");
        if (!tasks.load()) fail("cannot read the tasks");
        std::vector<pid_t> found;
        tasks.each_awake([&](const TaskRecord& record) {
            for (const auto& run : record.runs) {
                const auto pid = std::to_string(run.pid);
                std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
                for (pid_t child = 0; children >> child;) found.push_back(child);
            }
        });
        return found;
    }

    std::vector<std::string> notifications() const {
        std::vector<std::string> texts;
        std::ifstream in(folder_ / "notified");
        for (std::string text; std::getline(in, text, '\0');) texts.push_back(text);
        return texts;
    }

  private:
    static void expect_result(const std::string& reply) {
        if (reply.find(R"("result")") == std::string::npos || reply.find(R"("spawn_error")") != std::string::npos) {
            fail(reply);
        }
    }

    testing::TemporaryFolder folder_;
    pid_t pid_ = 0;
};

/// Counts the events of each type.
class Events {
  public:
    explicit Events(const Path& socket) : connection_(socket), reader_([this] { read(); }) {}
    ~Events() {
        ::shutdown(connection_.fd(), SHUT_RDWR);
        reader_.join();
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    int crashed() const { return crashed_; }

  private:
    void read() {
        connection_.send(request("events.subscribe", R"({"types":["agent"]})"));
        std::string text;
        char chunk[1 << 16];
        for (ssize_t n = 0; (n = ::recv(connection_.fd(), chunk, sizeof chunk, 0)) > 0;) {
            text.append(chunk, static_cast<std::size_t>(n));
            for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
                const std::string_view line(text.data(), end);
                if (line.find(R"("agent.crashed")") != std::string_view::npos) ++crashed_;
            }
        }
    }

    Connection connection_;
    std::atomic<int> crashed_ = 0;
    std::thread reader_;
};

/// Returns for how many milliseconds the daemon was ready and other programs had the processors.
double waited_for_processor(pid_t daemon) {
    std::ifstream in("/proc/" + std::to_string(daemon) + "/schedstat");
    double ran = 0, waited = 0;
    in >> ran >> waited;
    return waited / 1e6;
}

/// Asks until `done`, and prints how long the answers took.
template <class Done>
void measure(const char* when, pid_t daemon, const Connection& connection, Done done) {
    std::vector<double> waited;
    const auto processor = waited_for_processor(daemon);
    const auto begin = Steady::now();
    while (!done()) {
        const auto start = Steady::now();
        connection.call(request("daemon.ping"));
        waited.push_back(std::chrono::duration<double, std::milli>(Steady::now() - start).count());
        ::usleep(3'000);
    }
    const double time = std::chrono::duration<double>(Steady::now() - begin).count();
    std::sort(waited.begin(), waited.end());
    const auto above = waited.end() - std::upper_bound(waited.begin(), waited.end(), 50.0);
    std::printf(
        "%-26s p50 %6.2f ms   p99 %7.2f ms   max %7.2f ms   %zd above 50 ms   (%zu pings in %.1f s; the daemon "
        "waited %.0f ms for a processor)\n",
        when, waited[waited.size() / 2], waited[waited.size() * 99 / 100], waited.back(), above, waited.size(), time,
        waited_for_processor(daemon) - processor);
    std::fflush(stdout);
}

/// Returns true once a time has passed.
auto after(seconds time) {
    return [end = Steady::now() + time] { return Steady::now() >= end; };
}

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    const int count = argc > 1 ? std::max(1, std::atoi(argv[1])) : 300;
    const int die = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, count) : (count + 1) / 2;
    const Daemon daemon;
    std::printf("daemon %d in %s\n", daemon.pid(), daemon.home().c_str());
    const auto begin = Steady::now();
    daemon.start_agents(count);
    std::printf("started %d agents in %.1f s\n", count, std::chrono::duration<double>(Steady::now() - begin).count());
    const auto agents = daemon.agents();
    if (static_cast<int>(agents.size()) != count) fail("only " + std::to_string(agents.size()) + " agents run");

    const Connection connection(daemon.socket());
    const Events events(daemon.socket());
    measure("before", daemon.pid(), connection, after(seconds(35)));
    std::printf("killing %d\n", die);
    for (int n = 0; n < die; ++n) ::kill(agents[static_cast<std::size_t>(n)], SIGKILL);
    const auto give_up = after(seconds(300));
    measure("until all are dealt with", daemon.pid(), connection, [&] { return events.crashed() >= die || give_up(); });
    measure("the next 25 s", daemon.pid(), connection, after(seconds(25)));
    std::printf("%d of %d crashes were seen\n", events.crashed(), die);
    const auto notified = daemon.notifications();
    std::printf("%zu notifications\n", notified.size());
    for (const auto& text : notified) {
        std::printf("    %zu bytes\n", text.size());
        for (const auto line : split_lines(text)) std::printf("        %s\n", ellipsized(line, 100).c_str());
    }
}
