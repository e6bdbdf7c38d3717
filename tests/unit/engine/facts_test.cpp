#include "daemon/engine/facts.hpp"

#include "daemon/engine/explain.hpp"
#include "daemon/engine/reminder.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

const Argvs k_checks = {{"make", "test"}};

/// Handed over, in a workflow whose way to the review names these facts.
World handed_over(GateFacts wanted) {
    World world("working");
    for (auto& transition : world.definition.transitions) {
        if (transition.to == "review" && transition.gate) transition.gate->facts = wanted;
    }
    world.section("Handoff", "DONE: all\n");
    world.facts.commit = "1a2b3c4d5e6f7788";
    world.facts.base = "main";
    world.facts.target = "origin/main";
    world.facts.project_checks = k_checks;
    return world;
}

CheckRecord ended(const World& world, bool passed) {
    CheckRecord record{world.facts.commit, hash_of(k_checks), passed, Timestamp{}, passed ? "" : "make test"};
    if (!passed) record.tail = "lemons\nmelons";
    return record;
}

/// decide_request() and explain() say the same, and the error names what is in the way.
void closed(const World& world, const std::string& name) {
    const auto decision = world.ask("review", Role::worker);
    REQUIRE_FALSE(decision);
    CHECK(decision.error().code == ErrorCode::gate_failed);
    CHECK_THAT(decision.error().message, Holds(name));
    for (const auto& edge : explain(world.definition, world.given())) {
        if (edge.to == "review") CHECK_FALSE(edge.open());
    }
}

void open(const World& world) {
    CHECK(world.ask("review", Role::worker));
    for (const auto& edge : explain(world.definition, world.given())) {
        if (edge.to == "review") CHECK(edge.open());
    }
}

GateFacts wanting_checks() {
    GateFacts wanted;
    wanted.checks = true;
    return wanted;
}

}  // namespace

TEST_CASE("each fact that a gate names must be so, and nothing else of the branch matters") {
    GateFacts wanted;
    SECTION("commits") {
        wanted.commits = 2;
        auto world = handed_over(wanted);
        world.facts.commits = 1;
        closed(world, "main");
        world.facts.commits = 2;
        world.facts.uncommitted = {"a"};
        open(world);
    }
    SECTION("clean") {
        wanted.clean = true;
        auto world = handed_over(wanted);
        world.facts.uncommitted = {"src/a", "b", "c", "d", "e", "f", "g"};
        closed(world, "src/a");
        world.facts.uncommitted.clear();
        open(world);
    }
    SECTION("merges") {
        wanted.merges = true;
        auto world = handed_over(wanted);
        world.facts.conflicts = {"src/a"};
        closed(world, "src/a");
        world.facts.conflicts.clear();
        open(world);
    }
    SECTION("reviewed_head") {
        wanted.reviewed_head = true;
        auto world = handed_over(wanted);
        closed(world, "1a2b3c4d5e6f");
        world.facts.reviewed = "none";
        closed(world, "1a2b3c4d5e6f");
        world.facts.reviewed = "0000";
        closed(world, "0000");
        world.facts.reviewed = world.facts.commit;
        open(world);
    }
}

TEST_CASE("what nobody has looked at, or could not find out, does not hold") {
    GateFacts wanted;
    wanted.clean = true;
    auto world = handed_over(wanted);
    world.facts.unknown = "the disk is on fire";
    closed(world, "the disk is on fire");
    world.facts.unknown.clear();
    world.facts.unknown_commits = world.facts.unknown_merge = "there is no such base";
    open(world);  // its gate names neither
    wanted.commits = 1;
    world = handed_over(wanted);
    world.facts.commits = 1;
    world.facts.unknown_merge = "no origin";
    open(world);
    world.facts.unknown_commits = "there is no such base";
    closed(world, "there is no such base");
    wanted.merges = true;
    world = handed_over(wanted);
    world.facts.commits = 1;
    open(world);
    world.facts.unknown_merge = "no origin";
    closed(world, "no origin");
    world.facts = {};
    CHECK_FALSE(world.ask("review", Role::worker));
}

TEST_CASE("the section comes first: nobody runs checks for what was not handed over") {
    auto world = handed_over(wanting_checks());
    world.artifacts.sections.clear();
    const auto refusal = world.refusal("review", Role::worker);
    CHECK_FALSE(refusal.checks);
    CHECK(refusal.section == "Handoff");
}

TEST_CASE("checks hold of the commit and the commands that they ran with, and of a clean worktree") {
    auto world = handed_over(wanting_checks());
    const auto is_awaited = [&] {
        const auto checks = world.refusal("review", Role::worker).checks;
        return checks && checks->commit == world.facts.commit && checks->to == "review" &&
               checks->checks == world.facts.project_checks;
    };
    CHECK(is_awaited());
    world.facts.checked = ended(world, true);
    open(world);
    world.facts.uncommitted = {"dirt"};
    closed(world, "dirt");
    world.facts.uncommitted.clear();
    world.facts.checked->commit = "another";
    CHECK(is_awaited());
    world.facts.checked = ended(world, true);
    world.facts.project_checks.push_back({"make", "lint"});
    CHECK(is_awaited());
    world.facts.project_checks.clear();  // of a project without checks nothing is asked, not even a clean worktree
    world.facts.uncommitted = {"dirt"};
    open(world);
}

TEST_CASE("a check that failed is told with its last lines, and where all of them are") {
    auto world = handed_over(wanting_checks());
    world.facts.checked = ended(world, false);
    world.facts.log = "/home/x/logs/checks.log";
    closed(world, "make test");
    const auto refusal = world.refusal("review", Role::worker);
    CHECK(refusal.by_check);
    CHECK_FALSE(refusal.checks);
    CHECK_THAT(refusal.why, Holds("    lemons\n    melons\n"));
    CHECK_THAT(refusal.why, Holds("/home/x/logs/checks.log"));
}

TEST_CASE("a gate's own commands are run instead of the project's") {
    auto wanted = wanting_checks();
    wanted.argvs = {{"./lint"}};
    auto world = handed_over(wanted);
    CHECK(checks_of(facts_wanted(world.definition, world.task, "review"), world.facts) == wanted.argvs);
    world.facts.checked = ended(world, true);
    CHECK_FALSE(world.ask("review", Role::worker));
    world.facts.checked->checks = hash_of(wanted.argvs);
    open(world);
}

TEST_CASE("only what the ways out of a state name is wanted") {
    auto world = handed_over(wanting_checks());
    CHECK(facts_wanted(world.definition, world.task, "").any());
    CHECK(facts_wanted(world.definition, world.task, "review").checks);
    CHECK_FALSE(facts_wanted(world.definition, world.task, "stuck").any());
    world.task.status = "review";
    CHECK_FALSE(facts_wanted(world.definition, world.task, "").any());
}

TEST_CASE("the end of a worker waits for the checks, which then decide what it was") {
    auto world = handed_over(wanting_checks());
    auto outcome = world.exit(Role::worker, 0);
    REQUIRE(std::holds_alternative<AwaitChecks>(outcome));
    CHECK(std::get<AwaitChecks>(outcome).checks == k_checks);
    CHECK(std::get<AwaitChecks>(outcome).commit == world.facts.commit);
    SECTION("they pass") {
        world.facts.checked = ended(world, true);
        outcome = world.exit(Role::worker, 0);
        REQUIRE(std::holds_alternative<Advance>(outcome));
        CHECK(std::get<Advance>(outcome).decision.to == "review");
        CHECK_FALSE(std::get<Advance>(outcome).crash);
    }
    SECTION("one fails") {
        world.facts.checked = ended(world, false);
        outcome = world.exit(Role::worker, 0);
        REQUIRE(std::holds_alternative<Crash>(outcome));
        CHECK(std::get<Crash>(outcome).crash_count == 1);
        CHECK_THAT(std::get<Crash>(outcome).tell, Holds("melons"));
        CHECK_THAT(std::get<Crash>(outcome).reason, !Holds("melons"));
    }
    SECTION("they cannot run") {
        world.facts.unknown = "no disk";
        CHECK(std::holds_alternative<Crash>(world.exit(Role::worker, 0)));
    }
}

TEST_CASE("an idle worker whose checks have not run is told to ask, and after a failure what failed") {
    auto world = handed_over(wanting_checks());
    auto text = forgotten(world.definition, world.given());
    REQUIRE(text);
    CHECK_THAT(*text, Tells("orange task update --status review"));
    world.facts.checked = ended(world, false);
    text = forgotten(world.definition, world.given());
    REQUIRE(text);
    CHECK_THAT(*text, Holds("melons"));
}
