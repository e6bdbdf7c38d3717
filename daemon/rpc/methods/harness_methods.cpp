// harness.*: lists the agents and their programs, and records the consent to trust a repository.
#include "common/rpc/harness_methods.hpp"

#include <unistd.h>

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/trust.hpp"
#include "daemon/agents/versions.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"

namespace orange::rpc {
namespace {

using agents::HarnessEntry;

std::string variable(const Environment& env, const std::string& name) {
    const auto found = env.find(name);
    return found == env.end() ? std::string{} : found->second;
}

std::vector<std::string> missing_for(const HarnessEntry& entry, const Environment& env) {
    std::vector<std::string> missing;
    if (entry.program.empty()) {
        const auto& harness = entry.harness;
        const auto how = harness.install.empty() ? (harness.install_hint.empty() ? "" : "; " + harness.install_hint)
                                                 : ". To install it:\n  " + harness.install;
        missing.push_back("the program " + harness.program + " is missing" + how);
        return missing;
    }
    const auto interpreter = agents::interpreter_of(entry.program);
    if (!interpreter.empty() && find_program(interpreter, variable(env, "PATH")).empty()) {
        missing.push_back("the program " + interpreter + ", which runs it, is missing from " + variable(env, "PATH"));
    }
    const auto root = agents::check_root(entry.harness, "full", env, ::geteuid() == 0);
    if (!root) missing.push_back(root.error().message);
    return missing;
}

HarnessView basic_view(const HarnessEntry& entry) {
    HarnessView view;
    view.name = entry.harness.name;
    view.path = entry.path.string();
    view.installed = !entry.program.empty();
    view.program = entry.program.empty() ? entry.harness.program : entry.program;
    if (!entry.found_in.empty()) view.found_in = entry.found_in;
    if (!entry.harness.install.empty()) view.install = entry.harness.install;
    view.tried = entry.harness.tried;
    view.models = entry.harness.model_values;
    if (!entry.harness.measured.empty()) view.measured = entry.harness.measured;
    if (!entry.program.empty()) view.identity = agents::identity_of(entry.program);
    view.mode = entry.harness.mode == agents::Mode::oneshot ? "oneshot" : "persistent";
    if (!entry.problem.empty()) {
        view.problem = entry.problem;
    } else if (entry.program.empty()) {
        view.problem = "not installed" + entry.harness.how_to_install();
    }
    return view;
}

Awaitable<HarnessView> full_view(World& world, HarnessEntry entry, std::optional<Project> project) {
    auto view = basic_view(entry);
    if (!entry.problem.empty()) co_return view;
    auto env = environment_for(world, project, entry);
    view.missing = missing_for(entry, env);
    if (!entry.warning.empty()) view.missing.push_back(entry.warning);
    auto asked = entry;
    auto unmet = co_await agents::unmet_needs(world.processes, std::move(asked), std::move(env));
    for (auto& need : unmet) view.missing.push_back(std::move(need));
    const auto& trust = entry.harness.trust;
    if (!project || entry.program.empty() || !trust.is_asked()) co_return view;
    const auto trusted = is_trusted(world, *project, entry);
    if (!trusted) view.missing.push_back(trusted.error().message);
    view.trusted = trusted && *trusted;
    if (!*view.trusted) {
        view.missing.push_back("it does not trust " + project->name +
                               " yet and will ask in its window. To answer now:\n  orange harness trust " + view.name +
                               " --project " + project->name);
    }
    co_return view;
}

Awaitable<Result<HarnessList::Reply>> list(Api& api, HarnessList params) {
    auto& world = api.world();
    std::optional<Project> project;
    if (params.project || params.cwd) {
        auto found = co_await api.select_project(params.project, params.cwd);
        if (!found && params.project) co_return found.error();
        if (found) project = std::move(*found);
    }
    const auto entries = world.harnesses.list();
    auto env = environment_for(world, project, HarnessEntry{});
    const auto known = co_await api.runner().versions.of(entries, std::move(env));
    api.runner().versions.keep();
    HarnessList::Reply reply;
    reply.searched = world.harnesses.searched();
    reply.usual = world.harnesses.first_installed();
    for (const auto& entry : entries) {
        auto shown = entry;
        auto asked_for = project;
        auto view = co_await full_view(world, std::move(shown), std::move(asked_for));
        if (const auto version = known.find(entry.harness.name); version != known.end()) view.version = version->second;
        reply.harnesses.push_back(std::move(view));
    }
    co_return reply;
}

Awaitable<Result<HarnessShow::Reply>> show(Api& api, HarnessShow params) {
    auto& world = api.world();
    CO_TRY(auto entry, world.harnesses.find(params.name));
    HarnessShow::Reply reply;
    reply.searched = world.harnesses.searched();
    std::optional<Project> no_project;
    auto shown = entry;
    reply.harness = co_await full_view(world, std::move(shown), std::move(no_project));
    std::vector<HarnessEntry> one = {entry};
    auto env = environment_for(world, std::nullopt, HarnessEntry{});
    const auto known = co_await api.runner().versions.of(std::move(one), std::move(env));
    api.runner().versions.keep();
    if (!known.empty()) reply.harness.version = known.begin()->second;
    const auto& harness = entry.harness;
    reply.argv = harness.argv;
    for (const char* permissions : {"full", "reduced", "review"}) {
        reply.uses[permissions] = agents::argv_name(harness, permissions);
    }
    reply.effort = harness.has_effort();
    reply.effort_args = harness.effort_args;
    reply.effort_values = harness.effort_values;
    reply.model = !harness.model_args.empty();
    reply.model_args = harness.model_args;
    reply.env = harness.env;
    reply.wants = harness.wants;
    reply.words = harness.words;
    reply.trust_args = harness.trust.args;
    if (!harness.trust.file.empty()) reply.trust_file = harness.trust.file;
    if (!harness.root_needs.empty()) reply.root_needs = harness.root_needs;
    reply.messages = harness.inbox ? "inbox" : harness.prompt.empty.empty() ? "none" : "keys";
    reply.permits = !harness.permits.are_asked() ? "window" : harness.permits.args.empty() ? "both" : "either";
    auto text = world.files.read(entry.path);
    if (text) reply.text = std::move(*text);
    co_return reply;
}

struct Repository {
    std::string path;
    std::optional<Project> project;
};

/// Returns a project's repository, or the repository that contains the caller's directory: a program can be told to
/// trust it before the project is added.
Awaitable<Result<Repository>> repository_of(Api& api, HarnessTrust params) {
    Repository repository;
    auto project = co_await api.select_project(params.project, params.cwd);
    if (project) {
        repository.path = project->path;
        repository.project = std::move(*project);
        co_return repository;
    }
    if (params.project || !params.cwd) co_return project.error();
    CO_TRY(repository.path, co_await git::main_worktree(api.world().git, *params.cwd));
    co_return repository;
}

/// Restarts agents that show their program's question about trust. A program reads the recorded answer only when it
/// starts, so these would wait for ever.
Awaitable<std::vector<std::string>> restart_who_waits(Api& api, const std::string& project,
                                                      const agents::Harness& harness) {
    std::vector<std::string> notes;
    const auto active = api.world().tasks.active();
    for (const auto& id : active) {
        const auto record = api.world().tasks.awake(id);
        if (!record || record->task.project != project) continue;
        const auto runs = record->runs;
        for (const auto& run : runs) {
            if (run.harness != harness.name || run.pane_id.empty()) continue;
            auto pane = run.pane_id;
            const auto view = co_await api.world().tmux.view_pane(std::move(pane));
            const auto asks = [&](const std::string& text) { return view->screen.find(text) != std::string::npos; };
            if (!view || std::none_of(harness.trust.dialog.begin(), harness.trust.dialog.end(), asks)) continue;
            auto waiting = run.run;
            const auto done = co_await api.runner().respawns.start_over(id, std::move(waiting));
            const auto who = "the " + name_text(run.role) + " of task " + id.value;
            notes.push_back(done ? "restarted " + who + ", which waited for this answer"
                                 : who + " could not be restarted: " + done.error().message);
        }
    }
    co_return api.sentences(std::move(notes));
}

/// Records the consent to a command of the repository: its text in the main checkout, or in the workspace that contains
/// `cwd`.
Awaitable<Result<HarnessTrust::Reply>> agree_to_command(Api& api, HarnessTrust params) {
    auto& world = api.world();
    CO_TRY(const auto project, co_await api.select_project(params.project, params.cwd));
    const auto* slot = params.cwd && !params.project ? world.pool.workspace_at(*params.cwd) : nullptr;
    const auto place = slot ? world.pool.path_of(workspace_name(slot->project, slot->number)).string() : project.path;
    const auto command = git::repository_command(place, params.name);
    if (!command) co_return Error(ErrorCode::not_found, place + " has no file " + params.name);
    if (params.hash && *params.hash != command->hash) {
        co_return Error(ErrorCode::conflict, params.name + " of " + place + " was changed meanwhile. Read it again");
    }
    HarnessTrust::Reply reply;
    reply.harness = params.name;
    reply.repository = place;
    reply.text = command->text;
    reply.hash = command->hash;
    reply.trusted = project.lets_trust(command->consent());
    if (reply.trusted || params.dry_run) co_return reply;
    CO_TRY(co_await record_consent(api, project.name, command->consent()));
    reply.trusted = reply.recorded = true;
    co_return reply;
}

/// Records the consent to the current value of the repository's own core.sshCommand.
Awaitable<Result<HarnessTrust::Reply>> agree_to_ssh(Api& api, HarnessTrust params) {
    auto& world = api.world();
    const auto lock = co_await api.change_projects();
    CO_TRY(auto project, co_await api.select_project(params.project, params.cwd));
    CO_TRY(const auto command, co_await git::own_ssh_command(world.git, project.path));
    if (command.empty()) {
        co_return Error(ErrorCode::not_found, project.path + " has no core.sshCommand of its own, or not in one line");
    }
    HarnessTrust::Reply reply;
    reply.harness = params.name;
    reply.repository = project.path;
    reply.text = command + "\n";
    reply.hash = sha256(command);
    if (params.hash && *params.hash != *reply.hash) {
        co_return Error(ErrorCode::conflict,
                        "core.sshCommand of " + project.path + " was changed meanwhile. Read it again");
    }
    reply.trusted = git::trusted_ssh(project) == command;
    if (reply.trusted || params.dry_run) co_return reply;
    git::trust_ssh(project, command);
    CO_TRY(world.projects.put(std::move(project)));
    reply.trusted = reply.recorded = true;
    co_return reply;
}

Awaitable<Result<HarnessTrust::Reply>> answer_trust(Api& api, HarnessTrust params) {
    if (params.name == git::k_ssh_setting) co_return co_await agree_to_ssh(api, std::move(params));
    if (git::is_repository_command(params.name)) co_return co_await agree_to_command(api, std::move(params));
    auto& world = api.world();
    CO_TRY(const auto entry, world.harnesses.find(params.name));
    const auto& harness = entry.harness;
    if (!harness.trust.is_asked()) {
        co_return Error(ErrorCode::invalid_argument,
                        "harness " + harness.name + " does not ask for trust; there is nothing to record");
    }
    CO_TRY(const auto repository, co_await repository_of(api, params));
    if (!is_valid_utf8(repository.path)) {
        co_return Error(ErrorCode::invalid_argument,
                        printable(repository.path) + " is not UTF-8, so it cannot be passed to " + harness.name);
    }
    HarnessTrust::Reply reply;
    reply.harness = harness.name;
    reply.repository = repository.path;
    if (harness.trust.args.empty()) {
        const auto home = variable(environment_for(world, repository.project, entry), "HOME");
        CO_TRY(auto found, agents::trust_in_file(world.files, harness.trust, repository.path, home));
        reply.file = found.file.string();
        reply.lines = std::move(found.lines);
        reply.trusted = found.there;
        co_return reply;
    }
    if (!repository.project) {
        co_return Error(ErrorCode::not_found,
                        repository.path +
                            " is not a project, and Orange stores the consent with the project. Add it: "
                            "orange project add " +
                            repository.path);
    }
    const auto& project = *repository.project;
    reply.args = agents::trust_arguments(harness.trust, repository.path);
    reply.trusted = project.lets_trust(harness.name);
    if (reply.trusted || params.dry_run) co_return reply;
    CO_TRY(co_await record_consent(api, project.name, harness.name));
    reply.trusted = reply.recorded = true;
    co_return reply;
}

Awaitable<Result<HarnessTrust::Reply>> trust(Api& api, HarnessTrust params) {
    CO_TRY(auto reply, co_await answer_trust(api, params));
    if (!reply.trusted || params.dry_run) co_return reply;
    const auto entry = api.world().harnesses.find(params.name);
    auto project = co_await api.select_project(params.project, params.cwd);
    if (entry && project) reply.notes = co_await restart_who_waits(api, project->name, entry->harness);
    co_return reply;
}

Awaitable<Result<HarnessSearch::Reply>> search(Api& api, HarnessSearch params) {
    const auto before = programs_of(api.world());
    api.take_path_of(params.caller);
    HarnessSearch::Reply reply;
    reply.notes = search_notes(api.world(), before, params.caller);
    co_return reply;
}

}  // namespace

void add_harness_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<HarnessList>(Access::read, "Lists the agent programs, and what each of them needs.", {not_found}, api,
                           list);
    table.add<HarnessShow>(Access::read, "Shows how an agent program is started.", {not_found, invalid_argument}, api,
                           show);
    table.add<HarnessSearch>(Access::human, "Looks for agent programs in the caller's PATH, too.", {}, api, search);
    table.add<HarnessTrust>(
        Access::human,
        "Records that an agent program may trust a project, or says what it wants to find in its own file.",
        {not_found, invalid_argument, conflict, io}, api, trust);
}

}  // namespace orange::rpc
