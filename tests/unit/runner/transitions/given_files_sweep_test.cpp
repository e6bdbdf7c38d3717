// A daemon is killed, or the disk is full, at every step of a call that gives files to an agent.
#include <filesystem>
#include <functional>

#include "tests/catch.hpp"
#include "tests/unit/runner/given.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;
namespace fs = std::filesystem;

namespace {

/// Uploads two files of one name, so that the second finds it taken.
std::vector<std::string> two_uploads(RunnerWorld& world) {
    return {upload(world, "shot.png", "one").value(), upload(world, "shot.png", "two").value()};
}

/// `give` makes the call with two uploads; `is_done` says whether its change has come about.
void give_everywhere(RunnerWorld& world, const TaskId& id, Fuse::Ending ending,
                     const std::function<Result<Outcome>(const std::vector<std::string>&)>& give,
                     const std::function<bool()>& is_done) {
    world.keep();
    bool had_struck = true;
    for (int n = 1; had_struck; ++n) {
        INFO("step " << n);
        world.back();
        const auto ids = two_uploads(world);
        Result<Outcome> given = Error{};
        world.outside.fuse.arm(ending, n);
        bool is_killed = false;
        try {
            given = give(ids);
        } catch (const fakes::Killed&) {
            is_killed = true;
        }
        had_struck = world.outside.fuse.struck();
        world.outside.fuse.disarm();
        // What was refused can be tried again with the same upload; what was done has used it.
        for (const auto& each : ids) {
            if (!is_killed) CHECK(is_waiting(world, each) == !given.has_value());
        }
        if (!is_killed && !given) CHECK_FALSE(is_done());
        world.boot();
        world.house().runner().uploads.remove_left();
        world.recover();
        CHECK(uploads_left(world) == 0);
        if (world.house().world().tasks.brief(id)) {
            world.house().go(world.house().runner().turns.body_changed(id));
            CHECK(has_what_is_named(world, id));
            CHECK(world.record(id).unwritten_files.empty());
        }
        if (is_done()) {
            CHECK(named_in(world.task_text(id)).size() == 2);
            CHECK(times_in(world.task_text(id), "~/Desktop/shot.png") == 2);
        } else {
            give(two_uploads(world)).value();
            CHECK(has_what_is_named(world, id));
        }
        CHECK(is_done());
    }
}

}  // namespace

TEST_CASE("a task that is created with a file has it, or is not there", "[slow]") {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_once}) {
        RunnerWorld world;
        const auto record = world.draft();
        const auto& id = record.task.id;
        give_everywhere(
            world, id, ending, [&](const auto& ids) { return create_with(world, record, ids); },
            [&] { return world.house().world().tasks.brief(id) != nullptr; });
    }
}

TEST_CASE("a message with a file names what is there, or is not sent", "[slow]") {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_once}) {
        RunnerWorld world;
        const auto id = world.make_task();
        world.move(id, "planning").value();
        give_everywhere(
            world, id, ending, [&](const auto& ids) { return send_with(world, id, ids); },
            [&] { return told_to_agent(world, id).find("Look (files: ") != std::string::npos; });
    }
}

TEST_CASE("an answer with a file to an agent that has ended names what is there, or is not left", "[slow]") {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_once}) {
        RunnerWorld world;
        const auto id = world.make_task();
        world.move(id, "planning").value();
        world.kill_agent(id, Role::worker, 1);
        world.recover();
        const auto leave = [&](const std::vector<std::string>& ids) -> Result<Outcome> {
            const auto left = with_files(world, ids, [&]() -> Result<void> {
                return world.house().go(world.house().runner().outbox.leave(id, Role::worker, "Blue", ids));
            });
            return left ? Result<Outcome>(Outcome{}) : left.error();
        };
        give_everywhere(world, id, ending, leave,
                        [&] { return told_to_agent(world, id).find("Desktop/shot.png") != std::string::npos; });
    }
}

TEST_CASE("feedback with a file names what is there, or is not given", "[slow]") {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_once}) {
        RunnerWorld world;
        world.boot();
        const auto id = handed_to_human(world);
        give_everywhere(
            world, id, ending, [&](const auto& ids) { return reject_with(world, id, ids); },
            [&] { return world.record(id).task.status == "working"; });
    }
}
