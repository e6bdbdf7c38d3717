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

/// "  orange task       create list show …", every group's commands in lines of 80 columns.
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
           "  orange task attach ID              open the agent's terminal\n"
           "  orange task merge ID               merge reviewed work\n\n"
           "Commands (for details: orange help GROUP):\n" +
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
    return out + "\nSee: orange " + std::string(group) + " COMMAND --help\n";
}

std::string did_you_mean(std::string_view group, std::string_view word) {
    std::vector<std::string> known;
    std::string elsewhere;
    for (const auto* command : all_commands()) {
        if (command->hidden) continue;
        const bool here = command->group == group;
        if (here) known.emplace_back(command->name);
        if (!here && group.empty()) known.emplace_back(command->group);
        const bool moved = !here && word == command->name;
        if (moved) elsewhere += (elsewhere.empty() ? "" : " or ") + full_name(*command);
    }
    if (!elsewhere.empty()) return "; did you mean " + elsewhere + "?";
    const auto meant = nearest(word, known);
    if (!meant) return {};
    return "; did you mean orange " + std::string(group) + (group.empty() ? "" : " ") + *meant + "?";
}

}  // namespace orange::arguments
