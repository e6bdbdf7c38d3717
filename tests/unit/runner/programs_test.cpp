#include "daemon/runner/programs.hpp"

#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

/// What somebody in a worktree makes git run everywhere is told, once, and stays until a human has looked.
using namespace orange;
using namespace orange::test;

namespace {

void plants(RunnerWorld& world, const std::string& command = "cat") {
    world.git.plain(world.home() / "workspaces/shop--1", {"config", "filter.evil.clean", command});
}

std::string attention(RunnerWorld& world, const TaskId& id) {
    return world.record(id).task.attention.value_or("none");
}

std::size_t told(RunnerWorld& world, const TaskId& id) {
    return world.events(id, "repository.changed").size();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what an agent makes git run is told at the next transition, and marked until a human has looked") {
    RunnerWorld world;
    const auto id = with_work(world);
    plants(world);
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    CHECK(contains(attention(world, id), "was changed: filter.evil.clean; look before you go on"));
    CHECK(contains(attention(world, id), "orange task ack " + id.value));
    REQUIRE(told(world, id) == 1);
    CHECK(world.events(id, "repository.changed")[0].fields.at("what") == Scalar{std::string("filter.evil.clean")});
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    CHECK(contains(attention(world, id), "filter.evil.clean"));
    CHECK(told(world, id) == 1);
    REQUIRE(world.house().go(world.house().runner().acknowledge(id)));
    const auto merged = world.house().go(world.house().runner().merge(id, git::MergeStrategy::merge, false, a_human()));
    REQUIRE(merged);
    for (const auto& note : merged->notes) CHECK_FALSE(contains(note, "filter.evil.clean"));
    CHECK(attention(world, id) == "none");
}

TEST_CASE("what git is made to run after the review is told with the merge") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    plants(world);
    const auto merged = world.house().go(world.house().runner().merge(id, git::MergeStrategy::merge, false, a_human()));
    REQUIRE(merged);
    CHECK(contains(merged->notes.at(0), "was changed: filter.evil.clean"));
    CHECK(contains(attention(world, id), "was changed: filter.evil.clean"));
    CHECK(told(world, id) == 1);
    CHECK(world.record(id).task.status == "done");
}

TEST_CASE("each change of what git runs is told once, with a failed hook beside it, and many are counted") {
    RunnerWorld world;
    const auto id = with_work(world);
    for (const char* name : {"a", "b", "c", "d", "e", "f", "\x1b[31mg"}) {
        world.git.plain(world.repo(), {"config", std::string("filter.") + name + ".clean", "cat"});
    }
    world.move(id, "stuck").value();
    CHECK(contains(attention(world, id), " and 2 more; "));
    CHECK_FALSE(contains(attention(world, id), "\x1b"));
    CHECK(told(world, id) == 1);
    plants(world, "one");
    world.move(id, "working").value();
    plants(world, "two");
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 1);
    world.move(id, "cancelled").value();
    CHECK(told(world, id) == 3);
    CHECK(contains(attention(world, id), "filter.evil.clean; look before"));
    CHECK(contains(attention(world, id), "; kill_session: "));
}

TEST_CASE("what was there before the task, what its setup did, and what cannot be looked at, is nobody's news") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "relay");
    world.git.plain(world.repo(), {"config", "filter.lfs.clean", "cat"});
    auto project = shop(world);
    project.setup = {"git", "config", "core.hooksPath", ".husky"};
    world.house().world().projects.put(project).value();
    world.move(id, "working").value();
    REQUIRE(world.record(id).programs);
    CHECK(world.record(id).programs->size() == 2);
    const auto git_file = world.home() / "workspaces/shop--1/.git";
    const auto text = read_file(git_file);
    write_file(git_file, "gitdir: /nonexistent\n");
    world.move(id, "stuck").value();
    write_file(git_file, text);
    auto record = world.record(id);
    record.programs.reset();  // of an older version
    world.house().world().tasks.save(record).value();
    plants(world);
    world.move(id, "working").value();
    CHECK(told(world, id) == 0);
    CHECK(attention(world, id) == "none");
}

TEST_CASE("a change of what git runs is told once, although its history cannot be written at first") {
    RunnerWorld world;
    const auto id = with_work(world);
    plants(world);
    world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 2);
    world.move(id, "stuck").value();
    world.outside.fuse.disarm();
    world.boot();
    world.recover();
    CHECK(world.record(id).task.status == "stuck");
    CHECK(contains(attention(world, id), "filter.evil.clean"));
    CHECK(told(world, id) == 1);
}
