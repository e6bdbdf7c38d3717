#pragma once

#include <functional>
#include <string>

#include "tests/unit/runner/house.hpp"

/// Agents that die, in the real runner.
namespace orange::test {

inline TaskId under_review(RunnerWorld& world, const std::string& summary = "do it", int pool = 1) {
    const auto id = planning(world, summary, pool);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    return id;
}

inline void notice(RunnerWorld& world, const TaskId& id, Role role) {
    const auto run = world.record(id).run_of(role)->run;
    world.house().go(world.house().runner().exits.agent_exited(id, run));
}

inline void dies(RunnerWorld& world, const TaskId& id, Role role, int status = 1) {
    world.kill_agent(id, role, status);
    notice(world, id, role);
}

inline Result<Outcome> respawn(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().respawns.respawn(id, Caller{}));
}

inline void set(RunnerWorld& world, const TaskId& id, const std::function<void(TaskRecord&)>& change) {
    auto record = world.record(id);
    change(record);
    world.house().world().tasks.save(record).value();
}

/// The tmux server has ended with everybody in it, and another one answers.
inline void another_server(RunnerWorld& world) {
    world.outside.processes.alive.clear();
    world.outside.tmux.state.panes.clear();
    world.outside.tmux.state.server_pid = 4711;
}

}  // namespace orange::test
