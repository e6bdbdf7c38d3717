// Something ends or fails at every point of what the loops of tasks do: the daemon, the disk, a child, tmux. The next
// daemon finds the same steps. It tells nothing twice, loses no message, starts nobody twice and moves each task once.
#include "daemon/runner/attention/notifier.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;
using fakes::ChildFault;
using fakes::Fuse;
using fakes::TmuxFault;

namespace {

enum class Fault { killed, disk_full_for_good, disk_full_once, child, tmux_silent, tmux_late };
using Faults = std::vector<Fault>;
const Faults k_all = {Fault::killed, Fault::disk_full_for_good, Fault::disk_full_once,
                      Fault::child,  Fault::tmux_silent,        Fault::tmux_late};

using Tasks = std::vector<TaskId>;

/// Steps that become due, and what must be so whatever happened in between.
struct Scene {
    std::function<Tasks(RunnerWorld&)> arrange;
    /// Brings the steps about. The next daemon does the same again, with what is left of it.
    std::function<void(RunnerWorld&, const Tasks&)> act;
    std::function<bool(RunnerWorld&, const Tasks&)> is_over;
    /// `exact`: nothing but the daemon has ended.
    std::function<void(RunnerWorld&, const Tasks&, bool exact)> check;
    /// Does what a human does who was told of a failure.
    std::function<void(RunnerWorld&, const Tasks&)> help = [](RunnerWorld&, const Tasks&) {};
};

void arm(Outside& outside, Fault fault, int n) {
    constexpr Fuse::Ending k_endings[] = {Fuse::Ending::killed, Fuse::Ending::disk_full_for_good,
                                          Fuse::Ending::disk_full_once};
    constexpr int k_all_ways = 6;  // in which a child goes wrong; the others end the daemon
    if (fault <= Fault::disk_full_once) outside.fuse.arm(k_endings[static_cast<int>(fault)], n);
    if (fault == Fault::child) outside.children.arm(static_cast<ChildFault>(n % k_all_ways), n);
    if (fault == Fault::tmux_silent) outside.tmux_faults.arm(TmuxFault::does_not_answer, n);
    if (fault == Fault::tmux_late) outside.tmux_faults.arm(TmuxFault::answers_too_late, n);
}

/// Returns true if there was an nth point at which it could happen.
bool act_with(RunnerWorld& world, const Scene& scene, const Tasks& tasks, Fault fault, int n) {
    auto& outside = world.outside;
    arm(outside, fault, n);
    try {
        scene.act(world, tasks);
    } catch (const fakes::Killed&) {
    }
    const bool struck = outside.fuse.struck() || outside.children.struck || outside.tmux_faults.struck;
    outside.fuse.disarm();
    outside.children.disarm();
    outside.tmux_faults.disarm();
    return struck;
}

/// At every `stride`th point. Returns how many there are.
int strike_everywhere(const Scene& scene, Fault fault, int stride = 1) {
    RunnerWorld world;
    const auto tasks = scene.arrange(world);
    world.keep();
    const bool exact = fault == Fault::killed;
    for (int n = 1;; n += stride) {
        INFO("fault " << static_cast<int>(fault) << ", point " << n);
        world.back();
        const bool struck = act_with(world, scene, tasks, fault, n);
        if (!struck) {
            REQUIRE(scene.is_over(world, tasks));
            scene.check(world, tasks, true);
            return n - 1;
        }
        world.boot();
        const auto project = shop(world);
        REQUIRE(world.house().go(world.house().runner().workspaces.collect(project)));
        world.recover();
        scene.check(world, tasks, exact);
        if (scene.is_over(world, tasks)) continue;
        scene.act(world, tasks);
        if (!exact && !scene.is_over(world, tasks)) scene.help(world, tasks);
        CHECK(scene.is_over(world, tasks));
        scene.check(world, tasks, exact);
    }
}

void strike_everywhere(const Scene& scene, const Faults& faults, int stride = 1) {
    for (const auto fault : faults) {
        const int points = strike_everywhere(scene, fault, stride);
        if (fault == Fault::killed) CHECK(points > 0);
    }
}

/// Its tasks have come to where nothing but the loops has to do anything, and no loop has run.
Scene found_by_the_next_daemon(Scene scene) {
    scene.arrange = [arrange = std::move(scene.arrange), act = std::move(scene.act)](RunnerWorld& world) {
        auto tasks = arrange(world);
        world.house().runner().reconciler.stop();
        act(world, tasks);
        return tasks;
    };
    scene.act = [](RunnerWorld& world, const Tasks&) { world.recover(); };
    return scene;
}

std::size_t count(RunnerWorld& world, const TaskId& id, const std::string& type) {
    return world.events(id, type).size();
}

std::size_t windows_of(const TaskRecord& record, Role role) {
    return static_cast<std::size_t>(std::ranges::count(record.runs, role, &AgentRun::role));
}

/// Every process that lives is one that a task knows of, and the other way round.
void check_runs(RunnerWorld& world, const Tasks& tasks) {
    std::size_t runs = 0;
    for (const auto& id : tasks) {
        for (const auto& run : world.record(id).runs) runs += world.outside.processes.alive.contains(run.pid);
    }
    CHECK(world.outside.processes.alive.size() == runs);
}

/// The first is merged, which the second waits for.
Scene a_blockers_end(bool stacked) {
    Scene scene;
    scene.arrange = [stacked](RunnerWorld& world) {
        const auto first = ready_to_merge(world);
        auto record = blocked_draft(world, {first}, "above");
        if (stacked) {
            record.stacked_on = first;
            record.task.base = "refs/heads/" + world.record(first).task.branch;
            world.git.commit(world.repo(), "news", "meanwhile\n");
        }
        const auto second = record.task.id;
        world.create(std::move(record), "", false).value();
        return Tasks{first, second};
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        MergeOrder order;
        order.strategy = git::MergeStrategy::squash;
        (void)world.house().go(world.house().runner().merges.merge(tasks[0], order, a_human()));
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return is_in(world, tasks[0], "done") && is_in(world, tasks[1], "working");
    };
    scene.check = [stacked](RunnerWorld& world, const Tasks& tasks, bool exact) {
        const auto& second = world.record(tasks[1]);
        const bool begun = second.task.status != "pending";
        if (begun) CHECK(world.record(tasks[0]).task.status == "done");
        CHECK(count(world, tasks[1], "blocker.done") <= 1);
        CHECK(count(world, tasks[1], "blocker.gone") == 0);
        CHECK(windows_of(second, Role::worker) == (begun ? 1 : 0));
        CHECK(count(world, tasks[1], "agent.spawned") <= 1);
        if (exact && begun) CHECK(count(world, tasks[1], "agent.spawned") == 1);
        check_runs(world, tasks);
        if (!begun || !stacked) return;
        CHECK(second.stacked_on.empty());
        CHECK(world.git.plain(world.repo(), {"show", "above:feature"}, true) == "it");
        CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "above..main"}) == "0");
        CHECK(second.branch_start == world.git.ref(world.repo(), "above"));
    };
    scene.help = [](RunnerWorld& world, const Tasks& tasks) {
        (void)world.house().go(world.house().runner().queue.spawn(tasks[1], a_human()));
    };
    return scene;
}

/// Two tasks are in review, and the second is built on the first, which is merged as one commit.
Scene a_squash_below() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        const auto first = ready_to_merge(world);
        auto project = shop(world);
        project.pool_size = 2;
        world.house().world().projects.put(project).value();
        auto record = world.draft("it is built on the first");
        record.task.workflow = "relay";
        record.task.branch = "above";
        build_on(world.house().world(), record, first.value).value();
        record.stacked_on = first;
        record.task.base = "refs/heads/" + world.record(first).task.branch;
        const auto second = record.task.id;
        world.create(std::move(record), "", false).value();
        work_on(world, second);
        world.append_body(second, "\n## Handoff\nall of it\n");
        world.move(second, "agent-review").value();
        world.append_body(second, "\n## Review\nPASS\n");
        world.move(second, "reviewing").value();
        return Tasks{first, second};
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        MergeOrder order;
        order.strategy = git::MergeStrategy::squash;
        (void)world.house().go(world.house().runner().merges.merge(tasks[0], order, a_human()));
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return is_in(world, tasks[0], "done") && !world.record(tasks[1]).task.base;
    };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) {
        const auto& second = world.record(tasks[1]);
        CHECK(second.task.status == "reviewing");
        CHECK(world.git.plain(world.repo(), {"show", "above:of-" + tasks[1].value}, true) == "it");
        CHECK(count(world, tasks[1], "branch.updated") <= 1);
        if (second.task.base) return;
        CHECK(second.on_move.empty());
        CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "main..above"}) == "1");
        CHECK(second.reviewed_commit == world.git.ref(world.repo(), "above"));
        CHECK(count(world, tasks[1], "branch.updated") == 1);
    };
    return scene;
}

/// The last of two sub-tasks is merged. Their parent, with work of its own or without, is the first of the tasks.
Scene the_last_subtasks_end(bool commits) {
    const std::string next = commits ? "working" : "done";
    Scene scene;
    scene.arrange = [commits](RunnerWorld& world) {
        const auto family = split_into(world, 2, commits, 2);
        if (commits) {
            world.git.plain(world.repo(), {"switch", "-q", world.record(family.parent).task.branch});
            world.git.commit(world.repo(), "later", "more\n");
            world.git.plain(world.repo(), {"switch", "-q", "main"});
        }
        finish_child(world, family.children[0]);
        work_on(world, family.children[1]);
        return Tasks{family.parent, family.children[1]};
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        (void)world.house().go(world.house().runner().merges.merge(tasks[1], forced_order(), a_human()));
    };
    scene.is_over = [next](RunnerWorld& world, const Tasks& tasks) {
        return is_in(world, tasks[1], "done") && is_in(world, tasks[0], next);
    };
    scene.check = [next](RunnerWorld& world, const Tasks& tasks, bool exact) {
        const auto& parent = world.record(tasks[0]);
        const bool moved = parent.task.status != "delegated";
        if (moved) CHECK(world.record(tasks[1]).task.status == "done");
        if (moved) CHECK(parent.task.status == next);
        CHECK(count(world, tasks[0], "child.done") <= 2);
        const auto changes = world.events(tasks[0], "status.changed");
        const auto ways_on = std::ranges::count_if(
            changes, [](const auto& event) { return event.fields.at("from") == Scalar{"delegated"}; });
        CHECK(ways_on <= 1);
        if (exact && moved) CHECK(ways_on == 1);
        const auto workers = windows_of(parent, Role::worker);
        CHECK(workers <= 1);
        if (exact) CHECK(workers == (moved && next == "working" ? 1 : 0));
        check_runs(world, tasks);
    };
    scene.help = [](RunnerWorld& world, const Tasks& tasks) {
        auto& runner = world.house().runner();
        (void)world.house().go(runner.requests.acknowledge(tasks[0]));
        world.house().go(runner.reconciler.settle(tasks[0]));
        world.house().go(runner.queue.look("shop"));
    };
    return scene;
}

/// The second is handed over while the first one's reviewer has the only place; then the first one's review passes.
Scene room_for_a_reviewer() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        (void)world.draft("", 3);
        set(world, "limits.reviewer", 1);
        const Tasks tasks{in_review(world), workable(world)};
        world.append_body(tasks[0], "\n## Review\nVerdict: PASS\n");
        return tasks;
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        if (world.record(tasks[1]).task.status == "working") (void)world.move(tasks[1], "agent-review");
        if (world.record(tasks[0]).task.status == "agent-review") (void)world.move(tasks[0], "reviewing");
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return is_in(world, tasks[0], "reviewing") && runs(world, tasks[1], Role::reviewer);
    };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool exact) {
        const auto& second = world.record(tasks[1]);
        CHECK_FALSE(second.intent);
        const auto events = world.events(tasks[1], "agent.spawned");
        const auto spawned = std::ranges::count_if(
            events, [](const auto& event) { return event.fields.at("role") == Scalar{std::string("reviewer")}; });
        CHECK(spawned <= 1);
        CHECK(count(world, tasks[1], "agent.waits") <= 1);
        CHECK(world.outside.tmux.windows_named("review-1") <= 2);
        check_runs(world, tasks);
        if (second.task.status != "agent-review" || !exact) return;
        const bool waits = second.held_start(Role::reviewer) != nullptr;
        CHECK(waits != runs(world, tasks[1], Role::reviewer));
        if (!waits) CHECK(spawned == 1);
    };
    scene.help = [](RunnerWorld& world, const Tasks& tasks) {
        (void)world.house().go(world.house().runner().respawns.respawn(tasks[1], a_human()));
    };
    return scene;
}

/// One sub-task is stuck and another waits for an approval, which the human of their parent is told.
Scene trouble_of_subtasks() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        const auto family = split_into(world, 1, false);
        return Tasks{family.parent, family.children[0]};
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        auto record = child_draft(world, tasks[0]);
        record.unapproved = true;
        create_child(world, std::move(record), true);
        world.move(tasks[1], "stuck").value();
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return notice_of(world, tasks[0], NoticeKind::child_needs_you) &&
               notice_of(world, tasks[0], NoticeKind::children_unapproved);
    };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) {
        CHECK(is_in(world, tasks[0], "delegated"));
        CHECK(count(world, tasks[0], "children.trouble") <= 1);
        CHECK(count(world, tasks[0], "children.unapproved") <= 1);
    };
    return found_by_the_next_daemon(scene);
}

/// A task whose sub-tasks are done waits for a workspace, and gets another sub-task.
Scene another_subtask() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        auto tasks = the_last_subtasks_end(true).arrange(world);
        auto record = world.record(tasks[0]);
        world.house().runner().queue.enqueue(record);
        world.house().world().tasks.save(record).value();
        return tasks;
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) { (void)make_child(world, tasks[0]); };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) { return !world.record(tasks[0]).queued; };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) { CHECK(is_in(world, tasks[0], "delegated")); };
    return found_by_the_next_daemon(scene);
}

/// Its worker plans, with a program whose window shows when it rests.
Tasks with_worker(RunnerWorld& world) {
    write_file(world.home() / "harnesses/reads.yml",
               "name: reads\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
               "screen: {busy: [thinks], otherwise: idle, composer_empty: [❯]}\n");
    const auto id = world.make_task();
    auto record = world.record(id);
    record.task.harness = "reads";
    world.house().world().tasks.save(record).value();
    world.move(id, "planning").value();
    return {id};
}

/// The agent's window shows that text, and what is due is done.
void show(RunnerWorld& world, const TaskId& id, const std::string& text, std::chrono::milliseconds later = 0s) {
    world.outside.clock.pass(later);
    if (const auto* run = world.record(id).run_of(Role::worker)) world.outside.tmux.screens[run->pane_id] = text;
    world.house().go(world.house().runner().activities.update(id));
    world.house().go(world.house().runner().reconciler.settle(id));
}

/// The agent has worked, and rests. It has taken what was typed, or has swallowed it.
void rest(RunnerWorld& world, const TaskId& id, std::chrono::milliseconds time, bool takes = true) {
    std::string screen;
    for (const auto& [pane, text] : world.outside.tmux.state.sent) screen += takes ? "> " + text + "\n" : "";
    show(world, id, screen + "❯\n", time);
}

Scene of_messages(std::function<void(RunnerWorld&, const Tasks&)> act, bool takes) {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        auto tasks = with_worker(world);
        world.house().go(world.house().runner().outbox.leave(tasks[0], Role::worker, "go on")).value();
        return tasks;
    };
    scene.act = std::move(act);
    scene.is_over = [takes](RunnerWorld& world, const Tasks& tasks) {
        const auto& record = world.record(tasks[0]);
        const bool told = notice_of(world, tasks[0], NoticeKind::message_undelivered) != nullptr;
        return takes ? !record.typed.empty() && record.typed[0].seen : told;
    };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) {
        const auto& record = world.record(tasks[0]);
        CHECK(record.outbox.size() + record.typed.size() == 1);
        if (!record.typed.empty()) CHECK(record.typed[0].times <= 2);
        CHECK(count(world, tasks[0], "agent.notified") <= 1);
        CHECK(world.outside.tmux.state.sent.size() <= 3);  // once more if it was not known that it was typed
    };
    return scene;
}

Scene a_message() {
    return of_messages(
        [](RunnerWorld& world, const Tasks& tasks) {
            show(world, tasks[0], "thinks\n");
            rest(world, tasks[0], 1s);
            rest(world, tasks[0], 3s);
        },
        true);
}

/// It is typed twice, then the human is told.
Scene a_message_that_is_swallowed() {
    return of_messages(
        [](RunnerWorld& world, const Tasks& tasks) {
            // Work after the message would mean that the agent has it.
            if (world.record(tasks[0]).typed.empty()) show(world, tasks[0], "thinks\n");
            for (const auto time : {1s, 9s, 9s}) rest(world, tasks[0], time, false);
        },
        false);
}

/// It is reminded twice, then the human is told.
Scene an_idle_agent() {
    Scene scene;
    scene.arrange = with_worker;
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        show(world, tasks[0], "thinks\n");
        for (const auto time : {1s, 61s, 3s, 301s, 3s, 301s}) rest(world, tasks[0], time);
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return notice_of(world, tasks[0], NoticeKind::agent_idle) != nullptr;
    };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) {
        const auto& record = world.record(tasks[0]);
        CHECK(is_in(world, tasks[0], "planning"));
        CHECK(count(world, tasks[0], "agent.reminded") <= 2);
        CHECK(count(world, tasks[0], "agent.notified") <= 2);
        if (record.reminder) CHECK(record.reminder->times <= 2);
        CHECK(record.outbox.size() <= 1);
    };
    return scene;
}

/// The human was told that the agent is idle.
Scene an_agent_that_works_again() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) {
        auto tasks = with_worker(world);
        auto record = world.record(tasks[0]);
        engine::raise(record, {NoticeKind::agent_idle, "it is idle", "", "worker", {}});
        world.house().world().tasks.save(record).value();
        return tasks;
    };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) { show(world, tasks[0], "thinks\n"); };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) { return world.record(tasks[0]).notices.empty(); };
    scene.check = [](RunnerWorld& world, const Tasks& tasks, bool) { CHECK(is_in(world, tasks[0], "planning")); };
    return scene;
}

/// An agent asks, and its human is notified once.
Scene a_question() {
    Scene scene;
    scene.arrange = [](RunnerWorld& world) { return Tasks{planning(world)}; };
    scene.act = [](RunnerWorld& world, const Tasks& tasks) {
        auto& told = world.outside.tmux.state.told;  // goes back in time with tmux
        Notifier notifier(
            world.house().runner(),
            [&told](std::vector<News> news) -> Awaitable<void> {
                told.emplace_back("human", news.front().text);
                co_return;
            },
            [](const std::function<void()>& then) { then(); });
        go_on_duty(world);
        if (world.record(tasks[0]).task.status == "planning") {
            world.append_body(tasks[0], "\n## Questions\n- Lemons or limes?\n");
            (void)world.move(tasks[0], "clarification", Role::worker);
        }
        show(world, tasks[0], "❯\n");
    };
    scene.is_over = [](RunnerWorld& world, const Tasks& tasks) {
        return is_in(world, tasks[0], "clarification") && !world.outside.tmux.state.told.empty();
    };
    scene.check = [](RunnerWorld& world, const Tasks&, bool exact) {
        if (exact) CHECK(world.outside.tmux.state.told.size() <= 1);
    };
    return scene;
}

}  // namespace

TEST_CASE("a blocker's end that is cut off anywhere starts the task that waits for it, once", "[slow]") {
    strike_everywhere(found_by_the_next_daemon(a_blockers_end(false)), k_all);
    strike_everywhere(a_blockers_end(false), k_all, 5);
}

TEST_CASE("the start of stacked work that is cut off anywhere begins it once, on one branch", "[slow]") {
    strike_everywhere(found_by_the_next_daemon(a_blockers_end(true)), {Fault::killed});
    strike_everywhere(a_blockers_end(true), {Fault::killed}, 4);
}

TEST_CASE("a branch that is moved onto a squash comes there once and keeps its review, wherever the daemon ends",
          "[slow]") {
    strike_everywhere(found_by_the_next_daemon(a_squash_below()), {Fault::killed});
}

TEST_CASE("the last sub-task's end that is cut off anywhere moves its parent once, to the end or to a worker",
          "[slow]") {
    for (const bool commits : {false, true}) {
        INFO((commits ? "with" : "without") << " work of its own");
        const Faults of_daemon_and_disk = {Fault::killed, Fault::disk_full_for_good, Fault::disk_full_once};
        const Faults killed = {Fault::killed};
        strike_everywhere(found_by_the_next_daemon(the_last_subtasks_end(commits)), commits ? k_all : killed);
        strike_everywhere(the_last_subtasks_end(commits), commits ? of_daemon_and_disk : killed, 6);
    }
}

TEST_CASE("an agent that waits for room is started once, whatever ends or fails between", "[slow]") {
    strike_everywhere(room_for_a_reviewer(), k_all);
}

TEST_CASE("the human of a task is told of its sub-tasks once, and a task that gets another one waits again", "[slow]") {
    strike_everywhere(trouble_of_subtasks(), k_all);
    strike_everywhere(another_subtask(), k_all);
}

TEST_CASE("a message is neither lost nor told twice, whatever ends or fails between", "[slow]") {
    strike_everywhere(a_message(), k_all);
    strike_everywhere(a_message_that_is_swallowed(), k_all);
}

TEST_CASE("an idle agent is reminded twice and its human told, whatever ends or fails between", "[slow]") {
    strike_everywhere(an_idle_agent(), k_all);
    strike_everywhere(an_agent_that_works_again(), k_all);
}

TEST_CASE("a question is notified once, whatever ends or fails between", "[slow]") {
    strike_everywhere(a_question(), k_all);
}
