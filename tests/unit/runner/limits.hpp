#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/model/json.hpp"
#include "common/model/settings.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/unit/runner/changes.hpp"

/// Tasks whose agents wait for room.
namespace orange::test {

/// A value of one of the project's settings.
inline void set(RunnerWorld& world, const std::string& name, const Json& value) {
    auto project = shop(world);
    set_setting(project.settings, name, value).value();
    world.house().world().projects.put(project).value();
    world.house().runner().reconciler.room_changed();
}

/// What goes on in the daemon by itself, until this is so or some seconds have passed.
inline bool comes_true(RunnerWorld& world, const std::function<bool()>& what) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!what()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        const std::chrono::milliseconds step{1};
        const auto slept = [](std::chrono::milliseconds time) -> Awaitable<bool> {
            co_return co_await async::sleep(time);
        };
        world.house().go(slept(step));
    }
    return true;
}

inline bool runs(RunnerWorld& world, const TaskId& id, Role role) {
    const auto record = world.house().world().tasks.read(id).value_or(nullptr);
    return record && world.house().control().alive(*record, role);
}

/// A task that is being worked on and could be handed over.
inline TaskId workable(RunnerWorld& world, int pool_size = 3) {
    const auto id = world.make_task("do it", pool_size);
    world.move(id, "planning").value();
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    return id;
}

inline TaskId in_review(RunnerWorld& world) {
    const auto id = workable(world);
    world.move(id, "agent-review").value();
    return id;
}

/// The task leaves its review.
inline void pass_review(RunnerWorld& world, const TaskId& id) {
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    world.move(id, "reviewing").value();
}

inline std::optional<StartWait> wait_of(RunnerWorld& world, const TaskId& id) {
    return world.house().runner().capacity.wait_of(world.record(id));
}

inline Needs needs(RunnerWorld& world, const TaskId& id) {
    return needs_of(world.house().runner(), world.record(id));
}

}  // namespace orange::test
