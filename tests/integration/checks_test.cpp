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
    CHECK(f.orange.history(f.id, "checks.passed").size() == 2);  // the merge is another commit
    CHECK(f.orange.history(f.id, "checks.failed").size() == 3);
    CHECK(f.orange.orange({"task", "check", f.id}).status == 1);
}

TEST_CASE("A check that passes by an ignored file of the worktree is handed over with it, but not merged without it") {
    GatedProject f("test -f build/generated");
    auto& orange = f.orange;
    write_file(f.repo / ".gitignore", "build/\n");
    orange.git({"add", ".gitignore"}, f.repo);
    orange.git({"commit", "-q", "-m", "Ignore what is built"}, f.repo);
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = std::vector<std::string>{
        "sh", "-c", "case $PWD in *--1) mkdir -p build; touch build/generated;; esac"};  // as a worker could have
    orange.call(update);
    const auto before = orange.git({"rev-parse", "main"}, f.repo);
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.history(id, "checks.passed").size() == 1);
    const auto refused = orange.orange({"task", "merge", id, "--yes"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Holds("test -f build/generated") && Holds(".checks-shop"));
    CHECK(orange.git({"rev-parse", "main"}, f.repo) == before);
    CHECK(orange.status(id) == "reviewing");
    CHECK_THAT(orange.orange({"workspace", "list"}).out, !Holds(".checks"));
    CHECK(orange.orange({"project", "update", "shop", "--set", "merge_checks=worktree"}).status == 0);
    CHECK(orange.orange({"task", "merge", id, "--yes"}).status == 0);
    CHECK(orange.history(id, "checks.passed").size() == 1);
    CHECK(orange.orange({"project", "remove", "shop"}).status == 0);
    CHECK_FALSE(std::filesystem::exists(orange.home() / "workspaces/.checks-shop"));
    CHECK_THAT(orange.git({"worktree", "list"}, f.repo), !Holds(".checks"));
}

TEST_CASE("A merge whose target origin moved while its checks ran is tested again with what came, and has it") {
    GatedProject f("true");
    auto& orange = f.orange;
    const auto remote = orange.add_origin(f.repo);
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    const auto other = orange.root() / "other", ran = orange.root() / "ran";
    orange.git({"clone", "-q", remote.string(), other.string()}, orange.root());
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] = Json::array({{"sh", "-c",
                                              "[ -e theirs ] && echo with theirs >>" + ran.string() +
                                                  " || { echo without >>" + ran.string() + "; cd " + other.string() +
                                                  " && touch theirs && git add theirs && git commit -q -m theirs && "
                                                  "git push -q origin HEAD:main; }"}});
    orange.call(update);
    const auto merged = orange.orange({"task", "merge", id, "--yes"});
    INFO(merged.err);
    CHECK(merged.status == 0);
    CHECK(read_file(ran) == "without\nwith theirs\n");
    CHECK(orange.history(id, "checks.passed").size() == 3);  // one of them at the handover
    CHECK_THAT(orange.git({"ls-tree", "--name-only", "main"}, remote), Holds("theirs"));
    CHECK(orange.git({"rev-parse", "main"}, remote) == orange.git({"rev-parse", "main"}, f.repo));
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
    CHECK(read_file(count) == "x\nx\nx\nx\n");  // three times at the handover, once on the merge
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
