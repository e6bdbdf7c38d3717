#include "daemon/runner/queue/workspaces.hpp"

#include <set>

#include "common/base/shortage.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_between_releases = 30s;
constexpr std::size_t k_looked_at = 1024;  ///< of a history, for the two transitions that came last

/// Returns the actions that failed in the last transition.
std::vector<Scalar> failed_hooks(const std::vector<HistoryEvent>& history) {
    std::vector<Scalar> hooks;
    int transitions = 0;
    for (auto event = history.rbegin(); event != history.rend() && transitions < 2; ++event) {
        if (event->type == "status.changed") ++transitions;
        if (event->type != "hook.failed" || transitions == 2) continue;
        const auto hook = event->fields.find("hook");
        hooks.push_back(hook == event->fields.end() ? Scalar{std::string()} : hook->second);
    }
    return hooks;
}

bool failed_to_release(const std::vector<HistoryEvent>& history) {
    const auto hooks = failed_hooks(history);
    return std::ranges::find(hooks, Scalar{std::string("release_workspace")}) != hooks.end();
}

/// True if a release repeats all actions that failed.
bool failed_to_release_only(const std::vector<HistoryEvent>& history) {
    const std::set<Scalar> done_again = {Scalar{std::string("kill_session")}, Scalar{std::string("kill_reviewer")},
                                         Scalar{std::string("release_workspace")}};
    const auto hooks = failed_hooks(history);
    return !hooks.empty() && std::ranges::all_of(hooks, [&](const auto& hook) { return done_again.contains(hook); });
}

}  // namespace

std::map<std::string, TaskId> claims_of(const store::TaskStore& tasks) {
    std::map<std::string, TaskId> claims;
    const auto claim = [&](bool ended) {
        tasks.each_awake([&](const TaskRecord& record) {
            if (record.task.workspace && store::has_ended(record) == ended) {
                claims.try_emplace(*record.task.workspace, record.task.id);
            }
        });
    };
    claim(false);
    claim(true);
    return claims;
}

Workspaces::Workspaces(Runner& runner) : Owner(runner) {
    world_.pool.on_restored([this](const TaskId& id, const std::string& workspace, const git::RestoredFile& mended) {
        on_restored(id, workspace, mended);
    });
    world_.pool.surround([this](const Project& project, const TaskId& id, const std::string& workspace) {
        TaskRecord record;
        record.task.id = id;
        record.task.project = project.name;
        record.task.workspace = workspace;
        auto settings = settings_of(world_, project);
        return Surroundings{runner_.agents.environment(record, {}, Role::system, RunId{}),
                            std::move(*settings.teardown), std::move(*settings.keep_ignored)};
    });
    world_.pool.run_behind([this](TaskId id, git::Pinned worktree, std::vector<std::string> argv) {
        return behind_wall(std::move(id), std::move(worktree), std::move(argv));
    });
    world_.pool.tell_keeping([this](const TaskId& id, const Keeping& keeping) { tell_keeping(id, keeping); });
}

Awaitable<Result<std::vector<std::string>>> Workspaces::behind_wall(TaskId id, git::Pinned worktree,
                                                                    std::vector<std::string> argv) {
    const auto record = world_.tasks.awake(id);
    Task task;
    task.id = id;
    if (record) task = record->task;
    co_return co_await walls::behind(world_, std::move(task), std::move(worktree), std::move(argv));
}

void Workspaces::on_restored(const TaskId& id, const std::string& workspace, const git::RestoredFile& mended) {
    log::warn("runner", "put right in " + workspace + ": " + mended.what, {{"task", id.value}, {"kept", mended.kept}});
    const auto record = world_.tasks.read(id);
    if (!record) return;
    std::map<std::string, Scalar> fields = {{"workspace", workspace}, {"what", mended.what}};
    if (!mended.kept.empty()) fields["kept"] = mended.kept;
    world_.journal.write(**record, "workspace.mended", std::move(fields));
}

/// Publishes an event to subscribers only; the history gets what was kept.
void Workspaces::tell_keeping(const TaskId& id, const Keeping& keeping) {
    log::info("runner", "Orange " + keeping.text(), {{"task", id.value}});
    const auto* task = world_.tasks.brief(id);
    if (!task) return;
    HistoryEvent event;
    event.type = "workspace.keeping";
    event.fields = {{"workspace", keeping.workspace},
                    {"files", keeping.untracked.files},
                    {"bytes", keeping.untracked.bytes},
                    {"seconds", keeping.seconds()}};
    world_.journal.publish(id, task->project, std::move(event));
}

Awaitable<Result<void>> Workspaces::acquire(TaskRecord& record, Outcome& outcome) {
    if (record.task.workspace) co_return Result<void>{};
    auto taken = co_await actions::prepare_workspace(world_, record);
    if (!taken) co_return in_context("task " + record.task.id.value + " has no workspace", taken.error());
    if (auto saved = turns_.try_save(record); !saved) {
        co_await runner_.transitions.give_back(record);
        co_return saved.error();
    }
    world_.journal.write(record, "workspace.acquired", {{"workspace", *record.task.workspace}});
    outcome.notes = std::move(*taken);
    CO_TRY(co_await turns_.sync_bodies(record));  // the agent reads TASK.md there
    co_return Result<void>{};
}

Awaitable<Result<void>> Workspaces::make_ready(TaskRecord& record, Outcome& outcome) {
    if (record.task.workspace && is_missing(world_.files, world_.pool.path_of(*record.task.workspace))) {
        CO_TRY(co_await remake(record));
        outcome.notes.push_back(*record.task.workspace + " was created again, because its folder was missing");
    }
    co_return co_await acquire(record, outcome);
}

Awaitable<Result<void>> Workspaces::release_owed(TaskRecord& record) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    CO_TRY(co_await runner_.agents.end_session(record));
    actions::Context context{world_, runner_, record, {}, *definition};
    const Action release{"release_workspace", {}, {}};
    CO_TRY(co_await actions::release_workspace(context, release));
    const auto history = world_.tasks.history(record.task.id, k_looked_at);
    if (history && failed_to_release_only(*history)) (void)clear(record, NoticeKind::hook_failed);
    CO_TRY(turns_.try_save(record));
    co_await turns_.show(record);  // its frontmatter names the workspace
    co_return Result<void>{};
}

/// A task that waits for its sub-tasks also has to release its workspace if its workflow says so: they may need it.
bool Workspaces::owes_release(const TaskRecord& record) const {
    if (!record.task.workspace) return false;
    if (store::has_ended(record)) return true;
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    if (state == nullptr || !state->children || record.intent) return false;
    const auto history = world_.tasks.history(record.task.id, k_looked_at);
    return history && failed_to_release(*history);
}

bool Workspaces::has_its_folder(const TaskRecord& record) const {
    const auto& name = *record.task.workspace;
    return is_folder(world_.files, world_.pool.path_of(name)) && !world_.pool.is_replaced(name);
}

bool Workspaces::may_hold(const TaskId& id, const std::string& project) const {
    if (world_.tasks.has_failed_to_load()) return true;
    for (const auto& broken : world_.tasks.unreadable()) {
        if (broken.id == id.value || (broken.id.empty() && broken.project == project)) return true;
    }
    // A task whose lock is held may just be acquiring a workspace that is not in its record yet.
    if (world_.task_locks.busy(id.value) && world_.tasks.brief(id)) return true;
    const auto record = world_.tasks.awake(id);
    return record && (record->task.workspace || record->intent);
}

/// A task that this daemon does not know may be one that it could not load.
bool Workspaces::is_lost(const TaskId& id, const std::string& project) const {
    return (world_.tasks.brief(id) || deleted_.contains(id)) && !may_hold(id, project);
}

void Workspaces::note_deleted(const TaskId& id) {
    if (world_.pool.has_claim(id)) deleted_.insert(id);
}

bool Workspaces::was_just_tried(const TaskId& id) const {
    const auto tried = release_tried_.find(id);
    return tried != release_tried_.end() && async::now() - tried->second < k_between_releases;
}

void Workspaces::note_try(const TaskId& id) {
    const auto now = async::now();
    std::erase_if(release_tried_, [&](const auto& each) { return now - each.second >= k_between_releases; });
    release_tried_[id] = now;
}

Awaitable<void> Workspaces::free_lost_claims(const std::vector<WorkspaceInfo>& all) {
    for (const auto& workspace : all) {
        const auto id = workspace.task;
        if (id.empty() || workspace.busy || was_just_tried(id) || !is_lost(id, workspace.project)) continue;
        const auto project = registered_project(world_, workspace.project);
        if (!project) continue;
        if (!workers_in(workspace.path).empty()) {  // reads all of /proc
            note_try(id);
            continue;
        }
        Task holder;
        holder.id = id;
        std::function<bool()> still = [&] { return is_lost(id, workspace.project); };
        const auto released = co_await world_.pool.release_if(*project, std::move(holder), std::move(still));
        if (!released) {
            log::warn("runner", released.error().message, {{"task", id.value}});
            if (!shortage_in(released.error())) note_try(id);
        }
        if (world_.pool.has_claim(id)) continue;
        deleted_.erase(id);
        log::info("runner", workspace.name + " freed: it is no task's any more", {{"task", id.value}});
        runner_.queue.schedule(workspace.project);
    }
}

/// Takes from ended tasks the names of workspaces that they gave back when their records could not be written.
Awaitable<void> Workspaces::forget_given_back() {
    const auto has_given_back = [this](const TaskRecord& record) {
        return record.task.workspace && store::has_ended(record) && !record.intent &&
               !world_.pool.has_claim(record.task.id);
    };
    std::vector<TaskId> concerned;
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (has_given_back(record)) concerned.push_back(record.task.id);
    });
    for (const auto& id : concerned) {
        auto turn = co_await turns_.begin_turn(id);
        if (!turn || !has_given_back(turn->record)) continue;
        const auto forgotten = co_await release_owed(turn->record);
        if (!forgotten) log::warn("runner", forgotten.error().message, {{"task", id.value}});
    }
}

Awaitable<void> Workspaces::release_left_over() {
    const auto all = world_.pool.list(std::nullopt);
    co_await free_lost_claims(all);
    co_await forget_given_back();
    for (const auto& workspace : all) {
        const auto holder = workspace.task.empty() ? nullptr : world_.tasks.awake(workspace.task);
        if (!holder || holder->task.workspace != workspace.name) continue;
        const auto id = workspace.task;
        if (holder->intent || world_.task_locks.busy(id.value)) continue;
        if (was_just_tried(id) || !owes_release(*holder)) continue;
        const bool has_agents = !holder->runs.empty();                     // its workflow did not end them
        if (!has_agents && !workers_in(workspace.path).empty()) continue;  // reads all of /proc
        note_try(id);
        auto turn = co_await turns_.begin_turn(id);
        if (!turn || !owes_release(turn->record)) continue;
        if (auto released = co_await release_owed(turn->record); !released) {
            log::warn("runner", released.error().message, {{"task", id.value}});
            continue;
        }
        release_tried_.erase(id);
        log::info("runner", workspace.name + " freed: nobody works in it any more", {{"task", id.value}});
        runner_.queue.schedule(workspace.project);
    }
}

Awaitable<void> Workspaces::forget_lost(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn || !turn->record.task.workspace || world_.pool.has_claim(id)) co_return;
    auto& record = turn->record;
    const auto workspace = *std::exchange(record.task.workspace, std::nullopt);
    record.task.tmux_session.reset();
    record.runs.clear();
    if (!record.ended) {
        raise(world_, record, NoticeKind::workspace_missing,
              "its folder was away, and its workspace " + workspace + " was freed meanwhile",
              "orange task respawn " + id.value);
    }
    turns_.save(record);
}

/// Makes the deleted folder of a living task again, with the commits of its branch. Uncommitted changes are lost with
/// the folder; TASK.md is not.
Awaitable<Result<void>> Workspaces::remake(TaskRecord& record) {
    CO_TRY(auto project, registered_project(world_, record.task.project));
    project.settings = settings_of(world_, project);
    const std::vector<std::string> no_more;
    CO_TRY(co_await world_.pool.acquire(project, record.task, no_more));
    turns_.save(record, Durability::atomic);  // observers of the store learn of the new folder
    co_await turns_.show(record);
    co_return Result<void>{};
}

Awaitable<std::string> Workspaces::make_anew(TaskId id) {
    auto turn = co_await runner_.transitions.begin_turn(id);
    if (!turn || !turn->record.task.workspace) co_return std::string();
    auto& record = turn->record;
    const auto name = *record.task.workspace;
    if (has_its_folder(record)) co_return std::string();
    const auto made = co_await remake(record);
    if (!made) {
        raise(world_, record, NoticeKind::workspace_missing,
              "the workspace is gone and could not be created again: " + made.error().message,
              "orange task respawn " + id.value);
        turns_.save(record);
        co_return name + " of task " + id.value + " could not be created again: " + made.error().message;
    }
    std::string note = name + " created again for task " + id.value + ", because its folder was missing";
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!runner_.agents.alive(record, role)) continue;
        const auto what = "its " + name_text(role) +
                          " still works in the folder that was deleted: end it (orange task attach " + id.value +
                          "), then run: orange task respawn " + id.value;
        note += "; " + what;
        raise(world_, record, NoticeKind::workspace_missing, what, "orange task attach " + id.value);
        turns_.save(record);
    }
    co_return note;
}

Awaitable<Result<std::vector<std::string>>> Workspaces::collect(Project project, Freeing freeing) {
    std::vector<std::string> done;
    std::vector<TaskId> homeless;
    std::set<TaskId> holders;
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (record.task.project == project.name && owes_release(record)) {
            holders.insert(record.task.id);
        } else if (record.task.workspace && record.task.project == project.name) {
            if (!has_its_folder(record)) homeless.push_back(record.task.id);
        }
    });
    world_.pool.adopt_claims(claims_of(world_.tasks));
    for (const auto& id : holders) {
        auto turn = co_await runner_.transitions.begin_turn(id);
        if (!turn || !owes_release(turn->record)) continue;
        auto& record = turn->record;
        const auto name = *record.task.workspace;
        const std::string why = store::has_ended(record) ? " has ended" : " waits for its sub-tasks";
        auto released = co_await release_owed(record);
        done.push_back(released ? name + " freed: its task " + id.value + why
                                : name + " could not be freed: " + released.error().message);
    }
    for (const auto& id : homeless) {
        auto note = co_await make_anew(id);
        if (!note.empty()) done.push_back(std::move(note));
    }
    const std::function<bool(const TaskId&)> is_live = [&](const TaskId& id) {
        return freeing == Freeing::all ? may_hold(id, project.name) : !is_lost(id, project.name);
    };
    CO_TRY(auto collected, co_await world_.pool.gc(project, is_live));
    done.insert(done.end(), collected.begin(), collected.end());
    const bool has_checks = !settings_of(world_, project).checks->empty();
    if (!has_checks && !world_.pool.is_checks_place_taken(project.name)) {
        const auto place = co_await world_.pool.take_checks_place(project.name);
        const auto removed = co_await world_.pool.remove_checks_place(project);
        const auto path = world_.pool.checks_place(project.name).string();
        if (!removed) done.push_back(path + " could not be removed: " + removed.error().message);
        if (removed && *removed) done.push_back(path + " removed, because the project has no checks");
    }
    co_return done;
}

}  // namespace orange
