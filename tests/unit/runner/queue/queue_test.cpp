#include <array>

#include "daemon/async/async.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/repair_changes.hpp"

/// Creation, the queue, and workspaces that should be free and are not.
using namespace orange;
using namespace orange::test;

namespace {

Result<Outcome> spawn(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().queue.spawn(id, Caller{}));
}

Project the_shop(RunnerWorld& world) {
    return *world.house().world().projects.find("shop");
}

std::vector<std::string> collect(RunnerWorld& world) {
    return world.house().go(world.house().runner().workspaces.collect(the_shop(world))).value();
}

/// Somebody who has the task already when its turn comes; then it is removed, or what `change` makes of it.
Awaitable<void> is_faster(World& world, TaskId id, bool remove, std::function<void(TaskRecord&)> change) {
    const auto lock = co_await world.task_locks.acquire(id.value);
    const std::chrono::milliseconds for_others_to_come{50};
    co_await async::sleep(for_others_to_come);
    auto record = *world.tasks.read(id).value();
    change(record);
    if (remove) {
        world.tasks.remove(id).value();
    } else {
        world.tasks.save(record).value();
    }
}

Awaitable<bool> waits_for(Turns& turns, TaskId id) {
    co_await turns.free(id);
    co_return true;
}

}  // namespace

TEST_CASE("a task on a branch that another has is not created, and leaves nothing") {
    RunnerWorld world;
    const auto first = world.make_task();
    auto record = world.draft("again");
    record.task.branch = world.record(first).task.branch;
    const auto refused = world.create(record, "", true);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(record.task.branch) && Tells(first.value));
    CHECK_FALSE(std::filesystem::exists(world.home() / "tasks/shop" / record.task.id.value));
    CHECK(world.house().world().tasks.size() == 1);
}

TEST_CASE("a task of a workflow that there is not, or in a state that is no beginning, is not created") {
    RunnerWorld world;
    auto record = world.draft();
    record.task.workflow = "nothing";
    CHECK(world.create(record, "", true).error().code == ErrorCode::not_found);
    record.task.workflow = "default";
    record.start = "working";
    const auto refused = world.create(record, "", false);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("working"));
    CHECK(world.house().world().tasks.size() == 0);
}

TEST_CASE("a task that is created without being started says how to, and one with a base remembers it") {
    RunnerWorld world;
    auto record = world.draft();
    record.task.base = "main";
    const auto made = world.create(record, "# Why\nbecause\n", true).value();
    REQUIRE(made.notes.size() == 1);
    CHECK_THAT(made.notes.front(), Tells("orange task spawn " + record.task.id.value));
    CHECK(world.events(record.task.id, "task.created").at(0).fields.at("base") == Scalar{std::string("main")});
    CHECK_THAT(world.task_text(record.task.id), Holds("## Context\n\n### Why\nbecause\n"));
}

TEST_CASE("work that only waits for its merge is entered at once, without agent or workspace") {
    RunnerWorld world;
    auto record = world.draft();
    record.start = "reviewing";
    REQUIRE(world.create(record, "", false));
    const auto& made = world.record(record.task.id);
    CHECK(made.task.status == "reviewing");
    CHECK_FALSE(made.task.workspace);
    CHECK_FALSE(made.queued);
    CHECK(world.outside.tmux.state.opened.empty());
    CHECK(world.events(record.task.id, "status.changed").size() == 1);
}

TEST_CASE("a task whose place to begin its workflow has lost is not started, and says so") {
    RunnerWorld world;
    auto record = world.draft();
    record.start = "agent-review";
    record.task.branch = "main-work";
    world.git.plain(world.repo(), {"branch", "main-work"});
    REQUIRE(world.create(record, "", true));
    auto changed = world.record(record.task.id);
    changed.task.workflow = "minimal";
    changed.task.workflow_hash.clear();
    world.house().world().tasks.save(changed).value();
    const auto by = a_human();
    const auto spawned = world.house().go(world.house().runner().queue.spawn(record.task.id, by));
    REQUIRE_FALSE(spawned);
    CHECK_THAT(spawned.error().message, Tells("agent-review"));
    CHECK(world.record(record.task.id).task.status == "pending");
}

TEST_CASE("a task of a project that has gone meanwhile is not created") {
    RunnerWorld world;
    auto record = world.draft();
    world.house().world().projects.remove("shop").value();
    const auto created = world.create(record, "", true);
    REQUIRE_FALSE(created);
    CHECK(created.error().code == ErrorCode::not_found);
    CHECK_FALSE(std::filesystem::exists(world.home() / "tasks" / "shop" / record.task.id.value));
}

TEST_CASE("a task created for its reviewer starts with one") {
    RunnerWorld world;
    auto record = world.draft();
    record.start = "agent-review";
    record.task.base = "refs/heads/release";
    world.git.plain(world.repo(), {"branch", "release"});
    REQUIRE(world.create(record, "", false));
    CHECK(world.record(record.task.id).task.status == "agent-review");
    const auto& made = world.record(record.task.id);
    const auto spec = made.run_of(Role::reviewer)->run.value + ".json";
    CHECK_THAT(read_file(world.house().control().run_folder(made) / spec), Holds("git diff release...HEAD"));
    CHECK(world.outside.tmux.windows_named("review-1") == 1);
}

TEST_CASE("a start that fails is told where it was asked for, and does not hold up who comes after it") {
    RunnerWorld world;
    auto record = world.draft("broken", 1);
    record.task.harness = "nobody";
    record.start = "agent-review";
    auto project = the_shop(world);
    project.setup = {"/bin/sh", "-c", "case $ORANGE_TASK in " + record.task.id.value + ") exit 3;; esac"};
    world.house().world().projects.put(project).value();
    const auto made = world.create(record, "", false).value();
    CHECK_THAT(made.spawn_error, Tells("orange task spawn " + record.task.id.value));
    CHECK_THAT(attention(world, record.task.id), Tells("orange task spawn " + record.task.id.value));
    CHECK_FALSE(world.record(record.task.id).queued);
    CHECK(world.events(record.task.id, "spawn.failed").size() == 1);
    auto next = world.draft("next", 1);
    REQUIRE(world.create(next, "", false));
    CHECK(world.record(next.task.id).task.status == "planning");
}

TEST_CASE("an agent that cannot be started leaves its workspace to others, and a respawn takes one again") {
    RunnerWorld world;
    const auto first = world.draft("first", 1), second = world.draft("second", 1);
    world.outside.tmux.open_fails = Error(ErrorCode::external_failed, "no server");
    CHECK_FALSE(world.create(first, "", false).value().spawn_error.empty());
    CHECK_FALSE(world.record(first.task.id).task.workspace);
    CHECK_THAT(attention(world, first.task.id), Tells("orange task respawn " + first.task.id.value));
    CHECK(world.events(first.task.id, "workspace.released").size() == 1);
    const auto respawn = [&](const TaskId& id) {
        return world.house().go(world.house().runner().respawns.respawn(id, a_human(), false));
    };
    CHECK_FALSE(respawn(first.task.id));
    CHECK_FALSE(world.record(first.task.id).task.workspace);
    world.outside.tmux.open_fails.reset();
    REQUIRE(world.create(second, "", false));
    CHECK(world.record(second.task.id).task.workspace == "shop--1");
    world.move(second.task.id, "cancelled").value();
    REQUIRE(respawn(first.task.id));
    CHECK(world.record(first.task.id).task.workspace == "shop--1");
    CHECK(attention(world, first.task.id) == "none");
}

TEST_CASE("who is created while all workspaces are taken is told its place") {
    RunnerWorld world;
    auto first = world.draft("first", 1), second = world.draft("second", 1), third = world.draft("third", 1);
    REQUIRE(world.create(first, "", false));
    const auto waits = world.create(second, "", false).value();
    REQUIRE(waits.notes.size() == 1);
    CHECK_THAT(waits.notes[0], Tells("1"));
    CHECK_THAT(world.create(third, "", false).value().notes.at(0), Tells("2"));
    // AskedTransition for again, nobody moves up.
    CHECK_THAT(spawn(world, third.task.id).value().notes.at(0), Tells("2"));
    world.move(first.task.id, "cancelled").value();
    REQUIRE(spawn(world, third.task.id));
    CHECK(world.record(second.task.id).task.status == "planning");
    CHECK(world.record(third.task.id).task.status == "pending");
}

TEST_CASE("a project that is gone starts nobody, and says so where somebody asks") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.house().world().projects.remove("shop").value();
    const auto queued = spawn(world, id);
    REQUIRE(queued);
    CHECK(world.record(id).task.status == "pending");
    world.house().go(world.house().runner().queue.look("shop"));
    CHECK(world.outside.tmux.state.opened.empty());
}

TEST_CASE("a spawn that fails is an error, and the task stays as it was") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto project = the_shop(world);
    project.setup = {"false"};
    world.house().world().projects.put(project).value();
    CHECK(spawn(world, id).error().code == ErrorCode::external_failed);
    CHECK(world.record(id).task.status == "pending");
    CHECK(world.house().world().pool.list("shop").at(0).task.empty());
    follows_a_lost_workflow(world, id);
    CHECK_FALSE(spawn(world, id));
}

TEST_CASE("a living task whose folder somebody has deleted gets it again, and its agent is told of") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto tree = world.house().world().pool.path_of("shop--1");
    world.git.commit(tree, "feature", "it\n");
    std::filesystem::remove_all(tree);
    const auto done = collect(world);
    REQUIRE_FALSE(done.empty());
    CHECK_THAT(done[0], Tells("shop--1") && Tells(id.value));
    CHECK_THAT(done[0], Tells("orange task attach " + id.value));
    CHECK_THAT(attention(world, id), Tells("worker"));
    CHECK(read_file(tree / "feature") == "it\n");
    CHECK(std::filesystem::exists(tree / "TASK.md"));
    CHECK(collect(world).empty());
    auto project = the_shop(world);
    project.setup = {"false"};
    world.house().world().projects.put(project).value();
    std::filesystem::remove_all(tree);
    CHECK_THAT(collect(world).at(0), Tells("shop--1") && Tells(id.value));
    CHECK_FALSE(std::filesystem::exists(tree / "TASK.md"));
}

TEST_CASE("an ended task whose release had failed is released by the next gc, or by its removal") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto tree = world.house().world().pool.path_of("shop--1");
    write_file(tree / "draft", "unfinished\n");
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto on_branch = read_file(head);
    write_file(head, "nonsense\n");
    world.move(id, "cancelled").value();
    CHECK(world.record(id).task.workspace == "shop--1");
    CHECK_THAT(attention(world, id), Tells("release_workspace: "));
    CHECK_THAT(collect(world).at(0), Tells("shop--1"));
    CHECK(world.record(id).task.workspace == "shop--1");
    const auto stays = world.house().go(world.house().runner().requests.remove(id, Caller{}));
    CHECK_FALSE(stays);
    CHECK(world.house().world().tasks.brief(id));
    write_file(head, on_branch);
    SECTION("gc") {
        CHECK_THAT(collect(world).at(0), Tells("shop--1") && Tells(id.value));
        CHECK_FALSE(world.record(id).task.workspace);
        CHECK(attention(world, id) == "none");
    }
    SECTION("removal") {
        REQUIRE(world.house().go(world.house().runner().requests.remove(id, Caller{})));
        CHECK_FALSE(world.house().world().tasks.brief(id));
    }
    CHECK_FALSE(world.git.ref(world.repo(), "refs/orange/" + id.value + "/wip:draft").empty());
    CHECK(world.house().world().pool.list("shop").at(0).task.empty());
}

TEST_CASE("what an interrupted transition waits for is said, and nothing else begins before it") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto name = world.record(id).task.workflow;
    follows_a_lost_workflow(world, id, an_open_transition());
    world.boot();
    world.house().go(world.house().runner().recovery.resume(id));
    CHECK(attention(world, id) != "none");
    CHECK_FALSE(world.move(id, "clarification"));
    CHECK(world.record(id).intent);
    // A human moves it to a workflow that is there; then it is finished, with what this version cannot do told.
    Edit edit;
    edit.workflow = "relay";
    Caller stranger;
    stranger.role = Role::worker;
    stranger.task = id;
    CHECK(world.house().go(world.house().runner().requests.edit(id, edit, stranger)).error().code ==
          ErrorCode::forbidden);
    engine::Request onwards;
    onwards.to = "clarification";
    CHECK(world.house().go(world.house().runner().requests.move(id, onwards, stranger, edit)).error().code ==
          ErrorCode::forbidden);
    edit.workflow = "nothing";
    CHECK(world.house().go(world.house().runner().requests.edit(id, edit, Caller{})).error().code ==
          ErrorCode::not_found);
    CHECK(world.record(id).task.workflow == "lost");
    edit.workflow = name;
    REQUIRE(world.house().go(world.house().runner().requests.edit(id, edit, Caller{})));
    CHECK_FALSE(world.record(id).intent);
    const auto moved = world.events(id, "workflow.changed");
    REQUIRE(moved.size() == 1);
    CHECK(moved[0].fields.at("from") == Scalar{std::string("lost")});
    const auto failed = world.events(id, "hook.failed");
    REQUIRE(failed.size() == 1);
    CHECK_THAT(std::get<std::string>(failed[0].fields.at("error")), Tells("fly"));
    CHECK(world.events(id, "status.changed").back().fields.at("tx") == Scalar{std::string("tx-1")});
}

TEST_CASE("why a task does not move on says every way and what each needs") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto ways = world.house().go(world.house().runner().transitions.explain(id)).value();
    REQUIRE_FALSE(ways.empty());
    CHECK(ways.front().to == "working");
    REQUIRE(ways.front().gate_problem);
    CHECK_THAT(*ways.front().gate_problem, Tells("## Plan"));
    follows_a_lost_workflow(world, id);
    CHECK_FALSE(world.house().go(world.house().runner().transitions.explain(id)));
}

TEST_CASE("a stuck worker that says it is done asks for a human, who alone may move it") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.move(id, "stuck").value();
    const auto asked = world.move(id, "reviewing", Role::worker);
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::forbidden);
    CHECK(asked.error().details.at("human_command") == "orange task update " + id.value + " --status reviewing");
    CHECK(world.record(id).task.status == "stuck");
    CHECK_THAT(attention(world, id), Tells(asked.error().details.at("human_command")));
    CHECK(world.move(id, "reviewing"));
}

TEST_CASE("a start that meets a full disk is told, and tried again once there is room") {
    RunnerWorld world;
    int tried = 0;
    for (int n = 1; n <= 60; ++n) {
        INFO("operation " << n);
        auto record = world.draft("task " + std::to_string(n));
        record.task.id.value += std::to_string(n);
        record.task.branch += "-" + std::to_string(n);
        const auto id = record.task.id;
        world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, n);
        const auto made = world.create(record, "", false);
        const bool struck = world.outside.fuse.struck();
        world.outside.fuse.disarm();
        if (!made) continue;
        if (!struck) break;
        if (!world.record(id).queued) continue;
        ++tried;
        CHECK_FALSE(made->spawn_error.empty());
        world.house().go(world.house().runner().queue.restart_stalled());
        for (int i = 0; i < 500 && world.record(id).task.status != "planning"; ++i) {
            world.house().go([]() -> Awaitable<void> { co_await async::sleep(std::chrono::milliseconds(10)); }());
        }
        CHECK(world.record(id).task.status == "planning");
        CHECK(attention(world, id) == "none");
        world.move(id, "cancelled").value();
    }
    CHECK(tried > 0);
}

TEST_CASE("tasks that meet a full disk keep their places, also if only their setup says so") {
    RunnerWorld world;
    const auto first = world.draft("first"), second = world.draft("second");
    auto project = the_shop(world);
    project.setup = {"sh", "-c", "echo 'cp: error writing x: No space left on device' >&2; exit 1"};
    world.house().world().projects.put(project).value();
    CHECK_FALSE(world.create(first, "", false).value().spawn_error.empty());
    REQUIRE(world.create(second, "", false));
    CHECK(world.house().world().tasks.queue("shop") == std::vector<TaskId>{first.task.id, second.task.id});
    CHECK_THAT(attention(world, first.task.id), Holds("No space left") && !Holds("remove"));
    project.setup.clear();
    world.house().world().projects.put(project).value();
    world.house().go(world.house().runner().queue.restart_stalled());
    world.house().go([&]() -> Awaitable<void> {
        for (int i = 0; i < 500 && world.record(first.task.id).task.status != "planning"; ++i) {
            co_await async::sleep(std::chrono::milliseconds(10));
        }
    }());
    CHECK(world.record(first.task.id).task.status == "planning");
    CHECK(world.record(second.task.id).queued);
}

TEST_CASE("a setup that has too little memory or too few files is a fault of its task, and stalls no other") {
    for (const std::string shortage : {"Too many open files", "Cannot allocate memory"}) {
        INFO(shortage);
        RunnerWorld world;
        const auto first = world.draft("first");
        auto project = the_shop(world);
        project.setup = {"sh", "-c", "echo 'cp: error writing x: " + shortage + "' >&2; exit 1"};
        world.house().world().projects.put(project).value();
        CHECK_FALSE(world.create(first, "", false).value().spawn_error.empty());
        CHECK_FALSE(world.record(first.task.id).queued);
        CHECK_THAT(attention(world, first.task.id), Holds(shortage));
    }
}

TEST_CASE("a release that was refused is tried again by itself, and not all the time") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto living = world.make_task("living", 2);
    auto project = the_shop(world);
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    world.move(living, "planning").value();
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto on_branch = read_file(head);
    write_file(head, "nonsense\n");
    world.move(id, "cancelled").value();
    REQUIRE(world.record(id).task.workspace == "shop--1");
    const auto try_again = [&] { world.house().go(world.house().runner().workspaces.release_left_over()); };
    SECTION("at once, where nothing is in the way any more") {
        write_file(head, on_branch);
        try_again();
        CHECK_FALSE(world.record(id).task.workspace);
        CHECK(attention(world, id) == "none");
    }
    SECTION("not again within moments of a try that failed") {
        try_again();
        CHECK(world.record(id).task.workspace == "shop--1");
        write_file(head, on_branch);
        try_again();
        CHECK(world.record(id).task.workspace == "shop--1");
        world.boot();
        try_again();
        CHECK_FALSE(world.record(id).task.workspace);
    }
    CHECK(world.record(living).task.workspace == "shop--2");
    CHECK(world.house().control().alive(world.record(living), Role::worker));
}

TEST_CASE("a task that could not be loaded keeps its workspace until a human has it collected") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto folder = world.home() / "tasks/shop", away = world.home().parent_path() / "away";
    world.stop();
    std::filesystem::rename(folder, away);
    world.outside.unreadable = true;
    const auto holder = [&] { return world.house().world().pool.list("shop").at(0).task; };
    const auto look = [&] {
        auto& workspaces = world.house().runner().workspaces;
        world.house().go(workspaces.collect(the_shop(world), Freeing::known_lost)).value();
        world.house().go(workspaces.release_left_over());
    };
    SECTION("its project's folder cannot be listed") {
        std::filesystem::create_directory_symlink(away, folder);
        world.boot();
        REQUIRE(world.house().world().tasks.unreadable().size() == 1);
        look();
        collect(world);
        CHECK(holder() == id);
    }
    SECTION("its folder is away") {
        world.boot();
        look();
        CHECK(holder() == id);
        collect(world);
        CHECK(holder().empty());
    }
}

TEST_CASE("a claim that is no task's is freed, but not tried again within moments of a try that failed") {
    RunnerWorld world;
    auto record = world.record(planning(world));
    record.task.workspace.reset();
    world.house().world().tasks.save(record).value();
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto on_branch = read_file(head);
    write_file(head, "nonsense\n");
    const auto is_free = [&] {
        world.house().go(world.house().runner().workspaces.release_left_over());
        return world.house().world().pool.free(the_shop(world)) == 1;
    };
    CHECK_FALSE(is_free());
    write_file(head, on_branch);
    CHECK_FALSE(is_free());
    world.boot();
    CHECK(is_free());
}

TEST_CASE("an agent that its workflow left alive at the task's end is ended, and its workspace is freed") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    auto record = world.record(id);
    REQUIRE(world.house().control().alive(record, Role::worker));
    record.task.status = "cancelled";
    record.ended = true;
    REQUIRE(world.house().world().tasks.save(record));
    world.house().go(world.house().runner().workspaces.release_left_over());
    CHECK_FALSE(world.record(id).task.workspace);
    CHECK(world.record(id).runs.empty());
}

TEST_CASE("a task that comes back without its workspace says so, and one that still has it goes on") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "planning").value();
    const auto forget = [&] { world.house().go(world.house().runner().workspaces.forget_lost(id)); };
    forget();
    CHECK(world.record(id).task.workspace);
    REQUIRE(world.house().control().alive(world.record(id), Role::worker));
    world.house().go(world.house().world().pool.release(the_shop(world), world.record(id).task)).value();
    forget();
    CHECK_FALSE(world.record(id).task.workspace);
    CHECK(world.record(id).runs.empty());
    CHECK_THAT(attention(world, id), Tells("orange task respawn " + id.value));
}

TEST_CASE("a queue whose repository is away stands still, says so once, and goes on when it is back") {
    RunnerWorld world;
    auto first = world.draft("first", 1), second = world.draft("second", 1);
    const auto away = world.home().parent_path() / "away";
    std::filesystem::rename(world.repo(), away);
    REQUIRE(world.create(first, "", false));
    const auto id = first.task.id;
    CHECK(world.record(id).queued);
    CHECK_THAT(attention(world, id), Tells("orange doctor"));
    const auto need = [&] { return needs_of(world.house().runner(), world.record(id)).text; };
    CHECK_THAT(need(), Holds("is not at " + world.repo()));
    world.house().go(world.house().runner().queue.look("shop"));
    CHECK(world.events(id, "spawn.failed").size() == 1);
    REQUIRE(world.create(second, "", false));
    const auto again = [&] {
        world.house().go(world.house().runner().queue.restart_stalled());
        world.house().go(world.house().runner().queue.look("shop"));
    };
    again();
    CHECK(world.record(id).task.status == "pending");
    std::filesystem::rename(away, world.repo());
    CHECK_THAT(need(), Holds("is not at"));  // until the poll looks again
    look_for_repositories(world.house().runner());
    CHECK_THAT(need(), !Holds("is not at"));
    again();
    CHECK(world.record(id).task.status == "planning");
    CHECK(world.record(second.task.id).queued);
}

TEST_CASE("who comes while the only free workspace is being looked at waits for it, and is started by itself") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto& house = world.house();
    auto& pool = house.world().pool;
    house.go(pool.init(the_shop(world))).value();
    std::filesystem::remove_all(pool.path_of("shop--1"));
    std::optional<Result<std::vector<std::string>>> collected;
    house.begin(house.runner().workspaces.collect(the_shop(world)), collected);
    while (!pool.list("shop").at(0).busy) house.io.run_one();
    std::optional<Result<Outcome>> outcome;
    house.begin(house.runner().queue.spawn(id, a_human()), outcome);
    while (!outcome) house.io.run_one();
    REQUIRE_FALSE(collected);
    CHECK_THAT(outcome->value().notes.at(0), Tells("1"));
    house.io.run();
    REQUIRE(collected);
    house.go(house.runner().queue.look("shop"));  // as gc's caller does
    CHECK(world.record(id).task.status == "planning");
    CHECK_FALSE(world.record(id).queued);
}

TEST_CASE("all who wait for a task to be free go on when it is, and do not wait for one another") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto& house = world.house();
    auto turn = std::make_optional(house.go(house.runner().turns.begin_turn(id)));
    std::array<std::optional<bool>, 2> done;
    for (auto& each : done) house.begin(waits_for(house.runner().turns, id), each);
    const auto go_on = [&] {
        house.io.restart();
        for (int i = 0; i < 100; ++i) house.io.poll_one();
    };
    go_on();
    CHECK_FALSE(done[0]);
    turn.reset();
    go_on();
    CHECK(done[0]);
    CHECK(done[1]);
}

TEST_CASE("of two that are created at once each is told what became of it") {
    RunnerWorld world;
    auto first = world.draft("first", 2), second = world.draft("second", 2);
    auto project = the_shop(world);
    project.setup = {"sleep", "0.2"};
    world.house().world().projects.put(project).value();
    auto& house = world.house();
    std::array<std::optional<Result<Outcome>>, 2> outcomes;
    house.begin(house.runner().creation.create(first, "", false, a_human()), outcomes[0]);
    house.begin(house.runner().creation.create(second, "", false, a_human()), outcomes[1]);
    // A third who only looks whether somebody can be started finds both under way.
    house.go(house.runner().queue.look("shop"));
    house.io.restart();
    house.io.run();
    for (const auto& record : {first, second}) {
        CHECK(world.record(record.task.id).task.status == "planning");
        CHECK(world.events(record.task.id, "status.changed").size() == 1);
    }
    for (const auto& outcome : outcomes) {
        REQUIRE(outcome);
        CHECK(outcome->value().notes.empty());
    }
}

TEST_CASE("a queued task that is given up, or removed, before its turn comes is not started") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto queued = world.record(id);
    queued.queued = true;
    queued.queued_seq = 1;
    world.house().world().tasks.save(queued).value();
    auto& house = world.house();
    const bool removed = GENERATE(false, true);
    async::spawn(house.io.get_executor(), "another",
                 is_faster(house.world(), id, removed, [](TaskRecord& record) { record.queued = false; }));
    house.go(house.runner().queue.look("shop"));
    CHECK(world.outside.tmux.state.opened.empty());
    CHECK((house.world().tasks.brief(id) == nullptr) == removed);
}

TEST_CASE("a project that is removed while its queue stands still is no longer tried") {
    RunnerWorld world;
    auto record = world.draft();
    std::filesystem::rename(world.repo(), world.home().parent_path() / "away");
    REQUIRE(world.create(record, "", false));
    world.house().world().projects.remove("shop").value();
    world.house().go(world.house().runner().queue.restart_stalled());
    world.house().go(world.house().runner().queue.restart_stalled());
    CHECK(world.record(record.task.id).task.status == "pending");
    CHECK(world.events(record.task.id, "spawn.failed").size() == 1);
}

TEST_CASE("a release that is done again is not the end of what else had failed, nor of an agent that lives", "[slow]") {
    RunnerWorld world;
    write_file(world.home() / "workflows/noisy.yml", R"(name: noisy
version: 1
states: {pending: {}, working: {agent: worker, respawn_prompt: work}, done: {terminal: true}}
prompts: {work: Work.}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - from: working
    to: done
    hooks:
      - {action: run_command, argv: ["false"]}
      - {action: kill_session}
      - {action: release_workspace}
)");
    const auto id = world.make_task("do it", 1, "noisy");
    world.move(id, "working").value();
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto text = read_file(head);
    write_file(head, "nonsense\n");
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 1);
    world.move(id, "done").value();
    REQUIRE(world.outside.tmux_faults.struck);
    CHECK(world.record(id).task.workspace == "shop--1");
    CHECK_THAT(attention(world, id), Tells("run_command: "));
    write_file(head, text);
    if (!world.record(id).runs.empty()) {
        world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 1);
        CHECK_THAT(collect(world).at(0), Tells("shop--1"));
        CHECK(world.record(id).task.workspace == "shop--1");
    }
    CHECK_THAT(collect(world).at(0), Tells("shop--1") && Tells(id.value));
    CHECK_THAT(attention(world, id), Tells("run_command: "));
}

TEST_CASE("a workspace whose task has just been removed by somebody else is no longer gc's") {
    RunnerWorld world;
    const auto ended = world.make_task("ended", 2), living = world.make_task("living", 2);
    world.move(ended, "planning").value();
    world.move(living, "planning").value();
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    write_file(head, "nonsense\n");
    world.move(ended, "cancelled").value();
    REQUIRE(world.record(ended).task.workspace);
    std::filesystem::remove_all(world.home() / "workspaces/shop--2");
    auto& house = world.house();
    const bool removed = GENERATE(false, true);
    for (const auto& id : {ended, living}) {
        async::spawn(house.io.get_executor(), "another",
                     is_faster(house.world(), id, removed, [](TaskRecord& record) { record.task.workspace.reset(); }));
    }
    for (const auto& note : collect(world)) {
        CHECK_THAT(note, !Holds(ended.value));
        CHECK_THAT(note, !Holds(living.value));
    }
}
