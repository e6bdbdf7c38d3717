#include "daemon/workflow/condition.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "common/base/names.hpp"
#include "common/base/text.hpp"
#include "daemon/workflow/load.hpp"

namespace orange::workflow {
namespace {

using engine::Comparison;
using engine::Condition;
using Interval = std::pair<std::int64_t, std::int64_t>;  // both ends are included
using Intervals = std::vector<Interval>;

constexpr std::int64_t k_least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();

Intervals below(std::int64_t value) {
    return value == k_least ? Intervals{} : Intervals{{k_least, value - 1}};
}

Intervals above(std::int64_t value) {
    return value == k_most ? Intervals{} : Intervals{{value + 1, k_most}};
}

Intervals values_of(const Condition& condition) {
    const auto value = condition.value;
    switch (condition.comparison) {
        case Comparison::less:
            return below(value);
        case Comparison::greater:
            return above(value);
        case Comparison::less_equal:
            return {{k_least, value}};
        case Comparison::greater_equal:
            return {{value, k_most}};
        case Comparison::equal:
            return {{value, value}};
        case Comparison::not_equal:
            break;
    }
    Intervals around = below(value);
    for (const auto& interval : above(value)) around.push_back(interval);
    return around;
}

Condition negated(Condition condition) {
    condition.comparison = engine::row_of(condition.comparison).opposite;
    return condition;
}

/// Returns a value of the intervals that is near 0, and not negative if possible, as an example for a message.
std::int64_t witness(const Intervals& intervals) {
    const auto nearest = [](const Interval& i) { return std::clamp<std::int64_t>(0, i.first, i.second); };
    std::int64_t best = nearest(intervals.front());
    for (const auto& interval : intervals) {
        const auto value = nearest(interval);
        if (value >= 0 && (best < 0 || value < best)) best = value;
    }
    return best;
}

/// Returns values for which all of `conditions` hold, or nullopt. Fields are independent of each other, so each has its
/// own set.
std::optional<std::string> all_hold(const std::vector<Condition>& conditions) {
    std::map<std::string, Intervals> sets;
    for (const auto& condition : conditions) {
        auto& set = sets.try_emplace(condition.field, Intervals{{k_least, k_most}}).first->second;
        Intervals common;
        for (const auto& a : set) {
            for (const auto& b : values_of(condition)) {
                const Interval both{std::max(a.first, b.first), std::min(a.second, b.second)};
                if (both.first <= both.second) common.push_back(both);
            }
        }
        set = std::move(common);
    }
    std::vector<std::string> values;
    for (const auto& [field, set] : sets) {
        if (set.empty()) return std::nullopt;
        values.push_back(field + " = " + std::to_string(witness(set)));
    }
    return join(values, ", ");
}

bool is_field_name(std::string_view text) {
    if (text.empty() || text.front() < 'a' || text.front() > 'z') return false;
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace

bool is_never(const Condition& condition) {
    return values_of(condition).empty();
}

std::optional<std::string> both_hold(const std::optional<Condition>& a, const std::optional<Condition>& b) {
    std::vector<Condition> conditions;
    if (a) conditions.push_back(*a);
    if (b) conditions.push_back(*b);
    return all_hold(conditions);
}

std::optional<std::string> none_holds(const std::vector<Condition>& conditions) {
    std::vector<Condition> opposite;
    opposite.reserve(conditions.size());
    for (const auto& condition : conditions) opposite.push_back(negated(condition));
    return all_hold(opposite);
}

Result<Condition> parse_condition(std::string_view text) {
    const auto refused = [&](std::string_view why) {
        return Error(ErrorCode::invalid_argument,
                     "\"" + printable(text) + "\" is not a condition: " + std::string(why) +
                         "; write it as \"<field> <op> <integer>\", for example \"review_round < 2\"");
    };
    const auto whole = trim(text);
    const auto at = whole.find_first_of("<>=!");
    if (at == std::string_view::npos) return refused("it has none of < > <= >= == !=");
    const auto end = whole.find_first_not_of("<>=!", at);
    const auto symbol = whole.substr(at, end == std::string_view::npos ? end : end - at);
    const auto comparison = kind_named(engine::k_comparisons, symbol);
    if (!comparison) return refused("\"" + std::string(symbol) + "\" is none of < > <= >= == !=");

    Condition condition{std::string(trim(whole.substr(0, at))), *comparison, 0};
    if (!is_field_name(condition.field)) return refused("what is compared must be the name of one field");
    const auto number = end == std::string_view::npos ? std::string_view{} : trim(whole.substr(end));
    const auto value = whole_number(number);
    if (!value) return refused("what it is compared with must be one whole number");
    condition.value = *value;
    return condition;
}

}  // namespace orange::workflow
