#include "common/base/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

TEST_CASE("a worker that leaves its artifact advances the task, as the system") {
    World world("working");
    world.section("Handoff", "DONE: x");
    const auto outcome = world.exit(Role::worker, 0);
    const auto& advance = std::get<Advance>(outcome);
    CHECK(advance.decision.to == "review");
    CHECK(advance.decision.counters.at("review_round") == 1);
    CHECK_THAT(advance.decision.auto_reason, Tells("worker") && Tells("0") && Tells("## Handoff"));
    CHECK(advance.decision.attested);
    CHECK_FALSE(advance.crash);
}

TEST_CASE("a stale artifact is none") {
    World world("working");
    world.section("Handoff", "DONE: x");
    world.entry["Handoff"] = orange::sha256("DONE: x");
    CHECK(std::get<Crash>(world.exit(Role::worker)).crash_count == 1);
}

TEST_CASE("the first crash is counted, the one at the threshold leads to stuck") {
    World world("working");
    const auto first = std::get<Crash>(world.exit(Role::worker, 137));
    CHECK(first.crash_count == 1);
    CHECK_FALSE(first.respawn);
    CHECK_THAT(first.reason, Tells("worker") && Tells("137") && Tells("## Handoff"));
    world.task.counters["crash_count"] = 1;
    const auto second = std::get<Advance>(world.exit(Role::worker, -1));
    CHECK(second.decision.to == "stuck");
    CHECK(second.crash->crash_count == 2);
    CHECK_THAT(second.decision.auto_reason, Tells("2") && Tells("working") && Tells("## Handoff"));
    CHECK(second.decision.actions.back().param("prompt") == "fix");
}

TEST_CASE("a crash at the threshold skips gate, guard and askers of the way to stuck, and runs its hooks") {
    World world("review");
    world.task.counters = {{"crash_count", 1}, {"review_round", 1}};
    const auto advance = std::get<Advance>(world.exit(Role::reviewer));
    CHECK(advance.decision.to == "stuck");
    REQUIRE(advance.decision.actions.size() == 3);
    CHECK(advance.decision.actions[0].name == "kill_reviewer");
    CHECK(advance.decision.attested);
    CHECK_FALSE(advance.crash->respawn);
}

TEST_CASE("a crash with respawn asks for the agent again below the threshold only") {
    World world("review");
    CHECK(std::get<Crash>(world.exit(Role::reviewer)).respawn);
}

TEST_CASE("a workflow without stuck goes on counting and leaves the task to a human") {
    World world("working");
    std::erase_if(world.definition.transitions, [](const Transition& transition) { return transition.to == "stuck"; });
    world.task.counters["crash_count"] = 5;
    const auto crash = std::get<Crash>(world.exit(Role::worker));
    CHECK(crash.crash_count == 6);
    CHECK_FALSE(crash.respawn);
}

TEST_CASE("the verdict of a dead reviewer moves the task, unattested") {
    World world("review");
    world.section("Review", "Verdict: PASS");
    auto advance = std::get<Advance>(world.exit(Role::reviewer, 0));
    CHECK(advance.decision.to == "reviewing");
    CHECK_FALSE(advance.decision.attested);
    world.section("Review", "Verdict: FAIL");
    CHECK(std::get<Advance>(world.exit(Role::reviewer)).decision.to == "working");
    world.task.counters["review_round"] = 2;
    advance = std::get<Advance>(world.exit(Role::reviewer));
    CHECK(advance.decision.to == "stuck");
    CHECK_FALSE(advance.crash);
}

TEST_CASE("the death of an agent that the state does not wait for changes nothing") {
    World world("review");
    world.section("Review", "Verdict: PASS");
    CHECK_THAT(std::get<NothingToDo>(world.exit(Role::worker)).why, Tells("review") && Tells("reviewer"));
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::human)));
    world.task.status = "working";
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::reviewer)));
    world.task.status = "done";
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::worker)));
    world.task.status = "reviewing";
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::worker)));
    world.task.status = "nowhere";
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::worker)));
}

TEST_CASE("an agent that ends where no rule is about it is dead, but for one that waits for an answer") {
    World world("working");
    world.definition.exit_rules.clear();
    CHECK_THAT(std::get<MarkDead>(world.exit(Role::worker, 1)).reason, Tells("worker") && Tells("1") && Tells("small"));
    CHECK(std::holds_alternative<MarkDead>(world.exit(Role::worker, 0)));
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::reviewer)));
    world.definition.states[1].meaning = Meaning::clarification;
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::worker, 0)));
    CHECK(std::holds_alternative<MarkDead>(world.exit(Role::worker, 1)));
    world.task.status = "reviewing";
    CHECK(std::holds_alternative<NothingToDo>(world.exit(Role::worker)));
}

TEST_CASE("mark_dead says who died") {
    CHECK_THAT(std::get<MarkDead>(World("stuck").exit(Role::worker, 2)).reason, Tells("worker") && Tells("2"));
}

TEST_CASE("an advance that its own transition rejects is a crash") {
    World world("working");
    world.definition.exit_rules[0].has_artifact->fields.clear();
    world.section("Handoff", "no field at all");
    const auto crash = std::get<Crash>(world.exit(Role::worker));
    CHECK(crash.crash_count == 1);
    CHECK_THAT(crash.reason, Tells("## Handoff"));
    world.task.counters["crash_count"] = 1;
    CHECK(std::get<Advance>(world.exit(Role::worker)).decision.to == "stuck");
    world.definition.exit_rules.erase(world.definition.exit_rules.begin() + 1);
    CHECK(std::get<Crash>(world.exit(Role::worker)).crash_count == 2);
}

TEST_CASE("a crash names every artifact that would have advanced the task, once") {
    World world("working");
    auto plan = world.definition.exit_rules[0];
    plan.has_artifact->section = "Plan";
    world.definition.exit_rules.insert(world.definition.exit_rules.begin(), plan);
    world.definition.exit_rules.insert(world.definition.exit_rules.begin(), plan);
    CHECK_THAT(std::get<Crash>(world.exit(Role::worker)).reason,
               Tells("worker") && Tells("1") && Tells("## Plan") && Tells("## Handoff"));
}

TEST_CASE("a crash takes the way to stuck that needs no force, and a forced one where there is no other") {
    World world("working");
    world.task.counters["crash_count"] = 1;
    auto& transitions = world.definition.transitions;
    std::erase_if(transitions, [](const Transition& transition) { return transition.to == "stuck"; });
    auto forced = edge({"working"}, "stuck");
    forced.force = true;
    forced.hooks = {{"kill_session", {}, {}}};
    auto plain = edge({"working"}, "stuck");
    plain.hooks = {{"notify", {}, {}}};
    const auto first_action = [&] { return std::get<Advance>(world.exit(Role::worker)).decision.actions.at(0).name; };
    transitions.push_back(forced);
    CHECK(first_action() == "kill_session");
    transitions.push_back(plain);
    CHECK(first_action() == "notify");
    transitions.push_back(forced);
    CHECK(first_action() == "notify");
}

TEST_CASE("a crash rule without a threshold counts for ever and never gives up") {
    World world("working");
    world.definition.exit_rules[1].stuck_after = 0;
    world.definition.exit_rules[1].respawn = true;
    world.task.counters["crash_count"] = 40;
    const auto crash = std::get<Crash>(world.exit(Role::worker));
    CHECK(crash.crash_count == 41);
    CHECK(crash.respawn);
}

TEST_CASE("an advance of which no target's guard holds is a crash that says so") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    for (auto& target : world.definition.exit_rules[3].targets) target.when->comparison = Comparison::less;
    world.task.counters["review_round"] = 2;
    const auto crash = std::get<Crash>(world.exit(Role::reviewer));
    CHECK_THAT(crash.reason, Tells("reviewer") && Tells("1"));
}

TEST_CASE("an advance that waits for nothing names no artifact, and a way without a gate is attested") {
    World world("working");
    world.definition.exit_rules = {{"working", {}, ExitAction::advance, {{{}, "stuck"}}, 0, false}};
    const auto advance = std::get<Advance>(world.exit(Role::worker, 0));
    CHECK(advance.decision.to == "stuck");
    CHECK_THAT(advance.decision.auto_reason, Tells("worker") && Tells("0"));
    CHECK(advance.decision.attested);
}
