#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/in_set.hpp"
#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "common/model/task.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/git/clean_up.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/git/strays.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/pool/claims.hpp"
#include "daemon/pool/keeping.hpp"
#include "daemon/process/process_runner.hpp"

/// The workspace pool (docs/files.md) owns the git worktrees <project>--<n> in which agents work. A
/// transition calls acquire() to get one for its task and release() to give it back; it is created when first needed
/// and reused. Only after an agent behind a wall, release() removes it and creates it again.
///
/// A workspace belongs to at most one task, and a task has at most one. .pool.json records this before the worktree is
/// changed, so a daemon that is killed in between leaves a claim that gc() finds. Uncommitted work and commits without
/// a branch are saved under refs/orange/ before anything removes them; if that fails, nothing is removed.
namespace orange {

/// The text of the error of an acquire that stop_acquire() ended.
inline constexpr const char* k_being_cancelled = "the task is being cancelled";

/// A workspace that is ready for a task.
struct Acquired {
    std::string name;
    Path path;
    std::string task_file;           ///< "TASK.md", or ".orange/TASK.md" if the repository tracks its own TASK.md
    std::vector<std::string> notes;  ///< "origin could not be fetched: …"
    std::string branch_start;        ///< the commit of a branch without commits of its own; else empty
};

/// Returns where merges of a project with these settings go, for git::base_of().
inline git::MergesTo merges_of(const ProjectSettings& settings) {
    const bool published = settings.push.value_or(true) || settings.merge == "pr";
    return published ? git::MergesTo::origin : git::MergesTo::local;
}

/// The project-specific part of running commands in a workspace: their environment, the teardown commands, and which
/// ignored files are kept at a release.
struct Surroundings {
    std::map<std::string, std::string> env;
    std::vector<std::vector<std::string>> teardown;
    std::vector<std::string> keep_ignored = {};  ///< patterns, as lines of .gitignore
};
using Surround = std::function<Surroundings(const Project&, const TaskId&, const std::string& workspace)>;
/// Returns argv as it runs behind the wall of the task; itself if the task has none.
using BehindWall = std::function<Awaitable<Result<std::vector<std::string>>>(TaskId, git::Pinned worktree,
                                                                             std::vector<std::string> argv)>;

/// The result of a release: what was saved, and what to report.
struct Released {
    std::string snapshot;               ///< commit with everything that was uncommitted; empty if there was nothing
    std::string ref;                    ///< refs/orange/<task>/wip
    std::vector<std::string> commits;   ///< refs of commits that no branch has: refs/orange/<task>/…
    std::vector<std::string> notes;     ///< sentences: a teardown that needs an agreement, ignored files, worktrees
    std::vector<std::string> failures;  ///< failed teardowns
    std::string branch;                 ///< the branch of the worktree; empty if it was on none
};

struct WorkspaceInfo {
    std::string name;
    std::string project;
    int number = 0;  ///< if beyond the project's pool size: unused, and removed by gc once it is free
    Path path;
    TaskId task;          ///< empty: free
    std::string problem;  ///< "the folder is missing", or empty
    bool busy = false;    ///< it is being made ready, given back or removed now
};

/// Called while the files of a workspace are being kept. The task is empty if the workspace is free.
using TellKeeping = std::function<void(const TaskId&, const Keeping&)>;

/// Called for each repair in a workspace. The task is empty if the workspace is free.
using OnRestored = std::function<void(const TaskId&, const std::string& workspace, const git::RestoredFile&)>;

class Pool {
  public:
    /// `mark`: identifies this daemon in the environment of its processes (daemon/process/stray_processes.hpp); `git`
    /// uses the same.
    Pool(FileSystem& files, Git& git, ProcessRunner& processes, async::KeyedMutex& repositories, Path root,
         std::string mark);

    /// Reads .pool.json as Claims::load() does. gc reads it again, so that a file that was repaired or removed takes
    /// effect without a restart.
    Result<void> load() { return claims_.load(); }
    Result<void> check() const { return claims_.check(); }
    /// Claims the workspaces that the tasks name (workspace name → task), even against .pool.json.
    void adopt_claims(const std::map<std::string, TaskId>& workspaces) { claims_.adopt(workspaces); }

    /// Prepares a workspace for the task: claims the free one with the lowest number, or the one that the task has
    /// already, fetches (if offline, adds a note), checks out the task's branch, copies the files that .worktreeinclude
    /// names, and runs the project's setup command. First ends what a killed daemon left running there.
    ///
    /// On failure, cleans and gives back a workspace that the task did not have before. Error pool_exhausted if all are
    /// taken.
    Awaitable<Result<Acquired>> acquire(Project project, Task task, std::vector<std::string> exclude);

    /// Removes from the repository the merged branches and refs that Orange made (git::clean_up), and the lines of
    /// .git/info/exclude for Orange's own files. `own_branches` are those of tasks that have names of their own. The
    /// caller has called remove_workspaces() and holds the repository's lock.
    Awaitable<Result<git::CleanedUp>> clean_up(Project project, std::set<std::string> own_branches);

    /// Sets the function that says behind which wall setup and teardown run.
    void run_behind(BehindWall wall) { wall_ = std::move(wall); }
    /// Sets the function that ends what else runs in a task's workspace, before its release looks for processes there.
    void before_release(std::function<Awaitable<void>(TaskId)> end) { before_release_ = std::move(end); }
    /// Sets the function that returns the Surroundings of a workspace, before setup and teardown run.
    void surround(Surround surround) { surround_ = std::move(surround); }

    /// Returns the program `.orange/setup`, `.orange/teardown` or `.orange/dev` of a worktree if a human has agreed to
    /// its text. Otherwise empty, with a note if the program exists.
    static std::vector<std::string> consented(const Project& project, const git::Pinned& worktree,
                                              const std::string& name, std::vector<std::string>& notes);
    /// Copies the files that .worktreeinclude of the project names into a worktree. Returns sentences about those that
    /// were not copied.
    Awaitable<std::vector<std::string>> include(Project project, git::Pinned worktree, bool replace,
                                                std::shared_ptr<Stop> stop);

    /// Stops the acquire of a task, if one runs, so that it fails soon: ends its fetch or its setup command, or skips
    /// them.
    void stop_acquire(const TaskId& task);

    /// Takes the workspace back from the task: runs the teardown, saves uncommitted files under refs/orange/<task>/wip
    /// and commits without a branch beside it, leaves the worktree detached and clean, and gives the claim back last.
    ///
    /// Succeeds if the task has none. A failed teardown is noted, and does not stop the release. Error conflict if a
    /// process still works in the directory (a shell that merely waits there is ignored).
    Awaitable<Result<Released>> release(Project project, Task task);
    /// Does the same if `still` returns true, which is called once no other operation works on the workspace.
    Awaitable<Result<Released>> release_if(Project project, Task task, std::function<bool()> still);

    /// Returns the ref of ignored files that were kept with the task's work (setting keep_ignored).
    static std::string ignored_ref(const TaskId& task) { return "refs/orange/" + task.value + "/ignored"; }
    /// Returns sentences about the ignored files in the workspace of a task: which ones stay there for the next task,
    /// and which ones are replaced then because .worktreeinclude names them, or which ones go with a walled worktree.
    Awaitable<std::vector<std::string>> ignored_notes(Project project, TaskId task);

    /// Returns the keeping of the task's files that runs now; null if there is none, or if it has not lasted two
    /// seconds.
    const Keeping* keeping(const TaskId& task) const;
    void tell_keeping(TellKeeping tell) { tell_keeping_ = std::move(tell); }

    /// Forgets worktrees below the folder of all workspaces that were not added by Orange and whose folders are gone.
    /// Keeps their commits in refs below `refs` if no other ref has them. Returns those that remain. The caller holds
    /// the lock of the repository.
    Awaitable<Result<std::vector<git::Stray>>> forget_strays(Project project, std::string refs);

    /// Creates workspaces up to the project's pool size. Returns a sentence for each.
    Awaitable<Result<std::vector<std::string>>> init(Project project);

    /// Opens the worktree of a workspace for git commands. First repairs its .git if an agent changed it, and reports
    /// each repair to on_restored(). Error conflict if the folder is not the one that Orange made: it must not be
    /// changed then, and the message says what to do.
    Awaitable<Result<git::Pinned>> open(Project project, std::string name);
    void on_restored(OnRestored tell) { on_restored_ = std::move(tell); }
    /// Returns true if something else, for example a link, is in place of the workspace's folder. It must be neither
    /// written nor read.
    bool is_replaced(const std::string& name) const;
    /// Opens a workspace as open() does, but repairs nothing: returns an error if anything has been changed.
    Awaitable<Result<git::Pinned>> verify(Project project, std::string name) const;

    /// Notes that an agent behind a wall is going to work in the workspace (git::Pinned::is_walled()). Only a worktree
    /// that is created again loses this mark.
    Result<void> note_walled(const std::string& name);
    bool is_walled(const std::string& name) const { return claims_.is_walled(name); }

    /// Reconnects the workspaces and the repository after the repository was moved. Tries all, and returns the first
    /// error.
    Awaitable<Result<void>> relocate(Project project);

    /// Releases the workspaces whose task `is_live` denies, removes those that are surplus or half made, and repairs
    /// those that differ from the disk. Returns a sentence for each.
    Awaitable<Result<std::vector<std::string>>> gc(Project project, std::function<bool(const TaskId&)> is_live);

    /// Removes the worktrees of a project that is being removed. Error conflict while a task has one.
    Awaitable<Result<void>> remove_workspaces(Project project);

    /// Returns the folder in which checks of a project run if they are not to run in a workspace: a separate worktree
    /// beside the workspaces, which no task gets and in which no agent works. It stays, together with the files that
    /// git ignores.
    Path checks_place(const std::string& project) const { return root_ / place_name(project); }
    /// Locks this folder for a use or for its removal.
    Awaitable<async::Mutex::Lock> take_checks_place(std::string project) {
        return workspaces_.acquire(place_name(project));
    }
    bool is_checks_place_taken(const std::string& project) const { return workspaces_.busy(place_name(project)); }
    /// Resets this folder to a commit, or creates it if it is missing or damaged. First ends what a killed daemon left
    /// running there. Files that git ignores stay. Submodules of the commit are checked out as far as this machine has
    /// them; `notes` gets a sentence for each that it has not. The caller holds take_checks_place().
    Awaitable<Result<git::Pinned>> open_checks_place(Project project, std::string commit,
                                                     std::vector<std::string>& notes,
                                                     std::shared_ptr<Stop> stop = nullptr);
    /// Removes this folder. Returns false if there is none. The caller holds take_checks_place(), or the project has no
    /// tasks.
    Awaitable<Result<bool>> remove_checks_place(Project project);

    /// Locks a workspace, so that its task keeps it. A task's lock is not taken while this one is held.
    Awaitable<async::Mutex::Lock> hold(std::string name) { return workspaces_.acquire(std::move(name)); }

    int free(const Project& project) const { return claims_.free(project); }
    bool has_claim(const TaskId& task) const { return claims_.workspace_of(task).has_value(); }

    std::vector<WorkspaceInfo> list(const std::optional<std::string>& project) const;
    /// Returns the task whose workspace contains `directory`; nullopt if there is none.
    std::optional<TaskId> task_at(const Path& directory) const;
    /// Returns the workspace that contains `directory`; null if none does.
    const Slot* workspace_at(const Path& directory) const { return claims_.at(directory); }
    /// Returns the project whose workspace contains `directory`; nullopt if there is none.
    std::optional<std::string> project_at(const Path& directory) const;
    /// A cache of answers of git about the projects' repositories.
    git::KnownRepositories& known() { return known_; }
    Path path_of(const std::string& name) const { return root_ / name; }
    std::optional<int> ports_of(const std::string& name) const { return claims_.ports_of(name); }

    /// Returns the mark of this daemon, which is in the environment of what it runs
    /// (daemon/process/stray_processes.hpp).
    const std::string& mark() const { return mark_; }

    static std::string wip_ref(const TaskId& task) { return "refs/orange/" + task.value + "/wip"; }

  private:
    using InUse = InSet<std::string>;
    class Preparation;
    class Stoppable;

    /// Returns true if the workspace exists, is free, and no operation works on it.
    bool is_idle(const std::string& name) const;
    Result<void> keep_found_task_file(const std::string& name, const std::string& task_file);
    static void remove_stale_locks(const git::Pinned& worktree);
    /// The work that save_all() has saved from a worktree that is about to be emptied.
    struct Saved {
        std::string snapshot;              ///< commit with the uncommitted files; empty if there were none
        std::vector<std::string> commits;  ///< refs of the commits that no branch had
        std::string branch;                ///< the branch of the worktree
        git::WorktreeStatus standing;      ///< its state after saving
        bool held_repositories = false;    ///< it held other repositories, or may have
    };
    /// Reads the state of a worktree. `known`: existing refs, which tell whether its commit is kept by a ref.
    Awaitable<Result<git::WorktreeStatus>> look_at(git::Pinned worktree, const git::Refs& known);
    /// Returns true if the worktree has nothing to keep, so that keeping takes no time.
    static bool is_empty(const git::Pinned& worktree, const git::WorktreeStatus& standing);
    /// Saves everything in the worktree that no ref has, as refs below `refs`. Unless is_empty(), the caller must not
    /// hold the lock of the repository: this may take minutes, and changes only its own refs.
    Awaitable<Result<Saved>> save_all(git::Pinned worktree, git::WorktreeStatus standing, std::string refs,
                                      std::string name, std::string message);
    Awaitable<Result<void>> keep_ignored(Project project, TaskId task, std::string name, git::Pinned worktree,
                                         Released& released);
    Awaitable<std::vector<std::string>> stray_notes(Project project, Task task);
    /// Sets `begun` once the setup command was started: then a teardown is needed, even after a failure.
    Awaitable<Result<Acquired>> prepare(Project project, Task task, std::string name, std::vector<std::string> exclude,
                                        bool& begun);
    Awaitable<Result<void>> set_up(Project project, TaskId task, std::string name, git::Pinned worktree,
                                   std::vector<std::string>& notes, bool& begun);
    /// Runs the teardown commands. Sets only `notes` and `failures` of the result.
    Awaitable<Released> tear_down(Project project, TaskId task, std::string name, git::Pinned worktree);
    Awaitable<Result<std::vector<std::string>>> behind_wall(TaskId task, git::Pinned worktree,
                                                            std::vector<std::string> argv);
    Command command_in(const git::Pinned& worktree, std::vector<std::string> argv, Surroundings around) const;
    /// Opens the worktree of a workspace. Creates it at `start`, or else at the base of new work, if must_be_made().
    Awaitable<Result<git::Pinned>> make_worktree(Project project, std::string name, std::string start = {});
    /// Returns true if the folder of a worktree is missing, or if its creation was interrupted.
    Awaitable<bool> must_be_made(Project project, std::string name);
    /// If the folder of a worktree is missing, keeps the commits that git's admin folder for it still knows.
    Awaitable<Result<void>> keep_of_missing(Project project, std::string name);
    /// Returns the identity by which open() recognizes the worktree. Determines it from the repository at the first
    /// call, and saves it.
    Awaitable<Result<git::Identity>> identity_of(std::string common_dir, std::string name);
    Awaitable<Result<git::Pinned>> pinned(Project project, std::string name, std::vector<git::RestoredFile>& mended);
    static std::string place_name(const std::string& project) { return ".checks-" + project; }
    Awaitable<Result<git::Pinned>> bring_checks_place(Project project, std::string commit);
    Awaitable<std::vector<std::string>> homes_of_submodules(Project project);
    /// The caller holds the lock of the repository.
    Awaitable<Result<void>> drop_checks_place(Project project);
    /// Removes a walled worktree whose work is saved, so that nothing that its agent has left, such as ignored files,
    /// reaches the next task. Moves repositories inside it away, and adds a sentence for each to `notes`.
    /// make_worktree() creates it again. The caller holds the lock of the repository.
    Awaitable<Result<void>> make_anew(Project project, std::string name, git::Pinned worktree,
                                      std::vector<std::string>& notes);
    /// Removes a free worktree, after saving what is in it. The caller has it in in_use_.
    Awaitable<Result<void>> discard(Project project, std::string name);
    Awaitable<std::vector<std::string>> remove_half_made(Project project, std::vector<std::string> names);
    Awaitable<Result<Released>> clean(Project project, std::string name, Task task);

    FileSystem& files_;
    Git& git_;
    mutable git::KnownRepositories known_;
    ProcessRunner& processes_;
    async::KeyedMutex& repositories_;
    Path root_;
    Claims claims_;
    async::KeyedMutex workspaces_;  ///< one caller at a time per workspace; locked before a repository's
    std::string mark_;
    std::map<TaskId, std::shared_ptr<Stop>> stops_;  ///< for tasks whose acquire runs
    /// Workspaces whose worktree is being removed. Nobody opens one: that would put its `.git` back, and git could not
    /// remove the folder.
    std::set<std::string> being_removed_;
    std::set<std::string> in_use_;  ///< workspaces on which an operation works: gc and claims skip them
    Surround surround_ = [](const Project&, const TaskId&, const std::string&) { return Surroundings{}; };
    BehindWall wall_;
    std::function<Awaitable<void>(TaskId)> before_release_;
    TellKeeping tell_keeping_ = [](const TaskId&, const Keeping&) {};
    Keepings keepings_;
    OnRestored on_restored_ = [](const TaskId&, const std::string&, const git::RestoredFile&) {};
};

}  // namespace orange
