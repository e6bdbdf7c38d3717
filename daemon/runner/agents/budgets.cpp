#include "daemon/runner/agents/budgets.hpp"

#include <algorithm>
#include <set>
#include <utility>

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
    names.shown = world_.tasks.short_id(record.task.id);
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
        names.shown = world_.tasks.short_id(above->task.id);
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

bool Budgets::is_passed(const TaskRecord& record, const Standing& standing) const {
    const auto& pass = record.budget_pass;
    const auto& [budget, names] = standing;
    if (!pass) return false;
    const bool is_task_spent = budget.task > 0 && budget.task_used >= budget.task;
    const bool is_day_spent = budget.day > 0 && budget.day_used >= budget.day;
    const bool may_task = pass->task == names.task && pass->task_limit == budget.task &&
                          budget.task_used < pass->task_used + part_of(budget.task, budget.task_stop);
    const bool may_day = pass->day == day_of(world_.clock.now()) && pass->day_limit == budget.day &&
                         budget.day_used < pass->day_used + part_of(budget.day, budget.day_stop);
    return (!is_task_spent || may_task) && (!is_day_spent || may_day);
}

std::pair<std::string, std::string> Budgets::sentence_of(const TaskId& id) const {
    const auto record = world_.tasks.awake(id);
    if (!record) return {};
    const auto [budget, names] = of(*record);
    return {engine::sentence_of(budget, names), engine::command_of(budget, names).text()};
}

bool Budgets::may_begin(const TaskRecord& record) const {
    const auto standing = of(record);
    return engine::state_of(standing.budget) < BudgetState::spent || is_passed(record, standing);
}

bool Budgets::is_stop_due(const TaskRecord& record) const {
    const auto standing = of(record);
    return engine::state_of(standing.budget) == BudgetState::stop && !is_passed(record, standing) && is_at_work(record);
}

/// True if an agent works in the task's state.
bool Budgets::is_at_work(const TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    return state && !record.ended && record.task.workspace && engine::is_for_agent(**definition, *state);
}

std::string Budgets::let_pass(TaskRecord& record) const {
    const auto standing = of(record);
    const auto& [budget, names] = standing;
    if (engine::state_of(budget) < BudgetState::spent || is_passed(record, standing)) return {};
    BudgetPass pass;
    pass.day = day_of(world_.clock.now());
    if (engine::task_state_of(budget) >= BudgetState::spent) {
        pass.task = names.task;
        pass.task_limit = budget.task;
        pass.task_used = budget.task_used;
    }
    if (engine::day_state_of(budget) >= BudgetState::spent) {
        pass.day_limit = budget.day;
        pass.day_used = budget.day_used;
    }
    record.budget_pass = std::move(pass);
    (void)clear(record, NoticeKind::budget);
    const auto more = engine::task_state_of(budget) >= BudgetState::spent ? part_of(budget.task, budget.task_stop)
                                                                          : part_of(budget.day, budget.day_stop);
    return engine::sentence_of(budget, names) + ". Because you say so, it may use " + tokens_text(more) +
           " more. To raise the budget:\n  " + engine::command_of(budget, names).text();
}

void Budgets::mark(TaskRecord& record) const {
    // Only the first of the tasks that wait for a day's budget tells its human.
    const bool waits = record.queued && !record.kept_back();
    const auto standing = is_at_work(record) || waits ? of(record) : Standing{};
    const auto& [budget, names] = standing;
    if (engine::state_of(budget) < BudgetState::spent) record.budget_pass.reset();
    auto notice = is_passed(record, standing) ? std::nullopt : engine::notice_of(budget, names);
    const bool is_of_day = engine::task_state_of(budget) < BudgetState::spent;
    if (notice && waits && (notice->kind == NoticeKind::budget_near || (is_of_day && !is_first(record))))
        notice.reset();
    if (notice && notice->kind == NoticeKind::budget_near && record.near_told == near_name(budget, world_.clock.now()))
        notice.reset();
    for (const auto kind : {NoticeKind::budget, NoticeKind::budget_near}) {
        const auto* known = engine::find_notice(record, kind);
        const bool is_same = known && notice && notice->kind == kind && notice->cause == known->cause;
        if (is_same) return;  // the numbers in it are those of its beginning
        const bool is_told =
            kind == NoticeKind::budget_near && known && !notice && engine::state_of(budget) == BudgetState::near;
        if (known && !is_told) (void)clear(record, kind);
    }
    if (!notice) return;
    if (notice->kind == NoticeKind::budget_near) {
        record.near_told = near_name(budget, world_.clock.now());
        record.to_tell = notice->text;
    }
    raise(world_, record, notice->kind, notice->text, notice->command, notice->cause);
}

bool Budgets::is_first(const TaskRecord& record) const {
    const auto queue = world_.tasks.queue(record.task.project);
    return !queue.empty() && queue.front() == record.task.id;
}

void Budgets::wait_again(TaskRecord& record, Role role) const {
    const auto definition = turns_.definition_of(record.task);
    const auto need = definition ? engine::respawn_need(**definition, record.task, record.queued) : Error{};
    if (!need || need->role != role || record.stopped || record.held_start(role) || !is_stop_due(record)) return;
    SpawnOrder order;
    order.role = role;
    order.prompt = need->prompt;
    order.respawn = true;
    order.resume = true;
    runner_.agents.put_off(record, order);
}

Awaitable<Result<void>> Budgets::stop(TaskRecord& record) {
    const auto why = sentence_of(record.task.id).first;
    for (const Role role : {Role::reviewer, Role::worker}) {
        if (record.run_of(role) == nullptr) continue;
        CO_TRY(co_await runner_.agents.end(record, role));
        wait_again(record, role);
        CO_TRY(turns_.try_save(record, Durability::atomic));
    }
    engine::clear_for_agents(record);
    mark(record);
    record.task.updated_at = world_.clock.now();
    CO_TRY(turns_.try_save(record));
    world_.journal.write(record, "budget.stopped", {{"text", why}});
    co_await turns_.show(record);
    co_return Result<void>{};
}

void Budgets::has_grown(const TaskId& id) {
    constexpr std::chrono::seconds k_soon{1};
    if (!is_set_) return;
    runner_.reconciler.wake(id);
    if (std::exchange(looks_soon_, true)) return;
    async::spawn(world_.executor, "budgets", look_in(k_soon));
}

Awaitable<void> Budgets::look_in(std::chrono::milliseconds time) {
    co_await async::sleep(time);
    looks_soon_ = false;
    look();
}

void Budgets::look() {
    std::map<TaskId, std::string> seen;
    std::set<TaskId> first;
    for (const auto& project : world_.projects.list()) {
        const auto queue = world_.tasks.queue(project.name);
        if (!queue.empty()) first.insert(queue.front());
    }
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (record.ended || !is_any_set(record)) return;
        const auto standing = of(record);
        const auto& budget = standing.budget;
        if (budget.task == 0 && budget.day == 0) return;
        seen[record.task.id] = std::to_string(static_cast<int>(engine::state_of(budget))) +
                               (is_passed(record, standing) ? "+ " : " ") + std::to_string(budget.task) + " " +
                               std::to_string(budget.day) + (first.contains(record.task.id) ? " first" : "");
    });
    std::vector<TaskId> changed;
    for (const auto& [id, state] : seen) {
        const auto before = seen_.find(id);
        if (before == seen_.end() || before->second != state) changed.push_back(id);
    }
    for (const auto& [id, state] : seen_) {
        if (!seen.contains(id)) changed.push_back(id);
    }
    is_set_ =
        !seen.empty() || !changed.empty() || std::ranges::any_of(world_.projects.list(), [&](const Project& project) {
            return day_limit_of(project) > 0 || tokens_of(world_, project, &ProjectSettings::budget_task) > 0;
        });
    seen_ = std::move(seen);
    if (changed.empty()) return;
    runner_.reconciler.room_changed();
    for (const auto& id : changed) {
        async::spawn(world_.executor, "budget", runner_.activities.update(id));
        runner_.reconciler.wake(id);
    }
}

}  // namespace orange
