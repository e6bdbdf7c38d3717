// A daemon is killed at every step of a rejection with comments, and of the handover that answers them.
#include "tests/catch.hpp"
#include "tests/unit/runner/review/review.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

void kill_everywhere(RunnerWorld& world, const std::function<void()>& act, const std::function<void()>& then) {
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    act();
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    then();
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.boot();
        world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            act();
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        then();
    }
}

}  // namespace

TEST_CASE("a killed daemon sends comments once, or not at all") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?"), on_line(1, "a name")}).value();
    kill_everywhere(
        world, [&] { (void)send_back(world, id, "Nearly."); },
        [&] {
            const bool is_sent = world.record(id).task.status == "working";
            CHECK((is_sent || world.record(id).task.status == "reviewing"));
            CHECK(comment_counts(world, id).drafts == (is_sent ? 0 : 2));
            CHECK(comment_counts(world, id).sent == (is_sent ? 2 : 0));
            if (!is_sent) send_back(world, id, "Nearly.").value();
            CHECK(comment_counts(world, id).sent == 2);
            CHECK(times_in(world.task_text(id), "what if it is empty?") == 1);
            CHECK(comment_list(world, id).comments.size() == 2);
        });
}

TEST_CASE("a killed daemon takes answers once, or not at all") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    send_back(world, id).value();
    world.append_body(id, "\n## Handoff\nDONE: again\n1: zero then\n");
    kill_everywhere(
        world, [&] { (void)world.move(id, "agent-review", Role::worker); },
        [&] {
            const bool is_taken = world.record(id).task.status == "agent-review";
            CHECK(comment_counts(world, id).answered == (is_taken ? 1 : 0));
            if (!is_taken) world.move(id, "agent-review", Role::worker).value();
            CHECK(comment_counts(world, id).answered == 1);
            CHECK(comment_list(world, id).comments.front().turns.back().answer == "zero then");
        });
}
