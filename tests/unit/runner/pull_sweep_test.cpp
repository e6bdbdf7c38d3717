// A daemon ends at every step of its work on a pull request: before and after each child, and at each write. The next
// daemon finishes the work once.
#include "tests/catch.hpp"
#include "tests/unit/runner/pull_changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::ChildFault;
using fakes::Fuse;

namespace {

class Kills {
  public:
    explicit Kills(Change change) : change_(std::move(change)), id_(change_.arrange(world_)) { world_.keep(); }

    /// How many there were.
    int everywhere() {
        for (const auto fault : {ChildFault::ends_the_daemon_before, ChildFault::ends_the_daemon_after}) {
            for (int n = 1; at_child(fault, n); ++n) {
            }
        }
        world_.back();
        world_.outside.fuse.arm(Fuse::Ending::none, 0);
        REQUIRE(change_.act(world_, id_));
        const int steps = world_.outside.fuse.steps();
        for (int n = 1; n <= steps; ++n) at_step(n);
        return kills_;
    }

  private:
    bool at_child(ChildFault fault, int n) {
        INFO(change_.name << ", child " << n << ", way " << static_cast<int>(fault));
        world_.back();
        world_.boot();
        world_.outside.children.arm(fault, n);
        const bool killed = is_killed();
        world_.outside.children.disarm();
        if (killed) goes_on();
        return killed;
    }
    void at_step(int n) {
        INFO(change_.name << ", step " << n);
        world_.back();
        world_.outside.fuse.arm(Fuse::Ending::killed, n);
        const bool killed = is_killed();
        world_.outside.fuse.disarm();
        if (killed) goes_on();
    }
    bool is_killed() {
        try {
            (void)change_.act(world_, id_);
        } catch (const fakes::Killed&) {
            return true;
        }
        return false;
    }
    void goes_on() {
        ++kills_;
        world_.boot();
        CHECK_NOTHROW(change_.holds(world_, id_));
        world_.recover();
        CHECK_NOTHROW(change_.holds(world_, id_));
        if (!change_.is_done(world_, id_)) CHECK(change_.act(world_, id_));
        CHECK(change_.is_done(world_, id_));
        CHECK_NOTHROW(change_.holds(world_, id_));
    }

    Change change_;
    RunnerWorld world_;
    TaskId id_;
    int kills_ = 0;
};

}  // namespace

TEST_CASE("a daemon that is killed while it opens a pull request leaves one, and the next adopts it", "[soak]") {
    CHECK(Kills(opening_a_pull_request()).everywhere() > 20);
}

TEST_CASE("a daemon that is killed while GitHub merges leaves a task that is done once", "[soak]") {
    CHECK(Kills(merging_at_github()).everywhere() > 50);
}

TEST_CASE("a daemon that is killed while it follows a merged pull request leaves a task that is done once", "[soak]") {
    CHECK(Kills(following_a_merge()).everywhere() > 40);
}

TEST_CASE("a daemon that is killed while it takes comments from a pull request takes each once", "[soak]") {
    CHECK(Kills(following_threads()).everywhere() > 10);
}
