#include "daemon/runner/branch/branch.hpp"

#include <algorithm>

#include "daemon/shim/spec.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

/// What somebody in a worktree makes git run everywhere is told, and stands as an alarm until a human has looked.
using namespace orange;
using namespace orange::test;

namespace {

Path worktree(RunnerWorld& world) {
    return world.home() / "workspaces/shop--1";
}

void plants(RunnerWorld& world, const std::string& name, const std::string& command = "cat") {
    world.git.plain(worktree(world), {"config", "filter." + name + ".clean", command});
}

std::string alarm(RunnerWorld& world, const TaskId& id) {
    return alarm_of(world.record(id));
}

/// The same after a look, which changes nothing.
std::string alarm_now(RunnerWorld& world, const TaskId& id) {
    return world.house().go(current_alarm(world.house().world(), world.record(id)));
}

std::size_t told(RunnerWorld& world, const TaskId& id) {
    return world.events(id, "repository.changed").size();
}

Result<MergeOutcome> merge(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().merges.merge(id, MergeOrder{}, a_human()));
}

}  // namespace

TEST_CASE("what an agent makes git run is told before a merge, and stands until a human has looked") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    CHECK(alarm(world, id).empty());
    plants(world, "evil");
    CHECK_THAT(alarm_now(world, id), Tells("filter.evil.clean") && Tells("orange task ack " + id.value));
    CHECK(alarm(world, id).empty());
    const auto refused = merge(world, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    CHECK_THAT(refused.error().message, Tells("filter.evil.clean"));
    CHECK_THAT(alarm(world, id), Tells("filter.evil.clean"));
    CHECK_FALSE(world.record(id).task.attention);
    REQUIRE(told(world, id) == 1);
    CHECK(world.events(id, "repository.changed")[0].fields.at("what") == Scalar{std::string("filter.evil.clean")});
    // A second one does not hide the first.
    plants(world, "other");
    CHECK_FALSE(merge(world, id));
    CHECK_THAT(alarm(world, id), Tells("filter.evil.clean, filter.other.clean"));
    CHECK(told(world, id) == 2);
    const auto acknowledged = world.house().go(world.house().runner().requests.acknowledge(id)).value();
    REQUIRE_FALSE(acknowledged.notes.empty());
    CHECK_THAT(acknowledged.notes[0], Tells("filter.evil.clean, filter.other.clean"));
    CHECK(alarm(world, id).empty());
    const auto merged = merge(world, id);
    REQUIRE(merged);
    for (const auto& note : merged->notes) CHECK_THAT(note, !Holds("filter."));
    CHECK(told(world, id) == 2);
}

TEST_CASE("what git is made to run after the review is merged by force alone") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    plants(world, "evil");
    const auto merged = world.house().go(world.house().runner().merges.merge(id, forced_order(), a_human()));
    REQUIRE(merged);
    CHECK_THAT(merged->forced, Tells("filter.evil.clean"));
    CHECK_THAT(alarm(world, id), Tells("filter.evil.clean"));
    CHECK(told(world, id) == 1);
    CHECK(world.record(id).task.status == "done");
    CHECK_FALSE(world.record(id).programs);
}

TEST_CASE("an acknowledgement names what it has found itself") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    plants(world, "evil");
    const auto acknowledged = world.house().go(world.house().runner().requests.acknowledge(id)).value();
    REQUIRE_FALSE(acknowledged.notes.empty());
    CHECK_THAT(acknowledged.notes[0], Tells("filter.evil.clean"));
    CHECK(told(world, id) == 1);
    CHECK(alarm_now(world, id).empty());
    CHECK(merge(world, id));
}

TEST_CASE("each change of what git runs is told, and many are counted") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    for (const char* name : {"a", "b", "c", "d", "e", "f", "\x1b[31mg"}) plants(world, name);
    CHECK_FALSE(merge(world, id));
    CHECK_THAT(alarm(world, id), Tells("filter.a.clean") && Tells("2") && !Holds("filter.f.clean"));
    const auto what = std::get<std::string>(world.events(id, "repository.changed")[0].fields.at("what"));
    CHECK_THAT(what, Tells("filter.f.clean"));  // all of them
    CHECK_THAT(alarm(world, id), !Holds("\x1b"));
    CHECK(told(world, id) == 1);
    for (const char* command : {"sh", "cat"}) {
        plants(world, "a", command);
        CHECK_FALSE(merge(world, id));
    }
    CHECK(told(world, id) == 3);
    CHECK(world.record(id).programs_changed.size() == 7);
}

TEST_CASE("what was there before the task, and what its setup did, is nobody's news") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "relay");
    world.git.plain(world.repo(), {"config", "filter.lfs.clean", "cat"});
    auto project = shop(world);
    project.setup = {"git", "config", "core.hooksPath", ".husky"};
    world.house().world().projects.put(project).value();
    world.move(id, "working").value();
    REQUIRE(world.record(id).programs);
    CHECK(world.record(id).programs->size() == 2);
    CHECK(alarm_now(world, id).empty());
}

TEST_CASE("where it could not be looked what git runs, what it was before is still known") {
    RunnerWorld world;
    const auto id = with_work(world);
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto text = read_file(head);
    write_file(head, "nonsense\n");
    CHECK(world.house().go(world.house().runner().requests.acknowledge(id)));
    write_file(head, text);
    plants(world, "evil");
    CHECK_THAT(alarm_now(world, id), Tells("filter.evil.clean"));
    auto record = world.record(id);
    record.programs.reset();  // as an older version left it
    world.house().world().tasks.save(record).value();
    CHECK(alarm_now(world, id).empty());
}

TEST_CASE("a change of what git runs is told once, although its history cannot be written at first") {
    RunnerWorld world;
    const auto id = with_work(world);
    plants(world, "evil");
    world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 1);
    CHECK_FALSE(world.house().go(world.house().runner().requests.acknowledge(id)));
    world.outside.fuse.disarm();
    world.boot();
    world.recover();
    CHECK_THAT(alarm_now(world, id), Tells("filter.evil.clean"));
    CHECK(world.house().go(world.house().runner().requests.acknowledge(id)));
    CHECK(told(world, id) == 1);
}

TEST_CASE(
    "a reviewer whose harness was changed after the task was made is told of, and stands until a human has looked") {
    RunnerWorld world;
    const auto id = with_work(world);
    const auto file = world.home() / "harnesses/bot.yml";
    write_file(file, read_file(file) + "# another\n");
    world.append_body(id, "\n## Handoff\nall of it\n");
    const auto moved = world.move(id, "agent-review").value();
    CHECK_THAT(alarm(world, id), Tells("bot"));
    CHECK_THAT(alarm(world, id), Tells("orange task ack " + id.value));
    CHECK(std::any_of(moved.notes.begin(), moved.notes.end(),
                      [&](const std::string& note) { return note == alarm(world, id); }));
    const auto told_of = world.events(id, "harness.changed");
    REQUIRE(told_of.size() == 1);
    CHECK(told_of[0].fields.at("harness") == Scalar{std::string("bot")});
    CHECK(told_of[0].fields.at("role") == Scalar{std::string("reviewer")});
    const auto run = *world.record(id).run_of(Role::reviewer);
    CHECK(told_of[0].fields.at("hash") == Scalar{run.harness_hash});

    CHECK_FALSE(world.house().go(world.house().runner().requests.acknowledge(id)).value().notes.empty());
    CHECK(alarm(world, id).empty());
    world.append_body(id, "\n## Review\nFAIL\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nonce more\n");
    world.move(id, "agent-review").value();
    CHECK(alarm(world, id).empty());
    CHECK(world.events(id, "harness.changed").size() == 1);
}

TEST_CASE("a harness that a human chooses for a task is the known one") {
    RunnerWorld world;
    const auto id = with_work(world);
    const auto file = world.home() / "harnesses/bot.yml";
    write_file(file, read_file(file) + "# another\n");
    Edit edit;
    edit.review_harness = "bot";
    world.house().go(world.house().runner().requests.edit(id, edit, a_human())).value();
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    CHECK(alarm(world, id).empty());
}

TEST_CASE("a verdict that came from a test which the reviewer ran is taken, and called unattested") {
    RunnerWorld world;
    const auto id = with_work(world);
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    Caller reviewer;
    reviewer.role = Role::reviewer;
    reviewer.task = id;
    reviewer.run = world.record(id).run_of(Role::reviewer)->run;
    reviewer.evidence = "ancestor orange-agent 7";
    reviewer.programs = "bot > make > orange";
    reviewer.through = "make";
    engine::Request request;
    request.to = "reviewing";
    const Edit no_edit;
    world.house().go(world.house().runner().requests.move(id, request, reviewer, no_edit)).value();
    const auto moved = world.events(id, "status.changed").back();
    CHECK(moved.fields.at("attested") == Scalar{false});
    CHECK(moved.fields.at("evidence") == Scalar{std::string("ancestor orange-agent 7: bot > make > orange")});
    CHECK_THAT(world.record(id).task.attention.value_or(""), Tells("make"));
}

TEST_CASE("a reviewer's git is told to run nothing of the repository's, a worker's is left alone") {
    RunnerWorld world;
    const auto id = with_work(world);
    plants(world, "lfs");
    world.git.plain(worktree(world), {"config", "diff.external", "/tmp/evil"});
    const auto spec_of = [&](Role role) {
        const auto run = world.record(id).run_of(role)->run.value;
        return read_spec(world.house().world().tasks.folder(world.record(id)) / "run" / (run + ".json")).value();
    };
    CHECK_FALSE(spec_of(Role::worker).env.contains("GIT_PAGER"));
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    CHECK(spec_of(Role::reviewer).env.contains("GIT_EXTERNAL_DIFF"));
    CHECK(spec_of(Role::reviewer).env.at("GIT_PAGER") == "cat");
}
