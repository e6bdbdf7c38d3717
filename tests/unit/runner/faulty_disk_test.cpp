// The nth read or write of the disk fails, for every n until none fails. The caller gets an error, or the change is
// done all the same; the disk has the old or the new state; the same call succeeds when the cause is gone.
#include "tests/catch.hpp"
#include "tests/unit/runner/pull_changes.hpp"
#include "tests/unit/runner/repair_changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;
namespace fs = std::filesystem;

namespace {

/// What an unfinished write leaves. The next sync of its task removes what TASK.md left.
std::string temporaries(const fs::path& home) {
    std::string found;
    for (const auto& entry : fs::recursive_directory_iterator(home / "tasks")) {
        const auto name = entry.path().filename().string();
        if (name.ends_with(".tmp")) found += name + " ";
    }
    return found;
}

void fail_disk_everywhere(const Change& change) {
    RunnerWorld world;
    world.outside.fuse.reads_count = true;
    const auto id = change.arrange(world);
    world.keep();
    for (int n = 1;; ++n) {
        INFO(change.name << ", operation " << n);
        world.back();
        world.outside.fuse.arm(Fuse::Ending::disk_full_once, n);
        const auto result = change.act(world, id);
        const bool struck = world.outside.fuse.struck();
        world.outside.fuse.disarm();
        if (!struck) {
            REQUIRE(result);
            CHECK(change.is_done(world, id));
            CHECK(n > 1);
            return;
        }
        if (!result) CHECK_FALSE(result.error().message.empty());
        CHECK_NOTHROW(goes_on(world, id, change));
        world.house().go(world.house().runner().turns.body_changed(id));
        CHECK(temporaries(world.home()) == "");
    }
}

}  // namespace

TEST_CASE("a failing disk while a task is created leaves the old or the new, and it can be tried again", "[slow]") {
    fail_disk_everywhere(creating());
}

TEST_CASE("a failing disk while a task is started leaves the old or the new, and it can be tried again", "[soak]") {
    fail_disk_everywhere(starting());
    fail_disk_everywhere(starting_with_a_long_prompt());
}

TEST_CASE("a failing disk while a task moves on leaves the old or the new, and it can be tried again", "[soak]") {
    fail_disk_everywhere(asking_for_review());
    fail_disk_everywhere(getting_stuck());
    fail_disk_everywhere(moving_with_fields());
}

TEST_CASE("a failing disk while a task ends leaves the old or the new, and it can be tried again", "[soak]") {
    fail_disk_everywhere(cancelling());
    fail_disk_everywhere(removing());
}

TEST_CASE("a failing disk while a task is merged leaves the old or the new, and it can be tried again", "[soak]") {
    fail_disk_everywhere(merging());
    fail_disk_everywhere(merging_with_origin());
}

TEST_CASE("a failing disk while a task is changed leaves the old or the new, and it can be tried again", "[slow]") {
    fail_disk_everywhere(changing_fields());
    fail_disk_everywhere(choosing_the_branch());
    fail_disk_everywhere(renaming_the_branch());
    fail_disk_everywhere(switching_the_branch());
    fail_disk_everywhere(taking_over_the_branch());
    fail_disk_everywhere(sending());
    fail_disk_everywhere(acknowledging());
    fail_disk_everywhere(respawning());
}

TEST_CASE("a failing disk while a task changes its workflow leaves the old or the new, and it can be tried again",
          "[slow]") {
    fail_disk_everywhere(moving_to_another_workflow());
    fail_disk_everywhere(leaving_a_lost_workflow());
}

TEST_CASE("a failing disk while workspaces or projects change leaves the old or the new, and it can be tried again",
          "[slow]") {
    fail_disk_everywhere(making_workspaces());
    fail_disk_everywhere(removing_workspaces());
    fail_disk_everywhere(releasing_again());
    fail_disk_everywhere(leaving());
}

TEST_CASE("a failing disk while a project, a workflow or a harness changes leaves the old or the new") {
    fail_disk_everywhere(adding_a_project());
    fail_disk_everywhere(moving_a_project());
    fail_disk_everywhere(exporting_a_workflow());
    fail_disk_everywhere(trusting());
}

TEST_CASE("a failing disk while a task is published leaves the old or the new, and it can be tried again", "[soak]") {
    fail_disk_everywhere(publishing());
    fail_disk_everywhere(opening_a_pull_request());
    fail_disk_everywhere(merging_at_github());
}

TEST_CASE("a failing disk while an agent's end is noticed loses no death and counts none twice", "[slow]") {
    fail_disk_everywhere(crashing());
    fail_disk_everywhere(crashing_in_review());
    fail_disk_everywhere(leaving_an_artifact());
}

TEST_CASE("a failing disk while a start fails leaves a task that is queued or asked for", "[slow]") {
    fail_disk_everywhere(failing_to_start());
}
