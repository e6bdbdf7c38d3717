#include "daemon/rpc/methods/start_notes.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/runner/agents/agent_control.hpp"

namespace orange::rpc {
namespace {

/// Returns the first option that the agent gets only with full permissions; empty if there is none.
std::string full_option(const agents::Harness& harness) {
    const auto full = harness.argv.find(agents::argv_name(harness, "full"));
    const auto reduced = harness.argv.find(agents::argv_name(harness, "reduced"));
    if (full == harness.argv.end() || reduced == harness.argv.end() || full == reduced) return {};
    for (const auto& argument : full->second) {
        const bool is_option = argument.size() > 2 && argument.starts_with("--");
        if (is_option && std::ranges::find(reduced->second, argument) == reduced->second.end()) return argument;
    }
    return {};
}

std::string worker_note(const agents::Harness& harness, const std::string& permissions) {
    const auto option = full_option(harness);
    const auto asks = harness.mode == agents::Mode::oneshot ? "restricts it" : "makes it ask";
    if (permissions == "full" && !option.empty()) {
        return harness.name + " works in its worktree with " + option + "; --permissions reduced " + asks;
    }
    if (permissions == "full") return harness.name + " works in its worktree without asking for permission";
    if (agents::argv_name(harness, permissions) == agents::argv_name(harness, "full")) {
        return harness.name + " works in its worktree without asking for permission; it has no reduced permissions";
    }
    return harness.name + " works in its worktree with reduced permissions" +
           (harness.mode == agents::Mode::oneshot ? "" : " and asks in its window for more");
}

/// Returns the first twenty lines of a program that a person is asked about.
std::string beginning_of(const std::string& text) {
    constexpr std::size_t k_most_lines = 20, k_longest_line = 200;
    const auto lines = split_lines(text);
    std::string shown;
    for (std::size_t i = 0; i < lines.size() && i < k_most_lines; ++i) {
        shown += ellipsized(std::string(lines[i]), k_longest_line) + "\n";
    }
    const auto more = lines.size() > k_most_lines ? lines.size() - k_most_lines : 0;
    return shown + (more > 0 ? "… " + counted(more, "more line") + "\n" : "");
}

/// Returns "claude reviews the work", or "claude reviews the work, then codex".
std::string reviewers_note(const std::vector<std::string>& reviewers) {
    auto note = reviewers.front() + " reviews the work";
    for (std::size_t i = 1; i < reviewers.size(); ++i) note += ", then " + reviewers[i];
    return note;
}

/// Says where the project's commands run, which execute files of an agent behind a wall.
std::string commands_note(const World& world, const Task& task, const Project& project) {
    if (task.executor.empty()) return {};
    const auto executor = world.executors.pinned(task.executor, task.executor_hash);
    if (!executor || !executor->hides_files()) return {};
    const auto settings = settings_of(world, project);
    if (settings.checks->empty() && settings.teardown->empty() && project.setup.empty()) return {};
    return std::string("checks, setup and teardown run ") +
           (executor->has_commands_inside() ? "behind the wall of " : "outside of ") + executor->name;
}

}  // namespace

std::vector<std::string> start_notes(Api& api, const TaskRecord& record) {
    auto& world = api.world();
    const auto* project = world.projects.find(record.task.project);
    const auto definition = api.runner().turns.definition_of(record.task);
    const auto worker = world.harnesses.find(record.task.harness);
    if (!project || !definition || !worker) return {};
    const auto reviewers = reviewers_of(world, **definition, record.task);
    const auto permissions = permissions_of(**definition, record.task, Role::worker);
    std::vector<std::string> notes = {worker_note(worker->harness, permissions)};
    if (!reviewers.empty()) notes.push_back(reviewers_note(reviewers));
    if (auto note = commands_note(world, record.task, *project); !note.empty()) notes.push_back(std::move(note));
    if (record.task.workspace) {
        notes.push_back("workspace " + *record.task.workspace + "; " + std::to_string(world.pool.free(*project)) +
                        " of " + std::to_string(project->pool_size) + " workspaces still free");
    }
    auto names = harnesses_of(world, **definition, record.task);
    if (reviewers.empty() && record.task.review_harness != record.task.harness)
        std::erase(names, record.task.review_harness);
    for (const auto& name : names) {
        const auto entry = world.harnesses.find(name);
        if (!entry || !entry->harness.trust.is_asked()) continue;
        const auto trusted = is_trusted(world, *project, *entry);
        if (trusted && *trusted) continue;
        notes.push_back(name + " will ask in its window whether it may trust this repository. To answer now:\n" +
                        "  orange harness trust " + name + " --project " + project->name);
    }
    return notes;
}

std::string without_consent(World& world, const Project& project, const std::vector<std::string>& harnesses,
                            bool only_first) {
    for (const auto& name : harnesses) {
        const auto entry = world.harnesses.find(name);
        if (entry && only_first && !entry->harness.trust.first) continue;
        if (entry && !entry->harness.trust.args.empty() && !project.lets_trust(name)) return name;
    }
    return {};
}

Result<void> check_setup_agreed(const Project& project) {
    if (!project.setup.empty()) return {};
    const auto setup = git::repository_command(project.path, ".orange/setup");
    if (!setup || project.lets_trust(setup->consent())) return {};
    const auto file = project.path + "/" + setup->name;
    return Error(ErrorCode::needs_force,
                 "you have not agreed to " + file + ". To read it and agree:\n  orange harness trust " + setup->name +
                     " --project " + project.name,
                 {{"trust", setup->consent()},
                  {"repository", project.path},
                  {"question", "The repository has a setup program for worktrees, " + file +
                                   ". May Orange run it with your permissions?"},
                  {"text", beginning_of(setup->text)},
                  {"otherwise", "it starts without this setup"}});
}

}  // namespace orange::rpc
