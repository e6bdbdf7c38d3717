#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/submodules.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/pool/pool.hpp"
#include "daemon/process/stray_processes.hpp"

/// Hands a workspace to a task (acquire), and takes it back (release).
namespace orange {

using namespace std::chrono_literals;

/// Registers the Stop with which stop_acquire() stops an acquire, for the lifetime of this object.
class Pool::Stoppable {
  public:
    Stoppable(Pool& pool, TaskId task) : pool_(pool), task_(std::move(task)) {
        pool_.stops_[task_] = std::make_shared<Stop>();
    }
    ~Stoppable() { pool_.stops_.erase(task_); }
    Stoppable(const Stoppable&) = delete;
    Stoppable& operator=(const Stoppable&) = delete;

  private:
    Pool& pool_;
    TaskId task_;
};

Awaitable<bool> Pool::must_be_made(Project project, std::string name) {
    const auto path = path_of(name).string();
    if (is_missing(files_, path)) co_return true;
    if (claims_.identity_of(name)) co_return false;
    const auto trees = co_await git::listed_worktrees(git_, project.path);
    if (!trees) co_return false;
    co_return git::is_half_made_at(*trees, path);
}

Awaitable<Result<git::Pinned>> Pool::make_worktree(Project project, std::string name, std::string start) {
    const auto path = path_of(name).string();
    claims_.add(project.name, name);
    const bool make = co_await must_be_made(project, name);
    if (make) {
        // The fetch may have taken long: if the home was removed meanwhile, git would create its folders again, in
        // whatever is there now. So check first.
        CO_TRY(files_.list(root_));
        CO_TRY(co_await keep_of_missing(project, name));
        claims_.set_identity(
            name, std::nullopt);  // a daemon that is killed here must not take the new folder for a foreign one
        claims_.set_walled(name, false);
        CO_TRY(claims_.write());
        if (start.empty()) {
            CO_TRY(start, co_await git::base_ref(git_, project.path, project.default_branch));
        }
        CO_TRY(co_await git::add_worktree(git_, project.path, path, std::move(start)));
        co_return co_await open(project, name);
    }
    CO_TRY(auto worktree, co_await open(project, name));
    if (!git::is_locked(worktree)) CO_TRY(co_await git::lock_worktree(git_, project.path, path));
    co_return worktree;
}

Awaitable<Result<void>> Pool::keep_of_missing(Project project, std::string name) {
    const auto identity = claims_.identity_of(name);
    if (!identity) co_return Result<void>{};
    CO_TRY(auto common, co_await known_.git_dir(git_, project.path));
    const auto head = files_.read(Path(common) / "worktrees" / identity->admin / "HEAD");
    if (!head || trim(*head).empty()) {  // after a power failure: git has lost its commit, and would fail each time
        log::warn("pool", "the folder of " + name + " is gone, and git does not know its commit any more");
        co_return Result<void>{};
    }
    CO_TRY(const auto kept,
           co_await git::keep_commits_of_missing(git_, std::move(common), identity->admin, "refs/orange/" + name));
    if (!kept.empty()) log::warn("pool", "the folder of " + name + " is gone; its commits are in " + join(kept, ", "));
    co_return Result<void>{};
}

void Pool::stop_acquire(const TaskId& task) {
    const auto found = stops_.find(task);
    if (found == stops_.end()) return;
    const auto stop = found->second;
    stop->request();
}

Awaitable<Result<Acquired>> Pool::acquire(Project project, Task task, std::vector<std::string> exclude) {
    const Stoppable stoppable(*this, task.id);
    CO_TRY(auto name, claims_.claim(project, task.id, in_use_));
    auto turn = co_await workspaces_.acquire(name);
    while (claims_.holder_of(name) != task.id) {  // an old claim, which was given back during the wait
        turn.release();
        CO_TRY(name, claims_.claim(project, task.id, in_use_));
        turn = co_await workspaces_.acquire(name);
    }
    const bool had_it = task.workspace == name;
    const InUse in_use(in_use_, name);
    bool begun = false;
    auto acquired = co_await prepare(project, task, name, std::move(exclude), begun);
    if (acquired || had_it) co_return acquired;
    // Give it back clean, as the next task expects. A worktree that cannot be cleaned is repaired by make_worktree()
    // when the next task claims it.
    if (!is_missing(files_, path_of(name))) {
        const auto worktree = co_await open(project, name);
        if (begun && worktree) (void)co_await tear_down(project, task.id, name, *worktree);
        const auto cleaned = co_await clean(project, name, task);
        if (!cleaned && cleaned.error().message != acquired.error().message) {
            auto both = acquired.error();
            both.message += "\nIts workspace could not be cleaned: " + cleaned.error().message;
            acquired = std::move(both);
        }
    }
    CO_TRY(claims_.give_back(name, task.id));
    co_return acquired;
}

/// Removes git's lock files (index.lock, HEAD.lock, …) that an agent left when it was ended during a git command. git
/// itself cannot know that a lock is stale; Orange can: no process works in this directory.
void Pool::remove_stale_locks(const git::Pinned& worktree) {
    const auto locks = git::locks_in(worktree);
    if (locks.empty() || !workers_in(worktree.path()).empty()) return;
    for (const auto& lock : locks) ::unlinkat(worktree.admin(), lock.c_str(), 0);
}

Awaitable<Result<git::WorktreeStatus>> Pool::look_at(git::Pinned worktree, const git::Refs& known) {
    CO_TRY(auto standing, co_await git::worktree_status(git_, worktree));
    standing.is_held = !standing.branch.empty() || std::any_of(known.begin(), known.end(), [&](const auto& ref) {
        return ref.first != git::k_stash && ref.second.commit == standing.head;
    });
    co_return standing;
}

bool Pool::is_empty(const git::Pinned& worktree, const git::WorktreeStatus& standing) {
    return standing.clean && !standing.may_hold_repositories && !git::has_modules(worktree);
}

Awaitable<Result<Pool::Saved>> Pool::save_all(git::Pinned worktree, git::WorktreeStatus standing, std::string refs,
                                              std::string name, std::string message) {
    std::unique_ptr<Keepings::Guard> keeping;
    if (!is_empty(worktree, standing)) keeping = keepings_.begin(Path(worktree.path()).filename().string(), worktree);
    Saved saved;
    saved.standing = std::move(standing);
    saved.branch = saved.standing.branch;
    CO_TRY(saved.commits, co_await git::keep_commits(git_, worktree, refs, saved.standing));
    saved.held_repositories =
        !saved.standing.known || saved.standing.may_hold_repositories || git::has_modules(worktree);
    if (saved.standing.may_hold_repositories) saved.standing = {};  // files inside these are now the worktree's own
    CO_TRY(saved.snapshot,
           co_await git::snapshot(git_, worktree, refs + "/" + name, std::move(message), saved.standing));
    co_return saved;
}

Awaitable<Result<Released>> Pool::clean(Project project, std::string name, Task task) {
    CO_TRY(const auto worktree, co_await open(project, name));
    remove_stale_locks(worktree);
    const auto kept = "refs/orange/" + task.id.value;
    auto names = git::refs_of_branch(project.default_branch);
    names.push_back(git::k_stash);
    CO_TRY(const auto known, co_await git::refs(git_, project.path, std::move(names)));
    CO_TRY(auto standing, co_await look_at(worktree, known));
    CO_TRY(auto saved,
           co_await save_all(worktree, std::move(standing), kept, "wip", "Uncommitted work of task " + task.id.value));
    Released released{std::move(saved.snapshot), wip_ref(task.id), std::move(saved.commits), {}, {},
                      std::move(saved.branch)};
    CO_TRY(co_await keep_ignored(project, task.id, name, worktree, released));
    const auto lock = co_await repositories_.acquire(project.path);
    if (known.contains(git::k_stash)) {
        const auto stashes = co_await git::keep_stashes(git_, worktree, kept);
        if (!stashes) log::warn("pool", stashes.error().message, {{"task", task.id.value}});
        if (stashes) released.commits.insert(released.commits.end(), stashes->begin(), stashes->end());
    }
    // A renamed default branch must not prevent the release: the next task checks out its own branch.
    const auto base = co_await git::base_of(git_, project.path, project.default_branch, known);
    if (worktree.is_walled()) {
        CO_TRY(co_await make_anew(project, name, worktree, released.notes));
        const auto made = co_await make_worktree(project, name);
        if (!made) log::warn("pool", made.error().message, {{"workspace", name}});  // the next task makes it
    } else {
        auto to = base ? base->commit : std::string("HEAD");
        CO_TRY(co_await git::reset_detached(git_, worktree, std::move(to), saved.standing));
    }
    const auto left = co_await stray_notes(project, task);
    released.notes.insert(released.notes.end(), left.begin(), left.end());
    co_return released;
}

Awaitable<Result<Released>> Pool::release(Project project, Task task) {
    std::function<bool()> always = [] { return true; };
    co_return co_await release_if(std::move(project), std::move(task), std::move(always));
}

Awaitable<Result<Released>> Pool::release_if(Project project, Task task, std::function<bool()> still) {
    const auto has = claims_.workspace_of(task.id);
    if (!has) co_return Released{};
    const auto name = *has;
    const auto turn = co_await workspaces_.acquire(name);
    if (claims_.holder_of(name) != task.id || !still()) co_return Released{};
    const InUse in_use(in_use_, name);
    Released released;
    if (before_release_) co_await before_release_(task.id);
    if (!is_missing(files_, path_of(name))) {
        const auto worktree = co_await open(project, name);
        if (!worktree) co_return in_context("releasing " + name, worktree.error());
        co_await agents::end_left_by_daemons(path_of(name), mark_);
        auto told = co_await tear_down(project, task.id, name, *worktree);
        CO_TRY(co_await check_nobody_works_in(path_of(name)));
        auto cleaned = co_await clean(project, name, task);
        if (!cleaned) co_return in_context("releasing " + name, cleaned.error());
        released = std::move(*cleaned);
        released.notes.insert(released.notes.begin(), told.notes.begin(), told.notes.end());
        released.failures = std::move(told.failures);
    }
    CO_TRY(claims_.give_back(name, task.id));
    co_return released;
}

}  // namespace orange
