#include "common/rpc/attempt_methods.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

/// Methods about the attempts of a task. All that is compared was measured by the daemon: no text of an agent is in it
/// but its verdict, which counts only for the commit that the reviewer was given.
namespace orange::rpc {
namespace {

/// Returns the task with attempts that a call is about: the selected one, or its parent.
Result<TaskRecord> compared_task(Api& api, const TaskId& id) {
    TRY(auto record, api.runner().turns.record_of(id));
    if (record.attempts.empty() && !record.attempt.empty()) {
        const auto parent = api.runner().turns.record_of(record.task.parent);
        if (parent) return *parent;
    }
    if (!record.attempts.empty()) return record;
    return Error(ErrorCode::conflict, "only one agent works at task " + id.value +
                                          ", so there is nothing to compare. To have several try a task:\n  orange run "
                                          "--attempts claude,codex \"...\"");
}

/// Returns the model that answered most of a worker's requests; empty if its program has not said.
std::string model_of(const std::vector<UsageRow>& rows) {
    std::map<std::string, std::int64_t> tokens;
    for (const auto& row : rows) {
        if (row.role == Role::worker && !row.model.empty()) tokens[row.model] += row.tokens.counted() + 1;
    }
    const auto most = std::ranges::max_element(tokens, {}, [](const auto& entry) { return entry.second; });
    return most == tokens.end() ? std::string() : most->first;
}

/// Puts in the verdict of the last review, if that is about this commit and its words are still the same.
void put_verdict(Api& api, const TaskRecord& record, ComparedAttempt& row) {
    if (record.reviews.empty() || row.commit.empty()) return;
    auto& world = api.world();
    const auto body = store::read_body(world.files, world.tasks.folder(record) / "TASK.md");
    if (!body) return;
    const auto artifacts = store::parse_sections(*body);
    for (const auto& [section, about] : record.reviews) {
        const auto found = artifacts.sections.find(section);
        if (found == artifacts.sections.end()) continue;
        if (about != row.commit + " " + sha256(found->second.text)) continue;
        auto verdict = engine::verdict_of(found->second.text, engine::VerdictLine::first);
        if (!verdict) verdict = engine::verdict_of(found->second.text, engine::VerdictLine::any);
        if (!verdict || row.verdict == "FAIL") continue;
        row.verdict = *verdict == engine::Verdict::pass ? "PASS" : "FAIL";
        row.verdict_by = record.task.review_harness;
    }
}

void put_use(Api& api, const TaskRecord& record, ComparedAttempt& row) {
    const auto use = api.usage_of(record);
    if (!use) return;
    row.model = model_of(api.spent_of(record).usage);
    row.worked = use->times.worker + use->times.reviewer;
    row.tokens = use->sum.counted;
    row.money = use->sum.money;
    row.at_least = use->sum.untold > 0;
}

std::string version_of(Api& api, const std::string& project, const std::string& harness) {
    const auto entry = api.world().harnesses.find(harness);
    const auto* registered = api.world().projects.find(project);
    if (!entry || !registered || entry->program.empty()) return {};
    return api.runner().versions.known(*entry, environment_for(api.world(), *registered, *entry));
}

/// Returns what a human should know of an attempt; empty if there is nothing.
std::string note_of(const TaskRecord& record, const ComparedAttempt& row) {
    if (row.needs.kind == Need::help || row.needs.kind == Need::answer) return row.needs.text;
    const auto* doubt = engine::find_notice(record, NoticeKind::unverified_review);
    return doubt ? std::string(first_line(doubt->text)) : std::string();
}

/// Returns the files in which the work differs from where it began.
Awaitable<Result<std::vector<std::string>>> files_of(World& world, Changes changes) {
    GitCommand list;
    list.place = changes.repository;
    list.args = {
        "diff",       "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
        changes.base, changes.tip,   "--"};
    CO_TRY(const auto listed, co_await git_output(world.git, std::move(list)));
    std::vector<std::string> files;
    for (const auto name : split(listed, '\0')) {
        if (!name.empty()) files.emplace_back(name);
    }
    co_return files;
}

struct Compared {
    ComparedAttempt row;
    std::vector<std::string> files;
    std::string problem;  ///< why its work could not be looked at; empty: it could, or has not begun
};

Awaitable<Compared> compare_one(Api& api, TaskRecord record, bool picked) {
    Compared one;
    auto& row = one.row;
    const auto view = api.view(record);
    row.id = record.task.id.value;
    row.short_id = view.short_id;
    row.name = record.attempt;
    row.harness = record.task.harness;
    row.version = version_of(api, record.task.project, record.task.harness);
    row.effort = record.task.effort.value_or("");
    row.status = record.task.status;
    row.means = view.means;
    row.needs = view.needs;
    row.picked = picked;
    row.unpicked = view.unpicked;
    row.rounds = record.task.review_round();
    row.note = note_of(record, row);
    row.checks = "not run";
    put_use(api, record, row);
    auto known = api.runner().committed.known(record.task.id);
    auto changes = co_await changes_of(api.world(), record, std::move(known));
    if (!changes) {
        const bool has_begun = !record.branch_start.empty();
        if (changes.error().code != ErrorCode::not_found || has_begun)
            one.problem = "the work of " + row.name + " could not be looked at: " + changes.error().message;
        co_return one;
    }
    row.commit = changes->commit;
    row.changes = counts_of(*changes);
    const auto& checked = record.last_checked();
    if (checked && checked->commit == row.commit) row.checks = checked->passed ? "passed" : "failed";
    put_verdict(api, record, row);
    auto files = co_await files_of(api.world(), std::move(*changes));
    if (!files) one.problem = "the files of " + row.name + " could not be listed: " + files.error().message;
    if (files) one.files = std::move(*files);
    co_return one;
}

void add_file(std::vector<std::string>& files, std::int64_t& more, const std::string& file) {
    constexpr std::size_t k_most = 1000;
    if (files.size() == k_most) ++more;
    if (files.size() < k_most) files.push_back(file);
}

/// Finds the files that all attempts with changes have changed, and those of one alone. Each attempt may have very
/// many, so others have their turn in between. `all` and `reply` outlive the call.
Awaitable<void> put_files(const std::vector<Compared>& all, TaskCompare::Reply& reply) {
    std::unordered_map<std::string_view, int> changed_by;
    int with_changes = 0;
    for (const auto& one : all) {
        if (!one.files.empty()) ++with_changes;
        for (const auto& file : one.files) ++changed_by[file];
        co_await async::yield();
    }
    bool is_first = true;  // of those with changes: the files of all are among its files
    for (const auto& one : all) {
        auto& row = reply.rows.emplace_back(one.row);
        for (const auto& file : one.files) {
            const int count = changed_by[file];
            if (count == 1) add_file(row.only, row.only_more, file);
            if (is_first && count > 1 && count == with_changes) add_file(reply.common, reply.common_more, file);
        }
        is_first = is_first && one.files.empty();
        if (!one.problem.empty()) reply.notes.push_back(one.problem);
        co_await async::yield();
    }
}

Awaitable<Result<TaskCompare::Reply>> compare_attempts(Api& api, TaskCompare params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto parent, compared_task(api, id));
    std::vector<Compared> all;
    for (const auto& attempt : parent.attempts) {
        const auto record = api.world().tasks.read(attempt.id).value_or(nullptr);
        if (!record) continue;
        auto copy = *record;
        const bool picked = parent.picked == attempt.id;
        auto one = co_await compare_one(api, std::move(copy), picked);
        all.push_back(std::move(one));
    }
    TaskCompare::Reply reply;
    CO_TRY(reply.task, api.view(parent.task.id));
    co_await put_files(all, reply);
    reply.notes = api.sentences(std::move(reply.notes));
    co_return reply;
}

/// Returns the task of a call that may name only attempts.
Result<TaskId> task_of_diff(Api& api, const TaskCompareDiff& params, const Call& call) {
    const auto selected = api.select(params, call);
    if (params.id) return selected;
    if (selected) {
        if (const auto record = compared_task(api, *selected)) return record->task.id;
    }
    TaskSelector first;
    first.id = params.a;
    return api.select(first, call, store::Naming::id_or_branch);
}

Awaitable<Result<TaskCompareDiff::Reply>> compare_diff(Api& api, TaskCompareDiff params, Call call) {
    CO_TRY(const auto id, task_of_diff(api, params, call));
    CO_TRY(const auto parent, compared_task(api, id));
    CO_TRY(const auto a, attempt_named(api.world(), parent, params.a));
    CO_TRY(const auto b, attempt_named(api.world(), parent, params.b));
    if (a == b) {
        co_return Error(ErrorCode::invalid_argument,
                        "an attempt does not differ from itself; name two:\n  orange compare " + parent.task.id.value);
    }
    CO_TRY(auto first, api.runner().turns.record_of(a));
    CO_TRY(auto second, api.runner().turns.record_of(b));
    auto known_a = api.runner().committed.known(a), known_b = api.runner().committed.known(b);
    CO_TRY(const auto from, co_await changes_of(api.world(), std::move(first), std::move(known_a)));
    CO_TRY(const auto to, co_await changes_of(api.world(), std::move(second), std::move(known_b)));
    const auto repository = from.repository, old = from.tip, now = to.tip;
    CO_TRY(auto changes, co_await changes_between(api.world(), repository, old, now));
    TaskCompareDiff::Reply reply;
    reply.repository = repository;
    reply.a = a.value;
    reply.b = b.value;
    reply.from = old;
    reply.to = now;
    reply.changes = counts_of(changes);
    reply.changes.uncommitted = from.uncommitted || to.uncommitted;
    if (!params.patch) co_return reply;
    CO_TRY(auto patch, co_await patch_of(api.world(), std::move(changes)));
    reply.stat = std::move(patch.stat);
    reply.text = std::move(patch.text);
    reply.cut = patch.cut;
    co_return reply;
}

/// Returns the attempt that a pick is about.
Result<TaskId> attempt_to_pick(Api& api, const TaskPick& params, const TaskId& selected, const TaskRecord& parent) {
    if (params.attempt) return attempt_named(api.world(), parent, *params.attempt);
    if (selected != parent.task.id) return selected;
    std::vector<std::string> names;
    for (const auto& row : parent.attempts) names.push_back(row.name);
    const auto& id = parent.task.id.value;
    return Error(ErrorCode::invalid_argument, "say which attempt: " + join(names, ", ") +
                                                  ". To compare them:\n  orange compare " + id +
                                                  "\nTo pick one:\n  orange pick " + id + " ATTEMPT");
}

Awaitable<Result<TaskReply>> pick_attempt(Api& api, TaskPick params, Call call) {
    CO_TRY(const auto selected, api.select(params, call, store::Naming::id_or_branch));
    CO_TRY(const auto parent, compared_task(api, selected));
    CO_TRY(const auto attempt, attempt_to_pick(api, params, selected, parent));
    const auto id = parent.task.id;
    CO_TRY(co_await note_pick(api.runner(), id, attempt, call.caller));
    Outcome outcome;
    const auto* row = parent.attempt_of(attempt);
    outcome.notes = {"picked " + (row ? row->name + ", " : std::string()) + attempt.value};
    auto ended = co_await end_unpicked_of(api.runner(), id);
    outcome.notes.insert(outcome.notes.end(), ended.begin(), ended.end());
    co_await api.runner().reconciler.settle(id);
    co_return api.reply(id, std::move(outcome));
}

}  // namespace

void add_attempt_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskCompare>(Access::read, "Compares the attempts of a task, by what Orange has measured.",
                           {not_found, conflict}, api, compare_attempts);
    table.add<TaskCompareDiff>(Access::read, "What differs between two attempts of a task, committed and not.",
                               {not_found, conflict, invalid_argument, external_failed}, api, compare_diff);
    table.add<TaskPick>(Access::human,
                        "Picks one of a task's attempts; the others are cancelled, and their work is kept.",
                        {not_found, conflict, invalid_argument}, api, pick_attempt);
}

}  // namespace orange::rpc
