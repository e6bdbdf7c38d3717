#include "client/arguments/catalog.hpp"
#include "client/arguments/completion.hpp"
#include "client/arguments/host.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"

namespace orange::arguments {
namespace {

constexpr std::size_t k_overview_width = 80;
constexpr std::size_t k_overview_column = 21;
constexpr std::string_view k_task_group = "task";

/// "  orange project    add list update …", every group's commands in lines of 80 columns.
std::string groups() {
    std::string out;
    std::string line;
    std::string_view group;
    const auto finish_line = [&] { out += std::exchange(line, {}) + "\n"; };
    for (const auto* command : all_commands()) {
        if (command->hidden || !*command->group) continue;
        if (command->group != group) {
            if (!line.empty()) finish_line();
            group = command->group;
            line = "  orange " + std::string(group);
            line.resize(k_overview_column, ' ');
        } else if (line.size() + 1 + std::strlen(command->name) > k_overview_width) {
            finish_line();
            line.resize(k_overview_column, ' ');
        }
        line += (line.back() == ' ' ? "" : " ") + std::string(command->name);
    }
    finish_line();
    for (const auto* command : all_commands()) {
        if (command->hidden || *command->group) continue;
        line = std::string("  orange ") + command->name;
        line.resize(k_overview_column, ' ');
        line += command->summary;
        finish_line();
    }
    return out;
}

/// Returns the shortest words that name the command: "merge", "project add".
std::string shortest_name(const Command& command) {
    const std::string name = command.name;
    if (!*command.group) return name;
    const bool is_free = command.group == k_task_group && find_command("", name) == nullptr && !is_group(name);
    return is_free ? name : command.group + (" " + name);
}

/// True if the words behind `command`, which is not in the group task, are those of the command of the same name there.
bool names_task(const Command& command, std::vector<std::string> words) {
    if (command.hidden) return words.empty() || words.front() != "--";  // the scripts of completion.cpp write this
    CLI::App app;
    bool json = false;
    app.add_flag("--json", json);
    const Action action = command.build(app);
    app.allow_extras();
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::ParseError&) {
        return false;
    }
    const auto extras = app.remaining();
    return !extras.empty() && !extras.front().starts_with('-');
}

/// Returns the commands that people mean by a word of another program; empty if it is none.
std::vector<std::string> meant_by(std::string_view word) {
    struct Word {
        std::string_view typed;
        std::vector<std::string> meant;
    };
    static const Word words[] = {
        {"kill", {"stop", "cancel"}},
        {"start", {"spawn", "daemon start"}},
        {"new", {"run", "create"}},
        {"add", {"run", "project add"}},
        {"ps", {"list"}},
        {"ls", {"list"}},
        {"rm", {"delete", "cancel"}},
        {"edit", {"path", "update"}},
        {"pr", {"create-pr"}},
        {"config", {"project update", "project list"}},
        {"rename", {"update"}},
        {"status", {"list", "daemon status", "service status"}},
        {"undo", {"restore"}},
    };
    const auto found = std::ranges::find(words, word, &Word::typed);
    return found == std::end(words) ? std::vector<std::string>() : found->meant;
}

}  // namespace

std::vector<const Command*> all_commands() {
    std::vector<const Command*> all;
    for (const auto table :
         {run_commands(), task_commands(), project_commands(), workflow_commands(), harness_commands(),
          executor_commands(), host_commands(), daemon_commands(), install_commands(), completion_commands()}) {
        for (const auto& command : table) all.push_back(&command);
    }
    return all;
}

const Command* find_command(std::string_view group, std::string_view name) {
    if (name == "ls") name = "list";
    for (const auto* command : all_commands()) {
        if (command->group == group && command->name == name) return command;
    }
    return nullptr;
}

bool is_group(std::string_view word) {
    return std::ranges::any_of(all_commands(),
                               [&](const Command* command) { return *command->group && word == command->group; });
}

std::string full_name(const Command& command) {
    return std::string("orange ") + command.group + (*command.group ? " " : "") + command.name;
}

std::string overview() {
    return "Orange runs coding agents, each in a git worktree and a tmux session of its own.\n\n"
           "  orange run \"what to do\"            create a task here and start an agent\n"
           "  orange dashboard                   show your tasks on one screen\n"
           "  orange inbox                       show what needs you\n"
           "  orange attach ID                   open the agent's terminal\n"
           "  orange merge ID                    merge reviewed work\n\n"
           "Commands (for details: orange help GROUP; the word task can be omitted):\n" +
           groups() +
           "\nEvery command takes --json and then prints JSON, even if it fails.\n"
           "orange --host NAME COMMAND runs on another machine of yours (orange host --help).\n";
}

std::string group_page(std::string_view group) {
    std::string out = "orange " + std::string(group) + " COMMAND\n\n";
    std::size_t widest = 9;
    for (const auto* command : all_commands()) {
        if (!command->hidden && command->group == group) widest = std::max(widest, std::strlen(command->name));
    }
    for (const auto* command : all_commands()) {
        if (command->hidden || command->group != group) continue;
        std::string name = command->name;
        name.resize(widest + 2, ' ');
        out += "  " + name + command->summary + "\n";
    }
    if (group == k_task_group) out += "\nThe word task can be omitted: orange merge ID.\n";
    return out + "\nSee: orange " + std::string(group) + " COMMAND --help\n";
}

bool add_task_group(std::vector<std::string>& words) {
    const auto first = std::ranges::find_if(words, [](const auto& word) { return word != "--json"; });
    if (first == words.end() || is_group(*first) || find_command(k_task_group, *first) == nullptr) return false;
    const auto* command = find_command("", *first);
    if (command != nullptr && !names_task(*command, {first + 1, words.end()})) return false;
    words.insert(first, std::string(k_task_group));
    return true;
}

std::vector<std::string> similar_commands(std::string_view group, std::string_view word) {
    if (auto meant = group.empty() ? meant_by(word) : std::vector<std::string>(); !meant.empty()) return meant;
    std::vector<std::string> known, elsewhere;
    for (const auto* command : all_commands()) {
        if (command->hidden) continue;
        const bool here = command->group == group || (group.empty() && command->group == k_task_group);
        if (here) known.emplace_back(command->name);
        if (group.empty()) known.emplace_back(command->group);
        if (!here && word == command->name) elsewhere.push_back(shortest_name(*command));
    }
    if (!elsewhere.empty()) return elsewhere;
    const auto name = nearest(word, known);
    if (!name) return {};
    return {(group.empty() ? "" : std::string(group) + " ") + *name};
}

}  // namespace orange::arguments
