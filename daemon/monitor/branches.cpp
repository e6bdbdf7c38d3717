#include "daemon/monitor/branches.hpp"

#include <algorithm>
#include <set>

#include "daemon/log/log.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/placing/walls.hpp"

namespace orange {
namespace {

constexpr std::chrono::milliseconds k_between_commits{500};

}  // namespace

void Branches::follow(const TaskId& id) {
    const auto record = world_.tasks.awake(id);
    const auto workspace = record ? record->task.workspace.value_or("") : std::string();
    const auto known = worktrees_.find(id);
    if (known != worktrees_.end() && known->second.workspace == workspace) {
        if (record->task.executor.empty()) return;
        watch_own(id, known->second);
        if (world_.pool.is_walled(workspace)) watch_pointer(id, known->second);  // the start makes it one later
        return;
    }
    forget(id);
    if (workspace.empty()) return;
    worktrees_[id] = {record->task.project, workspace, 0, 0};
    async::spawn(world_.executor, "watching a branch", watch_worktree(id, workspace));
}

void Branches::forget(const TaskId& id) {
    const auto found = worktrees_.find(id);
    if (found == worktrees_.end()) return;
    for (const auto watch : {found->second.watch, found->second.own_watch, found->second.root_watch}) {
        if (watch != 0) files_.unwatch(watch);
    }
    worktrees_.erase(found);
}

Awaitable<void> Branches::watch_worktree(TaskId id, std::string workspace) {
    const auto record = world_.tasks.awake(id);
    if (!record) co_return;
    const auto project_name = record->task.project;
    const auto copy = *record;
    const auto worktree = co_await open_worktree(world_, copy);
    const auto found = worktrees_.find(id);
    if (found == worktrees_.end() || found->second.workspace != workspace) co_return;
    if (worktree) {
        if (found->second.watch != 0) files_.unwatch(found->second.watch);
        found->second.watch = watch(Path(worktree->git_dir()) / "logs", "HEAD", project_name);
        if (world_.pool.is_walled(workspace)) watch_pointer(id, found->second);
        const auto* project = world_.projects.find(project_name);
        if (project) watch_refs(*project, worktree->common_dir());
    }
    runner_.committed.moved(project_name);
}

/// Puts the worktree's `.git` back as soon as an agent behind a wall has replaced it: from another mount namespace, it
/// can. Until then, a git that somebody calls there would run what the agent has chosen.
void Branches::watch_pointer(const TaskId& id, Worktree& worktree) {
    if (worktree.root_watch != 0) return;
    const auto made = files_.watch(world_.pool.path_of(worktree.workspace), [this, id](const std::string& changed) {
        if (changed == ".git") async::spawn(world_.executor, "looking at .git", look_at(id));
    });
    worktree.root_watch = made.value_or(0);
}

Awaitable<void> Branches::look_at(TaskId id) {
    const auto record = world_.tasks.awake(id);
    if (!record || !record->task.workspace) co_return;
    const auto project = registered_project(world_, record->task.project);
    if (!project) co_return;
    auto copy = *project;
    auto name = *record->task.workspace;
    (void)co_await world_.pool.open(std::move(copy), std::move(name));
}

/// Follows the commits of an agent with a repository of its own: they are taken over as they are made.
void Branches::watch_own(const TaskId& id, Worktree& worktree) {
    const auto own = Path(walls::repository_of(world_, id.value));
    if (worktree.own_watch != 0 || !is_folder(world_.files, own / "logs")) return;
    const auto made = files_.watch(own / "logs", [this, id](const std::string& changed) {
        if (changed != "HEAD" || !taking_over_.insert(id).second) return;
        async::spawn(world_.executor, "taking over commits", take_over(id));
    });
    worktree.own_watch = made.value_or(0);
}

Awaitable<void> Branches::take_over(TaskId id) {
    const auto pause = k_between_commits;
    co_await async::sleep(pause);
    taking_over_.erase(id);
    const auto record = world_.tasks.awake(id);
    if (!record) co_return;
    const auto copy = *record;
    (void)co_await open_worktree(world_, copy);
}

void Branches::watch_refs(const Project& project, const Path& common_dir) {
    auto& refs = refs_[project.name];
    const bool is_same = refs.repository == common_dir && refs.branch == project.default_branch;
    if (is_same && std::ranges::find(refs.watches, 0) == refs.watches.end()) return;
    unwatch(refs);
    refs = {common_dir, project.default_branch, {}};
    for (const char* side : {"refs/heads", "refs/remotes/origin"}) {
        const auto file = common_dir / side / project.default_branch;
        refs.watches.push_back(watch(file.parent_path(), file.filename().string(), project.name));
    }
}

FileWatcher::WatchId Branches::watch(const Path& folder, const std::string& name, const std::string& project) {
    const auto made = files_.watch(folder, [this, name, project](const std::string& changed) {
        if (changed.empty() || changed == name) runner_.committed.moved(project);
    });
    if (!made) log::debug("monitor", made.error().message, {{"project", project}});
    return made.value_or(0);
}

void Branches::poll() {
    std::set<std::string> projects;
    world_.tasks.each_open([&](const TaskRecord& record) {
        if (record.task.workspace) projects.insert(record.task.project);
        return true;
    });
    for (const auto& project : projects) runner_.committed.moved(project);
    std::erase_if(refs_, [&](const auto& entry) {
        if (world_.projects.find(entry.first)) return false;
        unwatch(entry.second);
        return true;
    });
}

void Branches::unwatch(const Refs& refs) {
    for (const auto watch : refs.watches) {
        if (watch != 0) files_.unwatch(watch);
    }
}

}  // namespace orange
