#include <signal.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <thread>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// `orange run`, as somebody would use it who has just installed Orange: the real client, and where it says so a home
/// that does not exist yet.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

void write_harness(const fs::path& home, const std::string& name, const std::string& program) {
    fs::create_directories(home / "harnesses");
    write_file(home / "harnesses" / (name + ".yml"),
               "name: " + name + "\nprogram: " + program + "\nargv:\n  full: [-c, sleep 600, --, \"{prompt}\"]\n");
}

/// No agent program that this machine may have.
void uninstall_all(const fs::path& home) {
    for (const char* name : {"claude", "codex", "opencode", "pi"})
        write_harness(home, name, "/nowhere/" + std::string(name));
}

/// A second home, in which nothing was ever started; what a run starts there is ended with it.
struct FreshHome {
    explicit FreshHome(Sandbox& o) : orange(o) {}
    ~FreshHome() {
        run({"daemon", "stop"});
        orange.try_run({"tmux", "-S", (path / "tmux.sock").string(), "kill-server"});
    }
    Ran run(std::vector<std::string> words, const fs::path& cwd = {}) {
        words.insert(words.begin(),
                     {"env", "-u", "ORANGE_NO_AUTOSTART", "ORANGE_HOME=" + path.string(), program("orange").string()});
        return orange.try_run(words, cwd);
    }
    Sandbox& orange;
    fs::path path = orange.root() / "fresh";
};

std::string id_in(const Json& reply) {
    return reply.at("task").at("fields").at("id").get<std::string>();
}

std::size_t tasks_in(Sandbox& orange) {
    rpc::TaskList list;
    list.all = true;
    return orange.call(list).tasks.size();
}

}  // namespace

TEST_CASE("In a home with nothing in it, a run does the lot") {
    Sandbox orange;
    const auto repo = orange.make_repository("My Shop");
    fs::create_directory(repo / "sub");
    FreshHome fresh(orange);
    const auto ran = fresh.run({"run", "--harness", "demo", "--wait", "Fix", "the", "login", "redirect"}, repo / "sub");
    INFO(ran.out + ran.err);
    REQUIRE(ran.status == 0);
    CHECK_THAT(ran.out, Tells("my-shop"));
    CHECK_THAT(ran.out, Tells("fix-the-login-redirect") && Tells("orange attach") &&
                            Tells("agent-review → reviewing") && Tells("ready"));
    const auto listed = Json::parse(fresh.run({"task", "list", "--json"}, repo).out).at("tasks");
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].at("fields").at("status") == "reviewing");
    CHECK(listed[0].at("fields").at("branch") == "fix-the-login-redirect");
    CHECK(listed[0].at("fields").at("summary") == "Fix the login redirect");
}

TEST_CASE("A run goes into the project that the directory is in, and names each branch anew") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 4);
    orange.git({"branch", "fix-it"}, repo);
    const auto first = orange.orange({"run", "--json", "Fix it!"}, repo);
    const auto second = orange.orange({"run", "--json", "fix", "it"}, repo);
    REQUIRE(first.status == 0);
    REQUIRE(second.status == 0);
    CHECK(std::count(first.out.begin(), first.out.end(), '\n') == 1);
    CHECK(orange.fields(id_in(Json::parse(first.out))).at("branch") == "fix-it-2");
    CHECK(orange.fields(id_in(Json::parse(second.out))).at("branch") == "fix-it-3");
    CHECK(orange.call(rpc::ProjectList{}).projects.size() == 1);
    CHECK(orange.fields(id_in(Json::parse(first.out))).at("harness") == "demo");
    const auto unnamable = orange.orange({"run", "--json", "修复登录"}, repo);
    const auto branch = Json::parse(unnamable.out).at("task").at("fields").at("branch").get<std::string>();
    CHECK(branch.starts_with("orange-tasks/"));
}

TEST_CASE("Runs at the same moment in a new repository share one project and no branch") {
    Sandbox orange;
    const auto repo = orange.make_repository("shop");
    write_harness(orange.home(), "idle", "sh");
    std::vector<Ran> ran(3);
    std::vector<std::thread> threads;
    for (auto& one : ran) {
        threads.emplace_back([&] { one = orange.orange({"run", "--harness", "idle", "--json", "Same thing"}, repo); });
    }
    for (auto& thread : threads) thread.join();
    std::set<std::string> branches;
    for (const auto& one : ran) {
        INFO(one.out);
        REQUIRE(one.status == 0);
        branches.insert(orange.fields(id_in(Json::parse(one.out))).at("branch").get<std::string>());
    }
    CHECK(branches == std::set<std::string>{"same-thing", "same-thing-2", "same-thing-3"});
    CHECK(orange.call(rpc::ProjectList{}).projects.size() == 1);
}

TEST_CASE("A run takes the first agent that is installed, or says how to get one and leaves nothing") {
    Sandbox orange;
    const auto repo = orange.make_repository("shop");
    uninstall_all(orange.home());
    const auto none = orange.orange({"run", "Fix it"}, repo);
    CHECK(none.status == 1);
    CHECK_THAT(none.err, Tells("orange harness list") && Tells("--harness demo"));
    CHECK(orange.call(rpc::ProjectList{}).projects.empty());
    write_harness(orange.home(), "opencode", "sh");
    write_harness(orange.home(), "pi", "sh");
    const auto ran = orange.orange({"run", "--json", "Fix it"}, repo);
    REQUIRE(ran.status == 0);
    CHECK(orange.fields(id_in(Json::parse(ran.out))).at("harness") == "opencode");
}

TEST_CASE("With --wait and --json there is one line, when it is over") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto ran = orange.orange({"run", "--wait", "--json", "Add a greeting"}, repo);
    REQUIRE(ran.status == 0);
    CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 1);
    const auto said = Json::parse(ran.out);
    CHECK(said.at("ready") == true);
    CHECK(said.at("task").at("fields").at("status") == "reviewing");
    CHECK_THAT(said.at("reason").get<std::string>(), Tells("orange merge"));
}

TEST_CASE("Waiting ends with a reason where somebody is needed") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 4);
    const std::vector<std::pair<std::string, std::string>> stories = {
        {"Ask first demo:clarify", "clarification"},
        {"Fail demo:fail-twice", "stuck"},
        {"Crash demo:crash-always", "agent.crashed"},
    };
    for (const auto& [summary, what] : stories) {
        INFO(summary);
        const auto ran = orange.orange({"run", "--wait", summary}, repo);
        INFO(ran.out + ran.err);
        CHECK(ran.status == 1);
        CHECK_FALSE(ran.err.empty());
        std::string id;
        for (const auto& task : orange.call(rpc::TaskList{}).tasks) {
            if (task.fields.summary == summary) id = task.fields.id.value;
        }
        orange.eventually("it says why",
                          [&, what = what] { return orange.status(id) == what || !orange.history(id, what).empty(); });
    }
}

TEST_CASE("A task that was cancelled or deleted while somebody waited ends the waiting") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    write_harness(orange.home(), "idle", "sh");
    Ran ran;
    std::thread waiting([&] { ran = orange.orange({"run", "--wait", "--harness", "idle", "Wait"}, repo); });
    std::string id;
    orange.eventually("the task is there", [&] {
        const auto tasks = orange.call(rpc::TaskList{}).tasks;
        if (!tasks.empty() && tasks[0].fields.status == "planning") id = tasks[0].fields.id.value;
        return !id.empty();
    });
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    waiting.join();
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("cancelled"));
}

TEST_CASE("Waiting outlives a daemon that crashes and comes back") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    write_harness(orange.home(), "idle", "sh");
    Ran ran;
    const auto out = orange.root() / "out";
    std::thread waiting([&] {
        ran = orange.try_run({"sh", "-c", "exec orange run --wait --harness idle Wait >\"$0\"", out.string()}, repo);
    });
    orange.eventually("it waits", [&] { return holds(read_file(out), "orange why"); });
    const auto id = orange.call(rpc::TaskList{}).tasks[0].fields.id.value;
    orange.kill_daemon();
    orange.start_daemon();
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    waiting.join();
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("cancelled"));
}

TEST_CASE("Waiting starts a daemon, and ends with the command for one if it stops for good") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Round the total", true);
    orange.stop_daemon();
    // A state that it has already: the wait is over as soon as a daemon answers.
    const auto started = orange.on_terminal("ORANGE_NO_AUTOSTART= orange task wait " + id + " --for pending", repo);
    CHECK(started.status == 0);
    CHECK_THAT(started.out, Tells("pending"));
    CHECK(orange.on_terminal("orange daemon stop", repo).status == 0);
    orange.start_daemon();
    Ran waited;
    std::thread waiting([&] { waited = orange.orange({"task", "wait", id, "--for", "done"}, repo); });
    orange.eventually("it waits", [&] { return orange.call(rpc::DaemonStatus{}).connections > 1; });
    orange.stop_daemon();
    waiting.join();
    CHECK(waited.status == 1);
    CHECK_THAT(waited.err, Tells("orange daemon start"));
}

TEST_CASE("A project has eight workspaces, and if they are not enough, the task names the command for more") {
    Sandbox orange;
    const auto repo = orange.make_repository("shop");
    orange.run({program("orange").string(), "project", "add", repo.string(), "--harness", "demo"});
    CHECK(orange.call(rpc::ProjectList{}).projects.at(0).pool_size == 8);
    orange.run({program("orange").string(), "project", "update", "--pool-size", "1"}, repo);
    orange.wait_for_status(orange.create("shop", "Ask demo:clarify"), "clarification");
    const auto second = orange.orange({"task", "create", "Wait for room"}, repo);
    CHECK(second.status == 0);
    CHECK_THAT(second.out, Tells("orange project update shop --pool-size 2"));
    rpc::TaskList pending;
    pending.status = "pending";
    rpc::TaskWhy why;
    why.id = orange.call(pending).tasks.at(0).fields.id.value;
    const auto hints = orange.call(why).hints;
    CHECK(std::any_of(hints.begin(), hints.end(),
                      [](const auto& hint) { return tells(hint, "orange project update shop --pool-size 2"); }));
}

TEST_CASE("Ctrl-C ends the waiting, not the task") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    write_harness(orange.home(), "idle", "sh");
    const auto pid_file = orange.root() / "pid";
    Ran ran;
    std::thread waiting([&] {
        ran = orange.try_run(
            {"sh", "-c", "echo $$ >pid; cd \"$0\"; exec orange run --wait --harness idle Wait", repo.string()});
    });
    orange.eventually("the task is there", [&] {
        const auto tasks = orange.call(rpc::TaskList{}).tasks;
        return !tasks.empty() && tasks[0].fields.status == "planning";
    });
    const auto text = read_file(pid_file);
    pid_t pid = 0;
    std::from_chars(text.data(), text.data() + text.size(), pid);
    if (pid > 0) ::kill(pid, SIGINT);
    waiting.join();
    REQUIRE(pid > 0);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange show"));
    CHECK(orange.call(rpc::TaskList{}).tasks[0].worker == "alive");
}

TEST_CASE("A run says what is wrong with the place that it was called in, and leaves nothing there") {
    Sandbox orange;
    const auto nowhere = orange.root() / "nowhere";
    fs::create_directory(nowhere);
    const auto empty = orange.root() / "empty";
    fs::create_directory(empty);
    orange.git({"init", "-q"}, empty);
    const auto bare = orange.root() / "bare.git";
    orange.git({"init", "-q", "--bare", bare.string()}, orange.root());
    auto ran = orange.orange({"run", "--harness", "demo", "Fix it"}, nowhere);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells(nowhere.string()));
    ran = orange.orange({"run", "--harness", "demo", "Fix it"}, empty);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("git commit --allow-empty -m"));
    ran = orange.orange({"run", "--harness", "demo", "Fix it"}, bare);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("bare"));
    const auto repo = orange.make_repository("shop");
    for (const auto& refused :
         std::vector<std::vector<std::string>>{{"run", "--harness", "nonsense", "Fix it"},
                                               {"run", "--harness", "demo", "--branch", "main", "Fix it"},
                                               {"run", "--harness", "demo", "--base", "none", "Fix it"},
                                               {"run", "--harness", "demo", "--attach", "Fix it"},
                                               {"run", "--harness", "demo"}}) {
        CHECK(orange.orange(refused, repo).status == 1);
    }
    CHECK(orange.call(rpc::ProjectList{}).projects.empty());
    CHECK(tasks_in(orange) == 0);
    CHECK(orange.git({"for-each-ref", "--format=%(refname)"}, repo) == "refs/heads/main");
}

TEST_CASE("An agent does not run tasks of its own") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting", true);
    const auto ran =
        orange.try_run({"env", "ORANGE_TASK=" + id, "ORANGE_ROLE=worker", "orange", "run", "Fix it"}, repo);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("human"));
    CHECK(tasks_in(orange) == 1);
}

TEST_CASE("Waiting ends where a workflow of one's own leaves the task to a human") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    fs::create_directories(orange.home() / "workflows");
    write_file(orange.home() / "workflows" / "approval.yml",
               "name: approval\nversion: 1\n"
               "states: {pending: {}, approval: {}, working: {}, done: {terminal: true}}\n"
               "transitions:\n"
               "  - {from: pending, to: approval}\n"
               "  - {from: approval, to: working, by: [human]}\n"
               "  - {from: working, to: done, by: [system]}\n");
    const auto ran =
        orange.orange({"run", "--harness", "demo", "--workflow", "approval", "--wait", "Think first"}, repo);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("approval") && Tells("orange task update"));
}

}  // namespace orange::tests
