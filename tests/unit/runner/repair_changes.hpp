#pragma once

#include "tests/unit/runner/changes.hpp"

/// The changes with which a human mends a task that something had gone wrong with before.
namespace orange::test {

inline void follows_a_lost_workflow(RunnerWorld& world, const TaskId& id, std::optional<Intent> intent = {}) {
    auto record = world.record(id);
    record.task.workflow = "lost";
    record.task.workflow_hash = "0123456789abcdef";
    record.intent = std::move(intent);
    world.house().world().tasks.save(record).value();
}

/// Of a transition that has been committed, and of which an action is left that no version has.
inline Intent an_open_transition() {
    Intent intent;
    intent.id = "tx-1";
    intent.from = "pending";
    intent.to = "planning";
    intent.actions.push_back({Action{"fly", {}, {}}, false});
    return intent;
}

inline Change moving_to_another_workflow() {
    Edit edit;
    edit.workflow = "mine";
    auto change = editing("update --workflow", edit, [](const Task& task) { return task.workflow == "mine"; });
    change.arrange = [before = change.arrange](RunnerWorld& world) {
        const auto id = before(world);
        write_file(world.home() / "workflows/mine.yml",
                   "name: mine\nversion: 1\nstates: {pending: {}, planning: {}, done: {terminal: true}}\ntransitions:\n"
                   "  - {from: pending, to: planning}\n  - {from: planning, to: done}\n");
        return id;
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        if (!world.house().runner().turns.definition_of(world.record(id).task))
            throw std::runtime_error("follows nothing");
    };
    return change;
}

/// It was in the middle of a transition when its workflow was lost.
inline Change leaving_a_lost_workflow() {
    Edit edit;
    edit.workflow = "default";
    auto change = editing("update --workflow, of a lost one", edit,
                          [](const Task& task) { return task.workflow == "default" && task.status == "planning"; });
    change.arrange = [before = change.arrange](RunnerWorld& world) {
        const auto id = before(world);
        follows_a_lost_workflow(world, id, an_open_transition());
        return id;
    };
    return change;
}

/// The task has ended, and what held up its release is gone.
inline Change releasing_again() {
    Change change;
    change.name = "workspace gc, of an ended task's";
    change.arrange = [](RunnerWorld& world) {
        const auto id = with_work(world);
        const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
        const auto text = read_file(head);
        write_file(head, "nonsense\n");
        world.move(id, "cancelled").value();
        write_file(head, text);
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        const auto done = world.house().go(world.house().runner().workspaces.collect(shop(world)));
        if (!done) return Result<void>{done.error()};
        const bool stays = done->front().find("could not be freed") != std::string::npos;
        return stays ? Result<void>{Error(ErrorCode::external_failed, done->front().substr(0, 5000))} : Result<void>{};
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return !world.record(id).task.workspace && world.house().world().pool.list("shop").at(0).task.empty();
    };
    change.holds = nothing_is_lost;
    return change;
}

}  // namespace orange::test
