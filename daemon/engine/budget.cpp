#include "daemon/engine/budget.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/model/usage.hpp"

namespace orange::engine {
namespace {

constexpr std::int64_t k_per_hundred = 100, k_near_percent = 80;
constexpr std::int64_t k_kilo = 1000, k_mega = 1'000'000;

BudgetState state_of_limit(std::int64_t limit, std::int64_t used, int stop) {
    if (limit <= 0) return BudgetState::free;
    const auto is_beyond = [&](std::int64_t percent) { return used * k_per_hundred >= limit * percent; };
    if (stop > 0 && is_beyond(std::max<std::int64_t>(stop, k_per_hundred))) return BudgetState::stop;
    if (used >= limit) return BudgetState::spent;
    return is_beyond(k_near_percent) ? BudgetState::near : BudgetState::free;
}

std::string task_sentence(const Budget& budget, const BudgetOf& of) {
    const auto used = tokens_text(budget.task_used), limit = tokens_text(budget.task);
    if (of.is_relatives) {
        return "task " + (of.shown.empty() ? of.task : of.shown) + ", which it is a part of, has used " + used +
               " of its " + limit + " tokens with all its sub-tasks";
    }
    return (of.has_family ? "it and its sub-tasks have used " : "it has used ") + used + " of " +
           (of.has_family ? "their " : "its ") + limit + " tokens";
}

/// Returns which limits the sentence names: the worse one, or both.
std::pair<bool, bool> named_limits(const Budget& budget) {
    const auto task = task_state_of(budget), day = day_state_of(budget);
    return {budget.task > 0 && (task >= day || budget.day <= 0), budget.day > 0 && (day >= task || budget.task <= 0)};
}

std::string cause_of(const Budget& budget) {
    const auto [task, day] = named_limits(budget);
    std::string cause = task ? "task " + exact_tokens(budget.task) : std::string();
    if (day) cause += (cause.empty() ? "day " : ", day ") + exact_tokens(budget.day);
    return cause + (state_of(budget) == BudgetState::stop ? ", stop" : "");
}

std::string day_sentence(const Budget& budget, const BudgetOf& of) {
    return "its project " + of.project + " has used " + tokens_text(budget.day_used) + " of today's " +
           tokens_text(budget.day) + " tokens";
}

}  // namespace

BudgetState task_state_of(const Budget& budget) {
    return state_of_limit(budget.task, budget.task_used, budget.task_stop);
}

BudgetState day_state_of(const Budget& budget) {
    return state_of_limit(budget.day, budget.day_used, budget.day_stop);
}

BudgetState state_of(const Budget& budget) {
    return std::max(task_state_of(budget), day_state_of(budget));
}

std::string sentence_of(const Budget& budget, const BudgetOf& of) {
    const auto [task, day] = named_limits(budget);
    auto text = task ? task_sentence(budget, of) : std::string();
    if (day) text += (text.empty() ? "" : ", and ") + day_sentence(budget, of);
    return text;
}

OrangeCommand command_of(const Budget& budget, const BudgetOf& of) {
    const auto [task, day] = named_limits(budget);
    if (task) {
        const auto used = std::max(budget.task_used, of.family_used);  // --budget counts the family
        return task_command("update", of.task, "--budget " + exact_tokens(more_than(budget.task, used)));
    }
    if (!day) return {};
    return {"project update", of.project, "--set budget.day=" + exact_tokens(more_than(budget.day, budget.day_used))};
}

std::optional<Notice> notice_of(const Budget& budget, const BudgetOf& of) {
    const auto state = state_of(budget);
    if (state == BudgetState::free) return std::nullopt;
    Notice notice;
    notice.kind = state == BudgetState::near ? NoticeKind::budget_near : NoticeKind::budget;
    notice.text = sentence_of(budget, of);
    notice.command = command_of(budget, of).text();
    if (state == BudgetState::spent) notice.text += "; Orange begins nothing more for it";
    if (state == BudgetState::stop) notice.text += "; its agents are stopped";
    notice.cause = cause_of(budget);
    return notice;
}

std::int64_t more_than(std::int64_t limit, std::int64_t used) {
    constexpr std::int64_t k_steps[] = {1, 2, 3, 4, 6, 8};
    constexpr std::int64_t k_most = 1'000'000 * k_mega;  // of tokens_in()
    constexpr std::int64_t k_ten = 10, k_left = 4;
    for (std::int64_t scale = k_kilo; scale < k_most; scale *= k_ten) {
        for (const auto step : k_steps) {
            const auto tokens = step * scale;
            if (tokens > limit && tokens - tokens / k_left >= used) return tokens;
        }
    }
    return 0;  // no limit
}

std::string exact_tokens(std::int64_t tokens) {
    if (tokens > 0 && tokens % k_mega == 0) return std::to_string(tokens / k_mega) + "M";
    if (tokens > 0 && tokens % k_kilo == 0) return std::to_string(tokens / k_kilo) + "k";
    return std::to_string(tokens);
}

int stop_percent(std::string_view setting) {
    int percent = 0;
    const auto* end = setting.data() + setting.size();
    const bool is_number = std::from_chars(setting.data(), end, percent).ptr == end;
    return is_number && percent > 0 ? percent : 0;
}

}  // namespace orange::engine
