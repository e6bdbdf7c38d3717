#pragma once

#include <functional>
#include <string>

#include "tests/unit/runner/house.hpp"

/// Everything that changes something, as a table: for tests in which one thing goes wrong in the middle of it.
namespace orange::test {

struct Change {
    std::string name;
    std::function<TaskId(RunnerWorld&)> arrange;
    std::function<Result<void>(RunnerWorld&, const TaskId&)> act;
    /// What the change is for has come about.
    std::function<bool(RunnerWorld&, const TaskId&)> is_done;
    /// Never otherwise, whatever went wrong: "done" is not said of what was not done.
    std::function<void(RunnerWorld&, const TaskId&)> holds = [](RunnerWorld&, const TaskId&) {};
};

inline Result<void> nothing_of(const Result<Outcome>& outcome) {
    return outcome ? Result<void>{} : Result<void>{outcome.error()};
}

inline Caller a_human() {
    Caller human;
    human.evidence = "test";
    return human;
}

inline MergeOrder forced_order() {
    MergeOrder order;
    order.force = true;
    return order;
}

inline Project shop(RunnerWorld& world) {
    const auto* project = world.house().world().projects.find("shop");
    if (!project) throw std::runtime_error("there is no project");
    return *project;
}

inline bool is_in(RunnerWorld& world, const TaskId& id, const std::string& status) {
    const auto record = world.house().world().tasks.read(id).value_or(nullptr);
    return record && record->task.status == status && !record->intent;
}

inline Change moving_from(std::string name, std::function<TaskId(RunnerWorld&)> arrange, std::string to) {
    Change change;
    change.name = std::move(name);
    change.arrange = std::move(arrange);
    change.act = [to](RunnerWorld& world, const TaskId& id) { return nothing_of(world.move(id, to)); };
    change.is_done = [to](RunnerWorld& world, const TaskId& id) { return is_in(world, id, to); };
    return change;
}

inline Change editing(std::string name, Edit edit, std::function<bool(const Task&)> edited) {
    Change change;
    change.name = std::move(name);
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        world.move(id, "planning").value();
        return id;
    };
    change.act = [edit](RunnerWorld& world, const TaskId& id) {
        return nothing_of(world.house().go(world.house().runner().requests.edit(id, edit, a_human())));
    };
    change.is_done = [edited](RunnerWorld& world, const TaskId& id) { return edited(world.record(id).task); };
    return change;
}

/// A task that is worked on, with a commit, in a workflow without an agent's sections.
inline TaskId with_work(RunnerWorld& world) {
    const auto id = world.make_task("do it", 1, "relay");
    world.move(id, "working").value();
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    world.git.commit(worktree, "feature", "it\n");
    write_file(worktree / "untracked", "mine\n");
    return id;
}

inline TaskId ready_to_merge(RunnerWorld& world) {
    const auto id = with_work(world);
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    return id;
}

/// Whoever has ended holds no untracked file any more that no ref has.
inline void nothing_is_lost(RunnerWorld& world, const TaskId& id) {
    const auto tree = world.house().world().pool.path_of("shop--1");
    if (std::filesystem::exists(tree / "untracked")) return;
    if (world.git.plain(world.repo(), {"show", "refs/orange/" + id.value + "/wip:untracked"}, true) != "mine") {
        throw std::runtime_error("the untracked file is nowhere");
    }
}

inline Change creating() {
    Change change;
    change.name = "create";
    change.arrange = [](RunnerWorld& world) { return world.draft().task.id; };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        // Created, but not started: what a human does next is to start it.
        if (world.house().world().tasks.brief(id)) {
            return nothing_of(world.house().go(world.house().runner().queue.spawn(id, a_human())));
        }
        auto record = world.draft();
        record.task.id = id;
        record.task.branch = "orange-tasks/" + id.value;
        return nothing_of(world.create(record, "## Why\nbecause\n", false));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) { return is_in(world, id, "planning"); };
    return change;
}

inline Change cancelling() {
    auto change = moving_from("cancel", with_work, "cancelled");
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return is_in(world, id, "cancelled") && !world.record(id).task.workspace &&
               world.outside.processes.alive.empty();
    };
    change.holds = nothing_is_lost;
    return change;
}

inline Change merging() {
    Change change;
    change.name = "merge";
    change.arrange = ready_to_merge;
    change.act = [](RunnerWorld& world, const TaskId& id) {
        auto& runner = world.house().runner();
        const auto merged = world.house().go(runner.merges.merge(id, MergeOrder{}, a_human()));
        return merged ? Result<void>{} : Result<void>{merged.error()};
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return is_in(world, id, "done") && !world.record(id).task.workspace;
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        nothing_is_lost(world, id);
        const bool merged = world.git.plain(world.repo(), {"show", "main:feature"}, true) == "it";
        if (world.record(id).task.status == "done" && !merged) throw std::runtime_error("done, and not merged");
        const auto merges = world.git.plain(world.repo(), {"rev-list", "--count", "--merges", "main"});
        if (merges != (merged ? "1" : "0")) throw std::runtime_error("merged " + merges + " times");
    };
    return change;
}

/// One commit on main, with one parent.
inline Change merging_by_squash() {
    auto change = merging();
    change.name = "merge --strategy squash";
    change.act = [](RunnerWorld& world, const TaskId& id) {
        MergeOrder order;
        order.strategy = git::MergeStrategy::squash;
        const auto merged = world.house().go(world.house().runner().merges.merge(id, order, a_human()));
        return merged ? Result<void>{} : Result<void>{merged.error()};
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        nothing_is_lost(world, id);
        const bool merged = world.git.plain(world.repo(), {"show", "main:feature"}, true) == "it";
        if (world.record(id).task.status == "done" && !merged) throw std::runtime_error("done, and not merged");
        const auto commits = world.git.plain(world.repo(), {"rev-list", "--count", "main", "--", "feature"});
        if (commits != (merged ? "1" : "0")) throw std::runtime_error("squashed " + commits + " times");
        if (world.git.plain(world.repo(), {"rev-list", "--count", "--merges", "main"}) != "0") {
            throw std::runtime_error("a merge commit");
        }
    };
    return change;
}

/// In the place of the project's checks, since a file in the worktree is not committed.
inline Change checking() {
    Change change;
    change.name = "checks";
    change.arrange = [](RunnerWorld& world) {
        const auto id = ready_to_merge(world);
        auto project = shop(world);
        project.setup = {"sh", "-c", "echo made > made"};
        project.settings.checks = {
            {"sh", "-c", "test -e made && test ! -e untracked && echo x >> $ORANGE_HOME/checked"},
            {"test", "-f", "feature"}};
        world.house().world().projects.put(project).value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        auto& runner = world.house().runner();
        CheckOrder order;
        order.merge = merge_command(id);
        return world.house().go(runner.checks.pass(id, order));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& checked = world.record(id).checked;
        return checked && checked->passed;
    };
    change.holds = [done = change.is_done](RunnerWorld& world, const TaskId& id) {
        nothing_is_lost(world, id);
        if (done(world, id) && !std::filesystem::exists(world.home() / "checked"))
            throw std::runtime_error("never ran");
        if (!is_in(world, id, "reviewing")) throw std::runtime_error("moved");
    };
    return change;
}

inline Change merging_with_checks() {
    auto change = merging();
    change.name = "merge, with checks";
    change.arrange = checking().arrange;
    change.holds = [before = change.holds](RunnerWorld& world, const TaskId& id) {
        before(world, id);
        const auto& last = world.record(id).merge_checked;
        const bool checked = last && last->passed;
        if (is_in(world, id, "done") && !checked) throw std::runtime_error("merged without its checks");
    };
    return change;
}

/// With a remote: published once, told once, and the commit that is told is the one that was made.
inline Change merging_with_origin() {
    auto change = merging();
    change.name = "merge, with a remote";
    change.arrange = [](RunnerWorld& world) {
        world.git.make_origin(world.repo(), "live/origin.git");
        return ready_to_merge(world);
    };
    change.holds = [before = change.holds](RunnerWorld& world, const TaskId& id) {
        nothing_is_lost(world, id);
        const auto origin = (world.home().parent_path() / "origin.git").string();
        const auto merges = world.git.plain(origin, {"rev-list", "--merges", "main"});
        if (merges.size() > 40) throw std::runtime_error("published twice: " + merges);
        const auto told = world.events(id, "task.merged");
        const bool done = world.record(id).task.status == "done";
        if (told.size() > 1) throw std::runtime_error("told twice");
        if (done && told.size() != 1) throw std::runtime_error("done, and not told");
        if (!told.empty() && told[0].fields.at("commit") != Scalar{merges}) throw std::runtime_error("another commit");
        for (const auto& entry : std::filesystem::directory_iterator(world.home() / "workspaces")) {
            const auto name = entry.path().filename().string();
            if (name.starts_with(".merge-")) throw std::runtime_error(name + " is left");
        }
    };
    return change;
}

inline Change removing() {
    Change change;
    change.name = "delete";
    change.arrange = [](RunnerWorld& world) {
        const auto id = with_work(world);
        world.move(id, "cancelled").value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        return nothing_of(world.house().go(world.house().runner().requests.remove(id, a_human())));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return !world.house().world().tasks.brief(id) &&
               !std::filesystem::exists(world.home() / "tasks/shop" / id.value);
    };
    change.holds = nothing_is_lost;
    return change;
}

inline Change respawning() {
    Change change;
    change.name = "respawn";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        world.move(id, "planning").value();
        world.kill_agent(id, Role::worker, 0);
        world.house().go(world.house().runner().exits.agent_exited(id, world.record(id).run_of(Role::worker)->run));
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        if (!world.outside.processes.alive.empty()) return Result<void>{};
        return nothing_of(world.house().go(world.house().runner().respawns.respawn(id, a_human())));
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) { return world.outside.processes.alive.size() == 1; };
    return change;
}

inline Change sending() {
    Change change;
    change.name = "send";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        world.move(id, "planning").value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        return nothing_of(world.house().go(world.house().runner().outbox.send(id, Role::worker, "hello")));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& typed = world.outside.tmux.state.sent;
        return world.record(id).outbox.size() == 1 ||
               (!typed.empty() && typed.back().second.find("hello") != std::string::npos);
    };
    return change;
}

inline Change acknowledging() {
    Change change;
    change.name = "ack";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        auto record = world.record(id);
        look_at(record, "look here");
        world.house().world().tasks.save(record).value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        return nothing_of(world.house().go(world.house().runner().requests.acknowledge(id)));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) { return !world.record(id).task.attention; };
    return change;
}

inline Change making_workspaces() {
    Change change;
    change.name = "workspace init";
    change.arrange = [](RunnerWorld& world) { return world.make_task("do it", 2); };
    change.act = [](RunnerWorld& world, const TaskId&) {
        const auto made = world.house().go(world.house().world().pool.init(shop(world)));
        return made ? Result<void>{} : Result<void>{made.error()};
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        return std::filesystem::exists(world.home() / "workspaces/shop--1/README") &&
               std::filesystem::exists(world.home() / "workspaces/shop--2/README") &&
               world.house().world().pool.list("shop").size() == 2;
    };
    return change;
}

inline Change removing_workspaces() {
    Change change;
    change.name = "workspace gc";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task("do it", 2);
        world.house().go(world.house().world().pool.init(shop(world))).value();
        auto smaller = shop(world);
        smaller.pool_size = 1;
        world.house().world().projects.put(smaller).value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        const auto done = world.house().go(world.house().runner().workspaces.collect(shop(world)));
        if (!done) return Result<void>{done.error()};
        // One that cannot be removed does not keep the others: it is in the answer.
        if (done->empty() || done->front().find("removed: the pool") != std::string::npos) {
            return Result<void>{};
        }
        return Result<void>{Error(ErrorCode::external_failed, done->front().substr(0, 5000))};
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        return !std::filesystem::exists(world.home() / "workspaces/shop--2") &&
               world.house().world().pool.list("shop").size() == 1;
    };
    return change;
}

inline Change leaving() {
    Change change;
    change.name = "project remove";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task("do it", 1);
        world.move(id, "cancelled").value();
        world.house().go(world.house().world().pool.init(shop(world))).value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        auto& parts = world.house().world();
        if (auto freed = world.house().go(parts.pool.remove_workspaces(shop(world))); !freed) return freed;
        return parts.projects.remove("shop");
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        return !world.house().world().projects.find("shop") &&
               !std::filesystem::exists(world.home() / "workspaces/shop--1");
    };
    return change;
}

inline Change renaming_the_branch() {
    Edit edit;
    edit.branch = "better/name";
    return editing("update --branch", edit, [](const Task& task) { return task.branch == "better/name"; });
}

/// Of a task that has no workspace yet: only a name.
inline Change choosing_the_branch() {
    auto change = renaming_the_branch();
    change.name = "update --branch, before the start";
    change.arrange = [](RunnerWorld& world) { return world.make_task(); };
    return change;
}

inline Change switching_the_branch() {
    Edit edit;
    edit.branch = "there";
    auto change =
        editing("update --branch, of one that is there", edit, [](const Task& task) { return task.branch == "there"; });
    change.arrange = [before = change.arrange](RunnerWorld& world) {
        const auto id = before(world);
        world.git.plain(world.repo(), {"branch", "there"});
        return id;
    };
    return change;
}

inline Change taking_over_the_branch() {
    Edit edit;
    edit.sync_branch = true;
    auto change = editing("update --sync-branch", edit, [](const Task& task) { return task.branch == "by-hand"; });
    change.arrange = [before = change.arrange](RunnerWorld& world) {
        const auto id = before(world);
        world.git.plain(world.house().world().pool.path_of("shop--1"), {"switch", "-qc", "by-hand"});
        return id;
    };
    return change;
}

/// A human's words are in TASK.md where the rest of their update is done, and only there.
inline void feedback_goes_with(RunnerWorld& world, const TaskId& id, bool done) {
    const bool written = world.task_text(id).find("## Feedback\n\nmore tests\n") != std::string::npos;
    if (written != done) throw std::runtime_error("the feedback is in TASK.md: " + std::to_string(written));
}

inline Change changing_fields() {
    Edit edit;
    edit.summary = "another";
    edit.feedback = "more tests";
    auto change = editing("update", edit, [](const Task& task) { return task.summary == "another"; });
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        feedback_goes_with(world, id, world.record(id).task.summary == "another");
    };
    return change;
}

inline Change starting() {
    return moving_from(
        "start", [](RunnerWorld& world) { return world.make_task(); }, "planning");
}

/// Of a task whose prompt is too long for an argument, so that it travels as a file.
inline Change starting_with_a_long_prompt() {
    auto change = starting();
    change.name = "start, with a long prompt";
    change.arrange = [](RunnerWorld& world) { return world.make_task(std::string(130'000, 'x')); };
    return change;
}

inline Change asking_for_review() {
    return moving_from(
        "status agent-review",
        [](RunnerWorld& world) {
            const auto id = with_work(world);
            world.append_body(id, "\n## Handoff\nall of it\n");
            return id;
        },
        "agent-review");
}

/// One update of fields, branch and status: all of it or nothing, in the record, and in git.
inline Change moving_with_fields() {
    Change change;
    change.name = "update --summary --branch --status";
    change.arrange = asking_for_review().arrange;
    change.act = [](RunnerWorld& world, const TaskId& id) {
        Edit edit;
        edit.summary = "another";
        edit.branch = "better/name";
        edit.feedback = "more tests";
        engine::Request request;
        request.to = "agent-review";
        return nothing_of(world.house().go(world.house().runner().requests.move(id, request, a_human(), edit)));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) { return is_in(world, id, "agent-review"); };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        const auto& task = world.record(id).task;
        const bool moved = task.status == "agent-review";
        if ((task.summary == "another") != moved)
            throw std::runtime_error("the summary is " + task.summary + " in " + task.status);
        if ((task.branch == "better/name") != moved)
            throw std::runtime_error("the branch is " + task.branch + " in " + task.status);
        const auto worktree = world.house().world().pool.path_of("shop--1");
        const auto on = world.git.plain(worktree, {"symbolic-ref", "--short", "HEAD"});
        if (on != task.branch) throw std::runtime_error("git is on " + on + ", the task on " + task.branch);
        feedback_goes_with(world, id, moved);
    };
    return change;
}

inline Change getting_stuck() {
    return moving_from(
        "stuck",
        [](RunnerWorld& world) {
            const auto id = world.make_task();
            world.move(id, "planning").value();
            world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
            world.move(id, "working").value();
            return id;
        },
        "stuck");
}

/// Agents that are dead, and somebody notices.
inline Change noticing(std::string name, std::function<TaskId(RunnerWorld&)> arrange,
                       std::function<bool(RunnerWorld&, const TaskId&)> is_done) {
    Change change;
    change.name = std::move(name);
    change.arrange = std::move(arrange);
    change.act = [](RunnerWorld& world, const TaskId& id) {
        const auto runs = world.record(id).runs;
        for (const auto& run : runs) world.house().go(world.house().runner().exits.agent_exited(id, run.run));
        return Result<void>{};
    };
    change.is_done = std::move(is_done);
    return change;
}

inline Change crashing() {
    return noticing(
        "a worker's crash",
        [](RunnerWorld& world) {
            const auto id = world.make_task();
            world.move(id, "planning").value();
            world.kill_agent(id, Role::worker, 1);
            return id;
        },
        [](RunnerWorld& world, const TaskId& id) {
            const auto& record = world.record(id);
            return record.task.crash_count() == 1 && record.runs.empty() && record.task.attention.has_value();
        });
}

inline Change crashing_in_review() {
    return noticing(
        "a reviewer's crash",
        [](RunnerWorld& world) {
            const auto id = world.make_task("do it", 1, "default", "working");
            auto record = world.record(id);
            record.task.counters["review_round"] = 0;
            world.house().world().tasks.save(record).value();
            world.append_body(id, "\n## Handoff\nDONE: all\n");
            world.move(id, "agent-review").value();
            world.kill_agent(id, Role::reviewer, 1);
            return id;
        },
        [](RunnerWorld& world, const TaskId& id) {
            const auto& record = world.record(id);
            const bool again = world.house().control().alive(record, Role::reviewer);
            return record.task.crash_count() == 1 && (again || record.task.attention);
        });
}

inline Change leaving_an_artifact() {
    return noticing(
        "an end with its artifact",
        [](RunnerWorld& world) {
            const auto id = world.make_task();
            world.move(id, "planning").value();
            world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
            world.kill_agent(id, Role::worker, 0);
            return id;
        },
        [](RunnerWorld& world, const TaskId& id) { return is_in(world, id, "working"); });
}

/// A queued task that can never be started: it must not hold up the others, and somebody is told.
inline Change failing_to_start() {
    Change change;
    change.name = "a start that fails";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        auto project = shop(world);
        project.setup = {"false"};
        world.house().world().projects.put(project).value();
        auto record = world.record(id);
        record.queued = true;
        record.queued_seq = 1;
        world.house().world().tasks.save(record).value();
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        world.house().go(world.house().runner().queue.look("shop"));
        return Result<void>{};
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& record = world.record(id);
        return !record.queued && record.task.attention && record.task.status == "pending";
    };
    return change;
}

/// The cause is gone, and the next daemon runs: it is done, or the same call does it.
inline void goes_on(RunnerWorld& world, const TaskId& id, const Change& change) {
    world.boot();
    world.recover();
    if (world.house().world().projects.find("shop")) {
        (void)world.house().go(world.house().runner().workspaces.collect(shop(world)));
        world.house().go(world.house().runner().queue.look("shop"));
    }
    change.holds(world, id);
    if (change.is_done(world, id)) return;
    if (auto again = change.act(world, id); !again) throw std::runtime_error("again: " + again.error().message);
    change.holds(world, id);
    if (!change.is_done(world, id)) {
        throw std::runtime_error("done, as it says, and it is not: " + world.state_text(id));
    }
}

}  // namespace orange::test
