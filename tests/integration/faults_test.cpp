#include <signal.h>

#include <algorithm>
#include <thread>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/integration/sandbox.hpp"

/// What breaks while agents work: processes that die, a daemon that is killed, neighbours with similar names.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;

/// tmux 3.3a may leave one that has ended as a zombie until another one ends.
bool is_alive(const Json& run) {
    if (!run.is_object()) return false;
    const auto stat = read_file("/proc/" + std::to_string(run.at("pid").get<pid_t>()) + "/stat");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

/// The agent below the shim, once it runs. Before, the shim reads from the home what it is to start.
pid_t agent_of(Sandbox& orange, const std::string& id, const std::string& role) {
    const auto shim = orange.run_of(id, role).at("pid").get<pid_t>();
    std::string children;
    orange.eventually("the agent runs", [&] {
        children = read_file("/proc/" + std::to_string(shim) + "/task/" + std::to_string(shim) + "/children");
        return !children.empty();
    });
    return std::stoi(children);
}

/// The shim itself reports the end.
void kill_agent(Sandbox& orange, const std::string& id, const std::string& role) {
    ::kill(agent_of(orange, id, role), SIGKILL);
}

}  // namespace

TEST_CASE("An agent's exit is the next status without the poll") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=30");
    orange.wait_for_status(id, "planning");
    kill_agent(orange, id, "worker");
    orange.eventually("the crash is seen", [&] { return orange.fields(id).at("crash_count") == 1; });
    CHECK(orange.history(id, "agent.crashed").at(0).at("exit_status") == 137);
}

TEST_CASE("With the notification switched off the poll alone gets there") {
    Sandbox orange("poll_interval: 0.2\nexit_notification: false\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:oneshot demo:fail-once");
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.path_of(id) == "pending planning working agent-review working agent-review reviewing");
}

TEST_CASE("A daemon killed while agents work: the next one adopts them, and starts none twice") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto one = orange.create("shop", "One demo:slow=2");
    const auto two = orange.create("shop", "Two demo:fail-twice");
    orange.wait_for_status(two, "stuck");
    const auto before_one = orange.run_of(one, "worker");
    const auto before_two = orange.run_of(two, "worker");
    REQUIRE(is_alive(before_one));
    REQUIRE(is_alive(before_two));

    orange.kill_daemon();
    CHECK(is_alive(before_one));
    CHECK(is_alive(before_two));
    orange.start_daemon();
    CHECK(orange.run_of(two, "worker") == before_two);
    // The same agents go on, and are still watched.
    orange.eventually(
        "one is reviewed", [&] { return orange.status(one) == "reviewing"; }, 60s);
    CHECK(orange.run_of(one, "worker").at("pid") == before_one.at("pid"));
    for (const auto& id : {one, two}) {
        int workers = 0;
        for (const auto& event : orange.history(id, "agent.spawned")) workers += event.at("role") == "worker" ? 1 : 0;
        CHECK(workers == 1);
        INFO(Json(orange.history(id)).dump(1));
        CHECK(orange.history(id, "agent.respawned").empty());
    }
    kill_agent(orange, two, "worker");
    orange.eventually("its end is seen", [&] { return orange.run_of(two, "worker").is_null(); });
}

TEST_CASE("An agent that dies while no daemon runs is dealt with by the next one") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=30");
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    orange.kill_daemon();
    ::kill(run.at("pid").get<pid_t>(), SIGKILL);
    orange.eventually("it is gone", [&] { return !is_alive(run); });
    orange.start_daemon();
    orange.eventually("the crash is counted", [&] { return orange.fields(id).at("crash_count") == 1; });
    CHECK(orange.history(id, "agent.crashed").size() == 1);
}

namespace {

/// `end` ends the daemon, again and again, wherever it is in the transitions of a task's life.
void end_in_the_middle(Sandbox& orange, const std::function<void()>& end) {
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:fail-once");
    // The ends fall where they fall: the agent retries a refused call, the intent resumes the rest.
    for (int i = 0; i < 12 && orange.status(id) != "reviewing"; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(40 + 37 * i % 150));
        end();
        orange.start_daemon();
    }
    const auto respawn_if_needed = [&] {
        rpc::TaskRespawn respawn;
        respawn.id = id;
        if (orange.fields(id).at("attention").is_string()) (void)orange.try_call(respawn);
        rpc::TaskShow show;
        show.id = id;
        const auto task = orange.call(show).task;
        const auto status = task.fields.status;
        return (status == "reviewing" || status == "stuck") && !task.in_progress;
    };
    orange.eventually("it ends", respawn_if_needed, 60s);
    // The chain of status changes has no gap and no repetition.
    std::string at = "pending";
    for (const auto& event : orange.history(id, "status.changed")) {
        CHECK(event.at("from") == at);
        at = event.at("to").get<std::string>();
    }
    CHECK(at == orange.status(id));
    // Never two agents of one role.
    const auto panes = orange.tmux({"list-panes", "-a", "-F", "#{window_name} #{pane_dead}"}).out;
    CHECK(panes.find("worker 0") == panes.rfind("worker 0"));
}

}  // namespace

TEST_CASE("A daemon killed again and again in the middle of transitions loses and repeats nothing") {
    Sandbox orange("poll_interval: 0.5\n");
    end_in_the_middle(orange, [&] { orange.kill_daemon(); });
}

TEST_CASE("A daemon told to end again and again in the middle of transitions loses and repeats nothing") {
    Sandbox orange("poll_interval: 0.5\n");
    end_in_the_middle(orange, [&] { CHECK(orange.stop_daemon() == 0); });
}

TEST_CASE("Ending demo/b1 never touches demo/b10") {
    Sandbox orange;
    orange.add_project("demo", 3);
    std::vector<std::string> ids;
    for (const char* branch : {"b1", "b10", "b1/x"}) {
        if (std::string(branch) == "b1/x") branch = "b100";
        rpc::TaskCreate params;
        params.project = "demo";
        params.branch = branch;
        params.summary = "Wait demo:slow=30";
        params.harness = params.review_harness = "demo";
        ids.push_back(orange.call(params).task.fields.id.value);
    }
    rpc::TaskCancel cancel;
    cancel.id = ids[0];
    orange.call(cancel);
    CHECK(orange.run_of(ids[0], "worker").is_null());
    for (const auto& id : {ids[1], ids[2]}) {
        CHECK(is_alive(orange.run_of(id, "worker")));
        CHECK(orange.status(id) == "planning");
    }
    CHECK(orange.fields(ids[1]).at("tmux_session") == "demo/b10");
}

TEST_CASE("A tmux server that dies is one event for its tasks, and no crash of theirs") {
    Sandbox orange;
    orange.add_project("shop");
    const auto one = orange.create("shop", "One demo:slow=30");
    const auto two = orange.create("shop", "Two demo:slow=30");
    const auto server = orange.run_of(one, "worker").at("server_pid").get<pid_t>();
    ::kill(server, SIGKILL);
    for (const auto& id : {one, two}) {
        orange.eventually("the loss is seen", [&] { return !orange.history(id, "session.lost").empty(); });
        CHECK(orange.fields(id).at("crash_count") == 0);
    }
    rpc::TaskRespawn respawn;
    respawn.all = true;
    CHECK(orange.call(respawn).tasks.size() == 2);
    CHECK(is_alive(orange.run_of(one, "worker")));
}

TEST_CASE("What a killed daemon left under temporary names is removed by the next one") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=600");
    const auto folder = orange.folder(id);
    orange.kill_daemon();
    std::vector<std::filesystem::path> left;
    for (const auto& place : {orange.home(), orange.home() / "workspaces", folder, folder / "logs", folder / "run"}) {
        left.push_back(place / "..some.file.0123456789.tmp");
        write_file(left.back(), "TOKEN=secret");
    }
    const auto removed = folder.parent_path() / ".V1StGXR8Z5jdHi6BmyT0a.0123456789.tmp";
    std::filesystem::create_directories(removed);
    write_file(removed / "state.json", "{}");
    left.push_back(removed);
    orange.start_daemon();
    for (const auto& path : left) {
        orange.eventually(path.string() + " is removed", [&] { return !std::filesystem::exists(path); });
    }
    CHECK(is_alive(orange.run_of(id, "worker")));
}

TEST_CASE("However often the tmux server ends, and in whatever way, no agent's crash is counted") {
    Sandbox orange;
    orange.add_project("shop", 3);
    std::vector<std::string> ids;
    for (const char* name : {"One", "Two", "Three"}) {
        ids.push_back(orange.create("shop", std::string(name) + " demo:slow=600"));
    }
    for (std::size_t round = 1; round <= 15; ++round) {
        const auto server = orange.run_of(ids.front(), "worker").at("server_pid").get<pid_t>();
        if (round % 3 == 0) {
            orange.tmux({"kill-server"});
        } else {
            ::kill(server, round % 3 == 1 ? SIGKILL : SIGTERM);
        }
        for (const auto& id : ids) {
            const auto ends = [&](const char* type) { return orange.history(id, type).size(); };
            orange.eventually("the end is seen", [&] { return ends("session.lost") + ends("agent.exited") == round; });
            INFO("round " << round << "\n" << Json(orange.history(id)).dump(1));
            REQUIRE(ends("agent.crashed") == 0);
            REQUIRE(orange.fields(id).at("crash_count") == 0);
        }
        REQUIRE(orange.orange({"task", "respawn", "--all"}).status == 0);
        for (const auto& id : ids) REQUIRE(is_alive(orange.run_of(id, "worker")));
    }
}

TEST_CASE("A stopped daemon ends before its agents, which it leaves alone") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=600");
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    CHECK(orange.stop_daemon() == 0);
    CHECK(is_alive(run));
    orange.start_daemon();
    CHECK(orange.run_of(id, "worker") == run);
}

TEST_CASE("A daemon that is stopped while a workspace is made ready ends properly, and the setup with it") {
    Sandbox orange;
    orange.add_project("shop");
    const auto flag = orange.root() / "begun";
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = {{"sh", "-c", "echo $$ >'" + flag.string() + "'; exec sleep 300"}};
    orange.call(update);
    const auto id = orange.create("shop", "Add a greeting", true);
    Background spawning(orange, "spawn", {"task", "spawn", id});
    orange.eventually("the setup runs", [&] { return read_file(flag).ends_with('\n'); });
    CHECK(orange.stop_daemon() == 0);
    const pid_t setup = std::stoi(read_file(flag));
    orange.eventually("the setup has ended", [&] { return ::kill(setup, 0) != 0; });
    orange.start_daemon();
    CHECK(orange.status(id) == "pending");
}

TEST_CASE("A setup that a killed daemon left is ended before the next one's begins, and by a cancellation") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto flag = orange.root() / "begun";
    // The shell, which hears no TERM, and its child: each says who it is.
    write_file(orange.root() / "setup", "trap '' TERM\nsh -c 'echo $$ >>\"$0\"; cd /; while :; do sleep 0.2; done' " +
                                            flag.string() + " &\nwhile ! [ -s " + flag.string() +
                                            " ]; do sleep 0.05; done\necho $$ >>" + flag.string() +
                                            "\nwhile :; do sleep 0.2; done\n");
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = {{"sh", (orange.root() / "setup").string()}};
    orange.call(update);
    const auto pids = [&] {
        std::istringstream in(read_file(flag));
        std::vector<pid_t> all;
        for (pid_t pid = 0; in >> pid;) all.push_back(pid);
        return all;
    };
    const auto runs = [](pid_t pid) { return !read_file("/proc/" + std::to_string(pid) + "/cmdline").empty(); };
    const auto id = orange.create("shop", "Add a greeting", true);
    Background spawning(orange, "spawn", {"task", "spawn", id});
    orange.eventually("the setup runs", [&] { return pids().size() == 2; });
    orange.kill_daemon();
    REQUIRE(runs(pids()[0]));
    REQUIRE(runs(pids()[1]));
    orange.start_daemon();
    Background again(orange, "again", {"task", "spawn", id});
    orange.eventually("the next setup runs", [&] { return pids().size() == 4; });
    CHECK_FALSE(runs(pids()[0]));
    CHECK_FALSE(runs(pids()[1]));
    CHECK(runs(pids()[2]));
    CHECK(runs(pids()[3]));

    orange.kill_daemon();
    orange.start_daemon();
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(orange.status(id) == "cancelled");
    orange.eventually("the workspace is free", [&] {
        const auto all = orange.call(rpc::WorkspaceGc{}).workspaces;
        return std::none_of(all.begin(), all.end(), [](const auto& workspace) { return workspace.task.has_value(); });
    });
    for (const auto pid : pids()) CHECK_FALSE(runs(pid));
    CHECK(pids().size() == 4);
}

TEST_CASE("What a killed shim leaves is ended before another agent is started in its place") {
    Sandbox orange;
    orange.add_project("shop");
    std::filesystem::create_directories(orange.home() / "harnesses");
    const auto flag = (orange.root() / "agent").string();
    write_file(orange.home() / "harnesses" / "wrapped.yml",
               "name: wrapped\nprogram: sh\nargv:\n  full:\n    - -c\n    - \"(trap '' HUP TERM; echo $$ >>" + flag +
                   "; sh -c 'trap \\\"\\\" HUP TERM; echo $$ >>" + flag +
                   "; while :; do sleep 0.2; done') & wait; exit 0\"\n    - --\n    - \"{prompt}\"\n");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Wait";
    create.harness = create.review_harness = "wrapped";
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "planning");
    const auto lines = [&] {
        std::istringstream in(read_file(flag));
        std::vector<pid_t> pids;
        for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
        return pids;
    };
    orange.eventually("the agent runs", [&] { return lines().size() >= 2; });
    const auto first = lines()[1];
    ::kill(orange.run_of(id, "worker").at("pid").get<pid_t>(), SIGKILL);
    orange.eventually("the crash is seen", [&] { return orange.run_of(id, "worker").is_null(); });
    rpc::TaskRespawn respawn;
    respawn.id = id;
    orange.call(respawn);
    orange.eventually("it was started again", [&] { return lines().size() >= 4; });
    const auto runs = [](pid_t pid) { return !read_file("/proc/" + std::to_string(pid) + "/cmdline").empty(); };
    CHECK_FALSE(runs(first));
    CHECK(runs(lines()[3]));
}

TEST_CASE("A second daemon for the same home refuses, and the first goes on") {
    Sandbox orange;
    const auto second = orange.try_run({program("oranged").string()});
    CHECK(second.status == 75);
    CHECK_THAT(second.err, Tells(std::to_string(orange.daemon_pid())));
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
}

TEST_CASE("A removed socket is back within seconds") {
    Sandbox orange;
    std::filesystem::remove(orange.home() / "orange.sock");
    orange.eventually("the socket is back",
                      [&] { return connection::Connection::open(orange.home() / "orange.sock", 100ms).has_value(); });
    std::filesystem::remove(orange.home() / "orange.sock");
    write_file(orange.home() / "orange.sock", "something else");
    orange.eventually("the socket is back in the other file's place",
                      [&] { return connection::Connection::open(orange.home() / "orange.sock", 100ms).has_value(); });
}

namespace {

/// A test that fails with the home away has still a tmux server to end.
struct PutBack {
    std::filesystem::path away, home;
    ~PutBack() {
        std::error_code error;
        if (!std::filesystem::exists(away, error)) return;
        std::filesystem::remove_all(home, error);
        std::filesystem::rename(away, home, error);
    }
};

}  // namespace

TEST_CASE("A home that is moved away and back: nothing is written meanwhile, and all goes on when it is there again") {
    Sandbox orange("poll_interval: 0.2\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=30");
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    const auto away = orange.root() / "away";
    const PutBack put_back{away, orange.home()};
    const auto polled = [&] { return orange.call(rpc::DaemonStatus{}).last_poll; };
    // Lines of the log about the home itself: when it goes, and when it is back.
    const auto warnings = [&](const std::filesystem::path& home) {
        int count = 0;
        const auto log = read_file(home / "orange.log");
        for (const auto line : split_lines(log)) {
            const auto event = Json::parse(line);
            if (event.at("level") == "warn" && event.at("component") == "daemon" &&
                tells(event.at("msg").get<std::string>(), orange.home().string())) {
                ++count;
            }
        }
        return count;
    };

    std::filesystem::rename(orange.home(), away);
    orange.eventually("it is told", [&] { return warnings(away) == 1; });
    const auto before = polled();
    orange.eventually("the poll goes on", [&] { return polled() != before; });
    rpc::TaskUpdate update;
    update.id = id;
    update.summary = "Another";
    const auto refused = orange.try_call(update);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::io);
    CHECK_THAT(refused.error().message, Tells(orange.home().string()));
    CHECK_FALSE(std::filesystem::exists(orange.home()));

    std::filesystem::rename(away, orange.home());
    orange.eventually("the socket answers",
                      [&] { return connection::Connection::open(orange.home() / "orange.sock", 100ms).has_value(); });
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
    REQUIRE(orange.try_call(update));
    CHECK(orange.fields(id).at("summary") == "Another");
    CHECK(orange.run_of(id, "worker") == run);
    CHECK(orange.history(id, "agent.exited").empty());
    CHECK(orange.fields(id).at("attention").is_null());
    orange.eventually("it is told", [&] { return warnings(orange.home()) == 2; });
    // And the socket is watched as before.
    std::filesystem::remove(orange.home() / "orange.sock");
    orange.eventually("the socket is back",
                      [&] { return connection::Connection::open(orange.home() / "orange.sock", 100ms).has_value(); });
}

TEST_CASE("A daemon whose home has another folder in its place ends, touches nothing there, and agents go on") {
    Sandbox orange("poll_interval: 0.2\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:slow=60");
    orange.wait_for_status(id, "planning");
    agent_of(orange, id, "worker");
    const auto run = orange.run_of(id, "worker");
    const auto away = orange.root() / "away";
    const auto other = orange.root() / "other";
    const PutBack put_back{away, orange.home()};
    std::filesystem::create_directory(other);
    write_file(other / "orange.sock", "the socket of another daemon");
    std::filesystem::rename(orange.home(), away);
    std::filesystem::rename(other, orange.home());
    const auto daemon = "/proc/" + std::to_string(orange.daemon_pid()) + "/cmdline";
    orange.eventually("it has ended", [&] { return read_file(daemon).empty(); });
    CHECK(orange.stop_daemon() == 0);
    const auto log = read_file(away / "orange.log");
    CHECK_THAT(log, Tells(orange.home().string()));
    CHECK_THAT(log, Tells("\"stopped\""));
    CHECK_THAT(read_file(orange.root() / "oranged.err"), Tells(orange.home().string()));
    CHECK(read_file(orange.home() / "orange.sock") == "the socket of another daemon");
    CHECK(std::distance(std::filesystem::directory_iterator(orange.home()), {}) == 1);
    CHECK(is_alive(run));

    std::filesystem::rename(orange.home(), other);
    std::filesystem::rename(away, orange.home());
    orange.start_daemon();
    CHECK(orange.run_of(id, "worker") == run);
    CHECK(orange.history(id, "agent.exited").empty());
}

}  // namespace orange::tests
