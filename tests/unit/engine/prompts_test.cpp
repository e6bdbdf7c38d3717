#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

TEST_CASE("a prompt's variables are put in, and nothing else in braces is touched") {
    World world("working");
    world.task.summary = "Fix";
    world.task.project = "shop";
    world.task.branch = "b";
    world.task.counters["review_round"] = 2;
    world.definition.prompts["p"] =
        "{summary}|{project}|{branch}|{review_round}|{status}|{task_file}|{base}|{x}|{|{}|}{";
    CHECK(*build_prompt(world.definition, world.task, "p", "TASK.md", "origin/main") ==
          "Fix|shop|b|2|working|TASK.md|origin/main|{x}|{|{}|}{");
}

TEST_CASE("what a task says is never expanded again") {
    World world("working");
    world.task.summary = "{branch} {summary} {";
    world.task.branch = "{project}";
    world.definition.prompts["p"] = "{summary}, {branch}.";
    CHECK(*build_prompt(world.definition, world.task, "p", "TASK.md") == "{branch} {summary} {, {project}.");
}

TEST_CASE("every variable that the loader lets through is one that is put in") {
    World world("working");
    for (const auto& name : prompt_variables()) {
        world.definition.prompts["p"] = "{" + name + "}";
        CHECK(*build_prompt(world.definition, world.task, "p", "TASK.md") != "{" + name + "}");
    }
}

TEST_CASE("an unknown prompt is an error") {
    CHECK(build_prompt(World("working").definition, {}, "none", "TASK.md").error().code == ErrorCode::not_found);
}

TEST_CASE("respawning starts the state's agent with its prompt, where it has one") {
    World world("working");
    CHECK(respawn_need(world.definition, world.task)->prompt == "again");
    world.task.status = "review";
    CHECK(respawn_need(world.definition, world.task)->role == Role::reviewer);
    // A state without `agent`, as in seed 003, has the agent that the way into it starts.
    world.definition.states[2].agent.reset();
    CHECK(respawn_need(world.definition, world.task)->role == Role::reviewer);
    world.definition.transitions[1].hooks = {{"spawn_agent", {{"prompt", "look"}, {"harness", "review"}}, {}}};
    CHECK(respawn_need(world.definition, world.task)->role == Role::reviewer);
    world.task.status = "pending";
    const auto none = respawn_need(world.definition, world.task);
    REQUIRE_FALSE(none);
    CHECK_THAT(none.error().message, Tells("orange task spawn"));
    CHECK_THAT(respawn_need(world.definition, world.task, true).error().message, Tells("orange task why"));
    world.task.status = "nowhere";
    CHECK_FALSE(respawn_need(world.definition, world.task));
}

TEST_CASE("a state that nobody's start leads into is its worker's") {
    World world("stuck");
    world.definition.states[4].agent.reset();
    CHECK(respawn_need(world.definition, world.task)->role == Role::worker);
    world.definition.transitions[5].hooks = {{"spawn_agent", {{"prompt", "fix"}}, {}}, {"notify", {}, {}}};
    CHECK(respawn_need(world.definition, world.task)->role == Role::worker);
    world.task.status = "reviewing";
    const auto none = respawn_need(world.definition, world.task);
    REQUIRE_FALSE(none);
    CHECK_THAT(none.error().message, Tells("reviewing"));
}

TEST_CASE("a message to the worker names the section and the status of its own workflow") {
    World world("working");
    CHECK_THAT(
        worker_message(world.definition, world.task, "review", "failed", "TASK.md"),
        Tells("## Review") && Tells("TASK.md") && Tells("## Handoff") && Tells("orange task update --status review"));
    world.definition.transitions[1].gate->section = "Draft";
    world.definition.transitions[3].gate->section = "Findings";
    CHECK_THAT(worker_message(world.definition, world.task, "review", "failed", "TASK.md"), Tells("## Findings"));
    CHECK_THAT(worker_message(world.definition, world.task, "reviewing", "changes_requested", ".orange/TASK.md"),
               Tells("## Feedback") && Tells(".orange/TASK.md") && Tells("## Draft") &&
                   Tells("orange task update --status review"));
    CHECK(verdict_section(world.definition, "review", "reviewing") == "Review");
    CHECK(verdict_section(world.definition, "working", "review").empty());
    CHECK(worker_message(world.definition, world.task, "review", "a sentence", "TASK.md") == "a sentence");
    // Where the workflow has no gate for a worker, and no verdict, nothing is made up.
    world.task.status = "stuck";
    CHECK_THAT(worker_message(world.definition, world.task, "working", "failed", "TASK.md"),
               !Holds("##") && !Holds("orange task"));
}
