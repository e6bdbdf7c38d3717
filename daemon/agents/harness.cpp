#include "daemon/agents/harness.hpp"

#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/placeholders.hpp"

// From a definition to a command line. All text of a task's author is data: it is put into single arguments, in one
// pass, so that a prompt which itself says "{worktree}" stays as it is.
namespace orange::agents {
namespace {

/// The kernel accepts 128 KiB for an argument (MAX_ARG_STRLEN), with its NUL.
constexpr std::size_t k_argument_limit = 131'071;

Error invalid(std::string message) {
    return Error(ErrorCode::invalid_argument, std::move(message));
}

Result<void> check_argument(const Harness& harness, const std::string& argument) {
    if (argument.find('\0') != std::string::npos) {
        return invalid("a NUL character cannot be handed to " + harness.name);
    }
    if (argument.size() > k_argument_limit) {
        return invalid("the prompt for " + harness.name + " is " + std::to_string(argument.size()) +
                       " bytes long, the system takes " + std::to_string(k_argument_limit) +
                       ": move the details into TASK.md");
    }
    return {};
}

std::map<std::string, std::string> values_of(const LaunchRequest& request) {
    return {
        {"prompt", request.prompt},     {"effort", request.effort.value_or("")}, {"model", request.model.value_or("")},
        {"task_dir", request.task_dir}, {"worktree", request.worktree},          {"repo", request.repo},
        {"git_dir", request.git_dir},   {"git_common", request.git_common},      {"summary", request.summary},
        {"role", request.role},         {"task_file", request.task_file},        {"session", request.session},
        {"from", request.from},         {"from_file", request.from_file},        {"shipped", request.shipped},
        {"events", request.events},     {"talk_dir", request.talk_dir}};
}

/// Returns the value of {session_args}. A copy that Orange has made of a conversation is continued like any other.
std::vector<std::string> session_args(const Session& session, const LaunchRequest& request) {
    if (!request.from.empty() && session.copy.empty()) return session.fork;
    if (request.session.empty()) return {};
    return request.resume || !request.from.empty() ? session.resume : session.start;
}

/// Returns the texts once for each check, with the check's command line put in.
std::vector<std::string> for_each_check(const std::vector<std::string>& texts, const LaunchRequest& request) {
    auto values = values_of(request);
    std::vector<std::string> all;
    for (const auto& check : request.checks) {
        values["check"] = check;
        for (const auto& text : texts) all.push_back(filled(text, values));
    }
    return all;
}

bool mentions_effort(const std::map<std::string, std::string>& env) {
    return std::any_of(env.begin(), env.end(), [](const auto& entry) { return mentions(entry.second, "effort"); });
}

}  // namespace

std::string argv_name(const Harness& harness, const std::string& permissions) {
    static const std::vector<std::string> k_order = {"review", "reduced", "full"};
    const auto wanted = std::find(k_order.begin(), k_order.end(), permissions);
    if (wanted == k_order.end()) return {};
    if (harness.mode == Mode::oneshot) {
        for (auto at = wanted; at != k_order.end(); ++at) {
            auto name = *at == "full" ? std::string("oneshot") : "oneshot_" + *at;
            if (harness.argv.contains(name)) return name;
        }
    }
    for (auto at = wanted; at != k_order.end(); ++at) {
        if (harness.argv.contains(*at)) return *at;
    }
    return {};
}

Result<void> check_effort(const Harness& harness, const std::string& effort) {
    if (!harness.has_effort()) return invalid("the harness " + harness.name + " has no effort setting");
    const auto& values = harness.effort_values;
    if (!values.empty() && std::find(values.begin(), values.end(), effort) == values.end()) {
        return invalid("the harness " + harness.name + " has no effort \"" + effort + "\": it is one of " +
                       join(values, ", "));
    }
    if (!is_option_word(effort)) return invalid("an effort is one word that does not begin with a dash");
    return {};
}

Result<void> check_model(const Harness& harness, const std::string& model) {
    if (harness.model_args.empty()) {
        return invalid("harness " + harness.name + " has no model setting, so it cannot use the model \"" +
                       ellipsized(printable(model), 80) + "\"; leave it out, or choose another harness");
    }
    if (!is_option_word(model)) return invalid("a model is one word that does not begin with a dash");
    return {};
}

std::string model_note(const Harness& harness, const std::string& model) {
    const auto& values = harness.model_values;
    if (values.empty() || std::ranges::find(values, model) != values.end()) return {};
    return "the definition of harness " + harness.name + " does not name the model " + model + "; it names " +
           join(values, ", ") + ". If " + harness.name + " does not know the model, its window says so";
}

bool Harness::has_effort() const {
    return !effort_args.empty() || mentions_effort(env) ||
           std::any_of(env_for.begin(), env_for.end(), [](const auto& entry) { return mentions_effort(entry.second); });
}

bool Harness::keeps_talk() const {
    const auto names_it = [](const std::vector<std::string>& texts) {
        return std::ranges::any_of(texts, [](const std::string& text) { return mentions(text, "talk_dir"); });
    };
    const auto argv_names_it = [&](const auto& entry) { return names_it(entry.second); };
    const auto env_names_it = [](const auto& entry) { return mentions(entry.second, "talk_dir"); };
    return names_it(session.start) || names_it(session.resume) || mentions(session.file, "talk_dir") ||
           std::ranges::any_of(argv, argv_names_it) || std::ranges::any_of(env, env_names_it);
}

std::string Harness::how_to_install() const {
    if (!install.empty()) return "\n  " + install;
    return install_hint.empty() ? "" : "; " + install_hint;
}

bool Session::forks_file() const {
    return !copy.empty() || std::ranges::any_of(fork, [](const auto& each) { return mentions(each, "from_file"); });
}

bool Session::names_copy() const {
    return !copy.empty() || std::ranges::any_of(fork, [](const auto& each) { return mentions(each, "session"); });
}

Result<std::string> copied_conversation(std::string text, const std::map<std::string, std::string>& members) {
    constexpr std::size_t k_longest_line = 64 * 1024;
    const auto end = text.find('\n');
    auto first = end < k_longest_line ? Json::parse(text.substr(0, end), nullptr, false) : Json();
    if (!first.is_object()) {
        return invalid("the first line of the conversation's file is not as the definition of its program says");
    }
    for (const auto& [name, value] : members) first[name] = value;
    text.replace(0, end, dump(first));
    return text;
}

std::string session_in(std::string_view list, const std::string& folder, Timestamp since, const Session& session) {
    const auto real = [](const std::string& path) {
        std::error_code failed;
        auto found = std::filesystem::weakly_canonical(path, failed);
        if (failed) found = path;
        return found.has_filename() ? found : found.parent_path();  // without a slash at its end
    };
    const auto first = std::chrono::duration_cast<std::chrono::milliseconds>(since.time_since_epoch()).count();
    const auto all = Json::parse(list, nullptr, false);
    if (!all.is_array()) return {};
    std::string id;
    std::int64_t earliest = 0;
    for (const auto& each : all) {
        if (!each.is_object() || !each.contains("id") || !each.contains("directory") || !each.contains("created"))
            continue;
        if (!each["id"].is_string() || !each["directory"].is_string() || !each["created"].is_number()) continue;
        const auto created = each["created"].get<std::int64_t>();
        if (created < first || (!id.empty() && created >= earliest)) continue;
        if (!session.permits(each["id"].get<std::string>())) continue;
        if (real(each["directory"].get<std::string>()) != real(folder)) continue;
        id = each["id"].get<std::string>();
        earliest = created;
    }
    return id;
}

Result<Launch> launch(const Harness& harness, const std::string& program, const LaunchRequest& request) {
    if (program.empty()) {
        return Error(ErrorCode::not_found, harness.program + " is not installed" + harness.how_to_install());
    }
    const auto name = argv_name(harness, request.permissions);
    if (name.empty()) return invalid("permissions are full, reduced or review, not \"" + request.permissions + "\"");
    const auto& effort = request.effort;
    if (effort) TRY(check_effort(harness, *effort));
    if (request.model) TRY(check_model(harness, *request.model));
    auto values = values_of(request);
    values["check_rules"] = join(for_each_check({harness.check_rule}, request), "");
    values["event_rules"] = filled(harness.events.rules, values);
    Launch result;
    result.argv.push_back(program);
    const auto add = [&](const std::vector<std::string>& arguments) {
        for (const auto& argument : arguments) result.argv.push_back(filled(argument, values));
    };
    for (const auto& argument : harness.argv.at(name)) {
        if (argument == "{effort_args}") {
            if (effort) add(harness.effort_args);
        } else if (argument == "{model_args}") {
            if (request.model) add(harness.model_args);
        } else if (argument == "{trust_args}") {
            if (request.trusted) add(harness.trust.args);
        } else if (argument == "{session_args}") {
            add(session_args(harness.session, request));
        } else if (argument == "{event_args}") {
            const bool in_inbox = request.permits_in_inbox && !harness.permits.args.empty();
            add(in_inbox ? harness.permits.args : harness.events.args);
        } else if (argument == "{check_args}") {
            for (auto& word : for_each_check(harness.check_args, request)) result.argv.push_back(std::move(word));
        } else {
            add({argument});
        }
    }
    const auto set = [&](const std::map<std::string, std::string>& env) {
        for (const auto& [variable, value] : env) {
            if (effort || !mentions(value, "effort")) result.env[variable] = filled(value, values);
        }
    };
    set(harness.env);
    if (const auto more = harness.env_for.find(name); more != harness.env_for.end()) set(more->second);
    for (const auto& argument : result.argv) TRY(check_argument(harness, argument));
    for (const auto& variable : result.env) {
        // The kernel counts a variable as one argument: NAME=value.
        TRY(check_argument(harness, variable.first + "=" + variable.second));
    }
    return result;
}

Result<void> check_root(const Harness& harness, const std::string& permissions,
                        const std::map<std::string, std::string>& environment, bool as_root) {
    const bool full = argv_name(harness, permissions) == argv_name(harness, "full");
    if (!as_root || !full || harness.root_needs.empty()) return {};
    const auto equals = std::min(harness.root_needs.find('='), harness.root_needs.size());
    const auto name = harness.root_needs.substr(0, equals);
    const bool is_any = equals == harness.root_needs.size();
    const auto value = is_any ? "1" : harness.root_needs.substr(equals + 1);
    if (const auto set = environment.find(name); set != environment.end() && (is_any || set->second == value))
        return {};
    return Error(ErrorCode::forbidden,
                 harness.name +
                     " refuses to run as root with full permissions. Run Orange as a normal user. If this "
                     "machine is a disposable sandbox, set \"env: {" +
                     name + ": '" + value + "'}\" in config.yml");
}

}  // namespace orange::agents
