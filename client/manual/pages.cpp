#include "client/manual/pages.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <sstream>

#include "client/arguments/catalog.hpp"
#include "client/manual/roff.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::manual {
namespace {

using arguments::Command;

Result<std::string> page_of_docs(const std::filesystem::path& source, const std::string& name) {
    const auto file = source / "docs" / name;
    std::ifstream in(file, std::ios::binary);
    std::string text;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("![")) text += line + "\n";  // terminals show no pictures
    }
    if (text.empty()) return {ErrorCode::not_found, "cannot read " + file.string()};
    return text;
}

Result<std::string> part_of(const std::string& page, const std::string& title) {
    auto part = section_of(page, title);
    if (part.empty()) return {ErrorCode::not_found, "docs/ has no section \"" + title + "\""};
    return part;
}

std::string header(const std::string& name, int section, const std::string& summary) {
    auto title = name;
    std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    return ".TH " + escaped(title, true) + " " + std::to_string(section) +
           " \"\" \"Orange " ORANGE_VERSION "\" \"Orange\"\n.SH NAME\n" + escaped(name, true) + " \\- " +
           escaped(summary) + "\n";
}

std::string see_also(const std::vector<std::pair<std::string, int>>& pages) {
    std::string out = ".SH SEE ALSO\n";
    for (const auto& [name, section] : pages) {
        out += ".BR " + escaped(name, true) + " (" + std::to_string(section) + ")";
        out += &name == &pages.back().first ? "\n" : ",\n";
    }
    return out;
}

/// Returns the name of an option, which may have two: "PROJECT" and "--project".
std::string name_of(const CLI::Option& option, bool positional) {
    if (positional) return option.get_option_text().empty() ? option.get_name(true) : option.get_option_text();
    std::vector<std::string> names;
    for (const auto& name : option.get_snames()) names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) names.push_back("--" + name);
    return join(names, ", ");
}

std::string option_of(const CLI::Option& option, bool positional) {
    std::string out = ".TP\n\\fB" + escaped(name_of(option, positional), true) + "\\fR";
    if (!positional) out += "\\fI" + escaped(arguments::value_text(option), true) + "\\fR";
    return out + "\n" + roff_of_paragraph(option.get_description());
}

/// Returns the usage line, the options and the footer of a command, from its row in the tables.
std::string command_text(const Command& command) {
    const auto name = arguments::full_name(command);
    CLI::App app(command.summary, name);
    bool json = false;
    app.add_flag("--json", json, "Print the reply as one line of JSON");
    const auto action = command.build(app);
    std::string usage = "\\fB" + escaped(name, true) + "\\fR [\\fIOPTIONS\\fR]";
    std::string positionals, options;
    for (const auto* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        if (option->get_positional()) {
            const auto word = escaped(name_of(*option, true), true);
            const bool open = option->get_required() || word.starts_with('[');
            usage += open ? " \\fI" + word + "\\fR" : " [\\fI" + word + "\\fR]";
            positionals += option_of(*option, true);
        }
        const auto& names = option->get_lnames();
        if (!names.empty() && names.front() != "help") options += option_of(*option, false);
    }
    return ".SS \"" + escaped(name, true) + "\"\n" + usage + "\n.PP\n" + escaped(command.summary) + ".\n" +
           positionals + options + roff_of_footer(app.get_footer());
}

std::vector<std::string> groups() {
    std::vector<std::string> names;
    for (const auto* command : arguments::all_commands()) {
        const std::string group = command->group;
        if (!command->hidden && !group.empty() && std::find(names.begin(), names.end(), group) == names.end())
            names.push_back(group);
    }
    return names;
}

ManualPage group_page(const std::string& group) {
    const auto name = "orange-" + group;
    std::string commands;
    for (const auto* command : arguments::all_commands()) {
        if (!command->hidden && command->group == group) commands += command_text(*command);
    }
    std::string text = header(name, 1, "commands about a " + group) + ".SH SYNOPSIS\n\\fBorange " + group +
                       "\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n" + commands;
    std::vector<std::pair<std::string, int>> others = {{"orange", 1}};
    if (group == "workflow" || group == "harness") others.emplace_back(name, 5);
    if (group == "daemon") others.emplace_back("oranged", 8);
    return {name, 1, text + see_also(others)};
}

Result<ManualPage> main_page(const std::filesystem::path& source) {
    std::string text = header("orange", 1, "run several coding agents, each in a git worktree of its own") +
                       ".SH SYNOPSIS\n\\fBorange\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
                       "Orange runs several coding agents at once, each in a git worktree and a tmux session of its "
                       "own. You describe a task, an agent plans and implements it, a second agent reviews it, and "
                       "you merge it. A daemon enforces the workflow.\n.PP\n"
                       "Every command takes \\fB\\-\\-json\\fR and then prints JSON, even if it fails. "
                       "\\fBorange help\\fR \\fICOMMAND\\fR shows the options of a command. "
                       "\\fBorange \\-\\-host\\fR \\fINAME COMMAND\\fR runs a command on another machine of yours; "
                       "see \\fBorange\\-host\\fR(1). "
                       "The word \\fBtask\\fR can be omitted: \\fBorange merge\\fR is \\fBorange task merge\\fR. Only "
                       "\\fBorange log\\fR without a task is the daemon's log.\n.SH GROUPS OF COMMANDS\n";
    std::vector<std::pair<std::string, int>> others;
    for (const auto& group : groups()) {
        std::vector<std::string> names;
        for (const auto* command : arguments::all_commands()) {
            if (!command->hidden && command->group == group) names.emplace_back(command->name);
        }
        text += ".TP\n.BR orange\\-" + group + " (1)\n" + escaped(join(names, ", "), true) + "\n";
        others.emplace_back("orange-" + group, 1);
    }
    text += ".SH COMMANDS\n";
    for (const auto* command : arguments::all_commands()) {
        if (!command->hidden && !*command->group) text += command_text(*command);
    }
    TRY(auto files, page_of_docs(source, "files.md"));
    TRY(const auto variables, part_of(files, "Environment variables"));
    TRY(const auto statuses, part_of(files, "Exit statuses"));
    text += ".SH ENVIRONMENT\n" + roff_of(variables) + ".SH EXIT STATUS\n" + roff_of(statuses);
    others.insert(others.end(), {{"oranged", 8}, {"orange-config", 5}, {"orange-workflow", 5}, {"orange-harness", 5}});
    return ManualPage{"orange", 1, text + see_also(others)};
}

Result<ManualPage> page_from_docs(const std::filesystem::path& source, const std::string& name, int section,
                                  const char* summary, const char* file) {
    TRY(const auto page, page_of_docs(source, file));
    return ManualPage{name, section,
                      header(name, section, summary) + ".SH DESCRIPTION\n" + roff_of(section_of(page, "")) +
                          see_also({{"orange", 1}, {"oranged", 8}})};
}

Result<ManualPage> config_page(const std::filesystem::path& source) {
    TRY(const auto page, page_of_docs(source, "files.md"));
    TRY(const auto config, part_of(page, "config.yml"));
    TRY(const auto log, part_of(page, "orange.log"));
    return ManualPage{"orange-config", 5,
                      header("orange-config", 5, "Orange's settings, ~/orange/config.yml") + ".SH DESCRIPTION\n" +
                          roff_of(config) + ".SH ORANGE.LOG\n" + roff_of(log) +
                          see_also({{"orange", 1}, {"oranged", 8}})};
}

Result<ManualPage> daemon_page(const std::filesystem::path& source, const std::string& usage) {
    TRY(const auto page, page_of_docs(source, "service.md"));
    const auto lines = split_lines(usage);
    if (lines.empty() || !lines.front().starts_with("Usage: "))
        return {ErrorCode::invalid_argument, "oranged --help does not begin with its usage"};
    std::string rest;
    for (std::size_t i = 1; i < lines.size(); ++i) rest += std::string(lines[i]) + "\n";
    return ManualPage{"oranged", 8,
                      header("oranged", 8, "Orange's daemon") + ".SH SYNOPSIS\n" +
                          escaped(lines.front().substr(7), true) + "\n.SH DESCRIPTION\n" + roff_of(rest) +
                          ".SH AS A SERVICE\n" + roff_of(section_of(page, "")) +
                          see_also({{"orange", 1}, {"orange-daemon", 1}, {"orange-config", 5}})};
}

ManualPage agent_page() {
    return {"orange-agent", 8,
            header("orange-agent", 8, "runs one agent of Orange in its terminal") +
                ".SH DESCRIPTION\n\\fBoranged\\fR starts this program in the tmux window of each agent. It starts the "
                "agent, records how the agent ends, and ends what the agent left running. You never need to start it "
                "yourself.\n" +
                see_also({{"orange", 1}, {"oranged", 8}})};
}

}  // namespace

Result<std::vector<ManualPage>> all_pages(const std::filesystem::path& source, const std::string& usage) {
    std::vector<ManualPage> pages;
    TRY(auto first, main_page(source));
    pages.push_back(std::move(first));
    for (const auto& group : groups()) pages.push_back(group_page(group));
    TRY(auto workflow, page_from_docs(source, "orange-workflow", 5, "workflows of Orange", "workflow.md"));
    TRY(auto harness,
        page_from_docs(source, "orange-harness", 5, "how Orange starts an agent program", "harnesses.md"));
    TRY(auto dashboard, page_from_docs(source, "orange-dashboard", 1, "your tasks on one screen", "dashboard.md"));
    TRY(auto config, config_page(source));
    TRY(auto daemon, daemon_page(source, usage));
    for (auto* page : {&dashboard, &workflow, &harness, &config, &daemon}) pages.push_back(std::move(*page));
    pages.push_back(agent_page());
    return pages;
}

}  // namespace orange::manual
