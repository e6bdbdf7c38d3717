#include <signal.h>

#include "tests/catch.hpp"
#include "tests/integration/background.hpp"

/// The checks of a project, with the real daemon and the real client.
namespace orange::tests {
namespace {

struct CheckedProject {
    CheckedProject() {
        repo = orange.add_project("shop");
        id = orange.create("shop", "Add a greeting");
        orange.wait_for_status(id, "reviewing");
        before = orange.git({"rev-parse", "main"}, repo);
    }
    void want(const std::string& script) {
        rpc::ProjectUpdate update;
        update.name = "shop";
        update.settings["checks"] = Json::array({{"sh", "-c", script}});
        orange.call(update);
    }
    std::string main_branch() { return orange.git({"rev-parse", "main"}, repo); }

    Sandbox orange;
    std::filesystem::path repo;
    std::string id, before;
};

}  // namespace

TEST_CASE("Checks of a killed daemon are ended by the next one, nothing is merged, and the merge can be repeated") {
    CheckedProject f;
    const auto pid_file = f.orange.root() / "pid", good = f.orange.root() / "good";
    f.want("[ -e " + good.string() + " ] && exit 0; echo $$ >" + pid_file.string() + "; sleep 300 & wait");
    Background merge(f.orange, "merge", {"task", "merge", f.id, "--yes"});
    f.orange.eventually("the check runs", [&] { return read_file(pid_file).ends_with('\n'); });
    const auto pid = std::stoll(read_file(pid_file));
    CHECK_THAT(f.orange.orange({"task", "why", f.id}).out, Holds("sh -c"));
    f.orange.kill_daemon();
    CHECK(::kill(pid, 0) == 0);
    CHECK(merge.status() != 0);
    f.orange.start_daemon();
    f.orange.eventually("what it left is ended", [&] { return ::kill(pid, 0) != 0; });
    CHECK(f.orange.status(f.id) == "reviewing");
    CHECK(f.main_branch() == f.before);
    write_file(good, "");
    const auto again = f.orange.orange({"task", "merge", f.id, "--yes"});
    INFO(again.err);
    CHECK(again.status == 0);
    CHECK(f.orange.status(f.id) == "done");
    CHECK(f.main_branch() != f.before);
    CHECK(f.orange.history(f.id, "checks.passed").size() == 1);
}

TEST_CASE("A daemon that is told to end does not wait for checks, and they end with it") {
    CheckedProject f;
    const auto pid_file = f.orange.root() / "pid";
    f.want("echo $$ >" + pid_file.string() + "; sleep 300 & wait");
    Background merge(f.orange, "merge", {"task", "merge", f.id, "--yes"});
    f.orange.eventually("the check runs", [&] { return read_file(pid_file).ends_with('\n'); });
    const auto pid = std::stoll(read_file(pid_file));
    CHECK(f.orange.stop_daemon() == 0);
    CHECK(::kill(pid, 0) != 0);
    CHECK(merge.status() != 0);
    f.orange.start_daemon();
    CHECK(f.orange.status(f.id) == "reviewing");
    CHECK(f.main_branch() == f.before);
}

TEST_CASE("orange task check runs the checks and ends with 1 if one fails, an agent's work is not merged by it") {
    CheckedProject f;
    f.want("echo 4711 lemons; [ -e " + (f.orange.root() / "good").string() + " ]");
    auto ran = f.orange.orange({"task", "check", f.id});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.out, Holds("4711 lemons") && Holds("checks.log"));
    ran = f.orange.orange({"task", "check", f.id, "--json"});
    CHECK(ran.status == 1);
    const auto reply = Json::parse(ran.out);
    CHECK(reply["passed"] == false);
    CHECK(reply["exit_status"] == 1);
    CHECK(reply["commit"] ==
          f.orange.git({"rev-parse", f.orange.fields(f.id).at("branch").get<std::string>()}, f.repo));
    CHECK_THAT(read_file(reply["log"].get<std::string>()), Holds("4711 lemons"));
    const auto refused = f.orange.orange({"task", "merge", f.id, "--json"});
    CHECK(refused.status == 1);
    CHECK(Json::parse(refused.out)["error"]["data"]["why"] == "checks_failed");
    write_file(f.orange.root() / "good", "");
    CHECK(f.orange.orange({"task", "check", f.id}).status == 0);
    CHECK(f.main_branch() == f.before);
    CHECK(f.orange.orange({"task", "merge", f.id, "--yes"}).status == 0);
    CHECK(f.orange.history(f.id, "checks.passed").size() == 1);
    CHECK(f.orange.history(f.id, "checks.failed").size() == 3);
    CHECK(f.orange.orange({"task", "check", f.id}).status == 1);
}

TEST_CASE("A person on a terminal sees which check runs, and their yes to something else does not pass over it") {
    CheckedProject f;
    f.want("echo x >>" + (f.orange.root() / "ran").string());
    f.orange.git({"commit", "-q", "--allow-empty", "-m", "Late"}, f.orange.worktree(f.id));
    const auto ran = f.orange.on_terminal("orange task merge " + f.id, f.repo, {"y"});
    INFO(ran.out);
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Holds("sh -c"));
    CHECK(read_file(f.orange.root() / "ran") == "x\n");
}

namespace {

/// A project whose checks decide about the handover of its tasks.
struct GatedProject {
    explicit GatedProject(const std::string& script) {
        repo = orange.add_project("shop");
        rpc::ProjectUpdate update;
        update.name = "shop";
        update.settings["checks"] = Json::array({{"sh", "-c", script}});
        orange.call(update);
    }
    Sandbox orange;
    std::filesystem::path repo;
};

}  // namespace

TEST_CASE("A worker is refused while a check fails, and hands over when it passes") {
    GatedProject f("true");
    const auto count = f.orange.root() / "count";
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] =
        Json::array({{"sh", "-c", "echo x >>'" + count.string() + "'; [ $(wc -l <'" + count.string() + "') -gt 2 ]"}});
    f.orange.call(update);
    const auto id = f.orange.create("shop", "Add a greeting");
    f.orange.wait_for_status(id, "reviewing");
    CHECK(f.orange.history(id, "checks.failed").size() == 2);
    CHECK(f.orange.history(id, "checks.passed").size() == 1);
    CHECK_THAT(f.orange.orange({"task", "show", id}).out, Holds("sh -c") || Holds("passed"));
    CHECK(f.orange.orange({"task", "merge", id, "--yes"}).status == 0);
    CHECK(read_file(count) == "x\nx\nx\n");  // the merge has the reviewed commit
}

TEST_CASE("What a worker asked for is taken by the next daemon, once, and a check's own call of orange may only read") {
    GatedProject f("true");
    const auto begun = f.orange.root() / "begun", go_on = f.orange.root() / "go-on", said = f.orange.root() / "said";
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] = Json::array(
        {{"sh", "-c",
          "orange task update --status clarification >'" + said.string() + "' 2>&1; echo $? >>'" + said.string() +
              "'; touch '" + begun.string() + "'; while [ ! -e '" + go_on.string() + "' ]; do sleep 0.1; done"}});
    f.orange.call(update);
    const auto id = f.orange.create("shop", "Add a greeting");
    f.orange.eventually("the check runs", [&] { return std::filesystem::exists(begun); });
    CHECK(f.orange.status(id) == "working");
    CHECK_THAT(read_file(said), !Holds("\n0\n"));
    const auto shown = Json::parse(f.orange.orange({"task", "show", id, "--json"}).out)["task"];
    CHECK(shown["asked"] == "agent-review");
    CHECK_THAT(shown["checking"].get<std::string>(), Holds("sh -c"));
    CHECK_THAT(f.orange.orange({"task", "list"}).out, Holds("sh -c"));
    CHECK_THAT(f.orange.orange({"task", "why", id}).out, Holds("sh -c") && Holds("agent-review"));
    f.orange.kill_daemon();
    f.orange.start_daemon();
    write_file(go_on, "");
    f.orange.wait_for_status(id, "reviewing");
    std::size_t moved = 0;
    for (const auto& event : f.orange.history(id, "status.changed")) moved += event["to"] == "agent-review";
    CHECK(moved == 1);
}

}  // namespace orange::tests
