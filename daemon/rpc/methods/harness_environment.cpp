#include "daemon/rpc/methods/harness_environment.hpp"

#include <algorithm>

#include "common/base/try.hpp"
#include "daemon/agents/trust.hpp"

namespace orange::rpc {

Environment environment_for(const World& world, const std::optional<Project>& project,
                            const agents::HarnessEntry& entry) {
    auto env = world.base_environment;
    env["PATH"] = joined_path(entry.path_variable, env["PATH"]);
    for (const auto& [name, value] : world.settings.env) env[name] = value;
    for (const auto& [name, value] : project ? project->env : Environment{}) env[name] = value;
    for (const auto& [name, value] : entry.harness.env) env[name] = value;
    return env;
}

std::string note_of_login(const World& world, const std::optional<Project>& project,
                          const agents::HarnessEntry& entry) {
    const auto& no_login = entry.harness.no_login;
    if (no_login.note.empty()) return {};
    const auto env = environment_for(world, project, entry);
    const auto is_set = [&](const std::string& name) { return env.contains(name); };
    if (std::ranges::any_of(entry.harness.wants, is_set)) return {};
    const auto home = env.find("HOME");
    const auto exists = [&](const std::string& file) {
        return world.files.facts_of(agents::below_home(file, home == env.end() ? std::string() : home->second))
            .has_value();
    };
    return std::ranges::any_of(no_login.files, exists) ? std::string() : no_login.note;
}

Result<bool> is_trusted(World& world, const Project& project, const agents::HarnessEntry& entry) {
    const auto& trust = entry.harness.trust;
    if (!trust.args.empty()) return project.lets_trust(entry.harness.name);
    const auto env = environment_for(world, project, entry);
    const auto home = env.find("HOME");
    TRY(const auto found,
        agents::trust_in_file(world.files, trust, project.path, home == env.end() ? std::string() : home->second));
    return found.there;
}

Awaitable<Result<void>> record_consent(Api& api, std::string project_name, std::string harness) {
    const auto lock = co_await api.change_projects();
    auto& projects = api.world().projects;
    const auto* project = projects.find(project_name);
    if (!project) co_return Error(ErrorCode::not_found, "project " + project_name + " was removed");
    auto changed = *project;
    if (!changed.lets_trust(harness)) changed.trusted.push_back(std::move(harness));
    co_return projects.put(std::move(changed));
}

std::vector<std::string> variables_not_passed(const World& world, const std::optional<Project>& project,
                                              const agents::HarnessEntry& entry, const CallerEnvironment& caller) {
    std::vector<std::string> notes;
    const auto env = environment_for(world, project, entry);
    for (const auto& name : entry.harness.wants) {
        const auto& has = caller.variables;
        if (env.contains(name) || std::find(has.begin(), has.end(), name) == has.end()) continue;
        notes.push_back(name + " is set here, but agents of " + entry.harness.name +
                        " do not get it: set it in the profile of your login shell, or under env in " +
                        world.paths.config().string() + ", then run: orange daemon reload");
    }
    return notes;
}

Programs programs_of(const World& world) {
    Programs programs;
    for (const auto& entry : world.harnesses.list()) {
        if (entry.problem.empty() && !entry.program.empty()) programs[entry.harness.name] = entry.program;
    }
    return programs;
}

std::vector<std::string> search_notes(const World& world, const Programs& before, const CallerEnvironment& caller) {
    std::vector<std::string> notes;
    for (const auto& entry : world.harnesses.list()) {
        if (!entry.problem.empty()) continue;
        const auto& name = entry.harness.name;
        const auto known = before.find(name);
        if (entry.program.empty()) {
            if (known != before.end()) notes.push_back(world.harnesses.not_installed(entry).message);
            continue;
        }
        if (known == before.end() || known->second != entry.program) {
            notes.push_back("harness " + name + " starts " + entry.program +
                            (entry.found_in.empty() ? "" : ", which is in the PATH of " + entry.found_in));
        }
        for (auto& note : variables_not_passed(world, std::nullopt, entry, caller)) notes.push_back(std::move(note));
    }
    return notes;
}

}  // namespace orange::rpc
