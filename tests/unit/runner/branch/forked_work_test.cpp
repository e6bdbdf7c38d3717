#include "daemon/runner/branch/branch.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Tasks that begin with the work of others.
using namespace orange;
using namespace orange::test;

namespace {

Result<WorkToFork> work_to_fork(RunnerWorld& world, const TaskId& id) {
    return world.house().go(work_of(world.house().world(), world.record(id)));
}

std::string shown(RunnerWorld& world, const std::string& commit, const std::string& file) {
    return world.git.plain(world.repo(), {"show", commit + ":" + file});
}

std::string fork_ref(const TaskId& id) {
    return "refs/orange/" + id.value + "/fork";
}

/// All that a look at the work must not change.
std::string state_of(RunnerWorld& world, const Path& tree) {
    return world.git.plain(tree, {"status", "--porcelain=v2", "--branch"}) +
           world.git.plain(tree, {"ls-files", "--stage"}) + world.git.plain(world.repo(), {"for-each-ref"}) +
           world.git.plain(world.repo(), {"worktree", "list"});
}

/// Makes a task that begins with a commit, as task.fork does, and holds the commit for it.
TaskId fork_at(RunnerWorld& world, const WorkToFork& work, const std::string& branch = "copy") {
    auto record = world.draft("the same again", 2);
    record.task.branch = branch;
    record.forked = ForkedWork{{}, work.commit, work.base};
    const auto id = record.task.id;
    world.house().go(hold_work(world.house().world(), world.repo(), id, work.commit)).value();
    world.create(record, "", true).value();
    return id;
}

}  // namespace

TEST_CASE("What is not committed becomes a commit on the task's, and nothing of the task changes") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto main = world.git.ref(world.repo(), "main");
    SECTION("nothing is committed or changed") {
        const auto work = work_to_fork(world, id).value();
        CHECK(work.commit == main);
        CHECK_FALSE(work.has_uncommitted);
    }
    SECTION("committed, staged, changed, untracked and ignored files") {
        write_file(tree / ".gitignore", "*.log\n");
        const auto tip = world.git.commit(tree, "done.txt", "done\n");
        write_file(tree / "staged.txt", "staged\n");
        world.git.plain(tree, {"add", "staged.txt"});
        write_file(tree / "done.txt", "changed\n");
        write_file(tree / "new.txt", "new\n");
        write_file(tree / "run.log", "noise\n");
        std::filesystem::remove(tree / "README");
        const auto before = state_of(world, tree);
        const auto work = work_to_fork(world, id).value();
        CHECK(state_of(world, tree) == before);
        CHECK(work.has_uncommitted);
        CHECK(work.base == main);
        CHECK(world.git.ref(world.repo(), work.commit + "^") == tip);
        CHECK(shown(world, work.commit, "done.txt") == "changed");
        CHECK(shown(world, work.commit, "staged.txt") == "staged");
        CHECK(shown(world, work.commit, "new.txt") == "new");
        const auto names = world.git.plain(world.repo(), {"ls-tree", "--name-only", work.commit});
        CHECK_THAT(names, !Holds("run.log") && !Holds("TASK.md") && !Holds("README"));
    }
    SECTION("its branch has commits, and it has no workspace any more") {
        const auto tip = world.git.commit(tree, "done.txt", "done\n");
        write_file(tree / "new.txt", "new\n");
        const auto before = world.record(id);
        world.move(id, "cancelled").value();
        const auto work = work_to_fork(world, id).value();
        CHECK(work.commit == world.git.ref(world.repo(), "refs/orange/" + id.value + "/wip"));
        const auto meanwhile = world.house().go(work_of(world.house().world(), before)).value();
        CHECK(meanwhile.commit == work.commit);  // it ended after it was looked up
        CHECK(world.git.ref(world.repo(), work.commit + "^") == tip);
        CHECK(shown(world, work.commit, "new.txt") == "new");
    }
}

TEST_CASE("A task that has not started has no work to begin with") {
    RunnerWorld world;
    const auto id = world.make_task();
    const auto refused = work_to_fork(world, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::not_found);
    CHECK_THAT(refused.error().message, Tells("orange task create --like " + id.value));
}

TEST_CASE("A task that begins with other work has its branch there, and what it brings counts as its own") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 2);
    const auto tree = world.house().world().pool.path_of("shop--1");
    world.git.commit(tree, "done.txt", "done\n");
    write_file(tree / "new.txt", "new\n");
    const auto work = work_to_fork(world, id).value();
    const auto main = world.git.ref(world.repo(), "main");
    const auto fork = fork_at(world, work);
    CHECK(world.git.ref(world.repo(), fork_ref(fork)) == work.commit);
    CHECK(world.git.ref(world.repo(), "refs/heads/copy").empty());
    SECTION("it starts") {
        world.move(fork, "planning").value();
        const auto& record = world.record(fork);
        const auto copy = world.house().world().pool.path_of(*record.task.workspace);
        CHECK(copy != tree);
        CHECK(world.git.ref(world.repo(), "refs/heads/copy") == work.commit);
        CHECK(world.git.plain(copy, {"branch", "--show-current"}) == "copy");
        CHECK(read_file(copy / "new.txt") == "new\n");
        CHECK(record.branch_start == main);
        CHECK_FALSE(record.task.base);
        CHECK(world.git.ref(world.repo(), fork_ref(fork)).empty());
        CHECK(world.house().go(has_own_work(world.house().world(), record)).value());
    }
    SECTION("the daemon ends before the task is saved with its workspace, and its branch is there already") {
        world.git.plain(world.repo(), {"branch", "copy", work.commit});
        world.move(fork, "planning").value();
        CHECK(world.git.ref(world.repo(), "refs/heads/copy") == work.commit);
        CHECK(world.record(fork).branch_start == main);
    }
    SECTION("it is cancelled before that, and the work stays") {
        world.move(fork, "cancelled").value();
        const auto notes = world.house().go(kept_work(world.house().world(), world.record(fork)));
        REQUIRE(notes.size() == 2);
        CHECK_THAT(notes[0], Tells(fork_ref(fork)));
        CHECK(work_to_fork(world, fork).value().commit == work.commit);
    }
    SECTION("its branch was made with other work meanwhile") {
        world.git.plain(world.repo(), {"branch", "copy", "main"});
        const auto refused = world.move(fork, "planning");
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Tells("orange task update " + fork.value + " --branch NAME"));
        CHECK(world.git.ref(world.repo(), "refs/heads/copy") == main);
        CHECK(world.git.ref(world.repo(), fork_ref(fork)) == work.commit);
        world.git.plain(world.repo(), {"branch", "-D", "copy"});
        world.move(fork, "planning").value();
        CHECK(world.git.ref(world.repo(), "refs/heads/copy") == work.commit);
    }
    SECTION("the other task is cancelled and its branch is deleted meanwhile") {
        world.move(id, "cancelled").value();
        world.git.plain(world.repo(), {"branch", "-D", world.record(id).task.branch});
        world.git.plain(world.repo(), {"gc", "-q", "--prune=now"});
        world.move(fork, "planning").value();
        CHECK(world.git.ref(world.repo(), "refs/heads/copy") == work.commit);
    }
}

TEST_CASE("Work without any change counts as nothing when the new task has begun with it") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 2);
    const auto work = work_to_fork(world, id).value();
    const auto fork = fork_at(world, work);
    world.move(fork, "planning").value();
    CHECK(world.record(fork).branch_start == world.git.ref(world.repo(), "main"));
    CHECK_FALSE(world.house().go(has_own_work(world.house().world(), world.record(fork))).value());
}
