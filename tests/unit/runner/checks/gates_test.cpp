#include "tests/unit/runner/gates.hpp"

#include "daemon/process/proc_info.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"

/// Gates on facts, by real git and real processes.
using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

std::string workflow_with(const std::string& gate) {
    return R"(name: facts
version: 1
states:
  pending: {}
  working: {agent: worker, respawn_prompt: go}
  review: {agent: reviewer, respawn_prompt: go}
  reviewing: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: working, to: review, gate: )" +
           gate + R"(, hooks: [{action: spawn_reviewer, prompt: go}]}
  - {from: review, to: working}
  - {from: review, to: reviewing, gate: {reviewed_head: true}}
  - {from: reviewing, to: done, by: [system]}
prompts: {go: go}
)";
}

/// A task in `working` of such a workflow, whose branch has nothing yet.
struct FactsTask {
    explicit FactsTask(const std::string& gate) {
        write_file(world.home() / "workflows/facts.yml", workflow_with(gate));
        id = world.make_task("do it", 1, "facts");
        world.move(id, "working").value();
        tree = world.home() / "workspaces/shop--1";
    }
    Error refused(const std::string& to = "review", Role by = Role::worker) {
        const auto moved = world.move(id, to, by);
        REQUIRE_FALSE(moved);
        CHECK(moved.error().code == ErrorCode::gate_failed);
        return moved.error();
    }
    RunnerWorld world;
    TaskId id;
    std::filesystem::path tree;
};

}  // namespace

TEST_CASE("a gate on commits counts those that the base has not") {
    FactsTask f("{commits: 2}");
    f.refused();
    f.world.git.commit(f.tree, "one", "1\n");
    CHECK_THAT(f.refused().message, Holds("1 commit"));
    f.world.git.commit(f.tree, "two", "2\n");
    REQUIRE(f.world.move(f.id, "review", Role::worker));
}

TEST_CASE("a gate on a clean worktree names what is uncommitted, and neither TASK.md nor what git ignores") {
    FactsTask f("{clean: true}");
    f.world.git.commit(f.tree, ".gitignore", "*.o\n");
    write_file(f.tree / "built.o", "x\n");
    write_file(f.tree / "a file", "x\n");
    CHECK_THAT(f.refused().message, Holds("a file") && !Holds("built.o") && !Holds("TASK.md"));
    f.world.git.plain(f.tree, {"add", "a file"});
    CHECK_THAT(f.refused().message, Holds("a file"));
    f.world.git.plain(f.tree, {"commit", "-qm", "it"});
    write_file(f.tree / ".gitignore", "*\n");
    CHECK_THAT(f.refused().message, Holds(".gitignore"));
    f.world.git.plain(f.tree, {"checkout", "-q", ".gitignore"});
    REQUIRE(f.world.move(f.id, "review", Role::worker));
}

TEST_CASE("a gate names a file whose name has a line break on one line, uncommitted and in conflict") {
    FactsTask f("{clean: true, merges: true}");
    write_file(f.tree / "two\nlines", "ours\n");
    CHECK_THAT(f.refused().message, Holds(R"("two\nlines")"));
    f.world.git.commit(f.tree, "two\nlines", "ours\n");
    f.world.git.commit(f.world.repo(), "two\nlines", "theirs\n");
    CHECK_THAT(f.refused().message, Holds(R"("two\nlines")") && !Holds(R"(, lines")"));
}

TEST_CASE("a gate on merging names the files in conflict, and leaves no trace of its attempt") {
    FactsTask f("{merges: true}");
    f.world.git.commit(f.tree, "same", "ours\n");
    f.world.git.commit(f.world.repo(), "same", "theirs\n");
    CHECK_THAT(f.refused().message, Holds("same"));
    const auto why = f.world.house().go(f.world.house().runner().transitions.explain(f.id));
    REQUIRE(why);
    CHECK_FALSE(std::filesystem::exists(f.world.home() / "workspaces" / (".merge-" + f.id.value)));
    f.world.git.plain(f.tree, {"merge", "-q", "-X", "ours", "main"});
    REQUIRE(f.world.move(f.id, "review", Role::worker));
}

TEST_CASE("a gate on the reviewed commit holds until another one comes") {
    FactsTask f("{commits: 1}");
    f.world.git.commit(f.tree, "one", "1\n");
    REQUIRE(f.world.move(f.id, "review", Role::worker));
    f.world.git.commit(f.tree, "two", "2\n");
    f.refused("reviewing", Role::reviewer);
    REQUIRE(f.world.move(f.id, "working", Role::human));
    REQUIRE(f.world.move(f.id, "review", Role::worker));
    REQUIRE(f.world.move(f.id, "reviewing", Role::reviewer));
}

TEST_CASE("a project's checks decide about a handover in the shipped workflows, without an edit of theirs") {
    const auto workflow = GENERATE(std::string("default"), std::string("relay"), std::string("pr"));
    CAPTURE(workflow);
    GatedTask f(workflow);
    f.want("test -e good");
    const auto refused = f.ask();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::gate_failed);
    CHECK(refused.error().details.at("checks") == "failed");
    CHECK(f.times_run() == 1);
    CHECK(f.messages().empty());  // whoever waits for the answer gets it once
    CHECK_FALSE(f.world.record(f.id).asked);
    f.world.git.commit(f.tree, "good", "g\n");
    REQUIRE(f.ask());
    CHECK(f.status() == "agent-review");
    CHECK(f.changes_to("agent-review") == 1);
    const auto changed = f.world.events(f.id, "status.changed").back();
    CHECK(changed.fields.at("by") == Scalar{std::string("worker")});
    CHECK(f.told("checks.failed") == 1);
    CHECK(f.told("checks.passed") == 1);
}

TEST_CASE("a check that fails twice and passes") {
    GatedTask f;
    f.want("test \"$(wc -l < '" + f.file("ran").string() + "')\" -gt 2 || { echo 4711 lemons; exit 3; }");
    for (int i = 1; i <= 2; ++i) {  // the same commit: whoever asks again wants to know it again
        const auto refused = f.ask();
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Holds("    4711 lemons\n"));
        CHECK(f.times_run() == static_cast<std::size_t>(i));
        const auto why = f.world.house().go(f.runner().transitions.explain(f.id));  // runs nothing
        REQUIRE(why);
        CHECK(f.times_run() == static_cast<std::size_t>(i));
    }
    REQUIRE(f.ask());
    CHECK(f.times_run() == 3);
    CHECK(f.told("checks.failed") == 2);
    CHECK(f.status() == "agent-review");
}

TEST_CASE("checks run in the worktree beside its agent, and need it clean") {
    GatedTask f;
    f.want("test -e feature");
    write_file(f.tree / "dirt", "d\n");
    const auto refused = f.ask();
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Holds("dirt"));
    CHECK(f.times_run() == 0);
    std::filesystem::remove(f.tree / "dirt");
    REQUIRE(f.ask());
    CHECK(read_file(f.file("ran")) == std::filesystem::canonical(f.tree).string() + "\n");
}

TEST_CASE("checks that passed on a commit run again for its merge, unless merges are tested in the worktree") {
    const auto* mode = GENERATE("result", "worktree");
    CAPTURE(mode);
    GatedTask f("relay");
    f.want("true");
    auto project = shop(f.world);
    project.settings.merge_checks = mode;
    f.world.house().world().projects.put(project).value();
    REQUIRE(f.ask());
    f.world.append_body(f.id, "\n## Review\nPASS\n");
    REQUIRE(f.ask("reviewing", Role::reviewer));
    REQUIRE(f.world.house().go(f.runner().merges.merge(f.id, MergeOrder{}, a_human())));
    CHECK(f.times_run() == (mode == std::string("result") ? 2 : 1));
}

TEST_CASE("a check that outlives the agent's call moves the task by itself, once") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting());
    const auto answer = f.ask();
    REQUIRE(answer);
    f.until_begun();
    CHECK(f.status() == "working");
    REQUIRE(answer->notes.size() == 1);
    CHECK_THAT(answer->notes[0], Holds(f.world.record(f.id).asked->commit.substr(0, 12)));
    const auto needs = needs_of(f.runner(), f.world.record(f.id));
    CHECK(needs.kind == Need::nothing);
    CHECK_THAT(needs.text, Holds("sh -c"));
    const auto again = f.ask();  // waits for the same run
    REQUIRE(again);
    CHECK(f.told("status.asked") == 1);
    f.let_go();
    f.until_nothing_is_asked();
    CHECK(f.times_run() == 1);
    CHECK(f.status() == "agent-review");
    CHECK(f.changes_to("agent-review") == 1);
}

TEST_CASE("a check that fails after the call has ended is told to the worker as a message, once") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting(3));
    REQUIRE(f.ask());
    f.let_go();
    f.until_nothing_is_asked();
    CHECK(f.status() == "working");
    const auto messages = f.messages();
    REQUIRE(messages.size() == 1);
    CHECK_THAT(messages[0], Holds("4711 lemons"));
    CHECK(f.told("status.dropped") == 1);
    CHECK(needs_of(f.runner(), f.world.record(f.id)).kind == Need::nothing);
}

TEST_CASE("whoever asks while the checks run waits for the same run") {
    GatedTask f;
    f.want(f.waiting());
    std::optional<Result<Outcome>> first, second;
    engine::Request request;
    request.to = "agent-review";
    request.by = Role::human;
    f.world.house().begin(f.runner().requests.move(f.id, request, a_human(), Edit{}), first);
    f.until_begun();
    f.world.house().begin(f.runner().requests.move(f.id, request, a_human(), Edit{}), second);
    std::optional<Result<CheckReport>> third;
    f.world.house().begin(f.runner().checks.run(f.id, CheckOrder{}), third);
    f.world.house().io.run_for(50ms);
    f.let_go();
    f.until([&] { return first && second && third; });
    CHECK(*first);
    CHECK(*second);
    CHECK(*third);
    CHECK(f.times_run() == 1);
    CHECK(f.changes_to("agent-review") == 1);
}

TEST_CASE("a check that hangs ends with its time limit and all that it started, and is told like one that failed",
          "[slow]") {
    GatedTask f;
    f.want("sleep 300 & echo $! > " + f.file("pid").string() + "; echo so far; wait", 1);
    const auto refused = f.ask();
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Holds("    so far\n"));
    CHECK_FALSE(process::start_time(std::stoll(read_file(f.file("pid")))));
    CHECK(f.world.events(f.id, "checks.failed").at(0).fields.at("exit_status") == Scalar{std::int64_t{124}});
}

TEST_CASE("a commit made during a check drops what was asked for, and nothing is remembered") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting());
    REQUIRE(f.ask());
    f.until_begun();
    f.world.git.commit(f.tree, "late", "l\n");
    SECTION("and the worker is told when the check ends") {
        f.let_go();
        f.until_nothing_is_asked();
        CHECK(f.status() == "working");
        CHECK_FALSE(f.world.record(f.id).checked);
        CHECK(f.messages().size() == 1);
        REQUIRE(f.ask());
        f.until_nothing_is_asked();
        CHECK(f.times_run() == 2);
        CHECK(f.status() == "agent-review");
    }
    SECTION("and whoever asks again does not wait for the old one") {
        std::filesystem::remove(f.file("begun"));
        REQUIRE(f.ask());
        f.until([&] { return f.times_run() == 2; });
        CHECK(f.messages().empty());
        f.let_go();
        f.until_nothing_is_asked();
        CHECK(f.status() == "agent-review");
        CHECK(f.world.record(f.id).checked->commit == f.world.git.ref(f.tree, "HEAD"));
        CHECK(f.messages().empty());
    }
}

TEST_CASE("an edit made during a check makes its result worthless") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting());
    REQUIRE(f.ask());
    f.until_begun();
    write_file(f.tree / "feature", "changed\n");
    f.let_go();
    f.until_nothing_is_asked();
    CHECK(f.status() == "working");
    CHECK_FALSE(f.world.record(f.id).checked);
    REQUIRE(f.messages().size() == 1);
    CHECK_THAT(f.messages()[0], Holds("feature"));
}

TEST_CASE("another status ends the checks and what was asked for") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting());
    REQUIRE(f.ask());
    f.until_begun();
    SECTION("of the worker's") {
        REQUIRE(f.ask("clarification"));
        CHECK(f.status() == "clarification");
    }
    SECTION("the end of the task") {
        REQUIRE(f.ask("cancelled", Role::human));
    }
    f.until_nothing_is_asked();
    CHECK(f.times_run() == 1);
    CHECK(f.changes_to("agent-review") == 0);
    CHECK_FALSE(f.world.record(f.id).checked);
}

TEST_CASE("fields are not changed by a call that cannot move the task at once") {
    GatedTask f;
    f.want("true");
    Edit edit;
    edit.summary = "another";
    engine::Request request;
    request.to = "agent-review";
    const auto refused = f.world.house().go(f.runner().requests.move(f.id, request, a_human(), edit));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(f.world.record(f.id).task.summary == "do it");
    CHECK(f.times_run() == 0);
}

TEST_CASE("the end of a worker waits for the checks") {
    GatedTask f;
    const auto exited = [&] {
        const auto run = f.world.record(f.id).run_of(Role::worker)->run;
        f.world.kill_agent(f.id, Role::worker, 0);
        std::optional<bool> ended;
        const auto end = [](GatedTask& task, RunId its_run) -> Awaitable<bool> {
            co_await task.runner().exits.agent_exited(task.id, its_run);
            co_return true;
        };
        f.world.house().begin(end(f, run), ended);
        f.until([&] { return ended.has_value(); });
        CHECK(f.status() == "working");
    };
    SECTION("that pass: it has finished") {
        f.want(f.waiting());
        exited();
        f.until_begun();
        CHECK(needs_of(f.runner(), f.world.record(f.id)).kind == Need::nothing);
        f.let_go();
        f.until([&] { return f.status() == "agent-review" && !f.world.record(f.id).intent; });
        CHECK(f.told("agent.crashed") == 0);
        CHECK(f.told("agent.exited") == 1);
        CHECK(f.told("auto.advanced") == 1);
    }
    SECTION("of which one fails: it has crashed, and its next run begins with what failed") {
        f.want(f.waiting(3));
        exited();
        f.let_go();
        f.until([&] { return f.told("agent.crashed") == 1; });
        f.until([&] { return f.world.record(f.id).run_of(Role::worker) || !f.runner().exits.is_restarting(f.id); });
        CHECK(f.world.record(f.id).task.crash_count() == 1);
        if (!f.world.record(f.id).run_of(Role::worker)) {
            REQUIRE(f.world.house().go(f.runner().respawns.respawn(f.id, a_human())));
        }
        const auto messages = f.messages();
        REQUIRE(messages.size() == 1);
        CHECK_THAT(messages[0], Holds("4711 lemons"));
        CHECK(f.times_run() == 1);
    }
    SECTION("that it asked for itself: they run once, and the task moves once") {
        f.runner().gates.set_patience(100ms);
        f.want(f.waiting());
        REQUIRE(f.ask());
        exited();
        f.let_go();
        f.until([&] { return f.status() == "agent-review" && !f.runner().checks.any_under_way(); });
        f.until([&] { return f.changes_to("agent-review") > 0; });
        f.world.house().io.run_for(50ms);
        CHECK(f.times_run() == 1);
        CHECK(f.changes_to("agent-review") == 1);
        CHECK(f.told("agent.crashed") == 0);
    }
    SECTION("that cannot run: it has crashed") {
        f.want("true");
        write_file(f.tree / "dirt", "d\n");
        exited();
        CHECK(f.told("agent.crashed") == 1);
        CHECK(f.times_run() == 0);
    }
}

TEST_CASE("what was asked for outlives the daemon") {
    GatedTask f;
    f.runner().gates.set_patience(100ms);
    f.want(f.waiting());
    REQUIRE(f.ask());
    f.until_begun();
    f.runner().gates.stop();
    f.runner().checks.stop_all();
    f.until([&] { return !f.runner().checks.any_under_way(); });
    REQUIRE(f.world.record(f.id).asked);
    f.world.boot();
    f.let_go();
    f.world.house().go(f.runner().recovery.resume(f.id));  // until nothing is left to do
    f.until_nothing_is_asked();
    CHECK(f.status() == "agent-review");
    CHECK(f.times_run() == 2);
}
