#include <signal.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/integration/doctor.hpp"

/// The machine stands still, as for a sleep: nobody of Orange's runs for a while, deadlines pass, and what happens
/// meanwhile tells nobody.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;

void add_descendants(pid_t pid, std::vector<pid_t>& all) {
    all.push_back(pid);
    const auto task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
    std::istringstream children(read_file(task));
    for (pid_t child = 0; children >> child;) add_descendants(child, all);
}

/// D: it waits for a child that was stopped on its way into another program.
bool stands_still(pid_t pid) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto end = stat.rfind(") ");
    return end == std::string::npos || std::string("TDZX").find(stat[end + 2]) != std::string::npos;
}

/// The daemon, the tmux server and everything below them; they go on with the object's end.
class Frozen {
  public:
    Frozen(Sandbox& orange, pid_t server) {
        try {
            while (stop(orange, server)) {
            }
        } catch (...) {
            go_on();
            throw;
        }
    }
    ~Frozen() { go_on(); }
    Frozen(const Frozen&) = delete;
    Frozen& operator=(const Frozen&) = delete;
    std::size_t count() const { return pids_.size(); }

  private:
    /// True if there were others than last time: whoever starts something while he is being stopped.
    bool stop(Sandbox& orange, pid_t server) {
        const auto before = pids_.size();
        std::vector<pid_t> found;
        add_descendants(orange.daemon_pid(), found);
        add_descendants(server, found);
        for (const auto pid : found) ::kill(pid, SIGSTOP);
        pids_.insert(found.begin(), found.end());  // who has lost his parent meanwhile is to go on, too
        orange.eventually("they stand still", [&] { return std::ranges::all_of(pids_, stands_still); });
        return pids_.size() != before;
    }
    void go_on() const {
        for (const auto pid : pids_) ::kill(pid, SIGCONT);
    }

    std::set<pid_t> pids_;
};

std::string panes(Sandbox& orange) {
    return orange.tmux({"list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_dead}"}).out;
}

}  // namespace

TEST_CASE("After a freeze nobody is dead who is not, and what happened meanwhile is seen, once") {
    Sandbox orange("poll_interval: 0.3\n", 0, Sandbox::Time::of_test);
    orange.add_project("shop", 4);
    add_idle_harness(orange);
    std::vector<std::string> ids;
    for (const char* name : {"calm", "edited", "killed"}) ids.push_back(id_of(orange.call(idle_task("shop", name))));
    for (const auto& id : ids) orange.wait_for_status(id, "planning");
    const auto& [calm, edited, killed] = std::tie(ids[0], ids[1], ids[2]);
    const auto busy = orange.create("shop", "Works on demo:slow=1");
    orange.wait_for_status(busy, "planning");
    const auto runs = std::vector<Json>{orange.run_of(calm, "worker"), orange.run_of(edited, "worker")};
    const auto before = panes(orange);
    const auto victim = orange.run_of(killed, "worker").at("pid").get<pid_t>();
    const auto worktree = orange.worktree(edited);
    const auto server = runs[0].at("server_pid").get<pid_t>();
    std::optional<Background> asked;
    {
        const Frozen frozen(orange, server);
        CHECK(frozen.count() > 8);
        asked.emplace(orange, "asked", std::vector<std::string>{"task", "list", "--json"});
        std::vector<pid_t> agent;
        add_descendants(victim, agent);
        for (const auto pid : agent) ::kill(pid, SIGKILL);
        std::ofstream(worktree / "TASK.md", std::ios::app) << "\n## Notes\nwritten meanwhile\n";
        orange.advance(3s);  // many polls, and the shortest of the daemon's deadlines
        CHECK_FALSE(asked->ended());
    }
    CHECK(asked->status() == 0);
    CHECK(Json::parse(asked->out()).at("tasks").size() == 4);
    orange.eventually("the death is seen", [&] { return orange.fields(killed).at("crash_count") == 1; });
    orange.eventually("the edit is seen", [&] { return holds(orange.body(edited), "written meanwhile"); });
    orange.wait_for_status(busy, "reviewing");
    CHECK(orange.path_of(busy) == "pending planning working agent-review reviewing");
    const auto polled = orange.call(rpc::DaemonStatus{}).last_poll;
    orange.eventually("the daemon has looked again",
                      [&] { return orange.call(rpc::DaemonStatus{}).last_poll != polled; });
    CHECK(orange.run_of(calm, "worker") == runs[0]);
    CHECK(orange.run_of(edited, "worker") == runs[1]);
    CHECK(orange.history(killed, "agent.crashed").size() == 1);
    for (const auto& id : {calm, edited, busy}) {
        CHECK(orange.fields(id).at("crash_count") == 0);
        for (const char* type : {"agent.crashed", "agent.respawned", "session.lost"}) {
            INFO(type);
            CHECK(orange.history(id, type).empty());
        }
    }
    for (const auto& run : runs) {
        CHECK_THAT(panes(orange), Holds(" " + std::to_string(run.at("pid").get<pid_t>()) + " 0"));
        CHECK_THAT(before, Holds(" " + std::to_string(run.at("pid").get<pid_t>()) + " 0"));
    }
}

TEST_CASE(
    "A daemon that stood still while all its agents ended counts each end once, and starts none by itself twice") {
    Sandbox orange("poll_interval: 0.3\n");
    orange.add_project("shop", 3);
    add_idle_harness(orange);
    std::vector<std::string> ids;
    for (const char* name : {"one", "two", "three"}) ids.push_back(id_of(orange.call(idle_task("shop", name))));
    for (const auto& id : ids) orange.wait_for_status(id, "planning");
    std::vector<pid_t> agents;
    for (const auto& id : ids) agents.push_back(orange.run_of(id, "worker").at("pid").get<pid_t>());
    ::kill(orange.daemon_pid(), SIGSTOP);
    orange.eventually("it stands still", [&] { return stands_still(orange.daemon_pid()); });
    for (const auto pid : agents) ::kill(pid, SIGKILL);
    orange.eventually("they are gone", [&] {
        return std::all_of(agents.begin(), agents.end(), [](pid_t pid) {
            const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
            return stat.empty() || stat.find(") Z") != std::string::npos;
        });
    });
    ::kill(orange.daemon_pid(), SIGCONT);
    for (const auto& id : ids) {
        orange.eventually("the end is counted", [&] { return orange.fields(id).at("crash_count") == 1; });
        CHECK(orange.history(id, "agent.crashed").size() == 1);
        CHECK(orange.history(id, "agent.spawned").size() + orange.history(id, "agent.respawned").size() <= 2);
    }
}

}  // namespace orange::tests
