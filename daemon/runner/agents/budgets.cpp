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

int percent_of(const World& world, const Project& project, std::optional<std::string> ProjectSettings::*member) {
    const auto& text = setting_of(world, project, member);
    return engine::stop_percent(text);
}

double used_share(const engine::Budget& budget) {
    return static_cast<double>(budget.task_used) / static_cast<double>(budget.task);
}

/// Names the limits of which a human was told that they are nearly used up.
std::string near_name(const engine::Budget& budget, Timestamp now) {
    auto name = std::to_string(budget.task);
    return budget.day > 0 ? name + " " + std::to_string(budget.day) + " " + day_of(now) : name;
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
    if (!record.task.budget.empty() || !record.task.parent.empty()) return true;
    return project && (day_limit_of(*project) > 0 || limit_of(record) > 0);
}

Budgets::Standing Budgets::of(const TaskRecord& record) const {
    Standing standing;
    auto& [budget, names] = standing;
    const auto* project = project_of(record);
    if (!is_any_set(record) || !project) return standing;
    budget.task_stop = percent_of(world_, *project, &ProjectSettings::budget_task_stop);
    budget.day_stop = percent_of(world_, *project, &ProjectSettings::budget_day_stop);
    names.task = record.task.id.value;
    names.project = project->name;
    budget.task = limit_of(record);
    if (budget.task > 0) use_of(record, !record.task.budget.empty(), standing);
    constexpr int k_deepest = 16;
    auto parent = record.task.parent;
    for (int depth = 0; depth < k_deepest && !parent.empty(); ++depth) {
        const auto above = world_.tasks.awake(parent);
        if (!above) break;
        parent = above->task.parent;
        Standing other;
        other.budget.task = above->task.budget.empty() ? 0 : tokens_in(above->task.budget).value_or(0);
        if (other.budget.task == 0) continue;
        use_of(*above, true, other);
        if (budget.task > 0 && used_share(other.budget) <= used_share(budget)) continue;
        budget.task = other.budget.task;
        budget.task_used = other.budget.task_used;
        names.task = above->task.id.value;
        names.is_relatives = true;
        names.has_family = true;
        names.family_used = other.of.family_used;
    }
    budget.day = day_limit_of(*project);
    if (budget.day > 0) budget.day_used = runner_.tokens.counted_today(project->name);
    return standing;
}

/// Counts what the limit of a task is compared with: one of its own is for its family.
void Budgets::use_of(const TaskRecord& record, bool is_for_family, Standing& standing) const {
    auto& [budget, names] = standing;
    const auto family = runner_.tokens.counted_of_family(record);
    names.has_family = is_for_family && !world_.tasks.children_of(record.task.id).empty();
    names.family_used = family;
    budget.task_used = is_for_family ? family : runner_.tokens.counted_of(record);
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
    if (!record) return {};
    const auto standing = of(*record);
    return engine::sentence_of(standing.budget, standing.of);
}

bool Budgets::may_begin(const TaskRecord& record) const {
    const auto budget = of(record).budget;
    const auto state = engine::state_of(budget);
    return state == BudgetState::free || state == BudgetState::near || is_passed(record, budget);
}

bool Budgets::is_stop_due(const TaskRecord& record) const {
    const auto budget = of(record).budget;
    return engine::state_of(budget) == BudgetState::stop && !is_passed(record, budget);
}

std::string Budgets::let_pass(TaskRecord& record) const {
    const auto [budget, names] = of(record);
    const auto state = engine::state_of(budget);
    if (state == BudgetState::free || state == BudgetState::near || is_passed(record, budget)) return {};
    record.budget_pass = BudgetPass{day_of(world_.clock.now()), budget.task_used, budget.day_used};
    (void)clear(record, NoticeKind::budget);
    return engine::sentence_of(budget, names) +
           ". It goes on for a while, because you say so. To raise the budget:\n  " +
           engine::command_of(budget, names).text();
}

void Budgets::mark(TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    const bool works = state && !record.ended && record.task.workspace && engine::is_for_agent(**definition, *state);
    const auto [budget, names] = works ? of(record) : Standing{};
    auto notice = is_passed(record, budget) ? std::nullopt : engine::notice_of(budget, names);
    if (notice && notice->kind == NoticeKind::budget_near && record.near_told == near_name(budget, world_.clock.now()))
        notice.reset();
    for (const auto kind : {NoticeKind::budget, NoticeKind::budget_near}) {
        const auto* standing = engine::find_notice(record, kind);
        const bool is_same = standing && notice && notice->kind == kind && notice->cause == standing->cause;
        if (is_same) return;  // the numbers in it are those of its beginning
        const bool is_told =
            kind == NoticeKind::budget_near && standing && !notice && engine::state_of(budget) == BudgetState::near;
        if (standing && !is_told) (void)clear(record, kind);
    }
    if (!notice) return;
    if (notice->kind == NoticeKind::budget_near) record.near_told = near_name(budget, world_.clock.now());
    raise(world_, record, notice->kind, notice->text, notice->command, notice->cause);
}

Awaitable<Result<void>> Budgets::stop(TaskRecord& record) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    const auto need = engine::respawn_need(*definition, record.task, record.queued);
    const bool goes_on = need && runner_.agents.alive(record, need->role);
    const auto [budget, names] = of(record);
    const auto why = engine::sentence_of(budget, names);
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
    world_.journal.write(record, "budget.stopped", {{"why", why}});
    co_await turns_.show(record);
    co_return Result<void>{};
}

void Budgets::look() {
    std::map<TaskId, std::string> seen;
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (record.ended || !is_any_set(record)) return;
        const auto budget = of(record).budget;
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
    seen_ = std::move(seen);
    if (changed.empty()) return;
    runner_.reconciler.room_changed();
    for (const auto& id : changed) {
        async::spawn(world_.executor, "budget", runner_.activities.update(id));
        runner_.reconciler.wake(id);
    }
}

}  // namespace orange
