#include "common/model/settings.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/forges.hpp"
#include "common/base/hours.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "common/model/network.hpp"
#include "common/model/usage.hpp"

namespace orange {
namespace {

constexpr SettingRule k_settings[] = {
    {"merge", "local|pr", "local", "how work is merged: here, or through a pull request"},
    {"push", "true|false", "true", "push a merge to origin"},
    {"keep_branch", "false|true", "false", "keep the local branch of a task after its merge"},
    {"checks", "COMMANDS", "", "commands that must succeed before a review and a merge"},
    {"checks_timeout", "SECONDS", "1800", "time limit of each check"},
    {"merge_checks", "result|worktree", "result", "a merge's checks test its result, or the worktree"},
    {"pr_feedback", "notice|agent", "notice", "feedback on a pull request: for you, or the agent"},
    {"forge", k_forge_values, "auto", "where pull requests are; auto: as origin's URL says"},
    {"idle_after", "SECONDS", "60", "how long an agent is idle before it is reminded"},
    {"remind_again", "SECONDS", "300", "how long after that again, and then you are told"},
    {"hung_after", "SECONDS", "600", "how long a working agent shows no progress before you are told"},
    {"advance_idle", "false|true", "false", "go on without an idle agent whose section is written"},
    {"teardown", "COMMANDS", "", "commands that run before a worktree is given back"},
    {"keep_ignored", "PATTERNS", "", "ignored files that are kept with a task's work, as *.env"},
    {"delegation", "on|ask|off", "on", "agents may create sub-tasks; ask: each waits for your approval"},
    {"delegation_children", "COUNT", "10", "how many sub-tasks a task may have"},
    {"delegation_depth", "COUNT", "2", "how deep sub-tasks of sub-tasks may go"},
    {"children_into", "default|parent", "default", "whose branch sub-tasks are merged into"},
    {"limits.worker", "NUMBER", "4", "how many workers run at once; 0: as many as there are workspaces"},
    {"limits.reviewer", "NUMBER", "2", "how many reviewers run at once; 0: no limit"},
    {"limits.memory", "SIZE", "0", "memory that each agent may use, as 12G or 800M; 0: no limit"},
    {"limits.cpus", "NUMBER", "0", "processors for each agent, in executors that limit them; 0: no limit"},
    {"limits.time", "MINUTES", "0", "how long each agent may run, in executors that limit it; 0: no limit"},
    {"limits.processes", "PROCESSES", "0", "processes that each agent may be with all it starts; 0: no limit"},
    {"limits.disk", "SIZE", "0", "disk that each agent may use, as 20G; 0: no limit"},
    {"model", "NAME", "", "model of the workers of new tasks"},
    {"review_model", "NAME", "", "model of the reviewers of new tasks"},
    {"review_harness", "NAME", "", "harness of the reviewers of new tasks; none: claude, or the worker's"},
    {"second_review_harness", "NAME", "", "harness of second reviewers; none: the task's reviewer's"},
    {"executor", "NAME", "local", "where the agents of new tasks run"},
    {"executor_options", "WORDS", "", "words for the executor of new tasks, as '-p gpu'"},
    {"image", "NAME", "", "image of the containers of new runs, in executors that have one"},
    {"network", "full|none|PLACES", "full", "where agents in bwrap or podman may connect to"},
    {"resume_after_limit", "true|false|HOURS", "true", "go on after a usage limit: at once, never, within 08:00-20:00"},
    {"budget.task", "TOKENS", "0", "tokens for each task, as 3M or 400k; 0: no limit"},
    {"budget.day", "TOKENS", "0", "tokens for all tasks of a day; 0: no limit"},
    {"budget.task_stop", "PERCENT|never", "150", "percent of that at which agents are stopped"},
    {"budget.day_stop", "PERCENT|never", "120", "percent of that at which agents are stopped"},
    {"permits", "window|inbox", "window", "where codex asks before it does something; others ask in both"},
};

using Argv = std::vector<std::string>;

constexpr int k_longest_wait = 86400;  // seconds
constexpr int k_fewest_processes = 20, k_most_processes = 1'000'000;
constexpr int k_longest_run = 60 * 24 * 365;  // minutes

/// The allowed values of a number.
struct Range {
    int lowest;
    int highest;
    const char* text;
};
Range range_of(const SettingRule& rule) {
    if (std::string_view(rule.values) == "NUMBER")
        return {0, k_highest_limit, "a number, where 0 means no limit, from "};
    if (std::string_view(rule.values) == "COUNT") return {1, 100, "a number from "};
    if (std::string_view(rule.values) == "MINUTES")
        return {0, k_longest_run, "a number of minutes, where 0 means no limit, from "};
    if (std::string_view(rule.values) == "PROCESSES")
        return {k_fewest_processes, k_most_processes, "0, which means no limit, or a number from "};
    return {1, k_longest_wait, "a number of seconds from "};
}

constexpr std::string_view k_hours = "HOURS", k_percent = "PERCENT",
                           k_places = "PLACES";  // words that stand for other values

bool takes_hours(const SettingRule& rule) {
    return std::string_view(rule.values).ends_with(k_hours);
}

std::vector<std::string> words_for(const SettingRule& rule) {
    const std::string_view values = rule.values;
    std::vector<std::string> words;
    if (values.find('|') == std::string_view::npos) return words;
    for (const auto word : split(values, '|')) {
        if (word != k_hours && word != k_percent && word != k_places) words.emplace_back(word);
    }
    return words;
}

std::string spelled_out(const SettingRule& rule) {
    return rule.name + std::string(" must be ") + join(words_for(rule), " or ") +
           (takes_hours(rule) ? " or hours, as 08:00-20:00" : "");
}

Error wrong(std::string message) {
    return {ErrorCode::invalid_argument, std::move(message)};
}

/// Refuses `[CI=1, make]`, among others: without a shell, "CI=1" would be run as a program.
Result<void> check_command(const Argv& argv) {
    if (argv.empty() || argv.front().empty()) return wrong("there is an empty command");
    TRY(check_without_shell(argv));
    for (const auto& word : argv) {
        if (word.find('\0') != std::string::npos) return wrong("a command holds a NUL");
    }
    const auto& program = argv.front();
    if (program.find('=') >= program.find('/')) return {};
    return wrong("`" + program + "` is a variable, but is run without a shell; use env " + join(argv, " "));
}

Result<Argv> command_of(const Json& value) {
    if (value.is_string()) {
        TRY(auto argv, shell_words(value.get<std::string>()));
        TRY(check_command(argv));
        return argv;
    }
    auto argv = read_as<Argv>(value, "command", UnknownKeys::ignore);
    if (!argv) return wrong("a command is a text, or a list of words");
    TRY(check_command(*argv));
    return argv;
}

Result<void> read_size(std::string& into, const SettingRule& rule, const std::string& text) {
    if (!bytes_in(text)) {
        return wrong(rule.name + std::string(" must be a size from 64M to 999T, as 12G or 800M; 0 means no limit"));
    }
    into = text;
    return {};
}

Result<void> read_tokens(std::string& into, const SettingRule& rule, const std::string& text) {
    if (!tokens_in(text)) return wrong(rule.name + (" must be a number of tokens, " + std::string(k_tokens_form)));
    into = text;
    return {};
}

Result<void> read_percent(std::string& into, const SettingRule& rule, const std::string& text) {
    constexpr int k_least = 100, k_most = 1000;
    int percent = 0;
    const auto* end = text.data() + text.size();
    const bool is_number = std::from_chars(text.data(), end, percent).ptr == end;
    if (text != k_never && (!is_number || percent < k_least || percent > k_most)) {
        return wrong(rule.name + (" must be percent of the budget, from " + std::to_string(k_least) + " to ") +
                     std::to_string(k_most) + ", or " + std::string(k_never));
    }
    into = text;
    return {};
}

Result<void> read_name(std::string& into, const SettingRule& rule, const Json& value) {
    const auto text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool is_text = value.is_string() || value.is_number();
    if (!is_text || (!text.empty() && !is_option_word(text))) {
        return wrong(rule.name + std::string(" must be one word that does not begin with a dash; '' for none"));
    }
    into = text;
    return {};
}

Result<void> read_words(std::string& into, const SettingRule& rule, const Json& value) {
    if (!value.is_string()) return wrong(rule.name + std::string(" must be one line of words; '' for none"));
    const auto line = std::string(trim(value.get_ref<const std::string&>()));
    TRY(shell_words(line));
    into = line;
    return {};
}

/// Reads a network from a text, or from a list of places.
Result<void> read_network(std::string& into, const SettingRule& rule, const Json& value) {
    auto text = value.is_string() ? value.get<std::string>() : std::string();
    if (value.is_array()) {
        auto list = read_as<std::vector<std::string>>(value, rule.name, UnknownKeys::ignore);
        if (!list) return wrong(rule.name + std::string(" must be full, none, or a list of places"));
        text = join(*list, " ");
    }
    const auto network = network_in(text);
    if (!network) return wrong(rule.name + (": " + network.error().message));
    into = text_of(*network);
    return {};
}

Result<void> read_value(std::string& into, const SettingRule& rule, const Json& value) {
    if (std::string_view(rule.values).ends_with(k_places)) return read_network(into, rule, value);
    if (std::string_view(rule.values) == "SIZE") {
        return read_size(into, rule, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (std::string_view(rule.values) == "TOKENS") {
        return read_tokens(into, rule, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (std::string_view(rule.values).starts_with(k_percent)) {
        return read_percent(into, rule, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (std::string_view(rule.values) == "NAME") return read_name(into, rule, value);
    if (std::string_view(rule.values) == "WORDS") return read_words(into, rule, value);
    const auto words = words_for(rule);
    const bool is_plain = value.is_boolean() && takes_hours(rule);
    const auto text = value.is_string() ? value.get<std::string>() : is_plain ? value.dump() : std::string();
    if (takes_hours(rule) && hours_in(text)) {
        into = text;
        return {};
    }
    if (std::find(words.begin(), words.end(), text) == words.end()) return wrong(spelled_out(rule));
    into = text;
    return {};
}

Result<void> read_value(bool& into, const SettingRule& rule, const Json& value) {
    if (value.is_boolean()) {
        into = value.get<bool>();
        return {};
    }
    std::string text;
    TRY(read_value(text, rule, value));
    into = text == "true";
    return {};
}

Result<void> read_value(int& into, const SettingRule& rule, const Json& value) {
    std::int64_t number = -1;
    if (value.is_number_integer()) number = read_as<int>(value, rule.name).value_or(-1);
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size()) number = -1;
    }
    const auto range = range_of(rule);
    const bool is_none = number == 0 && std::string_view(rule.values) == "PROCESSES";
    if (!is_none && (number < range.lowest || number > range.highest)) {
        return wrong(rule.name + std::string(" must be ") + range.text + std::to_string(range.lowest) + " to " +
                     std::to_string(range.highest));
    }
    into = static_cast<int>(number);
    return {};
}

Result<void> read_value(std::vector<Argv>& into, const SettingRule& rule, const Json& value) {
    std::vector<Argv> commands;
    const bool none = value.is_string() && trim(value.get_ref<const std::string&>()).empty();
    if (value.is_string() && !none) {
        TRY(auto command, command_of(value));
        commands.push_back(std::move(command));
    } else if (value.is_array()) {
        for (const auto& item : value) {
            TRY(auto command, command_of(item));
            commands.push_back(std::move(command));
        }
    } else if (!none) {
        return wrong(rule.name + std::string(" must be a list of commands"));
    }
    into = std::move(commands);
    return {};
}

/// Reads patterns from a list, or from a text with blanks between them; a pattern that contains a blank needs a list.
Result<void> read_value(std::vector<std::string>& into, const SettingRule& rule, const Json& value) {
    std::vector<std::string> patterns;
    if (value.is_string()) {
        for (const auto word : split(value.get_ref<const std::string&>(), ' ')) {
            if (const auto pattern = trim(word); !pattern.empty()) patterns.emplace_back(pattern);
        }
    } else {
        auto list = read_as<std::vector<std::string>>(value, rule.name, UnknownKeys::ignore);
        if (!list) return wrong(rule.name + std::string(" must be a list of patterns, as in .gitignore"));
        patterns = std::move(*list);
    }
    for (const auto& pattern : patterns) {
        const bool is_line =
            !trim(pattern).empty() && pattern.find_first_of(std::string_view("\n\0", 2)) == pattern.npos;
        if (!is_line) return wrong(rule.name + std::string(" has a pattern that is empty or more than one line"));
    }
    into = std::move(patterns);
    return {};
}

/// Sets the member with a given name.
struct Setter : FieldVisitor<Setter> {
    Setter(const std::string& key, const Json& given) : name(key), value(given) {}

    template <class T>
    void field(const char* field_name, std::optional<T>& member, const char*, Presence) {
        const auto& rule = *next++;
        if (name != field_name) return;
        found = true;
        if (value.is_null()) {
            member.reset();
            return;
        }
        T read{};
        done = read_value(read, rule, value);
        if (done) member = std::move(read);
    }

    const std::string& name;
    const Json& value;
    const SettingRule* next = k_settings;
    bool found = false;
    Result<void> done;
};

}  // namespace

std::span<const SettingRule> setting_rules() {
    return k_settings;
}

Result<void> set_setting(ProjectSettings& settings, const std::string& name, const Json& value) {
    Setter setter(name, value);
    settings.describe(setter);
    if (setter.found) return setter.done;
    return wrong("there is no setting \"" + ellipsized(name, 80) + "\"" + suggestion(name, setting_names()));
}

const ProjectSettings& standard_settings() {
    static const auto all = [] {
        ProjectSettings settings;
        for (const auto& rule : k_settings) set_setting(settings, rule.name, rule.standard).value();
        return settings;
    }();
    return all;
}

Result<void> check_settings(const ProjectSettings& settings) {
    ProjectSettings checked;
    const auto json = written(settings);
    for (const auto& [name, value] : json.items()) TRY(set_setting(checked, name, value));
    return {};
}

ProjectSettings effective(const ProjectSettings& defaults, const ProjectSettings& project) {
    auto all = written(standard_settings());
    all.update(written(defaults));
    all.update(written(project));
    return read_as<ProjectSettings>(all, "", UnknownKeys::ignore).value();
}

std::optional<std::int64_t> bytes_in(std::string_view size) {
    if (size == "0") return 0;
    constexpr std::string_view k_units = "MGT";
    constexpr std::int64_t k_most = 999, k_mebibyte = 1 << 20;
    const auto unit = size.empty() ? std::string_view::npos : k_units.find(size.back());
    std::int64_t number = 0;
    const auto* end = size.data() + size.size() - 1;
    if (unit == std::string_view::npos || std::from_chars(size.data(), end, number).ptr != end) return std::nullopt;
    const bool is_good = number >= (unit == 0 ? 64 : 1) && number <= (unit == 2 ? k_most : k_most * 1024);
    if (!is_good) return std::nullopt;
    return (number * k_mebibyte) << (10 * unit);
}

std::vector<std::string> setting_names() {
    std::vector<std::string> names;
    for (const auto& rule : k_settings) names.emplace_back(rule.name);
    return names;
}

std::vector<std::string> setting_words() {
    std::vector<std::string> all;
    for (const auto& rule : k_settings) {
        for (const auto& word : words_for(rule)) all.push_back(rule.name + ("=" + word));
    }
    return all;
}

}  // namespace orange
