#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/files/file_watcher.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// Watches the files that git writes when a branch moves, and tells Committed: logs/HEAD of the worktree of each task,
/// and the refs of the branch with which the tasks of a project are compared. A watch that fails is no error: poll()
/// also finds the moves that no file reported (packed refs, reftable, network file systems, repositories without
/// reflogs).
class Branches {
  public:
    Branches(Runner& runner, FileWatcher& files) : runner_(runner), world_(runner.world), files_(files) {}
    Branches(const Branches&) = delete;
    Branches& operator=(const Branches&) = delete;

    /// Watches the task's worktree if it has one, and ends the watch if it has none any more.
    void follow(const TaskId& id);
    /// Lets Committed count the branches of all projects that have an open task with a workspace, and forgets removed
    /// projects.
    void poll();

  private:
    struct Worktree {
        std::string project;
        std::string workspace;
        FileWatcher::WatchId watch = 0;
        FileWatcher::WatchId own_watch = 0;   ///< of an agent's own repository, once that is there
        FileWatcher::WatchId root_watch = 0;  ///< of the folder itself, if its agent is behind a wall
    };

    struct Refs {
        Path repository;  ///< its git folder
        std::string branch;
        std::vector<FileWatcher::WatchId> watches;
    };

    Awaitable<void> watch_worktree(TaskId id, std::string workspace);
    void watch_pointer(const TaskId& id, Worktree& worktree);
    Awaitable<void> look_at(TaskId id);
    void watch_own(const TaskId& id, Worktree& worktree);
    Awaitable<void> take_over(TaskId id);
    void watch_refs(const Project& project, const Path& common_dir);
    FileWatcher::WatchId watch(const Path& folder, const std::string& name, const std::string& project);
    void forget(const TaskId& id);
    void unwatch(const Refs& refs);

    Runner& runner_;
    World& world_;
    FileWatcher& files_;
    std::map<TaskId, Worktree> worktrees_;
    std::map<std::string, Refs> refs_;  ///< by project
    std::set<TaskId> taking_over_;
};

}  // namespace orange
