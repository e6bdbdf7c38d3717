#include "daemon/engine/start.hpp"

#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;
using Catch::Matchers::Contains;

namespace {

using Names = std::vector<std::string>;

Names names_of(const Decision& decision) {
    Names names;
    for (const auto& action : decision.actions) names.push_back(action.name);
    return names;
}

}  // namespace

TEST_CASE("a task may be created for a reviewer's state, for one that waits for its merge, and for clarification") {
    World world("pending");
    CHECK(start_states(world.definition) == Names{"review", "reviewing"});
    world.definition.states.push_back({"clarification", false, Role::worker, "again"});
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
    world.definition.states.push_back({"clarification", false, Role::worker, "again"});
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
        CHECK_THAT(refused.error().message, Contains("created as " + no) && Contains("review, reviewing"));
    }
    const auto unknown = decide_start(world.definition, world.task, "nonsense");
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Contains("no state \"nonsense\"") && Contains("pending, working, review"));
}
