#include "daemon/engine/start.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;
using Catch::Contains;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a task may be created for a reviewer's state, for one that waits for its merge, and for clarification") {
    World world("pending");
    CHECK(start_states(world.definition) == Names{"review", "reviewing"});
    world.definition.states.push_back({"clarification", false, Role::worker, "again", Meaning::clarification});
    CHECK(start_states(world.definition) == Names{"review", "reviewing", "clarification"});
}

TEST_CASE("a reviewer is started as the workflow starts it on the way in, with the round that this is") {
    const World world("pending");
    const auto decision = decide_start(world.definition, world.task, "review");
    REQUIRE(decision);
    CHECK(decision->from == "pending");
    CHECK(decision->to == "review");
    CHECK(decision->counters == std::map<std::string, std::int64_t>{{"review_round", 1}});
    CHECK(names_of(*decision) == Names{"acquire_workspace", "spawn_reviewer", "ensure_agent"});
    CHECK(decision->actions[1].param("prompt") == "look");
    CHECK(needs_workspace(*decision));
}

TEST_CASE("what else happens on the way into a reviewer's state does not happen to a new task") {
    World world("pending");
    for (auto& transition : world.definition.transitions) {
        if (transition.to != "review") continue;
        transition.hooks = {
            {"kill_session", {}, {}},
            {"notify", {}, {}},
            {"spawn_agent", {{"prompt", "look"}, {"harness", "review"}, {"increment", "review_round"}}, {}}};
    }
    const auto decision = decide_start(world.definition, world.task, "review");
    REQUIRE(decision);
    CHECK(names_of(*decision) == Names{"acquire_workspace", "spawn_agent", "ensure_agent"});
    CHECK(decision->counters.at("review_round") == 1);
}

TEST_CASE("work that only waits to be merged needs neither agent nor workspace") {
    const World world("pending");
    const auto decision = decide_start(world.definition, world.task, "reviewing");
    REQUIRE(decision);
    CHECK(decision->actions.empty());
    CHECK(decision->counters.empty());
    CHECK_FALSE(needs_workspace(*decision));
}

TEST_CASE("where the workflow has a transition for it, that one is taken") {
    World world("pending");
    world.definition.states.push_back({"clarification", false, Role::worker, "again", Meaning::clarification});
    auto ask = edge({"pending"}, "clarification", {Role::human, Role::system});
    ask.hooks = {{"acquire_workspace", {}, {}}, {"run_command", {}, {"true"}}};
    world.definition.transitions.push_back(ask);
    const auto decision = decide_start(world.definition, world.task, "clarification");
    REQUIRE(decision);
    CHECK(names_of(*decision) == Names{"acquire_workspace", "run_command", "ensure_agent"});
}

TEST_CASE("any other state is refused with those that would do, an unknown one with those that there are") {
    const World world("pending");
    for (const std::string no : {"pending", "working", "stuck", "done", "cancelled"}) {
        const auto refused = decide_start(world.definition, world.task, no);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Tells(no) && Tells("review, reviewing"));
    }
    const auto unknown = decide_start(world.definition, world.task, "nonsense");
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Tells("\"nonsense\"") && Tells("pending, working, review"));
}

TEST_CASE("a workflow in which nothing else can begin says so") {
    World world("pending");
    std::erase_if(world.definition.states,
                  [](const State& state) { return state.name == "review" || state.name == "reviewing"; });
    REQUIRE(start_states(world.definition).empty());
    const auto refused = decide_start(world.definition, world.task, "working");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("small") && Tells("pending"));
}

TEST_CASE("a state whose merge needs force, an artifact or somebody else is no place to begin") {
    World world("pending");
    auto& transitions = world.definition.transitions;
    auto& merge = *std::find_if(transitions.begin(), transitions.end(), [](const Transition& transition) {
        return transition.to == "done" && !transition.any_active;
    });
    const auto begins = [&] {
        const auto states = start_states(world.definition);
        return std::find(states.begin(), states.end(), "reviewing") != states.end();
    };
    CHECK(begins());
    merge.gate = Gate{"Handoff", true, {}, {}, VerdictLine::any, false};
    CHECK_FALSE(begins());
    merge.gate.reset();
    merge.force = true;
    CHECK_FALSE(begins());
    merge.force = false;
    merge.by = {Role::human};
    CHECK_FALSE(begins());
}

TEST_CASE("a reviewer's state without `agent` is known by who is started on the way in") {
    World world("pending");
    auto& review = *std::find_if(world.definition.states.begin(), world.definition.states.end(),
                                 [](const State& state) { return state.name == "review"; });
    review.agent.reset();
    const auto decision = decide_start(world.definition, world.task, "review");
    REQUIRE(decision);
    CHECK(names_of(*decision) == Names{"acquire_workspace", "spawn_reviewer"});
    CHECK(needs_workspace(*decision));
    // One that starts a worker where the state wants a reviewer is not the way in.
    review.agent = Role::reviewer;
    world.definition.transitions[1].hooks = {{"spawn_agent", {{"prompt", "again"}}, {}}};
    CHECK(names_of(*decide_start(world.definition, world.task, "review")) ==
          Names{"acquire_workspace", "ensure_agent"});
}

TEST_CASE("numbers that are set on the way into a state are set for a task that begins there") {
    World world("pending");
    world.definition.transitions[1].hooks = {{"set_field", {{"field", "weight"}, {"value", "7"}}, {}},
                                             {"increment", {{"field", "review_round"}}, {}},
                                             {"spawn_reviewer", {{"prompt", "look"}}, {}}};
    const auto decision = decide_start(world.definition, world.task, "review");
    REQUIRE(decision);
    CHECK(decision->counters == std::map<std::string, std::int64_t>{{"review_round", 1}, {"weight", 7}});
}

TEST_CASE("what needs a workspace is whatever starts an agent") {
    for (const char* name : {"acquire_workspace", "ensure_agent", "spawn_agent", "spawn_reviewer"}) {
        Decision decision;
        decision.actions = {{"notify", {}, {}}, {name, {}, {}}};
        CHECK(needs_workspace(decision));
    }
    Decision decision;
    decision.actions = {{"notify", {}, {}}, {"push_branch", {}, {}}};
    CHECK_FALSE(needs_workspace(decision));
}
