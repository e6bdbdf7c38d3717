#include "client/arguments/usage.hpp"

#include <chrono>
#include <iterator>
#include <string_view>

#include "client/commands/usage.hpp"
#include "common/base/text.hpp"
#include "common/model/usage.hpp"

namespace orange::arguments {
namespace {

/// Returns true for "2026-11-30".
bool is_date(std::string_view text) {
    const auto parts = split(text, '-');
    if (parts.size() != 3 || parts[0].size() != 4 || parts[1].size() != 2 || parts[2].size() != 2) return false;
    const auto year = whole_number(parts[0]), month = whole_number(parts[1]), day = whole_number(parts[2]);
    if (!year || !month || !day || *month < 1 || *day < 1) return false;
    return std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                       std::chrono::month(static_cast<unsigned>(*month)),
                                       std::chrono::day(static_cast<unsigned>(*day)))
        .ok();
}

/// Returns true for "7d".
bool is_number_of_days(std::string_view text) {
    constexpr std::int64_t k_most_days = 36500;
    if (!text.ends_with('d')) return false;
    text.remove_suffix(1);
    const auto days = whole_number(text);
    return days && *days >= 1 && *days <= k_most_days;
}

}  // namespace

Action usage(CLI::App& app) {
    auto params = std::make_shared<rpc::UsageShow>();
    text(app, "ID", params->id,
         "Only this task and its sub-tasks: its id or the beginning of the id, its branch, or words of its summary");
    text(app, "--by", params->by, "A line for each task, role, project, harness, model or day")
        ->check(one_of({std::begin(rpc::k_usage_groups), std::end(rpc::k_usage_groups)}))
        ->type_name("WHAT");
    text(app, "-p,--project", params->project, "Only tasks of this project");
    text(app, "--since", params->since, "From this day on: 7d for the last seven days, or a day (2026-11-30)")
        ->check(CLI::Validator(
            [](std::string& since) {
                if (is_date(since) || is_number_of_days(since)) return std::string();
                return "must be a number of days, as 7d, or a day, as 2026-11-30, not \"" + since + "\"";
            },
            ""))
        ->type_name("DAY");
    app.footer(
        "TOKENS are those that count for budgets: all but those that were read from a cache. IN and OUT are their "
        "two parts; CACHED ones were read from a cache. WORKED and REVIEWED is the time of the agents. QUEUED is the "
        "time in which tasks waited for a place, FOR YOU that in which they waited for you. A narrow terminal shows "
        "fewer columns.\n\n"
        "  –    nothing is known: the program tells no tokens\n"
        "  ≥    at least this: an agent told nothing\n"
        "  ?    an agent told more than is possible, which is in no sum\n\n"
        "Below the table is how much of its account's window a program has used, if it says so, and what is used of "
        "the day's budgets.\n\n"
        "Examples:\n"
        "  orange usage --by day --since 7d\n"
        "  orange usage 4f2a\n"
        "  orange usage --by model --project shop\n"
        "  orange harness explain 4f2a             (which files were read, for a ?)");
    return [params](Context& context) { return commands::usage(context, *params); };
}

void budget(CLI::App& app, Text& into) {
    text(app, "--budget", into,
         "Tokens that it and its sub-tasks may use, as 5M or 400k; 0: no limit; '': as the setting budget.task says")
        ->check(CLI::Validator(
            [](std::string& tokens) {
                if (tokens.empty() || tokens_in(tokens)) return std::string();
                return "must be a number of tokens, not \"" + tokens + "\"; write it " + std::string(k_tokens_form);
            },
            ""))
        ->type_name("TOKENS");
}

}  // namespace orange::arguments
