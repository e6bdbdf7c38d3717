#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/clean_up.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/sparse.hpp"
#include "daemon/git/submodules.hpp"
#include "daemon/pool/pool.hpp"

/// Makes a claimed workspace ready for its task: the steps between the claim and the agent's start.
namespace orange {
namespace {

/// The patterns of the files that Orange writes beside, or as, TASK.md of a worktree.
constexpr const char* k_own_files[] = {"TASK.md", ".TASK.md.*", "..TASK.md.*"};

std::vector<std::string> refs_of(const std::string& one, const std::string& other) {
    auto names = git::refs_of_branch(one);
    for (auto& ref : git::refs_of_branch(other)) names.push_back(std::move(ref));
    return names;
}

bool is_checked_out_elsewhere(const git::Refs& known, const std::string& branch, const git::Pinned& tree) {
    const auto local = known.find("refs/heads/" + branch);
    return local != known.end() && !local->second.worktree.empty() && local->second.worktree != tree.path();
}

}  // namespace

/// The preparation of one workspace for one task. run() is the order of the steps; each step has one purpose.
///
/// The answers of git about the repository are read under the repository's lock: `known_` again after each step that
/// changes it, takes long or has given the lock back, `base_` again after one that has given the lock back. `view_`
/// asks git only if something has changed by then.
class Pool::Preparation {
  public:
    Preparation(Pool& pool, Project project, Task task, std::string name)
        : pool_(pool),
          project_(std::move(project)),
          task_(std::move(task)),
          name_(std::move(name)),
          is_new_(task_.workspace != name_),
          refs_below_("refs/orange/" + name_),
          view_(project_.path, refs_of(project_.default_branch, task_.branch)),
          acquired_{name_, pool_.path_of(name_), "TASK.md", {}, {}} {}

    /// Sets `begun` as prepare() does.
    Awaitable<Result<Acquired>> run(std::vector<std::string> exclude, bool& begun);

  private:
    using Step = Awaitable<Result<void>>;

    /// Outside the lock: a silent remote must not block the other tasks.
    Step fetch();
    Step bring_to_branch(std::vector<std::string> exclude);
    Step include_and_set_up(bool& begun);

    // Steps of bring_to_branch(), under the lock of the repository.
    Step read_refs();
    Step read_repository();  ///< the refs and the base
    /// Then the base depends on other branches of origin, too.
    bool has_lost_upstream() const;
    /// A free workspace is clean; files that a human left in one belong to them, and are kept like an agent's work.
    /// Gives the lock back for this if it may take minutes.
    Step save_found(async::Mutex::Lock& lock);
    /// Makes a walled worktree of another task again, after a release that was interrupted.
    Step replace_walled();
    /// Removes the files that are saved.
    Step empty();
    Awaitable<void> match_sparse_checkout();
    /// Forgets a worktree that has the task's branch and whose folder is gone.
    Step free_branch();
    Awaitable<Result<git::CheckedOut>> check_out();
    /// Returns Acquired::branch_start.
    Awaitable<Result<std::string>> start_of(const git::CheckedOut& branch);
    /// Returns true if the repository has a TASK.md of its own in the commit that is checked out.
    Awaitable<Result<bool>> tracks_task_file(const std::string& commit);
    /// Excludes only the files that Orange writes: the repository may have others in .orange/.
    Result<void> exclude_own_files(std::vector<std::string> exclude, bool is_tracked) const;

    void note(std::string sentence) { acquired_.notes.push_back(std::move(sentence)); }

    Pool& pool_;
    Project project_;
    Task task_;
    std::string name_;
    bool is_new_;  ///< the task does not have the workspace yet
    std::string refs_below_;
    git::RefsView view_;
    Acquired acquired_;

    std::optional<git::Pinned> tree_;
    git::Refs known_;  ///< the refs of the default branch and of the task's branch
    git::Base base_;
    Saved saved_;
};

Awaitable<Result<Acquired>> Pool::prepare(Project project, Task task, std::string name,
                                          std::vector<std::string> exclude, bool& begun) {
    Preparation preparation(*this, std::move(project), std::move(task), std::move(name));
    co_return co_await preparation.run(std::move(exclude), begun);
}

Awaitable<Result<Acquired>> Pool::Preparation::run(std::vector<std::string> exclude, bool& begun) {
    // A daemon that was killed during this step has left its git or its setup command, which would run at the same time
    // as ours.
    co_await agents::end_left_by_daemons(acquired_.path, pool_.mark_);
    CO_TRY(co_await fetch());
    CO_TRY(co_await bring_to_branch(std::move(exclude)));
    CO_TRY(co_await include_and_set_up(begun));
    co_return std::move(acquired_);
}

Pool::Preparation::Step Pool::Preparation::fetch() {
    CO_TRY(const auto origin, co_await pool_.known_.has_origin(pool_.git_, project_.path));
    if (!origin) {
        auto remote = co_await pool_.known_.unused_remote(pool_.git_, project_.path, project_.default_branch);
        if (!remote.empty()) note(std::move(remote));
        co_return Result<void>{};
    }
    const auto stop = pool_.stops_.at(task_.id);
    const auto fetched = co_await git::fetch(pool_.git_, project_.path, git::k_fetch_patience, stop);
    if (stop->requested()) co_return Error(ErrorCode::conflict, k_being_cancelled);
    if (!fetched) note("origin could not be fetched: " + first_line(fetched.error().message));
    co_return Result<void>{};
}

Pool::Preparation::Step Pool::Preparation::bring_to_branch(std::vector<std::string> exclude) {
    auto lock = co_await pool_.repositories_.acquire(project_.path);
    const bool must_be_made = co_await pool_.must_be_made(project_, name_);
    if (must_be_made) CO_TRY(co_await read_repository());
    CO_TRY(tree_, co_await pool_.make_worktree(project_, name_, base_.commit));
    CO_TRY(co_await read_repository());
    CO_TRY(co_await save_found(lock));
    if (is_new_ && tree_->is_walled()) CO_TRY(co_await replace_walled());
    if (!saved_.snapshot.empty()) CO_TRY(co_await empty());
    if (is_new_) co_await match_sparse_checkout();
    if (is_checked_out_elsewhere(known_, task_.branch, *tree_)) CO_TRY(co_await free_branch());
    CO_TRY(const auto branch, co_await check_out());
    CO_TRY(acquired_.branch_start, co_await start_of(branch));
    if (is_new_ && saved_.held_repositories) CO_TRY(co_await git::reset_submodules(pool_.git_, *tree_));
    CO_TRY(const auto is_tracked, co_await tracks_task_file(branch.commit));
    if (is_tracked) acquired_.task_file = ".orange/TASK.md";
    if (is_new_) CO_TRY(pool_.keep_found_task_file(name_, acquired_.task_file));
    co_return exclude_own_files(std::move(exclude), is_tracked);
}

Pool::Preparation::Step Pool::Preparation::read_refs() {
    CO_TRY(known_, co_await view_.now(pool_.git_));
    co_return Result<void>{};
}

bool Pool::Preparation::has_lost_upstream() const {
    const auto local = known_.find("refs/heads/" + project_.default_branch);
    return local != known_.end() && local->second.upstream_gone;
}

Pool::Preparation::Step Pool::Preparation::read_repository() {
    const auto before = std::exchange(known_, {});
    CO_TRY(co_await read_refs());
    if (!base_.commit.empty() && known_ == before && !has_lost_upstream()) co_return Result<void>{};
    const auto merges = merges_of(project_.settings);
    CO_TRY(base_, co_await git::base_of(pool_.git_, project_.path, project_.default_branch, known_, merges));
    co_return Result<void>{};
}

Pool::Preparation::Step Pool::Preparation::save_found(async::Mutex::Lock& lock) {
    remove_stale_locks(*tree_);
    CO_TRY(const auto found, co_await pool_.look_at(*tree_, known_));
    const bool was_empty = is_empty(*tree_, found);
    if (!was_empty) lock.release();
    auto message = "Found in " + name_ + " when a task took it";
    CO_TRY(saved_, co_await pool_.save_all(*tree_, found, refs_below_, "found", std::move(message)));
    if (!was_empty) {
        lock = co_await pool_.repositories_.acquire(project_.path);
        CO_TRY(co_await read_repository());
    }
    if (saved_.commits.empty()) co_return Result<void>{};
    note("commits in " + name_ + " that are on no branch were kept as " + join(saved_.commits, ", "));
    co_return Result<void>{};
}

Pool::Preparation::Step Pool::Preparation::replace_walled() {
    CO_TRY(co_await pool_.make_anew(project_, name_, *tree_, acquired_.notes));
    CO_TRY(tree_, co_await pool_.make_worktree(project_, name_));
    saved_.standing = {};
    co_return co_await read_refs();
}

Pool::Preparation::Step Pool::Preparation::empty() {
    note("uncommitted files in " + name_ + " were saved as " + saved_.snapshot.substr(0, 12));
    CO_TRY(co_await git::reset_detached(pool_.git_, *tree_, base_.commit, saved_.standing));
    co_return co_await read_refs();  // the worktree has left its branch
}

Awaitable<void> Pool::Preparation::match_sparse_checkout() {
    const auto matched = co_await git::match_sparse_checkout(pool_.git_, project_.path, *tree_, saved_.standing);
    if (matched) co_return;
    note(name_ + " may be more or less sparse than " + project_.path + ": " + matched.error().message);
}

Pool::Preparation::Step Pool::Preparation::free_branch() {
    (void)co_await pool_.forget_strays(project_, refs_below_);
    co_return co_await read_refs();
}

Awaitable<Result<git::CheckedOut>> Pool::Preparation::check_out() {
    auto from = task_.base.value_or(base_.ref);
    co_return co_await git::checkout_branch(pool_.git_, *tree_, task_.branch, std::move(from), known_);
}

Awaitable<Result<std::string>> Pool::Preparation::start_of(const git::CheckedOut& branch) {
    bool is_unused = branch.origin == git::BranchOrigin::created || branch.commit == base_.commit;
    if (!is_unused) {
        CO_TRY(is_unused, co_await git::has_commit(pool_.git_, project_.path, base_.ref, branch.commit));
    }
    if (!is_unused) co_return std::string{};
    co_return branch.commit;
}

Awaitable<Result<bool>> Pool::Preparation::tracks_task_file(const std::string& commit) {
    // `at_top` is outdated if another commit was checked out meanwhile, or if the index differs from the commit.
    const bool is_current = saved_.standing.clean && saved_.standing.head == commit;
    if (is_current) co_return saved_.standing.at_top.contains("TASK.md");
    co_return co_await git::tracks(pool_.git_, *tree_, "TASK.md");
}

Result<void> Pool::Preparation::exclude_own_files(std::vector<std::string> exclude, bool is_tracked) const {
    for (const char* file : k_own_files) exclude.push_back((is_tracked ? "/.orange/" : "/") + std::string(file));
    return git::exclude(tree_->common_dir(), exclude);
}

Pool::Preparation::Step Pool::Preparation::include_and_set_up(bool& begun) {
    const auto not_copied = co_await pool_.include(project_, *tree_, is_new_, pool_.stops_.at(task_.id));
    acquired_.notes.insert(acquired_.notes.end(), not_copied.begin(), not_copied.end());
    const auto done = co_await pool_.set_up(project_, task_.id, name_, *tree_, acquired_.notes, begun);
    if (!done) co_return in_context("the project's setup command", done.error());
    co_return Result<void>{};
}

/// Moves away a mirror that an earlier task left (a crash, a claim that was freed). git excludes it, so no cleaning has
/// removed it; it must not become the body of this task, and it may contain text that exists nowhere else.
Result<void> Pool::keep_found_task_file(const std::string& name, const std::string& task_file) {
    const auto file = path_of(name) / task_file;
    const auto text = files_.read(file);
    if (!text) return text.error().code == ErrorCode::not_found ? Result<void>{} : Result<void>{text.error()};
    const auto kept = root_ / ".found" / (name + "-" + random_id(8) + "-TASK.md");
    TRY(files_.replace(kept, *text));
    return files_.remove(file);
}

Awaitable<Result<git::CleanedUp>> Pool::clean_up(Project project, std::set<std::string> own_branches) {
    CO_TRY(auto repo, co_await known_.inspect(git_, project.path));
    std::vector<std::string> lines;
    for (const char* folder : {"/", "/.orange/"}) {
        for (const char* file : k_own_files) lines.push_back(folder + std::string(file));
    }
    CO_TRY(git::exclude(repo.git_dir, {}, lines));
    co_return co_await git::clean_up(git_, std::move(repo), project.default_branch, std::move(own_branches));
}

}  // namespace orange
