#include "daemon/runner/agents/budgets.hpp"

#include <algorithm>

#include "common/base/try.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using engine::BudgetState;

/// Returns a setting of the project: its own, that of config.yml, or the standard.
const std::string& setting_of(const World& world, const Project& project,
                              std::optional<std::string> ProjectSettings::*member) {
    if (const auto& own = project.settings.*member) return *own;
    if (const auto& general = world.settings.project_defaults.*member) return *general;
    return *(standard_settings().*member);
}

std::int64_t tokens_of(const World& world, const Project& project,
                       std::optional<std::string> ProjectSettings::*member) {
    return tokens_in(setting_of(world, project, member)).value_or(0);
}

/// Returns 0 for "never".
int percent_of(const World& world, const Project& project, std::optional<std::string> ProjectSettings::*member) {
    const auto& text = setting_of(world, project, member);
    return text == k_never ? 0 : std::stoi(text);
}

/// Returns the part of a budget that a human's own start adds to what was used up.
std::int64_t part_of(std::int64_t limit, int stop) {
    constexpr int k_standard = 50, k_all = 100;
    const int percent = stop > k_all ? stop - k_all : k_standard;
    return std::max<std::int64_t>(1, limit / k_all * percent);
}

}  // namespace

const Project* Budgets::project_of(const TaskRecord& record) const {
    return world_.projects.find(record.task.project);
}

std::int64_t Budgets::limit_of(const TaskRecord& record) const {
    if (!record.task.budget.empty()) return tokens_in(record.task.budget).value_or(0);
    const auto* project = project_of(record);
    return project ? tokens_of(world_, *project, &ProjectSettings::budget_task) : 0;
}

std::int64_t Budgets::day_limit_of(const Project& project) const {
    return tokens_of(world_, project, &ProjectSettings::budget_day);
}

/// True if the task or one above it has a budget of its own, or its project has one.
bool Budgets::is_any_set(const TaskRecord& record) const {
    const auto* project = project_of(record);
    if (!record.task.budget.empty() || record.task.parent != TaskId{}) return true;
    return project && (day_limit_of(*project) > 0 || limit_of(record) > 0);
}

engine::Budget Budgets::of(const TaskRecord& record) const {
    engine::Budget budget;
    const auto* project = project_of(record);
    if (!is_any_set(record) || !project) return budget;
    budget.task_stop = percent_of(world_, *project, &ProjectSettings::budget_task_stop);
    budget.day_stop = percent_of(world_, *project, &ProjectSettings::budget_day_stop);
    budget.whose = record.task.id;
    budget.project = project->name;
    budget.task = limit_of(record);
    if (budget.task > 0) {
        const bool is_own = !record.task.budget.empty();
        budget.task_used = is_own ? runner_.tokens.counted_of_family(record) : runner_.tokens.counted_of(record);
    }
    constexpr int k_deepest = 16;
    auto parent = record.task.parent;
    for (int depth = 0; depth < k_deepest && parent != TaskId{}; ++depth) {
        const auto above = world_.tasks.awake(parent);
        if (!above) break;
        parent = above->task.parent;
        const auto limit = above->task.budget.empty() ? 0 : tokens_in(above->task.budget).value_or(0);
        if (limit == 0) continue;
        const auto used = runner_.tokens.counted_of_family(*above);
        const bool is_nearer = budget.task == 0 || static_cast<double>(used) / static_cast<double>(limit) >
                                                       static_cast<double>(budget.task_used) /
                                                           static_cast<double>(budget.task);
        if (!is_nearer) continue;
        budget.task = limit;
        budget.task_used = used;
        budget.whose = above->task.id;
    }
    budget.day = day_limit_of(*project);
    if (budget.day > 0) budget.day_used = runner_.tokens.counted_today(project->name);
    return budget;
}

bool Budgets::is_passed(const TaskRecord& record, const engine::Budget& budget) const {
    const auto& pass = record.budget_pass;
    if (!pass) return false;
    const bool is_task_spent = budget.task > 0 && budget.task_used >= budget.task;
    const bool is_day_spent = budget.day > 0 && budget.day_used >= budget.day;
    const auto for_task = pass->task_used + part_of(budget.task, budget.task_stop);
    const auto for_day = pass->day_used + part_of(budget.day, budget.day_stop);
    if (is_task_spent && budget.task_used >= for_task) return false;
    return !is_day_spent || (pass->day == day_of(world_.clock.now()) && budget.day_used < for_day);
}

bool Budgets::any() const {
    const auto has_budget = [&](const Project& project) {
        return day_limit_of(project) > 0 || tokens_of(world_, project, &ProjectSettings::budget_task) > 0;
    };
    if (std::ranges::any_of(world_.projects.list(), has_budget)) return true;
    return std::ranges::any_of(world_.tasks.active(), [&](const TaskId& id) {
        const auto record = world_.tasks.awake(id);
        return record && !record->task.budget.empty();
    });
}

std::string Budgets::sentence_of(const TaskId& id) const {
    const auto record = world_.tasks.awake(id);
    return record ? engine::sentence_of(of(*record)) : std::string();
}

bool Budgets::may_begin(const TaskRecord& record) const {
    const auto budget = of(record);
    const auto state = engine::state_of(budget);
    return state == BudgetState::free || state == BudgetState::near || is_passed(record, budget);
}

bool Budgets::is_stop_due(const TaskRecord& record) const {
    const auto budget = of(record);
    return engine::state_of(budget) == BudgetState::stop && !is_passed(record, budget);
}

std::string Budgets::let_pass(TaskRecord& record) const {
    const auto budget = of(record);
    const auto state = engine::state_of(budget);
    if (state == BudgetState::free || state == BudgetState::near || is_passed(record, budget)) return {};
    record.budget_pass = BudgetPass{day_of(world_.clock.now()), budget.task_used, budget.day_used};
    (void)clear(record, NoticeKind::budget);
    return engine::sentence_of(budget) + "; it goes on, because you say so, and is held again later. To raise the budget:\n  " +
           engine::command_of(budget).text();
}

void Budgets::mark(TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    const bool works = state && !record.ended && record.task.workspace && engine::is_for_agent(**definition, *state);
    const auto budget = works ? of(record) : engine::Budget{};
    const auto standing = engine::state_of(budget);
    const bool is_spent = standing == BudgetState::spent || standing == BudgetState::stop;
    if (works && is_spent && !is_passed(record, budget)) {
        const bool is_stopped = standing == BudgetState::stop && record.runs.empty();
        const auto* notice = engine::find_notice(record, NoticeKind::budget);
        const auto command = engine::command_of(budget).text();
        const auto cause = std::string(is_stopped ? "stop" : "spent") + " " + command;
        if (notice && notice->cause == cause) return;  // the numbers in it are those of the beginning
        (void)clear(record, NoticeKind::budget_near);
        raise(world_, record, NoticeKind::budget,
              engine::sentence_of(budget) + (is_stopped ? ", and its agents were stopped" : ", so nothing begins by itself"),
              command, cause);
        return;
    }
    (void)clear(record, NoticeKind::budget);
    if (standing != BudgetState::near) {
        (void)clear(record, NoticeKind::budget_near);
        return;
    }
    const auto told = std::to_string(budget.task) + " " + std::to_string(budget.day) +
                      (budget.day > 0 ? " " + day_of(world_.clock.now()) : std::string());
    if (std::exchange(record.near_told, told) == told) return;
    raise(world_, record, NoticeKind::budget_near, engine::sentence_of(budget), engine::command_of(budget).text());
}

Awaitable<Result<void>> Budgets::stop(TaskRecord& record) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    const auto need = engine::respawn_need(*definition, record.task, record.queued);
    const bool goes_on = need && runner_.agents.alive(record, need->role);
    const auto budget = of(record);
    for (const Role role : {Role::reviewer, Role::worker}) {
        if (!runner_.agents.alive(record, role)) continue;
        CO_TRY(co_await runner_.agents.end(record, role));
    }
    if (goes_on) {
        SpawnOrder order;
        order.role = need->role;
        order.prompt = need->prompt;
        order.respawn = true;
        order.resume = true;
        runner_.agents.put_off(record, order);
    }
    engine::clear_for_agents(record);
    mark(record);
    record.task.updated_at = world_.clock.now();
    CO_TRY(turns_.try_save(record));
    world_.journal.write(record, "budget.stopped",
                         {{"used", budget.day_used > budget.day && budget.day > 0 ? budget.day_used : budget.task_used},
                          {"why", engine::sentence_of(budget)}});
    co_await turns_.show(record);
    co_return Result<void>{};
}

void Budgets::look() {
    std::map<TaskId, std::string> seen;
    bool any = false;
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (record.ended || !is_any_set(record)) return;
        const auto budget = of(record);
        if (budget.task == 0 && budget.day == 0) return;
        const auto state = std::to_string(static_cast<int>(engine::state_of(budget))) +
                           (is_passed(record, budget) ? "+ " : " ") + std::to_string(budget.task) + " " +
                           std::to_string(budget.day);
        seen[record.task.id] = state;
    });
    std::vector<TaskId> changed;
    for (const auto& [id, state] : seen) {
        const auto before = seen_.find(id);
        if (before == seen_.end() || before->second != state) changed.push_back(id);
    }
    for (const auto& [id, state] : seen_) {
        if (!seen.contains(id)) changed.push_back(id);
    }
    any = !changed.empty();
    seen_ = std::move(seen);
    if (!any) return;
    runner_.reconciler.room_changed();
    for (const auto& id : changed) {
        async::spawn(world_.executor, "budget", runner_.activities.update(id));
        runner_.reconciler.wake(id);
    }
}

}  // namespace orange
