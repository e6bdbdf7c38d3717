// The moments when the changes of branches are counted for lists (daemon/monitor/branches,
// daemon/runner/branch/committed).
#include "daemon/monitor/branches.hpp"

#include <algorithm>

#include "daemon/files/native_file_watcher.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

/// A file watcher for a file system that tells nothing.
class SilentWatcher final : public FileWatcher {
  public:
    Result<WatchId> watch(Path, std::function<void(const std::string&)>) override {
        return Error(ErrorCode::io, "this file system tells nothing");
    }
    Result<WatchId> watch_once(Path, std::function<void()>) override {
        return Error(ErrorCode::io, "this file system tells nothing");
    }
    void unwatch(WatchId) override {}
};

struct BranchesWorld : RunnerWorld {
    TaskId start() {
        const auto id = make_task();
        move(id, "planning").value();
        return id;
    }
    Path worktree(const TaskId& id) { return house().world().pool.path_of(*record(id).task.workspace); }
    std::int64_t commits(const TaskId& id) {
        const auto* counted = house().runner().committed.of(id);
        return counted ? counted->changes.commits : -1;
    }
    /// Time enough for the kernel's notes and for the quiet time. While git runs, it stands still.
    void pass_some_seconds() {
        for (int i = 0; i < 100; ++i) {
            time.advance(100ms);
            bool ended = false;
            async::spawn(house().io.get_executor(), "moment", [](bool& has) -> Awaitable<void> {
                const std::chrono::milliseconds moment = 1ms;
                co_await async::sleep(moment);
                has = true;
            }(ended));
            house().io.restart();
            while (!ended || outside.children.running > 0) house().io.run_one();
        }
    }
    auto counts_by_git() {
        return std::ranges::count_if(outside.children.commands, [](const std::string& command) {
            return command.find("for-each-ref") != std::string::npos || command.find("numstat") != std::string::npos;
        });
    }

    TestTime time;
};

}  // namespace

TEST_CASE(
    "a commit in a worktree is counted, several at once are counted together, and a quiet branch is not counted") {
    BranchesWorld world;
    const auto id = world.start();
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Branches branches(world.house().runner(), *watcher);
    std::vector<std::int64_t> told;
    world.house().world().journal.listen([&](const StreamEvent& event) {
        if (event.event.type != "changes.counted") return;
        told.push_back(std::get<std::int64_t>(event.event.fields.at("commits")));
    });

    branches.follow(id);
    world.pass_some_seconds();
    CHECK(world.commits(id) == 0);
    world.outside.children.disarm();
    for (const char* text : {"one\n", "one\ntwo\n", "three\n"}) world.git.commit(world.worktree(id), "feature", text);
    world.pass_some_seconds();
    CHECK(world.commits(id) == 3);
    CHECK(told == std::vector<std::int64_t>{3});
    CHECK(world.counts_by_git() == 2);

    world.outside.children.disarm();
    branches.follow(id);
    world.pass_some_seconds();
    CHECK(world.counts_by_git() == 0);
    world.git.commit(world.repo(), "other", "beside it\n");
    world.pass_some_seconds();
    CHECK(world.commits(id) == 3);
    CHECK(world.counts_by_git() == 1);
}

TEST_CASE("where no file tells of a commit, the poll has it counted") {
    BranchesWorld world;
    const auto id = world.start();
    SilentWatcher watcher;
    Branches branches(world.house().runner(), watcher);
    branches.follow(id);
    world.pass_some_seconds();
    world.git.commit(world.worktree(id), "feature", "one\n");
    world.pass_some_seconds();
    CHECK(world.commits(id) == 0);
    branches.poll();
    world.pass_some_seconds();
    CHECK(world.commits(id) == 1);
}

TEST_CASE("the refs of a project are watched anew when it has another default branch") {
    BranchesWorld world;
    const auto id = world.start();
    auto project = *world.house().world().projects.find("shop");
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    const auto other = world.start();
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Branches branches(world.house().runner(), *watcher);
    branches.follow(id);
    world.pass_some_seconds();
    project.default_branch = "trunk";
    world.house().world().projects.put(project).value();
    branches.follow(other);
    world.pass_some_seconds();
    world.outside.children.disarm();
    world.git.plain(world.repo(), {"branch", "trunk", "main"});
    world.pass_some_seconds();
    CHECK(world.counts_by_git() > 0);
}
