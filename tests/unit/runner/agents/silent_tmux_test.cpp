// What is said of an agent that ended while tmux does not answer.
#include "tests/catch.hpp"
#include "tests/unit/runner/method_changes.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("why names tmux if an agent was killed and tmux does not answer") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto waiting_for = [&] {
        const auto why = call(world, "task.why", {{"id", id.value}});
        return why.value().at("waiting_for").get<std::string>();
    };
    world.kill_agent(id, Role::worker, 137);
    CHECK_THAT(waiting_for(), Holds("the worker has ended") && !Holds("tmux"));
    world.outside.tmux.list_fails = Error(ErrorCode::timeout, "`tmux` did not end within its time");
    CHECK_THAT(waiting_for(), Tells("worker") && Tells("tmux"));
}
