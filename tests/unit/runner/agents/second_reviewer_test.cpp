// Two reviewers, one after the other, and statuses for which a workflow names a harness.
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A project whose second reviews are done by `other`, a program that continues conversations.
struct TwoReviewers : RunnerWorld {
    TwoReviewers() {
        define("other", "");
        define("fussy", "effort: {args: [\"--effort={effort}\"]}\n");
        (void)draft("", 4);
        set(*this, "second_review_harness", "other");
    }
    void define(const std::string& name, const std::string& effort) {
        write_file(home() / ("harnesses/" + name + ".yml"),
                   "name: " + name + "\nprogram: true\nargv:\n  full: [\"{session_args}\", " +
                       (effort.empty() ? "" : "\"{effort_args}\", ") + "--, \"{prompt}\"]\n" + effort +
                       "session: {start: [-s, \"{session}\"], resume: [-r, \"{session}\"]}\n" +
                       "screen: {composer_empty: [❯]}\n");
    }
    TaskId in_first_review(const std::string& harness = "bot") {
        const auto id = make_task("do it", 4, "two-reviewers");
        set(*this, id, [&](TaskRecord& record) { record.task.review_harness = harness; });
        move(id, "planning").value();
        append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        move(id, "working").value();
        append_body(id, "\n## Handoff\nDONE: all of it\n");
        move(id, "agent-review").value();
        return id;
    }
    Outcome pass_first(const TaskId& id) {
        append_body(id, "\n## Review\nVerdict: PASS\n");
        return move(id, "second-review", Role::reviewer).value();
    }
    TaskId in_second_review() {
        const auto id = in_first_review();
        pass_first(id);
        return id;
    }
    AgentRun reviewer(const TaskId& id) {
        const auto* run = record(id).run_of(Role::reviewer);
        return run ? *run : AgentRun{};
    }
    std::string argv(const TaskId& id) {
        const auto folder = house().control().run_folder(record(id));
        return read_file(agents::Launcher::spec_file(folder, reviewer(id).run));
    }
};

}  // namespace

TEST_CASE("the second reviewer is another agent, with the harness of the project's setting") {
    TwoReviewers world;
    const auto id = world.in_first_review();
    const auto first = world.reviewer(id);
    CHECK(first.harness == "bot");
    CHECK(first.prompt == "reviewer");
    world.pass_first(id);
    CHECK(world.record(id).task.status == "second-review");
    const auto second = world.reviewer(id);
    CHECK(second.run != first.run);
    CHECK(second.harness == "other");
    CHECK(second.prompt == "second_reviewer");
    CHECK(world.house().control().alive(world.record(id), Role::reviewer));
    CHECK(world.house().control().alive(world.record(id), Role::worker));
    CHECK(world.record(id).notices.empty());

    SECTION("both have passed") {
        world.append_body(id, "\n## Second review\nVerdict: PASS\n");
        world.move(id, "reviewing", Role::reviewer).value();
        CHECK_FALSE(world.record(id).run_of(Role::reviewer));
        CHECK_THAT(world.task_text(id), Holds("## Review\n") && Holds("## Second review\n"));
    }
    SECTION("the verdict of the first one does not count for the second") {
        CHECK_FALSE(world.move(id, "reviewing", Role::reviewer));
    }
    SECTION("the second one fails it") {
        world.append_body(id, "\n## Second review\nVerdict: FAIL\n- It rounds up.\n");
        CHECK_FALSE(world.move(id, "stuck", Role::reviewer));
        world.move(id, "working", Role::reviewer).value();
        REQUIRE_FALSE(world.record(id).outbox.empty());
        CHECK_THAT(world.record(id).outbox.back().text, Holds("## Second review"));
        CHECK(world.record(id).task.review_round() == 1);
        CHECK(world.record(id).failed_reviews.size() == 1);
    }
}

TEST_CASE("without the setting, the reviewer's harness reviews again, in a conversation of its own") {
    TwoReviewers world;
    set(world, "second_review_harness", "");
    const auto id = world.in_first_review("other");
    REQUIRE(world.record(id).session_of(Role::reviewer));
    const auto first = world.record(id).session_of(Role::reviewer)->id;

    SECTION("at once") {
        world.pass_first(id);
    }
    SECTION("after a start that failed") {
        world.outside.tmux.open_fails = Error(ErrorCode::io, "no window");
        world.pass_first(id);
        CHECK_FALSE(runs(world, id, Role::reviewer));
        world.outside.tmux.open_fails.reset();
        respawn(world, id).value();
        REQUIRE(comes_true(world, [&] { return runs(world, id, Role::reviewer); }));
    }
    CHECK(world.reviewer(id).harness == "other");
    CHECK_THAT(world.argv(id), !Holds(first));
}

TEST_CASE("a second reviewer that died comes back as itself, also under another daemon") {
    TwoReviewers world;
    const auto id = world.in_second_review();
    const auto conversation = world.record(id).session_of(Role::reviewer)->id;
    SECTION("by Orange") {
        dies(world, id, Role::reviewer);
    }
    SECTION("by a human, after a restart") {
        world.kill_agent(id, Role::reviewer, 1);
        world.boot();
        world.recover();
        if (!runs(world, id, Role::reviewer)) respawn(world, id).value();
    }
    REQUIRE(runs(world, id, Role::reviewer));
    CHECK(world.reviewer(id).harness == "other");
    CHECK(world.reviewer(id).prompt == "second_reviewer");
    CHECK(world.reviewer(id).resumed);
    CHECK_THAT(world.argv(id), Holds("\"-r\",\"" + conversation + "\""));
}

TEST_CASE("a second reviewer that waits for room keeps its harness, and waits for that one's limit") {
    TwoReviewers world;
    world.outside.settings.harness_limits["other"] = 1;
    world.boot();
    const auto first = world.in_second_review(), second = world.in_second_review();
    CHECK(world.reviewer(first).harness == "other");
    CHECK_FALSE(runs(world, second, Role::reviewer));
    const auto wait = wait_of(world, second);
    REQUIRE(wait);
    CHECK(wait->harness == "other");
    CHECK(wait->reason == "harness_limit");
    CHECK(wait->running == 1);
    world.boot();
    world.recover();
    CHECK_FALSE(runs(world, second, Role::reviewer));
    world.append_body(first, "\n## Second review\nVerdict: PASS\n");
    world.move(first, "reviewing").value();
    REQUIRE(comes_true(world, [&] { return runs(world, second, Role::reviewer); }));
    CHECK(world.reviewer(second).harness == "other");
    CHECK(world.reviewer(second).prompt == "second_reviewer");
}

TEST_CASE("the effort of the reviewer is not that of another harness") {
    TwoReviewers world;
    set(world, "second_review_harness", "fussy");
    const auto id = world.in_first_review();
    set(world, id, [](TaskRecord& record) { record.task.review_effort = "high"; });
    SECTION("another one") {
        world.pass_first(id);
        CHECK_THAT(world.argv(id), !Holds("--effort"));
    }
    SECTION("its own") {
        set(world, id, [](TaskRecord& record) { record.task.review_harness = "fussy"; });
        world.pass_first(id);
        CHECK_THAT(world.argv(id), Holds("--effort=high"));
    }
}

TEST_CASE("a workflow may name a harness for a status, and a living agent of another one gives way to it") {
    TwoReviewers world;
    write_file(world.home() / "workflows/named.yml", R"(name: named
version: 1
states:
  pending: {}
  planning: {agent: worker, respawn_prompt: plan}
  working: {agent: worker, respawn_prompt: work}
  done: {terminal: true}
prompts: {plan: Plan., work: Work.}
transitions:
  - {from: pending, to: planning, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: plan, harness: other}]}
  - {from: planning, to: working, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: working, to: done}
)");
    const auto id = world.make_task("do it", 4, "named");
    const auto worker = [&] { return *world.record(id).run_of(Role::worker); };
    world.move(id, "planning").value();
    CHECK(worker().harness == "other");
    dies(world, id, Role::worker);
    if (!runs(world, id, Role::worker)) respawn(world, id).value();
    CHECK(worker().harness == "other");
    world.move(id, "working").value();
    CHECK(worker().harness == "bot");
    CHECK(world.events(id, "agent.exited").back().fields.at("ended_by") == Scalar(std::string("orange")));
}

TEST_CASE("a task does not change to a workflow whose harness is not there") {
    TwoReviewers world;
    auto text = read_file(std::filesystem::path(ORANGE_SOURCE_DIR) / "workflows/two-reviewers.yml");
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"name: two-reviewers", "name: mine"},
                                   {"harness: second_review", "harness: nobody"}}) {
        text.replace(text.find(from), from.size(), to);
    }
    write_file(world.home() / "workflows/mine.yml", text);
    const auto id = world.in_first_review();
    Edit edit;
    edit.workflow = "mine";
    const auto changed = world.house().go(world.house().runner().requests.edit(id, edit, Caller{}));
    REQUIRE_FALSE(changed);
    CHECK_THAT(changed.error().message, Tells("mine") && Tells("nobody"));
    CHECK(world.record(id).task.workflow == "two-reviewers");
}
