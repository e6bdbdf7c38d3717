#include "client/arguments/command.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include "client/arguments/permits.hpp"
#include "client/arguments/usage.hpp"
#include "client/commands/task.hpp"

namespace orange::arguments {

std::string value_text(const CLI::Option& option) {
    std::string text;
    if (!option.get_option_text().empty()) {
        text = " " + option.get_option_text();
    } else if (option.get_type_size() != 0) {
        if (!option.get_type_name().empty()) text = " " + option.get_type_name();
        if (!option.get_default_str().empty()) text += "=" + option.get_default_str();
        if (option.get_expected_max() > 1) text += " ...";
    }
    return text;
}

CLI::Option* text(CLI::App& app, const char* name, Text& into, const std::string& doc) {
    return app
        .add_option_function<std::string>(
            name, [&into](const std::string& value) { into = value; }, doc)
        ->type_name("TEXT");
}

void number(CLI::App& app, const char* name, std::optional<int>& into, const char* doc) {
    app.add_option_function<int>(
           name, [&into](const int& value) { into = value; }, doc)
        ->type_name("N");
}

void files(CLI::App& app, commands::FileOptions& into) {
    app.add_option("--file", into.paths,
                   "File for the agent, such as a picture, one for each --file; a copy goes to the task's folder")
        ->allow_extra_args(false)
        ->type_name("PATH");
    // For `orange --host` alone (commands/host.cpp); help, manual and completion leave out what is in no group.
    app.add_option("--files-from-stdin", into.from_input)->check(between(0, 1000))->group("");
}

CLI::Option* form(CLI::App& app, Text& into, bool shown) {
    return text(app, "--format", into, "Print each task in this format, for example '{id} {needs}'")
        ->check([shown](const std::string& value) { return commands::form_problem(value, shown); }, "");
}

CLI::Validator between(std::int64_t least, std::int64_t most) {
    return {[least, most](std::string& text) {
                std::int64_t value = 0;
                const auto* const end = text.data() + text.size();
                const auto [read, error] = std::from_chars(text.data(), end, value);
                if (error == std::errc{} && read == end && value >= least && value <= most) return std::string();
                return "must be a number from " + std::to_string(least) + " to " + std::to_string(most) + ", not \"" +
                       text + "\"";
            },
            ""};
}

CLI::Validator one_of(std::vector<std::string> choices) {
    return {[choices = std::move(choices)](std::string& text) {
                if (std::ranges::find(choices, text) != choices.end()) return std::string();
                std::string known;
                for (const auto& choice : choices) {
                    known += known.empty() ? "" : &choice == &choices.back() ? " or " : ", ";
                    known += choice;
                }
                return "must be " + known + ", not \"" + text + "\"";
            },
            ""};
}

void id(CLI::App& app, Text& into) {
    text(app, "ID", into,
         "Task: its id or the beginning of the id, its branch, or words of its summary; default: the task of this "
         "workspace");
}

CLI::Option* ids(CLI::App& app, std::vector<std::string>& into) {
    return app.add_option("ID", into,
                          "Tasks, each by its id or the beginning of the id, its branch, or words of its summary; "
                          "default: the task of this workspace");
}

void agent_options(CLI::App& app, rpc::TaskCreate& params) {
    app.add_option("--attempts", params.attempts,
                   "Several agents try the task, each in a sub-task, and you keep one of their works (orange compare, "
                   "orange pick): two or more of HARNESS, HARNESS:EFFORT or HARNESS/MODEL")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
    text(app, "--review-harness", params.review_harness, "Agent that reviews the work");
    text(app, "--effort", params.effort, "Effort of the worker; the values depend on the harness");
    text(app, "--review-effort", params.review_effort, "Effort of the reviewer");
    text(app, "--model", params.model, "Model of the worker, as its program names it; default: the project's setting");
    text(app, "--review-model", params.review_model, "Model of the reviewer; default: the project's setting");
    text(app, "--executor", params.executor, "Where the agents run; default: the project's setting")->type_name("NAME");
    text(app, "--executor-options", params.executor_options, "Words for the executor, as \"-p gpu\"");
    text(app, "--permissions", params.permissions,
         "full: agents work without asking; reduced: they ask in their windows; default: as the workflow says")
        ->type_name("full|reduced");
    budget(app, params.budget);
    permits(app, params.permits, "default: the project's setting");
}

}  // namespace orange::arguments
