#pragma once

#include <string>
#include <vector>

#include "daemon/runner/family/attempts.hpp"
#include "tests/unit/runner/family.hpp"
#include "tests/unit/runner/method_changes.hpp"

/// Tasks that several agents try.
namespace orange::test {

/// The parameters of task.create for a task that three agents try, in the workflow relay.
inline Json attempts_params(Json more = Json::object()) {
    Json params = {{"project", "shop"},   {"summary", "do it"},      {"context", "because"},
                   {"workflow", "relay"}, {"review_harness", "bot"}, {"attempts", {"bot", "other", "bot"}}};
    params.update(more);
    return params;
}

/// A house with the project and two programs, and workspaces for all.
inline void prepare_attempts(RunnerWorld& world, int pool_size = 4) {
    write_file(world.home() / "harnesses/other.yml",
               "name: other\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nscreen: {composer_empty: [❯]}\n");
    world.boot();
    (void)world.draft("only for the project", pool_size);
}

inline Family tried_by_three(RunnerWorld& world, Json more = Json::object()) {
    const auto reply = call(world, "task.create", attempts_params(std::move(more))).value();
    Family family{TaskId{reply.at("task").at("fields").at("id").get<std::string>()}, {}};
    for (const auto& row : world.record(family.parent).attempts) family.children.push_back(row.id);
    return family;
}

/// The worker of the attempt has committed a file, has something uncommitted besides, and its review has passed.
inline void hand_over_attempt(RunnerWorld& world, const TaskId& id) {
    work_on(world, id);
    write_file(worktree_of(world, id) / "untracked", "mine\n");
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
}

inline Result<Json> pick_attempt(RunnerWorld& world, const TaskId& parent, const std::string& attempt) {
    return call(world, "task.pick", {{"id", parent.value}, {"attempt", attempt}});
}

/// The work of a cancelled attempt, as it was in its worktree.
inline bool is_kept(RunnerWorld& world, const TaskId& id) {
    const auto file = world.git.plain(world.repo(), {"show", "refs/orange/" + id.value + "/wip:untracked"}, true);
    const auto work = world.git.plain(world.repo(), {"show", "refs/orange/" + id.value + "/wip:of-" + id.value}, true);
    return file == "mine" && work == "it";
}

}  // namespace orange::test
