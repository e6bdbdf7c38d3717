
#include <unistd.h>

#include <algorithm>

#include "common/base/in_set.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/login_environment.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/agents/versions.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/reviewing.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

/// The start of an agent: its prompt, permissions and environment, and the steps from the order to the running window.
namespace orange {
namespace {

/// Returns the permissions of the role's first spawn in the workflow. A respawn gets the same.
std::string first_permissions(const engine::Definition& definition, Role role) {
    for (const auto& transition : definition.transitions) {
        for (const auto& hook : transition.hooks) {
            if (engine::spawned_role(hook) == role) return hook.param("permissions");
        }
    }
    return role == Role::reviewer ? "reduced" : "full";
}

/// Returns worker, review-1, worker-2, review-2 …: a worker that starts after round 1 works for the next round,
/// whichever workflow starts it and why.
std::string window_name(const TaskRecord& record, Role role) {
    const auto round = record.task.review_round();
    if (role == Role::reviewer) return "review-" + std::to_string(round);
    return round > 0 ? "worker-" + std::to_string(round + 1) : "worker";
}

/// Returns the request for a new run, without its command and its environment.
agents::StartRequest request_for(const TaskRecord& record, const SpawnOrder& order, const agents::HarnessEntry& harness,
                                 const agents::LaunchRequest& launch) {
    agents::StartRequest request;
    request.task = record.task.id;
    request.project = record.task.project;
    request.earlier_hash = harness.earlier_hash;
    request.native_session = launch.session;
    request.forks = !launch.from.empty();
    const bool continues = launch.resume || request.forks;
    if (continues && harness.harness.session.typed) request.typed = launch.prompt;
    auto& run = request.run;
    run.run = RunId{random_id(k_run_id_length)};
    run.role = order.role;
    run.harness = harness.harness.name;
    run.harness_hash = harness.hash;
    run.model = launch.model.value_or("");
    run.prompt = order.prompt;
    run.intent = order.intent;
    run.resumed = continues;
    run.window_name = window_name(record, order.role);
    return request;
}

/// A prompt that is too long for a command line, and the file for it.
struct LongPrompt {
    Path path;
    std::string text;
};

/// Returns the text of a conversation's file, which an agent may have replaced: no link is followed.
Result<std::string> talk_text(FileSystem& files, const Path& file) {
    constexpr std::size_t k_longest = std::size_t{64} << 20;
    TRY(const auto folder, files.facts_of(file.parent_path()));
    if (folder.kind != FileFacts::Kind::folder) {
        return Error(ErrorCode::not_found, file.parent_path().string() + " is not a folder");
    }
    TRY(const auto facts, files.read_beneath(file.parent_path(), file.filename(), 0, 0));
    if (facts.size > k_longest) return Error(ErrorCode::io, file.string() + " is longer than 64 MiB");
    TRY(auto piece, files.read_beneath(file.parent_path(), file.filename(), 0, facts.size));
    return std::move(piece.bytes);
}

/// Replaces a prompt that is too long by one that names a file in `folder`.
std::optional<LongPrompt> set_long_prompt_aside(std::string& prompt, const Path& folder, const RunId& run) {
    if (prompt.size() <= agents::k_longest_prompt) return std::nullopt;
    LongPrompt aside{folder / ("prompt-" + run.value + ".md"), std::move(prompt)};
    prompt = "Your instructions are in " + aside.path.string() + ". Read that file and follow it.";
    return aside;
}

/// Names the files by which the program and Orange talk to each other, for a program that can.
void name_channels(const agents::Harness& harness, const Path& folder, agents::LaunchRequest& launch,
                   agents::StartRequest& request) {
    if (!harness.events.are_told() && !harness.usage.in_events) return;
    launch.events = agents::events_file(folder, request.run.run).string();
    request.events = launch.events;
    if (harness.inbox) request.inbox = agents::inbox_file(folder, request.run.run).string();
}

/// Refuses a harness whose program would ask whether it may trust the repository, and would end with the answer.
Result<void> check_trust(const agents::Harness& harness, const Project& project) {
    if (!harness.trust.first || project.lets_trust(harness.name)) return {};
    return Error(ErrorCode::conflict, harness.name + " would ask whether it may trust " + project.path +
                                          ", and would end when it is answered. Answer before it starts:\n"
                                          "  orange harness trust " +
                                          harness.name + " --project " + project.name);
}

/// Refuses a harness that was chosen after the task, if it cannot do with less than all permissions.
Result<void> check_reduced(const agents::Harness& harness, const Task& task) {
    if (task.permissions != "reduced") return {};
    if (agents::argv_name(harness, "reduced") != agents::argv_name(harness, "full")) return {};
    return Error(ErrorCode::conflict, "the agents of task " + task.id.value + " have reduced permissions, and " +
                                          harness.name +
                                          " has no such permissions. Name another one:\n"
                                          "  orange task update " +
                                          task.id.value + " --review-harness NAME");
}

}  // namespace

std::string permissions_of(const engine::Definition& definition, const Task& task, Role role,
                           const std::string& ordered) {
    const auto wanted = ordered.empty() ? first_permissions(definition, role) : ordered;
    if (role != Role::reviewer) return task.permissions.value_or(wanted);
    return wanted == "reduced" || task.permissions == "reduced" ? "review" : wanted;
}

std::string harness_of(const World& world, const engine::Definition& definition, const Task& task, Role role,
                       std::string_view status) {
    auto word = engine::harness_word(definition, status, role);
    if (word == engine::k_task_harness) return task.harness;
    if (word == engine::k_second_harness) {
        const auto* project = world.projects.find(task.project);
        const auto second = *settings_of(world, project ? *project : Project{}).second_review_harness;
        return second.empty() ? task.review_harness : second;
    }
    return word == engine::k_review_harness ? task.review_harness : word;
}

namespace {

/// Adds the harnesses that hooks start on the way into the states, for a role or for both.
void add_started(const World& world, const engine::Definition& definition, const Task& task, std::optional<Role> role,
                 std::vector<std::string>& names) {
    for (const auto& state : definition.states) {
        for (const auto& transition : definition.transitions) {
            if (transition.to != state.name) continue;
            for (const auto& hook : transition.hooks) {
                const auto started = engine::spawned_role(hook);
                if (!started || (role && started != role)) continue;
                auto name = harness_of(world, definition, task, *started, state.name);
                if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
            }
        }
    }
}

}  // namespace

std::vector<std::string> harnesses_of(const World& world, const engine::Definition& definition, const Task& task) {
    std::vector<std::string> names = {task.harness};
    if (task.review_harness != task.harness) names.push_back(task.review_harness);
    add_started(world, definition, task, std::nullopt, names);
    return names;
}

std::vector<std::string> reviewers_of(const World& world, const engine::Definition& definition, const Task& task) {
    std::vector<std::string> names;
    add_started(world, definition, task, Role::reviewer, names);
    return names;
}

std::map<std::string, std::string> AgentControl::environment(const TaskRecord& record,
                                                             std::map<std::string, std::string> harness, Role role,
                                                             const RunId& run, const std::string& program_path) const {
    const auto* project = world_.projects.find(record.task.project);
    agents::EnvironmentLayers layers;
    layers.base = world_.base_environment;
    const auto& job = world_.job_environment;
    if (record.task.executor.empty()) layers.base.insert(job.begin(), job.end());
    layers.config = world_.settings.env;
    if (project) layers.project = project->env;
    layers.harness = std::move(harness);
    agents::AgentVariables agent;
    agent.task = record.task.id.value;
    agent.project = record.task.project;
    agent.role = role;
    agent.run = run.value;
    agent.home = world_.paths.home.string();
    agent.bin = world_.installation.bin.string();
    agent.terminal = agents::terminal_type();
    agent.program_path = program_path;
    if (record.task.workspace) {
        agent.working_dir = world_.pool.path_of(*record.task.workspace).string();
        agent.port = first_port(world_.settings, world_.pool.ports_of(*record.task.workspace));
    }
    return agents::agent_environment(std::move(layers), agent);
}

Awaitable<Result<std::string>> AgentControl::prompt_text(const TaskRecord& record, const engine::Definition& definition,
                                                         std::string key) {
    CO_TRY(const auto project, registered_project(world_, record.task.project));
    const auto prompt = definition.prompts.find(key);
    const bool names_base = prompt != definition.prompts.end() && prompt->second.find("{base}") != std::string::npos;
    auto base = record.task.base.value_or("");
    if (base.empty() && names_base) {
        CO_TRY(base, co_await target_ref(world_, record, project));
    }
    base = git::shown_ref(base);
    const auto settings = settings_of(world_, project);  // must outlive the loop
    std::vector<std::string> checks;
    for (const auto& check : *settings.checks) checks.push_back(join(check, " "));
    co_return engine::build_prompt(definition, record.task, key, record.task_file, base, checks);
}

/// Collects the values that a harness definition may name in its command.
Awaitable<Result<agents::LaunchRequest>> AgentControl::launch_request(const TaskRecord& record,
                                                                      const engine::Definition& definition,
                                                                      const SpawnOrder& order,
                                                                      const agents::HarnessEntry& harness,
                                                                      const Project& project) {
    const auto& task = record.task;
    agents::LaunchRequest launch;
    CO_TRY(launch.prompt, co_await prompt_text(record, definition, order.prompt));
    launch.permissions = permissions_of(definition, task, order.role, order.permissions);
    const bool reviews = order.role == Role::reviewer;
    if (harness.harness.name == (reviews ? task.review_harness : task.harness)) {  // another program has other names
        launch.effort = reviews ? task.review_effort : task.effort;
        launch.model = reviews ? task.review_model : task.model;
    }
    launch.task_dir = world_.tasks.folder(record).string();
    launch.task_file = record.task_file;
    launch.talk_dir = agents::Launcher::talk_folder(run_folder(record)).string();
    launch.worktree = world_.pool.path_of(*task.workspace).string();
    launch.repo = walls::wall_of(world_, task) ? launch.worktree : project.path;
    launch.role = name_of(order.role);
    launch.summary = task.summary;
    launch.trusted = project.lets_trust(harness.harness.name);
    CO_TRY(check_trust(harness.harness, project));
    CO_TRY(check_reduced(harness.harness, task));
    launch.shipped = agents::real_path((world_.installation.share / "harnesses").string());
    const auto settings = settings_of(world_, project);  // must outlive the loop
    for (const auto& check : *settings.checks) launch.checks.push_back(join(check, " "));
    launch.permits_in_inbox = task.permits.value_or(*settings.permits) == "inbox";
    launch.resume = order.resume && can_resume(record, harness, launch, order.role);
    if (launch.resume) {
        launch.session = record.session_of(order.role)->id;
    } else if (!harness.harness.session.start.empty()) {
        launch.session = random_uuid();
    }
    if (!launch.resume) CO_TRY(continue_copy(record, harness, order.role, launch));
    co_return launch;
}

/// Lets the first worker of a forked task continue a copy of the conversation that came along. If the conversation is
/// not there any more, or cannot be copied, the worker begins a new one.
Result<void> AgentControl::continue_copy(const TaskRecord& record, const agents::HarnessEntry& harness, Role role,
                                         agents::LaunchRequest& launch) const {
    const auto& forked = record.forked;
    const bool has_one = role == Role::worker && forked && forked->talk && forked->run.value.empty();
    const auto& session = harness.harness.session;
    const bool can_do_it = session.can_fork() && harness.harness.mode == agents::Mode::persistent;
    if (!has_one || !can_do_it || forked->talk->harness != harness.harness.name) return {};
    const auto& talk = *forked->talk;
    if (!session.copy.empty()) {
        const std::map<std::string, std::string> values = {{"session", launch.session},
                                                           {"worktree", launch.worktree},
                                                           {"task_dir", launch.task_dir},
                                                           {"talk_dir", launch.talk_dir}};
        auto members = session.copy;
        for (auto& [name, value] : members) value = agents::filled(value, values);
        auto copied = talk_text(world_.files, talk.transcript);
        if (copied) copied = agents::copied_conversation(std::move(*copied), members);
        if (!copied) {
            log::warn("agents", "no conversation to copy: " + copied.error().message, {{"task", record.task.id.value}});
            return {};
        }
        TRY(agents::make_shown_folder(launch.talk_dir, "the folder for conversations"));
        TRY(world_.files.replace(agents::filled(session.file, values), *copied));
    }
    launch.from = talk.id;
    launch.from_file = talk.transcript;
    if (!session.names_copy()) launch.session.clear();  // its program chooses it
    const auto before = talk.worktree.empty() ? std::string("another worktree") : talk.worktree;
    launch.prompt += "\n\nThe conversation so far was in " + before + ". From now on you work in " + launch.worktree +
                     ", which has the same files, and you change nothing in the other folder.";
    return {};
}

/// Completes the environment of the request, and checks that the program can start in it.
Awaitable<Result<void>> AgentControl::complete_environment(agents::StartRequest& request,
                                                           const agents::HarnessEntry& harness,
                                                           const git::Pinned& worktree,
                                                           const std::string& permissions) {
    if (request.run.role == Role::reviewer) {
        CO_TRY(const auto more, co_await git::reviewing_variables(world_.git, worktree, request.env));
        for (const auto& [name, value] : more) request.env[name] = value;
    }
    CO_TRY(agents::check_root(harness.harness, permissions, request.env, ::geteuid() == 0));
    auto program = harness;
    auto env = request.env;
    const auto unmet = co_await agents::unmet_needs(world_.processes, std::move(program), std::move(env));
    if (!unmet.empty()) co_return Error(ErrorCode::not_found, join(unmet, "; "));
    co_return Result<void>{};
}

Awaitable<Result<agents::StartRequest>> AgentControl::prepare(const TaskRecord& record,
                                                              const engine::Definition& definition,
                                                              const SpawnOrder& order) {
    const auto& task = record.task;
    CO_TRY(world_.check_programs());
    CO_TRY(const auto worktree, existing_workspace(task));
    CO_TRY(const auto project, registered_project(world_, task.project));
    CO_TRY(const auto harness, world_.harnesses.find(harness_of(world_, definition, task, order.role, task.status)));
    if (harness.program.empty()) co_return world_.harnesses.not_installed(harness);
    CO_TRY(auto launch, co_await launch_request(record, definition, order, harness, project));
    CO_TRY(const auto opened, co_await open_worktree(world_, record));
    if (auto place = walls::place_of(world_, task, opened)) {
        CO_TRY(co_await walls::make_ready(world_, *place, opened));
        CO_TRY(co_await walls::hand_over(world_, std::move(*place), opened));
    }
    launch.git_dir = opened.git_dir();
    launch.git_common = opened.common_dir();

    auto request = request_for(record, order, harness, launch);
    const auto run = request.run.run;
    const auto settings = settings_of(world_, project);
    request.run.memory_limit = bytes_in(*settings.memory_limit).value_or(0);
    request.run.processes_limit = *settings.processes_limit;
    request.run.disk_limit = bytes_in(*settings.disk_limit).value_or(0);
    const auto folder = run_folder(record);
    const auto long_prompt = set_long_prompt_aside(
        launch.prompt, task.executor.empty() ? folder : agents::Launcher::inner_folder(folder, run), run);
    name_channels(harness.harness, folder, launch, request);
    if (harness.harness.keeps_talk()) {
        CO_TRY(agents::make_shown_folder(launch.talk_dir, "the folder for conversations"));
    }
    CO_TRY(auto command, agents::launch(harness.harness, harness.program, launch));
    request.argv = std::move(command.argv);
    request.env = environment(record, std::move(command.env), order.role, run, harness.path_variable);
    CO_TRY(co_await complete_environment(request, harness, opened, launch.permissions));
    CO_TRY(co_await put_into_executor(world_, task, launch, harness, folder, request));
    request.worktree = worktree.string();
    choose_session(record, request);
    if (long_prompt) CO_TRY(world_.files.replace(long_prompt->path, long_prompt->text));
    co_return request;
}

Result<Path> AgentControl::existing_workspace(const Task& task) const {
    if (!task.workspace) {
        return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace to start an agent in");
    }
    auto worktree = world_.pool.path_of(*task.workspace);
    if (!is_missing(world_.files, worktree)) return worktree;
    return Error(ErrorCode::conflict, "the workspace " + worktree.string() + " is gone; run: orange workspace gc");
}

/// Chooses the session of the run's window: the one of the task's other agent, if that lives.
void AgentControl::choose_session(const TaskRecord& record, agents::StartRequest& request) const {
    request.session = session_name_for(record.task.project, record.task.branch);
    const auto other = request.run.role == Role::reviewer ? Role::worker : Role::reviewer;
    if (alive(record, other)) request.in_session = record.run_of(other)->session_id;
}

Awaitable<Result<void>> AgentControl::spawn(TaskRecord& record, const engine::Definition& definition,
                                            SpawnOrder order) {
    co_await settle_starting(record);
    CO_TRY(const bool is_there, co_await use_existing(record, definition, order));
    if (is_there) co_return Result<void>{};
    if (const auto* dead = record.run_of(order.role); dead && dead->place) {
        co_await reap_dead(record, order.role);  // at once: no run starts before its executor has ended it
        CO_TRY(turns_.try_save(record, Durability::atomic));
    }
    if (order.role == Role::reviewer && !order.respawn &&
        !order.resume) {  // another review: no start continues the last
        std::erase_if(record.sessions, [](const NativeSession& old) { return old.role == Role::reviewer; });
        unlisted_.erase({record.task.id.value, Role::reviewer});
    }
    const auto harness = harness_of(world_, definition, record.task, order.role, record.task.status);
    const auto has_room = [&] {
        return runner_.capacity.may_start(record, order.role) && !runner_.capacity.is_logging_in(harness);
    };
    if (!has_room()) {
        const bool was_there = co_await reap_dead(record, order.role);
        if (was_there) CO_TRY(turns_.try_save(record, Durability::atomic));  // the dead agent held a slot
        if (!was_there || !has_room()) co_return hold(record, order);
    }
    // Reserve the slot: git and tmux take their time, and other agents ask for it meanwhile.
    std::optional<InSet<std::pair<TaskId, Role>>> promise;
    promise.emplace(runner_.capacity.promised(), std::pair(record.task.id, order.role));
    if (order.resume) co_await find_session(record, order.role);
    walls::use_current(world_, record.task);
    CO_TRY(auto request, co_await prepare(record, definition, order));
    co_await reap_dead(record, order.role);
    CO_TRY(note_starting(record, request));
    auto socket = world_.socket_of_run(request.run.run);
    if (socket && socket->empty() && request.needs_socket) {
        socket = Error(ErrorCode::unavailable, "executor " + record.task.executor +
                                                   " hides orange.sock, and the run has no socket of its own. To see "
                                                   "the reason:\n  orange doctor");
    }
    if (!socket) {
        world_.launcher.drop_files(request, run_folder(record));
        forget_unbegun(record, order.role);
        CO_TRY(turns_.try_save(record, Durability::atomic));
        co_return in_context("starting the " + name_text(order.role), socket.error());
    }
    if (!socket->empty()) request.env["ORANGE_SOCKET"] = std::move(*socket);
    promise.reset();
    auto opened = co_await open_window(record, request);
    if (!opened) co_return in_context("starting the " + name_text(order.role), opened.error());
    CO_TRY(note_started(record, order, *opened));
    if (!request.typed.empty()) {
        const auto id = request.run.run.value + "-" + order.prompt;
        CO_TRY(hand_over_prompt(record, order.role, request.typed, id));
    }
    if (!record.held_start(order.role)) co_return Result<void>{};
    drop_held(record, order.role);  // last: if the daemon dies before, the next one comes here again
    keep_time(world_, turns_, record);
    co_return turns_.try_save(record, Durability::atomic);
}

/// Returns true if the role already has an agent: the one that this order started before it was interrupted, or a
/// living one, which gets the prompt as a message.
Awaitable<Result<bool>> AgentControl::use_existing(TaskRecord& record, const engine::Definition& definition,
                                                   const SpawnOrder& order) {
    const auto* run = record.run_of(order.role);
    if (!run) co_return false;
    const bool by_transition = !order.intent.empty() && run->intent == order.intent;
    if (by_transition || (record.held_start(order.role) && alive(record, order.role))) {
        tell_started(record, *run, order.respawn);
        drop_held(record, order.role);
        CO_TRY(turns_.try_save(record, Durability::atomic));
        co_return true;
    }
    // An earlier call was to end the agent, and failed half-way: a role must never have two agents.
    const bool is_to_end = run->ending || (alive(record, order.role) && is_anothers(record, definition, order));
    if (is_to_end) CO_TRY(co_await end(record, order.role));
    if (alive(record, order.role)) {
        CO_TRY(const auto prompt, co_await prompt_text(record, definition, order.prompt));
        CO_TRY(hand_over_prompt(record, order.role, prompt, order.intent + "-" + order.prompt));
        co_return true;
    }
    run = record.run_of(order.role);
    if (run && run->pid == 0) {
        co_return Error(ErrorCode::unavailable, "tmux does not answer, so Orange does not know whether the " +
                                                    name_text(order.role) + " was started; try again");
    }
    co_return false;
}

bool AgentControl::is_anothers(const TaskRecord& record, const engine::Definition& definition,
                               const SpawnOrder& order) const {
    if (order.intent.empty() || !record.intent || record.intent->id != order.intent) return false;
    const auto role = order.role;
    const auto before = engine::harness_word(definition, record.intent->from, role);
    const auto now = engine::harness_word(definition, record.task.status, role);
    const bool is_named = engine::is_another_harness(before, role) || engine::is_another_harness(now, role);
    const auto* run = record.run_of(role);
    return is_named &&
           (before != now || run->harness != harness_of(world_, definition, record.task, role, record.task.status));
}

/// Saves the run as `starting` before its window opens.
Result<void> AgentControl::note_starting(TaskRecord& record, const agents::StartRequest& request) {
    const auto role = request.run.role;
    watch_harness(world_, record, request.run, request.earlier_hash);
    if (request.forks) record.forked->run = request.run.run;
    if (!request.run.resumed || request.forks) {
        std::erase_if(record.sessions, [&](const NativeSession& old) { return old.role == role; });
        if (!request.native_session.empty()) {
            record.sessions.push_back({role, request.run.harness, request.native_session, request.worktree});
        }
    }
    record.runs.push_back(request.run);
    unlisted_.erase({record.task.id.value, role});
    auto saved = turns_.try_save(record, Durability::atomic);
    if (!saved) forget_unbegun(record, role);  // no window was opened
    return saved;
}

/// Opens the agent's window. A failure removes the run from the record. After a timeout tmux may still open the window:
/// then the run stays `starting`, and no second agent is started.
Awaitable<Result<agents::Started>> AgentControl::open_window(TaskRecord& record, const agents::StartRequest& request) {
    const auto role = request.run.role;
    auto started = co_await world_.launcher.start(request, run_folder(record));
    if (started) co_return started;
    if (started.error().code == ErrorCode::timeout) {
        co_await settle_starting(record);
        const auto* run = record.run_of(role);
        if (run && run->pid != 0) co_return agents::Started{*run, {}};
        co_return started;
    }
    forget_unbegun(record, role);
    turns_.save(record, Durability::atomic);
    co_return started;
}

/// Saves that the agent runs, writes history and calls the observer.
Result<void> AgentControl::note_started(TaskRecord& record, const SpawnOrder& order, const agents::Started& started) {
    *record.run_of(order.role) = started.run;
    record.died.erase(order.role);
    // The prompt says what Orange had to say to the agent before this one; a human's messages stay.
    std::erase_if(record.outbox, [&](const Message& message) { return message.to == order.role && !message.waits(); });
    if (!started.session.empty()) record.task.tmux_session = started.session;
    TRY(turns_.try_save(record, Durability::atomic));
    tell_started(record, started.run, order.respawn);
    started_(record.task.id, started.run);
    return {};
}

Result<void> AgentControl::hand_over_prompt(TaskRecord& record, Role role, const std::string& prompt,
                                            const std::string& id) {
    const auto* run = record.run_of(role);
    const bool is_placed = run && run->place;  // the far side may see nothing else
    const auto folder = is_placed ? agents::Launcher::inner_folder(run_folder(record), run->run) : run_folder(record);
    const auto file = folder / ("instructions-" + random_id(6) + ".md");
    TRY(world_.files.replace(file, prompt));
    return queue_message(world_, turns_, record, role, Role::system,
                         "There are new instructions for you. Read " + file.string() + " and follow them.", id);
}

}  // namespace orange
