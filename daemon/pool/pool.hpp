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

/// The workspace pool (seed 001, docs/files.md): git worktrees <project>--<n>, made on demand, reused, never deleted by
/// release. A workspace belongs to at most one task, a task has at most one; .pool.json says who has which, and is
/// written before anything is done to the worktree, so that a daemon killed in between leaves a claim that gc can see.
namespace orange {

inline constexpr const char* k_being_cancelled = "the task is being cancelled";

/// A workspace made ready for a task.
struct Acquired {
    std::string name;
    Path path;
    std::string task_file;           ///< "TASK.md", or ".orange/TASK.md" where the repository tracks one of its own
    std::vector<std::string> notes;  ///< "origin could not be fetched: …"
    std::string branch_start;        ///< its commit, if the branch has no work of its own yet; else empty
};

/// Where merges of a project with these settings go, for git::base_of().
inline git::MergesTo merges_of(const ProjectSettings& settings) {
    const bool published = settings.push.value_or(true) || settings.merge == "pr";
    return published ? git::MergesTo::origin : git::MergesTo::local;
}

/// The environment of a project's commands in a workspace, and the work that is done before it is given back.
struct Surroundings {
    std::map<std::string, std::string> env;
    std::vector<std::vector<std::string>> teardown;
    std::vector<std::string> keep_ignored = {};  ///< patterns, as lines of .gitignore
};
using Surround = std::function<Surroundings(const Project&, const TaskId&, const std::string& workspace)>;

/// What a release left behind.
struct Released {
    std::string snapshot;               ///< commit with everything that was uncommitted; empty where nothing was
    std::string ref;                    ///< refs/orange/<task>/wip
    std::vector<std::string> commits;   ///< refs of commits that no branch has: refs/orange/<task>/…
    std::vector<std::string> notes;     ///< sentences: a teardown that needs an agreement, ignored files, worktrees
    std::vector<std::string> failures;  ///< of teardowns
    std::string branch;                 ///< that the worktree was on; empty: on none
};

struct WorkspaceInfo {
    std::string name;
    std::string project;
    int number = 0;  ///< beyond the project's pool size: out of use, removed by gc once it is free
    Path path;
    TaskId task;          ///< empty: free
    std::string problem;  ///< "the folder is missing", or empty
    bool busy = false;    ///< it is being made ready, given back or removed right now
};

/// Who hears how long it takes to keep the files of a workspace; its task is empty if it is free.
using TellKeeping = std::function<void(const TaskId&, const Keeping&)>;

/// Who hears of what was put right in a workspace; its task is empty if it is free.
using TellMended = std::function<void(const TaskId&, const std::string& workspace, const git::Mended&)>;

class Pool {
  public:
    /// `mark`: of the daemon whose pool it is (daemon/process/leftovers.hpp); `git` has it, too.
    Pool(FileSystem& files, Git& git, ProcessRunner& processes, async::KeyedMutex& repositories, Path root,
         std::string mark);

    /// As Claims::load(). Called again by gc, so that a file that was mended or removed counts without a restart.
    Result<void> load() { return claims_.load(); }
    Result<void> check() const { return claims_.check(); }
    /// Claims what the tasks say they have (workspace name → task), whatever .pool.json says.
    void adopt_claims(const std::map<std::string, TaskId>& workspaces) { claims_.adopt(workspaces); }

    /// The prepare step of a transition: claims the lowest free workspace, fetches (offline is a note), checks out the
    /// task's branch, copies what .worktreeinclude names, runs the project's setup command; one that a killed daemon
    /// left there is ended first. Whatever fails gives everything back. A task that has one already gets that one.
    /// pool_exhausted where all are taken.
    Awaitable<Result<Acquired>> acquire(Project project, Task task, std::vector<std::string> exclude);

    /// Removes from the repository the merged branches and refs that Orange made (git::clean_up), and the lines of
    /// .git/info/exclude for Orange's own files. The caller has called remove_all() and holds the repository's lock.
    Awaitable<Result<git::CleanedUp>> clean_up(Project project);

    /// Whom setup and teardown ask before they run.
    void surround(Surround surround) { surround_ = std::move(surround); }

    /// The program `.orange/setup` or `.orange/teardown` of a worktree, if a human has agreed to its text; empty if
    /// not, with a note, or if there is none.
    static std::vector<std::string> consented(const Project& project, const git::Pinned& worktree,
                                              const std::string& name, std::vector<std::string>& notes);
    /// Copies what .worktreeinclude of the project names into a worktree. Returns what was not copied.
    Awaitable<std::vector<std::string>> include(Project project, git::Pinned worktree, bool replace,
                                                std::shared_ptr<Stop> stop);

    /// Makes an acquire that runs for a task fail soon: ends its fetch or its setup command, or does not begin it.
    void stop_acquire(const TaskId& task);

    /// Saves what is uncommitted under refs/orange/<task>/wip, and commits that no branch has beside it, then leaves
    /// the worktree detached and clean. Success where the task has none. The claim goes last. conflict where a process
    /// still works in the directory (a shell that merely waits there does not). The teardown comes first; one that
    /// fails is noted, and holds up nothing.
    Awaitable<Result<Released>> release(Project project, Task task);

    /// The ref of ignored files that were kept with the task's work (setting keep_ignored).
    static std::string ignored_ref(const TaskId& task) { return "refs/orange/" + task.value + "/ignored"; }
    /// Sentences about the ignored files in the workspace of a task, which stay there for the next one: what that one
    /// finds, and what it replaces because .worktreeinclude names it.
    Awaitable<std::vector<std::string>> ignored_notes(Project project, TaskId task);

    /// Returns the keeping of files of the task's workspace that is under way; null if none takes more than a moment.
    const Keeping* keeping(const TaskId& task) const;
    void tell_keeping(TellKeeping tell) { tell_keeping_ = std::move(tell); }

    /// Forgets the worktrees below the folder of all workspaces that somebody else has added to the repository and
    /// whose folders are gone. Commits that nothing else has are kept in refs below `refs`. Returns the other ones.
    /// Under the repository's lock.
    Awaitable<Result<std::vector<git::Stray>>> forget_strays(Project project, std::string refs);

    /// Makes workspaces up to the project's pool size.
    Awaitable<Result<std::vector<std::string>>> init(Project project);

    /// The worktree of a workspace, for git to be run in: what an agent made of its .git is put right first, and told.
    /// conflict where the folder is not the one that was made there: nothing may be done in it then, and the message
    /// says what to do.
    Awaitable<Result<git::Pinned>> open(Project project, std::string name);
    void tell_mended(TellMended tell) { tell_mended_ = std::move(tell); }
    /// Something else, a link perhaps, is where the folder of a workspace was: not to be written, nor looked into.
    bool is_replaced(const std::string& name) const;
    /// The same as open(), but repairs nothing: returns an error if anything is not as it was made.
    Awaitable<Result<git::Pinned>> verify(Project project, std::string name) const;

    /// After a move of the repository: its workspaces find it again, and it them.
    Awaitable<Result<void>> relocate(Project project);

    /// Gives back what `is_live` denies, and mends what disagrees with the disk. Returns sentences: what was done.
    Awaitable<Result<std::vector<std::string>>> gc(Project project, std::function<bool(const TaskId&)> is_live);

    /// Removes the worktrees of a project that is leaving; refused while one is taken.
    Awaitable<Result<void>> remove_all(Project project);

    /// The folder in which checks of a project run that are not to run in a workspace: a worktree of its own beside the
    /// workspaces, which no task gets and in which no agent works. It stays, and with it the files that git ignores.
    Path checks_place(const std::string& project) const { return root_ / place_name(project); }
    /// Takes the place for a use or its removal: one caller at a time.
    Awaitable<async::Mutex::Lock> take_checks_place(std::string project) {
        return workspaces_.acquire(place_name(project));
    }
    bool is_checks_place_taken(const std::string& project) const { return workspaces_.busy(place_name(project)); }
    /// Brings it to a commit, or makes it, if it is not there or damaged; what a killed daemon runs there is ended
    /// first. Files that git ignores stay. The caller has taken it.
    Awaitable<Result<git::Pinned>> open_checks_place(Project project, std::string commit);
    /// Removes it if there is one, and says so. The caller has taken it, or the project has no tasks.
    Awaitable<Result<bool>> remove_checks_place(Project project);

    int free(const Project& project) const { return claims_.free(project); }
    bool has_claim(const TaskId& task) const { return claims_.workspace_of(task).has_value(); }

    std::vector<WorkspaceInfo> list(const std::optional<std::string>& project) const;
    /// Who has the workspace that `directory` is in.
    std::optional<TaskId> task_at(const Path& directory) const;
    /// The workspace that `directory` is in; null if it is in none.
    const Slot* workspace_at(const Path& directory) const { return claims_.at(directory); }
    /// Which project's workspace `directory` is in.
    std::optional<std::string> project_at(const Path& directory) const;
    /// What git was asked of the projects' repositories before.
    git::KnownRepositories& known() { return known_; }
    Path path_of(const std::string& name) const { return root_ / name; }
    std::optional<int> ports_of(const std::string& name) const { return claims_.ports_of(name); }

    /// Of this daemon, in the environment of what it runs (daemon/process/leftovers.hpp).
    const std::string& mark() const { return mark_; }

    static std::string wip_ref(const TaskId& task) { return "refs/orange/" + task.value + "/wip"; }

  private:
    using AtWork = InSet<std::string>;
    class Stoppable;

    /// It is there, free, and nobody is busy with it.
    bool is_idle(const std::string& name) const;
    Result<void> keep_found_task_file(const std::string& name, const std::string& task_file);
    static void remove_stale_locks(const git::Pinned& worktree);
    /// What is in a worktree that is to be emptied, under refs below `refs`: the commit of what is uncommitted.
    struct Saved {
        std::string snapshot;              ///< empty: nothing was uncommitted
        std::vector<std::string> commits;  ///< refs of those that no branch had
        std::string branch;                ///< that it is on
        git::Standing standing;            ///< as it is now
        bool held_repositories = false;    ///< or perhaps
    };
    /// `known`: refs that are there.
    Awaitable<Result<git::Standing>> look_at(git::Pinned worktree, const git::Refs& known);
    /// Returns true if the worktree has nothing to keep, so that keeping takes no time.
    static bool is_empty(const git::Pinned& worktree, const git::Standing& standing);
    /// Keeps all files. The caller does not hold the repository's lock, unless is_empty(): this may take minutes, and
    /// changes only refs of its own.
    Awaitable<Result<Saved>> save_all(git::Pinned worktree, git::Standing standing, std::string refs, std::string name,
                                      std::string message);
    Awaitable<Result<void>> keep_ignored(Project project, TaskId task, std::string name, git::Pinned worktree,
                                         Released& released);
    Awaitable<std::vector<std::string>> stray_notes(Project project, Task task);
    /// `begun`: whether the setup has been started, so that a teardown has something to end.
    Awaitable<Result<Acquired>> prepare(Project project, Task task, std::string name, std::vector<std::string> exclude,
                                        bool& begun);
    Awaitable<Result<void>> set_up(Project project, TaskId task, std::string name, git::Pinned worktree,
                                   std::vector<std::string>& notes, bool& begun);
    /// Of what it returns only `notes` and `failures` are set.
    Awaitable<Released> tear_down(Project project, TaskId task, std::string name, git::Pinned worktree);
    Command command_in(const git::Pinned& worktree, std::vector<std::string> argv, Surroundings around) const;
    Awaitable<Result<git::Pinned>> make_worktree(Project project, std::string name);
    /// Keeps what git's own folder for a worktree has, if the worktree's folder is gone.
    Awaitable<Result<void>> keep_of_missing(Project project, std::string name);
    /// Once for a worktree: what open() goes by, from the repository's side.
    Awaitable<Result<git::Identity>> identity_of(std::string common_dir, std::string name);
    Awaitable<Result<git::Pinned>> pinned(Project project, std::string name, std::vector<git::Mended>& mended);
    static std::string place_name(const std::string& project) { return ".checks-" + project; }
    Awaitable<Result<git::Pinned>> bring_checks_place(Project project, std::string commit);
    /// Under the repository's lock.
    Awaitable<Result<void>> drop_checks_place(Project project);
    /// Removes a free worktree; what somebody left in it is kept. The caller has it in at_work_.
    Awaitable<Result<void>> discard(Project project, std::string name);
    Awaitable<std::vector<std::string>> remove_half_made(Project project, std::vector<std::string> names);
    /// `still`: asked once nobody else is busy with the workspace; false: nothing is to be released any more.
    Awaitable<Result<Released>> release_if(Project project, Task task, std::function<bool()> still);
    Awaitable<Result<Released>> clean(Project project, std::string name, Task task);

    FileSystem& files_;
    Git& git_;
    mutable git::KnownRepositories known_;
    ProcessRunner& processes_;
    async::KeyedMutex& repositories_;
    Path root_;
    Claims claims_;
    async::KeyedMutex workspaces_;  ///< one is made ready or given back by one at a time; taken before a repository's
    std::string mark_;
    std::map<TaskId, std::shared_ptr<Stop>> stops_;  ///< of tasks whose acquire runs
    std::set<std::string> at_work_;  ///< workspaces that somebody is busy with: nothing for gc, nor for a claim
    Surround surround_ = [](const Project&, const TaskId&, const std::string&) { return Surroundings{}; };
    TellKeeping tell_keeping_ = [](const TaskId&, const Keeping&) {};
    Keepings keepings_;
    TellMended tell_mended_ = [](const TaskId&, const std::string&, const git::Mended&) {};
};

}  // namespace orange
