#include "daemon/rpc/methods/attempt_specs.hpp"

#include <algorithm>
#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/runner/family/attempts.hpp"

namespace orange::rpc {
namespace {

constexpr const char* k_form = "as claude,codex,claude:high or pi/gpt-5:low (HARNESS[/MODEL][:EFFORT])";

/// Takes one apart. A model may have colons of its own, and the effort stands behind the last one.
Result<AttemptSpec> attempt_spec(const std::string& text) {
    AttemptSpec spec;
    spec.name = std::string(trim(text));
    auto rest = spec.name;
    const auto colon = rest.rfind(':');
    if (colon != std::string::npos) {
        spec.effort = rest.substr(colon + 1);
        rest.resize(colon);
    }
    const auto slash = rest.find('/');
    if (slash != std::string::npos) {
        spec.model = rest.substr(slash + 1);
        rest.resize(slash);
    }
    spec.harness = rest;
    const bool is_short =
        spec.harness.empty() || (spec.model && spec.model->empty()) || (spec.effort && spec.effort->empty());
    if (!is_short) return spec;
    return Error(ErrorCode::invalid_argument,
                 "\"" + printable(spec.name) + "\" names no agent; give --attempts " + k_form);
}

void take_choices(auto& into, const Task& task) {
    into.harness = task.harness;
    into.effort = task.effort;
    into.model = task.model;
    into.review_harness = task.review_harness;
    into.review_effort = task.review_effort;
    into.review_model = task.review_model;
}

void add_once(std::vector<std::string>& notes, const std::vector<std::string>& more) {
    for (const auto& note : more) {
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
}

/// The record of the parent names the first attempt's agents: it has none itself.
void take_agents(Task& parent, const Task& first) {
    take_choices(parent, first);
    parent.permissions = first.permissions;
}

Result<void> check_parent_of_attempts(const World& world, const TaskRecord& record) {
    if (record.task.parent.empty()) return {};
    TRY(const auto parent, world.tasks.read(record.task.parent));
    if (parent->attempt.empty()) return {};
    return {ErrorCode::conflict, "task " + parent->task.id.value +
                                     " is an attempt itself, and there are no attempts of an attempt; omit --attempts"};
}

}  // namespace

Result<std::vector<AttemptSpec>> attempt_specs(const std::vector<std::string>& attempts) {
    std::vector<AttemptSpec> specs;
    std::map<std::string, int> given;
    for (const auto& text : attempts) {
        TRY(auto spec, attempt_spec(text));
        if (const int same = ++given[spec.name]; same > 1) spec.name += " " + std::to_string(same);
        specs.push_back(std::move(spec));
    }
    if (specs.size() > 1) return specs;
    return Error(ErrorCode::invalid_argument,
                 std::string("--attempts is for two agents and more, ") + k_form + ". For one, use --harness");
}

Result<void> check_attempt_options(const TaskCreate& params) {
    if (params.attempts.empty()) return {};
    std::vector<std::string> own;
    const auto add = [&](bool is_given, const char* name) {
        if (is_given) own.emplace_back(name);
    };
    add(params.harness.has_value(), "--harness");
    add(params.effort.has_value(), "--effort");
    add(params.model.has_value(), "--model");
    if (!own.empty()) {
        return {ErrorCode::invalid_argument,
                "--attempts says which agents work, and " + join(own, ", ") + " does, too; give --attempts " + k_form};
    }
    add(params.branch.has_value(), "--branch");
    add(params.status.has_value(), "--status");
    add(params.on.has_value(), "--on");
    add(params.from_session.has_value(), "--from-session");
    if (own.empty()) {
        const auto specs = attempt_specs(params.attempts);
        return specs ? Result<void>{} : specs.error();
    }
    return {ErrorCode::invalid_argument,
            "each attempt has a new branch of its own, so a task with --attempts "
            "cannot have " +
                join(own, ", ") + "; omit " + (own.size() == 1 ? "it" : "them")};
}

Awaitable<Result<void>> choose_attempts(Api& api, TaskCreate params, Draft& draft) {
    CO_TRY(const auto specs, attempt_specs(params.attempts));
    CO_TRY(check_parent_of_attempts(api.world(), draft.record));
    CO_TRY(check_attempts_allowed(api.world(), draft.project, draft.record, specs.size()));
    CO_TRY(draft.record.start, engine::state_of_attempts(*draft.definition));
    const auto before = draft.record;  // no attempt takes anything from another one
    std::vector<AttemptRow> rows;
    for (const auto& spec : specs) {
        auto each = params;
        each.attempts.clear();
        each.harness = spec.harness;
        each.effort = spec.effort;
        each.model = spec.model;
        auto trial = draft;
        trial.record = before;
        trial.notes.clear();
        const auto chosen = choose_harnesses(api, each, trial);
        if (!chosen) co_return in_context("attempt " + spec.name, chosen.error());
        AttemptRow row{TaskId{random_id(k_task_id_length)}, spec.name, spec.harness};
        take_choices(row, trial.record.task);
        if (rows.empty()) take_agents(draft.record.task, trial.record.task);
        rows.push_back(std::move(row));
        draft.project.trusted = trial.project.trusted;
        for (const auto& [name, hash] : trial.record.harness_hashes) draft.record.harness_hashes[name] = hash;
        add_once(draft.notes, trial.notes);
    }
    draft.record.attempts = std::move(rows);
    co_return Result<void>{};
}

namespace {

/// Says how many attempts have not started, and why the first of them waits; empty if all have.
std::vector<std::string> waiting_attempts(Api& api, const TaskId& parent) {
    const auto record = api.world().tasks.awake(parent);
    std::vector<std::string> notes;
    if (!record) return notes;
    std::size_t waiting = 0;
    std::string why;
    for (const auto& row : record->attempts) {
        const auto attempt = row.made ? api.world().tasks.awake(row.id) : nullptr;
        if (attempt && !attempt->queued && attempt->held.empty()) continue;
        ++waiting;
        if (why.empty() && attempt) why = attempt->queued ? api.runner().queue.waits(*attempt) : "";
    }
    if (waiting == 0 || record->blocked()) return notes;
    notes.push_back(std::to_string(waiting) + " of " + counted(record->attempts.size(), "attempt") +
                    (waiting == 1 ? " waits" : " wait") + (why.empty() ? "" : ": " + why));
    return notes;
}

}  // namespace

Awaitable<void> start_attempts(Api& api, TaskId parent, Outcome& outcome) {
    const std::string project(api.world().tasks.brief(parent)->project.text());
    co_await api.runner().reconciler.settle(parent);
    co_await api.runner().queue.look(project);
    auto waiting = waiting_attempts(api, parent);
    outcome.notes.insert(outcome.notes.end(), waiting.begin(), waiting.end());
}

}  // namespace orange::rpc
