#include "common/model/json.hpp"
#include "daemon/async/async.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Agents that cannot be started, or end at once: said, and with the way out.
using namespace orange;
using namespace orange::test;

namespace {

/// Of the program that was started for the role.
std::string first_argument(RunnerWorld& world, const TaskId& id, Role role) {
    const auto& record = world.record(id);
    const auto spec = world.house().control().run_folder(record) / (record.run_of(role)->run.value + ".json");
    return Json::parse(read_file(spec)).at("argv").at(1).get<std::string>();
}

}  // namespace

TEST_CASE("an agent has the variables of the job in which the daemon runs, unless an executor starts it") {
    RunnerWorld world;
    auto record = world.record(world.make_task("do it"));
    world.house().world().job_environment = {{"SLURM_JOB_ID", "7"}, {"SLURM_PARTITION", "old"}};
    world.house().world().base_environment["SLURM_PARTITION"] = "gpu";  // of the person's profile
    const auto variables = [&] { return world.house().control().environment(record, {}, Role::worker, RunId{"r"}); };
    CHECK(variables().at("SLURM_JOB_ID") == "7");
    CHECK(variables().at("SLURM_PARTITION") == "gpu");
    record.task.executor = "slurm";
    CHECK_FALSE(variables().contains("SLURM_JOB_ID"));
    CHECK(variables().at("SLURM_PARTITION") == "gpu");
}

TEST_CASE(
    "an agent whose program ends at once: its human is told the status, the time, its last lines and where all are") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    world.outside.tmux.screens[run.pane_id] = "the cause\n1\n2\n3\n4\n\nLog in first\n";
    const auto text = [&] {
        for (const auto& notice : world.record(id).notices) {
            if (notice.kind == NoticeKind::agent_crashed) return notice.text;
        }
        return std::string();
    };
    SECTION("at once") {
        world.outside.clock.pass(std::chrono::milliseconds(1250));
        dies(world, id, Role::worker, 3);
        CHECK_THAT(text(), Holds("the cause / 1 / … / 4 / Log in first") && Tells("3") && Holds("1.2 s") &&
                               Tells("orange task log " + id.value));
    }
    SECTION("after a while") {
        world.outside.clock.pass(std::chrono::seconds(6));
        dies(world, id, Role::worker, 3);
        CHECK_THAT(text(), Tells("## Plan") && Holds("3 / 4 / Log in first") && !Holds("the cause"));
    }
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("an agent that ends at once leaves its workspace to others, unless somebody has written there") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto worktree = world.house().control().worktree_of(world.record(id));
    const auto ends_at_once = [&] {
        dies(world, id, Role::worker, 3);
        (void)world.house().go(world.house().runner().exits.failed_start(id));
    };
    const auto is_held = [&] { return world.record(id).task.workspace.has_value(); };
    SECTION("nobody has") {
        ends_at_once();
        CHECK_FALSE(is_held());
        CHECK(world.events(id, "workspace.released").size() == 1);
        const auto next = planning(world, "another");
        CHECK(world.record(next).task.workspace == "shop--1");
        CHECK_FALSE(respawn(world, id));
        world.move(next, "cancelled").value();
        REQUIRE(respawn(world, id));
        CHECK(world.record(id).task.workspace == "shop--1");
        ends_at_once();  // stuck, in which another agent is started
        CHECK(world.record(id).task.status == "stuck");
        CHECK(is_held());
        ends_at_once();
        CHECK_FALSE(is_held());
    }
    SECTION("a text in TASK.md is no reason to keep it, and stays") {
        world.append_body(id, "\n## Notes\nlater\n");
        ends_at_once();
        CHECK_FALSE(is_held());
        CHECK_THAT(world.task_text(id), Holds("## Notes\nlater"));
    }
    SECTION("a file") {
        write_file(worktree / "new.txt", "new\n");
        ends_at_once();
        CHECK(is_held());
    }
    SECTION("a commit") {
        world.git.commit(worktree, "new.txt", "new\n");
        ends_at_once();
        CHECK(is_held());
    }
    SECTION("it ends after the call that started it") {
        dies(world, id, Role::worker, 3);
        CHECK(is_held());
    }
}

TEST_CASE("a start of an agent that has ended already is told at once") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto failed_start = [&] { return world.house().go(world.house().runner().exits.failed_start(id)); };
    const auto before = world.state_text(id);
    CHECK(failed_start().empty());
    CHECK(world.state_text(id) == before);
    world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = "no such option\n";
    world.kill_agent(id, Role::worker, 3);
    CHECK_THAT(failed_start(), Holds("no such option"));
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK_THAT(failed_start(), Holds("no such option"));
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("a start waits a moment for the end of an agent") {
    RunnerWorld world;
    const auto id = planning(world);
    std::string text;
    // It runs when the call has seen a living agent and sleeps.
    const auto end = [&]() -> Awaitable<void> {
        world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = "no such option\n";
        world.kill_agent(id, Role::worker, 3);
        co_return;
    };
    const auto start = [&]() -> Awaitable<void> {
        async::spawn(co_await asio::this_coro::executor, "end", end());
        text = co_await world.house().runner().exits.failed_start(id);
    };
    world.house().go(start());
    CHECK_THAT(text, Holds("no such option"));
}

TEST_CASE("a start waits for the shim of a program that has ended") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    const auto folder = world.house().control().run_folder(world.record(id));
    const auto ended = 1'000'000'007;  // no process of this world
    write_file(agents::Launcher::begun_file(folder, run.run), std::to_string(ended) + "\n");
    std::string text;
    const auto end = [&]() -> Awaitable<void> {
        const std::chrono::milliseconds longer_than_a_first_moment(150);
        co_await async::sleep(longer_than_a_first_moment);
        world.outside.tmux.screens[run.pane_id] = "no such option\n";
        world.kill_agent(id, Role::worker, 3);
        world.house().runner().exits.look_at_start(id);
    };
    const auto start = [&]() -> Awaitable<void> {
        async::spawn(co_await asio::this_coro::executor, "end", end());
        text = co_await world.house().runner().exits.failed_start(id);
    };
    world.house().go(start());
    CHECK_THAT(text, Holds("no such option"));
    CHECK_FALSE(std::filesystem::exists(agents::Launcher::begun_file(folder, run.run)));
}

TEST_CASE("an agent that cannot be started is refused with what is missing, and nobody is in the record") {
    RunnerWorld world;
    write_file(
        world.home() / "harnesses/ghost.yml",
        "name: ghost\nprogram: no-such-program\nargv:\n  full: [--, \"{prompt}\"]\ninstall_hint: call somebody\n");
    write_file(world.home() / "harnesses/mute.yml",
               "name: mute\nprogram: no-such-program\nargv:\n  full: [--, \"{prompt}\"]\n");
    write_file(world.home() / "harnesses/careful.yml",
               "name: careful\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nroot_needs: NOT_SET_ANYWHERE\n");
    const auto id = planning(world);
    dies(world, id, Role::worker);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto refused = [&](const std::string& fact, const std::string& hint = "") {
        const auto result = respawn(world, id);
        REQUIRE_FALSE(result);
        INFO(result.error().message);
        CHECK_THAT(result.error().message, Tells(fact) && Holds(hint));
        CHECK(world.record(id).runs.empty());
        CHECK(world.outside.processes.alive.empty());
    };
    SECTION("not installed") {
        set(world, id, [](TaskRecord& record) { record.task.harness = "ghost"; });
        refused("ghost", "call somebody");
        set(world, id, [](TaskRecord& record) { record.task.harness = "mute"; });
        const auto result = respawn(world, id);
        REQUIRE_FALSE(result);
        CHECK_THAT(result.error().message, Tells("mute"));
    }
    SECTION("unknown") {
        set(world, id, [](TaskRecord& record) { record.task.harness = "nobody"; });
        refused("nobody");
    }
    SECTION("an effort that it does not have") {
        set(world, id, [](TaskRecord& record) { record.task.effort = "high"; });
        refused("bot");
    }
    SECTION("a workspace that is gone, and cannot be made anew") {
        std::filesystem::remove_all(tree);
        world.git.plain(world.repo(), {"checkout", "-q", "--ignore-other-worktrees", world.record(id).task.branch});
        refused(world.repo());
    }
    SECTION("another folder in its place") {
        std::filesystem::rename(tree, tree.string() + ".away");
        std::filesystem::create_directory(tree);
        refused("orange workspace gc");
        CHECK(std::filesystem::is_empty(tree));
    }
    SECTION("a worktree that git does not know any more") {
        std::filesystem::remove_all(Path(world.repo()) / ".git/worktrees/shop--1");
        refused("orange workspace gc");
    }
    SECTION("no project") {
        world.house().world().projects.remove("shop").value();
        refused("shop");
    }
    SECTION("a repository without its default branch") {
        auto project = *world.house().world().projects.find("shop");
        project.default_branch = "gone";
        project.path = (world.programs() / "gone").string();
        world.house().world().projects.put(project).value();
        refused(project.path);
    }
    if (::geteuid() == 0) {
        SECTION("root, and nobody has said that this is a sandbox") {
            set(world, id, [](TaskRecord& record) { record.task.harness = "careful"; });
            refused("NOT_SET_ANYWHERE");
        }
    }
}

TEST_CASE("a task whose worktree was deleted gets it again with its agent") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto work = world.git.commit(tree, "work", "done\n");
    dies(world, id, Role::worker);
    std::filesystem::remove_all(tree);
    const auto again = respawn(world, id);
    INFO((again ? std::string() : again.error().message));
    REQUIRE(again);
    CHECK_THAT(again->notes.front(), Tells("shop--1"));
    CHECK(world.git.ref(tree.string(), "HEAD") == work);
    CHECK(std::filesystem::exists(tree / "TASK.md"));
    CHECK(world.record(id).run_of(Role::worker));
    CHECK_FALSE(world.record(id).task.attention);
}

TEST_CASE("a prompt that is too long for an argument travels as a file") {
    RunnerWorld world;
    const auto id = world.make_task("do it");
    set(world, id, [](TaskRecord& record) { record.task.summary = std::string(130'000, 'x'); });
    world.move(id, "planning").value();
    const auto folder = world.house().control().run_folder(world.record(id));
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with("prompt-")) file = entry.path().string();
    }
    REQUIRE_FALSE(file.empty());
    CHECK_THAT(read_file(file), Holds(std::string(130'000, 'x')));
    const auto run = world.record(id).run_of(Role::worker)->run;
    const auto spec = read_file(folder / (run.value + ".json"));
    CHECK_THAT(spec, Tells(file));
    CHECK(spec.size() < 100'000);
}

TEST_CASE("a workflow that names no permissions gives workers all of them and reviewers fewer") {
    RunnerWorld world;
    write_file(
        world.home() / "harnesses/two.yml",
        "name: two\nprogram: true\nargv:\n  full: [all, --, \"{prompt}\"]\n  reduced: [few, --, \"{prompt}\"]\n");
    write_file(world.home() / "workflows/plain.yml", R"(name: plain
version: 1
states:
  pending: {}
  working: {agent: worker, respawn_prompt: work}
  checking: {agent: reviewer, respawn_prompt: check}
  done: {terminal: true}
prompts: {work: Work., check: Check.}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: working, to: checking, hooks: [{action: spawn_reviewer, prompt: check}]}
  - {from: checking, to: done}
)");
    const auto id = world.make_task("do it", 1, "plain");
    set(world, id, [](TaskRecord& record) { record.task.harness = record.task.review_harness = "two"; });
    world.move(id, "working").value();
    CHECK(first_argument(world, id, Role::worker) == "all");
    world.move(id, "checking").value();
    CHECK(first_argument(world, id, Role::reviewer) == "few");
}

TEST_CASE("a program asks where its task says, and else where its project does") {
    const auto asks_in = [](const std::string& of_project, const std::string& of_task) {
        RunnerWorld world;
        write_file(world.home() / "harnesses/asker.yml",
                   "name: asker\nprogram: true\nargv: {full: ['{event_args}', --, '{prompt}']}\n"
                   "events: {args: [in-window], busy: [a], idle: [b], question: [q]}\n"
                   "permits: {args: [in-inbox], tool: t, input: i, allow: '{}', deny: '{}'}\n");
        const auto id = world.make_task();
        auto& projects = world.house().world().projects;
        auto project = *projects.find("shop");
        if (!of_project.empty()) project.settings.permits = of_project;
        projects.put(project).value();
        set(world, id, [&](TaskRecord& record) {
            record.task.harness = "asker";
            if (!of_task.empty()) record.task.permits = of_task;
        });
        world.move(id, "planning").value();
        return first_argument(world, id, Role::worker);
    };
    CHECK(asks_in("", "") == "in-window");
    CHECK(asks_in("inbox", "") == "in-inbox");
    CHECK(asks_in("inbox", "window") == "in-window");
    CHECK(asks_in("", "inbox") == "in-inbox");
}

TEST_CASE("a start of which nobody knows whether it happened is not repeated until tmux says") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) { record.run_of(Role::worker)->pid = 0; });
    world.outside.tmux.list_fails = Error(ErrorCode::timeout, "tmux does not answer");
    const auto unsure = respawn(world, id);
    REQUIRE_FALSE(unsure);
    CHECK(unsure.error().code == ErrorCode::unavailable);
    CHECK_THAT(unsure.error().message, Tells("worker"));
    CHECK(world.record(id).runs.size() == 1);
    world.outside.tmux.list_fails.reset();
    world.house().go(world.house().runner().recovery.resume(id));
    CHECK(world.house().control().alive(world.record(id), Role::worker));
    CHECK(world.outside.processes.alive.size() == 1);
}

TEST_CASE("why a program could not even be started is in the history") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    world.kill_agent(id, Role::worker, 127);
    write_file(agents::Launcher::exit_file(world.house().control().run_folder(world.record(id)), run.run),
               "{\"run\": \"" + run.run.value + "\", \"exit_status\": 127, \"error\": \"no such file\"}\n");
    notice(world, id, Role::worker);
    CHECK(world.events(id, "agent.exited").at(0).fields.at("error") == Scalar{std::string("no such file")});
}

TEST_CASE("instructions for an agent that lives need its project, and what cannot be told is said") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.house().world().projects.remove("shop").value();
    CHECK(
        world.house().control().environment(world.record(id), {}, Role::worker, RunId{"run"}).contains("ORANGE_TASK"));
    const auto definition = world.house().runner().turns.definition_of(world.record(id).task).value();
    auto record = world.record(id);
    SpawnOrder order;
    order.prompt = "planning";
    order.intent = "tx";
    const auto told = world.house().go(world.house().control().spawn(record, *definition, order));
    REQUIRE_FALSE(told);
    CHECK(told.error().code == ErrorCode::not_found);
}
