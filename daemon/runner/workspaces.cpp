#include <filesystem>
#include <set>

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/runner.hpp"

/// Workspaces that should be free and are not: of tasks that ended while their release failed, and claims that a daemon
/// left which died before it had written anything else down.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_between_releases = 30s;
constexpr std::size_t k_looked_at = 1024;  ///< of a history, for the two transitions that came last

/// The hooks that failed when the task ended are those alone that a release does again.
bool failed_to_release_only(const std::vector<HistoryEvent>& history) {
    const std::set<Scalar> done_again = {Scalar{std::string("kill_session")}, Scalar{std::string("kill_reviewer")},
                                         Scalar{std::string("release_workspace")}};
    int transitions = 0;
    bool failed = false;
    for (auto event = history.rbegin(); event != history.rend() && transitions < 2; ++event) {
        if (event->type == "status.changed") ++transitions;
        if (event->type != "hook.failed" || transitions == 2) continue;
        const auto hook = event->fields.find("hook");
        if (hook == event->fields.end() || !done_again.contains(hook->second)) return false;
        failed = true;
    }
    return failed;
}

}  // namespace

Awaitable<Result<void>> Runner::release_ended(TaskRecord& record) {
    CO_TRY(const auto definition, definition_of(record.task));
    CO_TRY(co_await agents_.end_session(record));
    actions::Context context{world_, agents_, record, {}, *definition, [](const std::string&) {}};
    const Action release{"release_workspace", {}, {}};
    const auto alarmed = record.programs_changed;
    if (auto released = co_await actions::release_workspace(context, release); !released) {
        if (record.programs_changed != alarmed) (void)world_.tasks.save(record);  // told, though refused again
        co_return released.error();
    }
    const auto history = world_.tasks.history(record.task.id, k_looked_at);
    if (history && failed_to_release_only(*history)) record.task.attention.reset();
    co_return world_.tasks.save(record);
}

bool Runner::has_its_folder(const TaskRecord& record) const {
    std::error_code error;
    const auto& name = *record.task.workspace;
    return std::filesystem::is_directory(world_.pool.path_of(name), error) && !world_.pool.is_replaced(name);
}

Awaitable<void> Runner::release_left_over() {
    const auto now = std::chrono::steady_clock::now();
    for (const auto& workspace : world_.pool.list(std::nullopt)) {
        const auto* holder = workspace.task.empty() ? nullptr : world_.tasks.find(workspace.task);
        if (!holder || !store::has_ended(*holder) || holder->task.workspace != workspace.name) continue;
        const auto id = workspace.task;
        if (holder->intent || world_.task_locks.busy(id.value)) continue;
        const auto tried = release_tried_.find(id);
        if (tried != release_tried_.end() && now - tried->second < k_between_releases) continue;
        if (!workers_in(workspace.path).empty()) continue;
        release_tried_[id] = now;
        const auto lock = co_await world_.task_locks.acquire(id.value);
        auto record = record_of(id);
        if (!record || !record->task.workspace || !store::has_ended(*record)) continue;
        if (auto released = co_await release_ended(*record); !released) {
            log::warn("runner", released.error().message, {{"task", id.value}});
            continue;
        }
        release_tried_.erase(id);
        log::info("runner", workspace.name + " freed: nobody works in it any more", {{"task", id.value}});
        changed_(id);
        kick(workspace.project);
    }
}

/// A living task whose folder somebody has deleted gets it again, with what its branch has. What was not committed is
/// lost with the folder; TASK.md is not.
Awaitable<Result<void>> Runner::remake_workspace(TaskRecord& record) {
    const auto* registered = world_.projects.find(record.task.project);
    if (!registered) {
        co_return Error(ErrorCode::not_found, "project " + record.task.project + " is not registered");
    }
    const auto project = *registered;
    auto env = agents_.environment(record, {}, Role::worker, RunId{});
    const std::vector<std::string> no_more;
    CO_TRY(co_await world_.pool.acquire(project, record.task, std::move(env), no_more));
    (void)co_await step_bodies(record);
    co_return Result<void>{};
}

Awaitable<std::string> Runner::make_workspace_anew(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record || !record->task.workspace) co_return std::string();
    const auto name = *record->task.workspace;
    if (has_its_folder(*record)) co_return std::string();
    const auto made = co_await remake_workspace(*record);
    if (!made) {
        record->task.attention = "its workspace could not be made anew: " + made.error().message +
                                 "; then run: orange task respawn " + id.value;
        if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        co_return name + " of task " + id.value + " could not be made anew: " + made.error().message;
    }
    std::string note = name + " made anew for task " + id.value + ": its folder was gone";
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!agents_.alive(*record, role)) continue;
        const auto what = "its " + std::string(name_of(role)) +
                          " still works in the folder that was deleted: end it (orange task attach " + id.value +
                          "), then run: orange task respawn " + id.value;
        note += "; " + what;
        record->task.attention = what;
        if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
    }
    changed_(id);
    co_return note;
}

Awaitable<Result<std::vector<std::string>>> Runner::collect_workspaces(Project project) {
    std::vector<std::string> done;
    std::vector<TaskId> homeless;
    std::set<TaskId> holders;
    std::map<std::string, TaskId> claims;
    world_.tasks.each([&](const TaskRecord& record) {
        if (record.task.workspace) claims[*record.task.workspace] = record.task.id;
        if (record.task.workspace && record.task.project == project.name && store::has_ended(record)) {
            holders.insert(record.task.id);
        } else if (record.task.workspace && record.task.project == project.name) {
            if (!has_its_folder(record)) homeless.push_back(record.task.id);
        }
        return true;
    });
    world_.pool.adopt_claims(claims);
    for (const auto& id : holders) {
        const auto lock = co_await world_.task_locks.acquire(id.value);
        auto record = co_await settled(id);
        if (!record || !record->task.workspace) continue;
        const auto name = *record->task.workspace;
        auto released = co_await release_ended(*record);
        done.push_back(released ? name + " freed: its task " + id.value + " has ended"
                                : name + " could not be freed: " + released.error().message);
        changed_(id);
    }
    for (const auto& id : homeless) {
        auto note = co_await make_workspace_anew(id);
        if (!note.empty()) done.push_back(std::move(note));
    }
    const std::function<bool(const TaskId&)> is_live = [this](const TaskId& id) {
        for (const auto& broken : world_.tasks.unreadable()) {
            if (broken.id == id.value) return true;
        }
        const auto* record = world_.tasks.find(id);
        // One whose lock is held may be taking a workspace right now, which its record does not say yet.
        return record && (record->task.workspace || record->intent || world_.task_locks.busy(id.value));
    };
    CO_TRY(auto collected, co_await world_.pool.gc(project, is_live));
    done.insert(done.end(), collected.begin(), collected.end());
    co_return done;
}

}  // namespace orange
