#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// The settings of projects. config.yml sets the defaults of all projects, and `orange project update --set` the values
/// of one project, under the same names.
namespace orange {

/// The facts of a setting, from which --help, completion and all errors are made. A new setting is a row of k_settings
/// and a member of ProjectSettings, at the same place in both, and a row in docs/files.md, which a test compares.
struct SettingRule {
    const char* name;
    const char* values;    ///< "local|pr", the default first; for a number or a list, a word for its kind
    const char* standard;  ///< the default, as text
    const char* doc;
};

/// Returns the rows of k_settings (settings.cpp), in their order.
std::span<const SettingRule> setting_rules();

inline constexpr int k_highest_limit = 1000;  ///< for numbers of agents that run at the same time

struct ProjectSettings {
    std::optional<std::string> merge;
    std::optional<bool> push;
    std::optional<bool> keep_branch;
    std::optional<std::vector<std::vector<std::string>>> checks;  ///< the argv of each command
    std::optional<int> checks_timeout;
    std::optional<std::string> merge_checks;
    std::optional<std::string> pr_feedback;
    std::optional<std::string> forge;
    std::optional<int> idle_after;
    std::optional<int> remind_again;
    std::optional<int> hung_after;
    std::optional<bool> advance_idle;
    std::optional<std::vector<std::vector<std::string>>> teardown;  ///< the argv of each command
    std::optional<std::vector<std::string>> keep_ignored;           ///< lines in the syntax of .gitignore
    std::optional<std::string> delegation;
    std::optional<int> delegation_children;
    std::optional<int> delegation_depth;
    std::optional<std::string> children_into;
    std::optional<int> worker_limit;    ///< 0: no limit
    std::optional<int> reviewer_limit;  ///< 0: no limit
    std::optional<std::string> memory_limit;
    std::optional<int> cpus_limit;            ///< 0: no limit
    std::optional<int> time_limit;            ///< minutes; 0: no limit
    std::optional<int> processes_limit;       ///< 0: no limit
    std::optional<std::string> disk_limit;    ///< bytes_in()
    std::optional<std::string> model;         ///< empty: the program's own
    std::optional<std::string> review_model;  ///< likewise
    std::optional<std::string> review_harness;
    std::optional<std::string> second_review_harness;
    std::optional<std::string> executor;
    std::optional<std::string> executor_options;    ///< a line that shell_words() can split
    std::optional<std::string> image;               ///< empty: the executor's own
    std::optional<std::string> network;             ///< network_in()
    std::optional<std::string> resume_after_limit;  ///< "true", "false", or hours_in()
    std::optional<std::string> budget_task;         ///< tokens_in(); "0": no limit
    std::optional<std::string> budget_day;          ///< likewise
    std::optional<std::string> budget_task_stop;    ///< percent of the budget, or "never"
    std::optional<std::string> budget_day_stop;     ///< likewise
    std::optional<std::string> permits;             ///< "window" or "inbox"

    void describe(auto& v) {
        const SettingRule* rule = setting_rules().data();
        const auto add = [&](auto& member) {
            v.sparse(rule->name, member, rule->doc);
            ++rule;
        };
        add(merge);
        add(push);
        add(keep_branch);
        add(checks);
        add(checks_timeout);
        add(merge_checks);
        add(pr_feedback);
        add(forge);
        add(idle_after);
        add(remind_again);
        add(hung_after);
        add(advance_idle);
        add(teardown);
        add(keep_ignored);
        add(delegation);
        add(delegation_children);
        add(delegation_depth);
        add(children_into);
        add(worker_limit);
        add(reviewer_limit);
        add(memory_limit);
        add(cpus_limit);
        add(time_limit);
        add(processes_limit);
        add(disk_limit);
        add(model);
        add(review_model);
        add(review_harness);
        add(second_review_harness);
        add(executor);
        add(executor_options);
        add(image);
        add(network);
        add(resume_after_limit);
        add(budget_task);
        add(budget_day);
        add(budget_task_stop);
        add(budget_day_stop);
        add(permits);
    }
    bool empty() const { return *this == ProjectSettings{}; }
    bool operator==(const ProjectSettings&) const = default;
};

/// Parses a size such as "12G" into bytes; 0: no limit. Nothing for another text.
std::optional<std::int64_t> bytes_in(std::string_view size);

/// Checks settings that were read from a file.
Result<void> check_settings(const ProjectSettings& settings);

/// Returns the settings that count where neither a project nor config.yml has a value: each member has one.
const ProjectSettings& standard_settings();
/// Returns the settings that count for a project: for each its own value, else that of config.yml, else the standard.
ProjectSettings effective(const ProjectSettings& defaults, const ProjectSettings& project);

std::vector<std::string> setting_names();
/// Returns "merge=local", "merge=pr" … for each setting whose values are a few words.
std::vector<std::string> setting_words();

}  // namespace orange
