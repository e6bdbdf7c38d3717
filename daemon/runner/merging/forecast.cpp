#include "daemon/runner/merging/forecast.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/needs.hpp"
#include "daemon/engine/touching.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange {
namespace {

constexpr std::size_t k_told_paths = 10, k_compared_paths = 200;

bool has_attributes(const git::ChangedPaths& changed) {
    return std::ranges::any_of(changed.paths, [](const std::string& path) {
        return path == ".gitattributes" || path.ends_with("/.gitattributes");
    });
}

Clash clash_in(std::vector<ClashFile> files, bool maybe) {
    Clash clash;
    clash.maybe = maybe;
    if (files.size() > k_clash_files) {
        clash.more = static_cast<std::int64_t>(files.size() - k_clash_files);
        files.resize(k_clash_files);
    }
    clash.files = std::move(files);
    return clash;
}

std::string text_of(const std::vector<Clash>& clashes) {
    std::vector<std::string> texts;
    for (const auto& clash : clashes) texts.push_back((clash.maybe ? "perhaps " : "") + clash_text(clash));
    return join(texts, "; ");
}

/// True if nothing but its human's decision is missing for the merge of the task.
bool is_in_review(Runner& runner, const TaskRecord& record) {
    const auto definition = runner.turns.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    return state && engine::can_be_merged_from(**definition, state->name) &&
           !engine::is_for_agent(**definition, *state);
}

bool are_attempts_of_one(const TaskRecord& one, const TaskRecord& other) {
    return !one.attempt.empty() && !other.attempt.empty() && one.task.parent == other.task.parent;
}

}  // namespace

/// The folder in which merges are tried, made for the first of them.
class Forecast::Place {
  public:
    Place(World& world, const Project& project) : world_(world) {
        request_.repo = project.path;
        request_.scratch = (world.paths.workspaces() / (".forecast-" + project.name)).string();
        (void)remove_folder(world.git, request_.scratch);  // a daemon that was killed has left it
    }
    /// Merges as in a checkout with the .gitattributes of that commit.
    Awaitable<Result<std::vector<ClashFile>>> merge(std::string attributes, std::string ours, std::string theirs) {
        if (commit_ != attributes) {
            trials_.reset();  // removes the folder
            commit_.clear();
            trials_ = std::make_unique<git::Trials>(world_.git, request_);
            CO_TRY(co_await trials_->begin(attributes));
            commit_ = std::move(attributes);
        }
        co_return co_await trials_->clash(std::move(ours), std::move(theirs));
    }

  private:
    World& world_;
    git::MergeRequest request_;
    std::string commit_;
    std::unique_ptr<git::Trials> trials_;
};

Forecast::Forecast(Runner& runner) : Owner(runner) {
    runner.committed.on_counted([this](const std::string& project) { moved(project); });
}

void Forecast::moved(const std::string& project) {
    moved_.insert(project);
    if (std::exchange(looking_, true)) return;
    async::spawn(world_.executor, "looking for clashes", work_off());
}

Awaitable<void> Forecast::work_off() {
    while (!moved_.empty()) {
        auto project = *moved_.begin();
        moved_.erase(moved_.begin());
        const auto done = co_await look(project);
        if (!done) log::debug("forecast", done.error().message, {{"project", project}});
    }
    looking_ = false;
}

Awaitable<Result<void>> Forecast::look(std::string project) {
    CO_TRY(const auto copy, registered_project(world_, project));
    CO_TRY(auto all, co_await seen_in(copy));
    if (seen_[project] == all) co_return Result<void>{};
    Place place(world_, copy);
    CO_TRY(co_await try_all(all, place));
    auto found = co_await clashes_of(all);
    const auto is_gone = [&](const TaskId& id) {
        const auto* task = world_.tasks.brief(id);
        return !id.empty() && (task == nullptr || task->ended);
    };
    std::erase_if(tried_, [&](const auto& entry) { return is_gone(entry.first.first) || is_gone(entry.first.second); });
    std::erase_if(branches_, [&](const auto& entry) { return is_gone(entry.first); });
    store(project, std::move(found));
    seen_[project] = std::move(all);
    co_return Result<void>{};
}

/// Reads what the active tasks of the project change. Only of what has moved since the last look, git is asked.
Awaitable<Result<std::vector<Forecast::Seen>>> Forecast::seen_in(Project project) {
    std::vector<store::RecordPtr> records;
    world_.tasks.each_open([&](const TaskRecord& record) {
        if (record.task.project == project.name && !store::has_ended(record)) {
            records.push_back(world_.tasks.awake(record.task.id));
        }
        return true;
    });
    std::erase(records, nullptr);
    std::ranges::sort(records, {}, [](const store::RecordPtr& record) {
        return std::pair(record->task.created_at, record->task.id);
    });
    std::vector<Seen> all;
    for (const auto& record : records) {
        const auto* counted = runner_.committed.of(record->task.id);
        if (counted == nullptr) continue;
        Seen seen;
        seen.id = record->task.id;
        if (!record->attempt.empty()) seen.tries = record->task.parent;
        seen.target = merge_target(world_, *record, project).branch;
        seen.target_commit = counted->into;
        seen.branch = branches_[seen.id];
        const auto& base = counted->changes.base;
        const auto from = base.empty() ? counted->tip : base;
        seen.is_tried = from != counted->tip && from != counted->into && !record->stands_on_other();
        if (seen.branch.from != from || seen.branch.tip != counted->tip) {
            seen.branch.from = from;
            seen.branch.tip = counted->tip;
            seen.branch.committed.reset();
        }
        auto copy = *record;
        co_await read_branch(project.path, std::move(copy), seen);
        branches_[seen.id] = seen.branch;
        all.push_back(std::move(seen));
    }
    co_return all;
}

/// Reads the branch's paths. Where git fails, they count as unchanged, and are read again after the branch has moved.
Awaitable<void> Forecast::read_branch(std::string repository, TaskRecord record, Seen& seen) {
    auto& branch = seen.branch;
    if (!branch.committed) {
        git::ChangedPaths changed;
        if (branch.from != branch.tip) {
            if (auto read = co_await git::changed_paths(world_.git, std::move(repository), branch.from, branch.tip)) {
                changed = std::move(*read);
            }
        }
        branch.committed = std::make_shared<const git::ChangedPaths>(std::move(changed));
    }
    if (!record.task.workspace) {
        if (!branch.worktree_tip.empty()) branch.uncommitted = std::make_shared<const git::ChangedPaths>();
        branch.worktree_tip.clear();
        co_return;
    }
    const auto worker = runner_.activities.of(record, Role::worker);
    const auto at_rest = worker && worker->activity != Activity::busy ? worker->since : branch.at_rest;
    if (branch.worktree_tip == branch.tip && branch.at_rest == at_rest) co_return;
    branch.worktree_tip = branch.tip;
    branch.at_rest = at_rest;
    const auto worktree = co_await open_worktree(world_, record);
    if (!worktree) co_return;
    if (auto read = co_await git::uncommitted_paths(world_.git, *worktree)) {
        branch.uncommitted = std::make_shared<const git::ChangedPaths>(std::move(*read));
    }
}

bool Forecast::may_both_be_merged(const Seen& one, const Seen& other) {
    return one.target == other.target && (one.tries.empty() || one.tries != other.tries);
}

/// Gives other work of the daemon its turn after each pair: long lists of paths are compared.
Awaitable<Result<void>> Forecast::try_all(const std::vector<Seen>& all, Place& place) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].is_tried) CO_TRY(co_await try_one(all[i], nullptr, place));
        if (!all[i].is_tried) tried_.erase({all[i].id, {}});
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            co_await async::yield();
            const bool meet =
                may_both_be_merged(all[i], all[j]) && git::may_meet(*all[i].branch.committed, *all[j].branch.committed);
            if (meet) CO_TRY(co_await try_one(all[i], &all[j], place));
            if (!meet) tried_.erase({all[i].id, all[j].id});
        }
    }
    co_return Result<void>{};
}

/// `theirs` is null for the merge of `ours` into its target. A merge that git cannot try is not known to clash.
Awaitable<Result<void>> Forecast::try_one(const Seen& ours, const Seen* theirs, Place& place) {
    const auto& into = theirs == nullptr ? ours.target_commit : ours.branch.tip;
    const auto& merged = theirs == nullptr ? ours.branch.tip : theirs->branch.tip;
    auto key = Pair(ours.id, theirs == nullptr ? TaskId() : theirs->id);
    const auto known = tried_.find(key);
    if (known != tried_.end() && known->second.ours == into && known->second.theirs == merged) co_return Result<void>{};
    const bool own = theirs != nullptr && has_attributes(*ours.branch.committed);
    const auto& attributes = own ? into : ours.target_commit;
    auto files = co_await place.merge(attributes, into, merged);
    if (!files) {
        tried_.erase(key);
        log::debug("forecast", files.error().message, {{"task", ours.id.value}});
        co_return Result<void>{};
    }
    tried_[std::move(key)] = {into, merged, clash_in(std::move(*files), false)};
    co_return Result<void>{};
}

/// Returns the files that both change, if some of it is not committed yet. Commits with which the other branch begins
/// do not count.
std::vector<ClashFile> Forecast::not_committed(const Branch& one, const Branch& other) {
    std::vector<std::string> paths;
    const auto add = [&](const git::ChangedPaths& a, const git::ChangedPaths& b) {
        for (auto& path : git::common_paths(a, b)) paths.push_back(std::move(path));
    };
    add(*one.uncommitted, *other.uncommitted);
    if (other.tip != one.from) add(*one.uncommitted, *other.committed);
    if (one.tip != other.from) add(*one.committed, *other.uncommitted);
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    std::vector<ClashFile> files;
    for (auto& path : paths) files.push_back({std::move(path)});
    return files;
}

/// Gives other work its turn as try_all() does.
Awaitable<std::map<TaskId, std::vector<Clash>>> Forecast::clashes_of(const std::vector<Seen>& all) const {
    std::map<TaskId, std::vector<Clash>> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        co_await async::yield();
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            const auto& other = all[j];
            if (!may_both_be_merged(one, other)) continue;
            const auto tried = tried_.find({one.id, other.id});
            auto clash = tried == tried_.end() ? Clash() : tried->second.clash;
            if (clash.files.empty()) {
                const bool any = !one.branch.uncommitted->paths.empty() || !other.branch.uncommitted->paths.empty();
                if (!any) continue;
                co_await async::yield();
                clash = clash_in(not_committed(one.branch, other.branch), true);
            }
            if (clash.files.empty()) continue;
            clash.with = other.id.value;
            found[one.id].push_back(clash);
            clash.with = one.id.value;
            found[other.id].push_back(std::move(clash));
        }
    }
    for (const auto& one : all) {
        const auto tried = tried_.find({one.id, {}});
        if (tried == tried_.end() || tried->second.clash.files.empty()) continue;
        auto clash = tried->second.clash;
        clash.branch = one.target;
        found[one.id].push_back(std::move(clash));
    }
    co_return found;
}

void Forecast::store(const std::string& project, std::map<TaskId, std::vector<Clash>> found) {
    for (const auto& [id, clashes] : clashes_) {
        const auto* task = world_.tasks.brief(id);
        if (task == nullptr || task->project.text() == project) found.try_emplace(id);
    }
    for (auto& [id, clashes] : found) {
        auto& known = clashes_[id];
        const bool differs = known != clashes;
        known = std::move(clashes);
        const auto record = differs ? world_.tasks.awake(id) : nullptr;
        if (known.empty()) clashes_.erase(id);
        if (!record) continue;
        HistoryEvent event;
        event.type = "clashes.changed";
        event.fields = {{"text", text_of(of(id))}};
        world_.journal.publish(id, project, std::move(event));
        if (is_in_review(runner_, *record)) runner_.reconciler.wake(id);  // its need may say so
    }
}

std::vector<Clash> Forecast::of(const TaskId& id) const {
    const auto found = clashes_.find(id);
    const auto* own = world_.tasks.brief(id);
    if (found == clashes_.end() || own == nullptr || own->ended) return {};
    auto clashes = found->second;
    std::erase_if(clashes, [&](Clash& clash) {
        if (clash.with.empty()) return false;
        const auto* other = world_.tasks.brief(TaskId{clash.with});
        clash.short_id = world_.tasks.short_id(TaskId{clash.with});
        return other == nullptr || other->ended;
    });
    return clashes;
}

std::string Forecast::clause_in_review(const TaskRecord& record) const {
    if (!is_in_review(runner_, record)) return {};
    for (const auto& clash : of(record.task.id)) {
        const auto other = clash.maybe ? nullptr : world_.tasks.awake(TaskId{clash.with});
        if (other && is_in_review(runner_, *other)) return clash_clause(clash);
    }
    return {};
}

namespace {

/// Returns those of the paths that the repository has at this commit. Only paths of the repository are told to another
/// agent, never the words of a plan.
Awaitable<std::vector<std::string>> existing_paths(World& world, std::string repository, std::string commit,
                                                   std::vector<std::string> paths) {
    std::vector<std::string> found;
    std::erase_if(paths, [](const std::string& path) { return path.starts_with('/') || path.find("..") != path.npos; });
    paths.resize(std::min(paths.size(), k_compared_paths));
    if (paths.empty()) co_return found;
    GitCommand list{std::move(repository),
                    {"--literal-pathspecs", "ls-tree", "-z", "--name-only", "--full-tree", std::move(commit), "--"}};
    list.args.insert(list.args.end(), paths.begin(), paths.end());
    const auto listed = co_await git_output(world.git, std::move(list));
    if (!listed) co_return found;
    for (const auto piece : split(*listed, '\0')) {
        if (std::ranges::find(paths, piece) != paths.end()) found.emplace_back(piece);
    }
    co_return found;
}

}  // namespace

Awaitable<void> tell_of_same_plans(World& world, TaskRecord& record, engine::Artifacts artifacts) {
    const auto own = engine::touched_by_plan(artifacts);
    const auto project = registered_project(world, record.task.project);
    if (own.empty() || !project) co_return;
    const auto target = merge_target(world, record, *project).branch;
    std::map<TaskId, Path> plans;
    world.tasks.each_open([&](const TaskRecord& other) {
        const bool stands = other.entry_sections.contains("Plan");  // with that plan it came into its state
        const bool counts = stands && !are_attempts_of_one(record, other) && other.task.id != record.task.id &&
                            other.task.project == record.task.project && other.task.workspace &&
                            !store::has_ended(other) && !record.told_of.contains(other.task.id) &&
                            merge_target(world, other, *project).branch == target;
        if (counts) plans[other.task.id] = world.tasks.folder(other) / "TASK.md";
        return true;
    });
    const auto repository = project->path, commit = "refs/heads/" + project->default_branch;
    for (const auto& [id, file] : plans) {
        co_await async::yield();
        const auto body = store::read_body(world.files, file);
        if (!body) continue;
        const auto theirs = engine::touched_by_plan(store::parse_sections(*body));
        std::vector<std::string> both;
        std::ranges::set_intersection(own, theirs, std::back_inserter(both));
        auto paths = co_await existing_paths(world, repository, commit, std::move(both));
        if (paths.empty()) continue;
        const auto left = paths.size() > k_told_paths ? paths.size() - k_told_paths : 0;
        paths.resize(paths.size() - left);
        record.told_of.insert(id);
        add_message(world, record, Role::worker, Role::system,
                    "Task " + world.tasks.short_id(id) + " is at work, and its plan names files of yours, too: " +
                        printable(join(paths, ", ")) + (left > 0 ? ", and " + std::to_string(left) + " more" : "") +
                        ". Change there only what your task needs, so that both can be merged",
                    false, record.task.id.value + "-plan-" + id.value);
    }
}

}  // namespace orange
