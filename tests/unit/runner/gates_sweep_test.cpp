// A daemon ends at every step between a request for a status, the end of the checks, and the transition that waits for
// the checks. The next daemon moves the task once, or tells its worker once.
#include "tests/unit/runner/gates.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

void end_everywhere(const std::string& script, bool passes) {
    GatedTask f;
    f.want(script);
    f.world.keep();
    f.world.outside.fuse.arm(Fuse::Ending::none, 0);
    const auto moved = f.ask();
    CHECK(moved.has_value() == passes);
    const int steps = f.world.outside.fuse.steps();
    REQUIRE(steps > 5);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        f.world.back();
        f.world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            (void)f.ask();
        } catch (const std::exception&) {  // the daemon is dead
        }
        f.world.outside.fuse.disarm();
        f.world.boot();
        f.world.recover();
        f.until_nothing_is_asked();
        f.world.recover();
        if (f.status() == "working" && f.told("status.dropped") == 0) (void)f.ask();  // nobody had heard it
        CHECK(f.status() == (passes ? "agent-review" : "working"));
        CHECK(f.changes_to("agent-review") == (passes ? 1 : 0));
        CHECK(f.told("status.dropped") <= 1);
        CHECK_FALSE(f.world.record(f.id).intent);
        CHECK(f.messages().size() <= 1);
        CHECK(f.world.outside.tmux.windows_named("review-1") == (passes ? 1 : 0));
    }
}

}  // namespace

TEST_CASE("a daemon killed anywhere between a question and its checks' success moves the task once", "[slow]") {
    end_everywhere("true", true);
}

TEST_CASE("a daemon killed anywhere between a question and its checks' failure moves nothing, and tells it once") {
    end_everywhere("echo lemons; exit 3", false);
}
