// The settings that a sub-task of an agent takes from its parent (daemon/rpc/methods/subtasks).
#include "daemon/rpc/methods/subtasks.hpp"

#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("A sub-task with another program has no more permissions than the workflow gives the worker of its parent") {
    RunnerWorld world;
    write_file(world.home() / "workflows/careful.yml",
               "name: careful\nversion: 1\nstates:\n  pending: {}\n  working: {agent: worker, respawn_prompt: go}\n"
               "  done: {terminal: true}\n"
               "transitions:\n"
               "  - from: pending\n    to: working\n    hooks:\n      - action: acquire_workspace\n"
               "      - {action: spawn_agent, prompt: go, permissions: reduced}\n"
               "  - {from: working, to: done, by: [system]}\n"
               "prompts: {go: Go.}\n");
    const std::string workflow = GENERATE("careful", "relay");
    auto record = world.draft("the whole");
    record.task.workflow = workflow;
    const auto parent = record.task.id;
    const auto program = record.task.harness;
    world.create(std::move(record), "", true).value();
    world.move(parent, "working").value();
    Caller by;
    by.role = Role::worker;
    by.task = parent;
    by.run = world.record(parent).run_of(Role::worker)->run;
    rpc::TaskCreate other, same;
    other.harness = "another-program";
    same.harness = program;
    rpc::complete_for_agent(world.house().world(), other, by).value();
    rpc::complete_for_agent(world.house().world(), same, by).value();
    CHECK(other.permissions == (workflow == "careful" ? std::optional<std::string>("reduced") : std::nullopt));
    CHECK_FALSE(same.permissions);
}
