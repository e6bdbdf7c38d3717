#include "daemon/runner/placing/placement.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/trust.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/signal_process.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/placing/networks.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/store/task_folder.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// A controller that is down answers after many seconds, or never.
constexpr std::chrono::milliseconds k_executor_patience = 15s;
/// The kernel reports the files of an agent on this machine. For one on another machine, the pauses between two looks
/// for its start grow with the time that it has been waited for, since it may stand in a queue for days.
constexpr std::chrono::milliseconds k_first_look = 20ms, k_longest_look = 10s;
constexpr int k_part_of_wait = 4;
/// The pauses between two probes grow from the first to the second.
constexpr std::chrono::milliseconds k_first_probe = 500ms, k_longest_probe = 10s;

/// An executor may go on for this time after the end of its agent.
constexpr std::chrono::milliseconds k_executor_end = 5s;
/// A turn of a task waits this long for the end of a run, as long as its executor answers within a moment: a person may
/// wait for the turn.
constexpr std::chrono::milliseconds k_stop_patience = 3s, k_stop_moment = 1s;
/// The pauses between two looks whether a run has ended that was just told to.
constexpr std::chrono::milliseconds k_first_stop_look = 100ms, k_longest_stop_look = 400ms;
/// A run that has ended is looked for during this time, with growing pauses.
constexpr std::chrono::milliseconds k_look_after = 10min, k_first_after = 2s, k_longest_after = 1min;
/// Executors need a moment until they say why they have ended a run.
constexpr std::chrono::milliseconds k_why_patience = 5s, k_first_why_look = 250ms, k_longest_why_look = 1s;
constexpr std::size_t k_token_length = 32;
constexpr int k_signalled_status = 128;

std::string value_in(const std::map<std::string, std::string>& env, const std::string& name) {
    const auto found = env.find(name);
    return found == env.end() ? std::string() : found->second;
}

Command executor_command(std::vector<std::string> argv, std::map<std::string, std::string> env) {
    Command command;
    command.argv = std::move(argv);
    command.env = std::move(env);
    command.deadline = k_executor_patience;
    return command;
}

/// Returns the output of a command that succeeds. An Error is one line.
Awaitable<Result<std::string>> output_of(const World& world, std::vector<std::string> argv, Environment env) {
    auto command = executor_command(argv, std::move(env));
    auto done = co_await world.processes.run(std::move(command));
    if (!done) co_return Error(done.error().code, first_line(done.error().message));
    if (!done->ok()) co_return Error(ErrorCode::external_failed, first_line(command_failed(argv, *done).message));
    co_return std::move(done->out);
}

std::string ack_if_ended(const TaskId& id) {
    return "; if you have ended the run yourself, run: orange task ack " + id.value;
}

std::string own_host() {
    char host[256] = "";
    return ::gethostname(host, sizeof host - 1) == 0 ? printable(host) : std::string();
}

/// A state that the definition does not know is that of a run that may go on.
bool is_there(const LeftRun& run, const std::optional<agents::ProbedRun>& seen) {
    return seen && std::ranges::find(run.over, seen->state) == run.over.end();
}

/// Tells the human of runs that could not be stopped.
void tell_of_left(const World& world, TaskRecord& record, const std::string& why) {
    if (record.left.empty()) {
        (void)clear(record, NoticeKind::executor_stop);
        return;
    }
    const auto& left = record.left.front();
    std::vector<std::string> words;
    for (const auto& word : left.stop) words.push_back(shell_word(word));
    raise(world, record, NoticeKind::executor_stop,
          "executor " + left.executor + " could not end the run " + agents::name_in_executor(left.run.value) + ": " +
              why + "\nNo agent of this task starts before. Orange tries again. If you have ended the run yourself:\n" +
              "  orange task ack " + record.task.id.value,
          join(words, " "), left.executor);
}

/// Returns the words that show the run's files to a program in the executor. Makes the files for its events and its
/// messages, and the folders of the program's own files; names in the request those that it gets as copies.
Result<std::vector<std::string>> bind_words(const World& world, const agents::Executor& executor,
                                            const agents::HarnessEntry& harness, const agents::LaunchRequest& launch,
                                            agents::StartRequest& request) {
    if (executor.readable.empty()) return std::vector<std::string>();
    TRY(agents::make_config_folders(harness.harness, request.env));
    auto binds = agents::binds_of(harness.harness, harness.program, request.env);
    add_shown(world, launch.git_common, request.env, binds);
    if (!request.events.empty()) {
        TRY(world.files.replace(request.events, ""));
        binds.push_back({agents::in_real_home(request.events, request.env), agents::Bind::Kind::write});
    }
    if (!request.inbox.empty()) {
        TRY(world.files.replace(request.inbox, ""));
        binds.push_back({agents::in_real_home(request.inbox, request.env)});
    }
    if (harness.harness.keeps_talk()) {
        binds.push_back({agents::in_real_home(launch.talk_dir, request.env), agents::Bind::Kind::write});
    }
    // There from the start: files that the task gets later are seen, too.
    const auto given = (Path(launch.task_dir) / store::k_files).string();
    TRY(agents::make_shown_folder(given, "the folder for files"));
    binds.push_back({agents::in_real_home(given, request.env)});
    const auto& trust = harness.harness.trust;
    const auto* project = world.projects.find(request.project);
    for (const auto& bind : binds) {
        if (bind.kind == agents::Bind::Kind::copy) {
            auto content = world.files.read(agents::real_path(bind.path));
            if (!content) continue;  // it has gone, or its owner cannot read it either
            const auto has_answers = Path(trust.file).filename() == Path(bind.path).filename();
            if (has_answers && project) {
                *content = agents::with_answer_for(trust, *content, project->path,
                                                   agents::in_real_home(launch.repo, request.env));
            }
            request.copies[bind.path] = std::move(*content);
        }
    }
    return agents::words_of(binds, executor, request.env);
}

/// Returns the words for the limits of the project that the executor enforces.
std::vector<std::string> limit_words(const World& world, const Task& task, const agents::Executor& executor,
                                     const AgentRun& run) {
    const auto* project = world.projects.find(task.project);
    const auto settings = project ? settings_of(world, *project) : standard_settings();
    std::vector<std::string> words;
    const auto add = [&](const std::vector<std::string>& known, const char* name, const std::string& value) {
        const auto more = agents::expanded(known, {{{name, value}}, {}});
        words.insert(words.end(), more.begin(), more.end());
    };
    if (run.memory_limit > 0) add(executor.memory, "memory", agents::memory_word(run.memory_limit));
    if (*settings.cpus_limit > 0) add(executor.cpus, "cpus", std::to_string(*settings.cpus_limit));
    if (*settings.time_limit > 0) add(executor.time, "time", std::to_string(*settings.time_limit));
    if (run.processes_limit > 0) add(executor.processes, "processes", std::to_string(run.processes_limit));
    if (run.disk_limit > 0) add(executor.disk, "disk", agents::memory_word(run.disk_limit));
    return words;
}

}  // namespace

void add_shown(const World& world, const std::string& git_common, const Environment& env,
               std::vector<agents::Bind>& binds) {
    auto paths = git::alternates_of(git_common);
    const auto home = value_in(env, "HOME");
    const auto git = home + "/.config/git/";
    paths.insert(paths.end(), {git_common + "/hooks", git_common + "/lfs", home + "/.gitconfig", git + "config",
                               git + "ignore", git + "attributes"});
    // Not the folder of the programs: it may be /usr/bin, and hide what an image has there.
    const Path bin = agents::real_path(world.installation.bin.string());
    for (const char* program : {"orange", "orange-agent"}) paths.push_back((bin / program).string());
    paths.push_back(agents::real_path(world.installation.share.string()));
    for (const auto& path : paths) {
        auto real = agents::in_real_home(path, env);
        if (std::ranges::find(binds, real, &agents::Bind::path) == binds.end()) binds.push_back({std::move(real)});
    }
}

void let_git_commit(std::map<std::string, std::string>& env) {
    const char* settings[] = {"commit.gpgSign", "tag.gpgSign", "rerere.enabled"};
    int count = std::atoi(value_in(env, "GIT_CONFIG_COUNT").c_str());  // the project's `env` may have set some
    for (const char* name : settings) {
        const auto number = std::to_string(count++);
        env["GIT_CONFIG_KEY_" + number] = name;
        env["GIT_CONFIG_VALUE_" + number] = "false";
    }
    env["GIT_CONFIG_COUNT"] = std::to_string(count);
}

std::map<std::string, std::string> executor_environment(const World& world, const std::string& project) {
    auto env = world.base_environment;
    for (const auto& [name, value] : world.settings.env) env[name] = value;
    const auto* registered = world.projects.find(project);
    for (const auto& [name, value] : registered ? registered->env : Environment()) env[name] = value;
    return env;
}

Timestamp begin_of(const AgentRun& run, Timestamp told, Timestamp now) {
    return std::max(run.spawned_at, std::min(told, now));
}

agents::ExecutorValues executor_values(const World& world, const Task& task, const agents::Executor& executor,
                                       const std::map<std::string, std::string>& env) {
    agents::ExecutorValues values;
    auto& words = values.words;
    const auto* project = world.projects.find(task.project);
    words = {{"task", task.id.value},
             {"project", task.project},
             {"home", value_in(env, "HOME")},
             {"orange_home", world.paths.home.string()},
             {"bin", agents::real_path(world.installation.bin.string())},
             {"share", agents::real_path(world.installation.share.string())},
             {"repo", project ? project->path : std::string()}};
    words["user"] = value_in(env, "USER");
    if (words["user"].empty()) words["user"] = std::to_string(::geteuid());
    const auto settings = effective(world.settings.project_defaults, project ? project->settings : ProjectSettings());
    words["image"] = settings.image->empty() ? executor.image : *settings.image;
    auto options = shell_words(task.executor_options);
    values.lists["options"] = options ? std::move(*options) : std::vector<std::string>();
    values.lists["limits"] = {};
    values.lists["binds"] = {};
    if (networks::network_of(world, task.project).is_limited()) values.lists["network"] = executor.without_network;
    values.lists.try_emplace("network");
    return values;
}

Result<void> find_executor(const agents::Executor& executor, const std::map<std::string, std::string>& env) {
    if (executor.is_direct()) return {};
    const auto path = value_in(env, "PATH");
    if (find_program(executor.run.front(), path).empty()) return agents::executor_not_installed(executor, path);
    return {};
}

Awaitable<Result<void>> check_executor(const World& world, agents::Executor executor, std::string project,
                                       std::map<std::string, std::string> env) {
    CO_TRY(find_executor(executor, env));
    CO_TRY(networks::check(world, project, &executor, env));
    if (executor.is_direct()) co_return Result<void>{};
    std::vector<std::vector<std::string>> checks;
    if (!executor.check.empty()) {
        Task task;
        task.project = project;
        const auto values = executor_values(world, task, executor, env);
        if (executor.takes("image") && values.words.at("image").empty()) {
            co_return Error(ErrorCode::conflict,
                            "executor " + executor.name + " needs an image. To name it:\n  orange project update " +
                                (project.empty() ? "PROJECT" : shell_word(project)) + " --set image=IMAGE" +
                                (project.empty() ? "\nFor all projects, and for `orange executor test`, write "
                                                   "`image: IMAGE` into config.yml"
                                                 : ""));
        }
        checks.push_back(agents::expanded(executor.check, values));
    }
    if (executor.calls_back) checks.push_back({"munge", "--no-input"});  // its agents prove themselves with it
    for (const auto& argv : checks) {
        auto command = executor_command(argv, env);
        const auto done = co_await world.processes.run(std::move(command));
        if (done && done->ok()) continue;
        const auto why = done ? command_failed(argv, *done).message : done.error().message;
        co_return Error(ErrorCode::external_failed, "executor " + executor.name + " cannot be used: " + why);
    }
    co_return Result<void>{};
}

std::string to_try_executor(const Task& task, const std::string& executor) {
    const bool has_options = task.executor == executor && !task.executor_options.empty();
    return "To try the executor:\n  orange executor test " + executor +
           (has_options ? " --options " + shell_word(task.executor_options) : "");
}

std::string to_start_again(const Task& task, const std::string& executor) {
    return "To start the agent again when the executor works:\n  " + task_command("respawn", task.id.value).text() +
           "\n" + to_try_executor(task, executor);
}

Awaitable<Result<void>> put_into_executor(const World& world, const Task& task, const agents::LaunchRequest& launch,
                                          const agents::HarnessEntry& harness, const Path& run_folder,
                                          agents::StartRequest& request) {
    if (task.executor.empty()) co_return networks::check(world, task.project, nullptr, request.env);
    CO_TRY(auto executor, world.executors.pinned(task.executor, task.executor_hash));
    const auto network = networks::network_of(world, task.project);
    networks::forget_proxies(network, request.env);
    auto& run = request.run;
    auto values = executor_values(world, task, executor, request.env);
    auto& words = values.words;
    words["run"] = run.run.value;
    words["role"] = name_text(run.role);
    words["run_dir"] = agents::Launcher::inner_folder(run_folder, run.run).string();
    words["socket_dir"] = world.paths.socket_of(run.run).parent_path().string();
    words["worktree"] = launch.worktree;
    words["task_dir"] = launch.task_dir;
    words["git_dir"] = launch.git_dir;
    words["git_common"] = launch.git_common;
    if (executor.has_own_repository) {
        words["repository"] = walls::repository_of(world, task.id.value);
        words["link"] = walls::link_of(world, task.id.value);
    }
    for (auto& word : words) {
        word.second = agents::in_real_home(word.second, request.env);
    }
    for (const auto& name : executor.unset) request.env.erase(name);
    auto env = request.env;
    Result<void> usable = find_executor(executor, env);                                // before anything is written
    const bool is_checked = world.executors.take_usable(task.id, task.executor_hash);  // by the call that created it
    if (usable) usable = networks::check(world, task.project, &executor, env);  // a setting may have changed since
    if (usable && !is_checked) usable = co_await check_executor(world, executor, task.project, std::move(env));
    if (!usable) {
        co_return Error(usable.error().code, usable.error().message + "\n" + to_start_again(task, executor.name),
                        usable.error().details);
    }
    CO_TRY(agents::check_visible(executor, harness, request.env, values.lists["options"]));
    CO_TRY(values.lists["binds"], bind_words(world, executor, harness, launch, request));
    request.needs_socket = executor.hides_files();
    if (executor.hides_files()) {
        let_git_commit(request.env);
        agents::name_real_home(request.env, request.argv);
    }
    if (executor.has_own_repository) CO_TRY(world.pool.note_walled(*task.workspace));
    values.lists["limits"] = limit_words(world, task, executor, run);
    if (!executor.memory.empty()) run.memory_limit = 0;  // the executor enforces the limit
    RunPlace place;
    place.executor = executor.name;
    place.hides = executor.hides_files();
    place.limits_processes = !executor.processes.empty();
    if (executor.calls_back) place.token = random_id(k_token_length);
    place.ended = executor.ended;
    place.over = executor.over;
    place.stop = agents::expanded(executor.stop, values);
    place.probe = agents::expanded(executor.probe, values);
    place.queued = executor.queued;
    if (network.is_limited()) place.network = text_of(network);
    run.place = std::move(place);
    const networks::Proxy proxy{words["socket_dir"] + "/proxy", networks::log_of(world, task)};
    values.lists["inner"] = networks::inside(world, network, proxy, {"{inner}"});
    request.around = networks::around(world, network, proxy, agents::expanded(executor.run, values));
    co_return Result<void>{};
}

Awaitable<void> Placements::leave(TaskRecord& record, AgentRun run) {
    const bool is_known = std::ranges::find(record.left, run.run, &LeftRun::run) != record.left.end();
    if (!run.place || run.place->stop.empty() || is_known) co_return;
    const auto& place = *run.place;
    LeftRun left{run.run, place.executor, place.stop, world_.clock.now(), {}, {}};
    if (!place.probe.empty() && !place.over.empty()) {
        left.probe = place.probe;
        left.over = place.over;
        left.over.insert(left.over.end(), place.ended.begin(), place.ended.end());
    }
    const auto result = co_await stop(record.task.id, left, Wait::a_moment);
    if (result && *result) {
        look_after(record.task.id, left);
        co_return;
    }
    record.left.push_back(left);
    if (result) note_stopped(record, left, *result);
}

Awaitable<Result<void>> Placements::stop_left(TaskRecord& record, Wait wait) {
    const auto all = record.left;
    Result<void> problem;
    for (const auto& each : all) {
        const auto result = co_await stop(record.task.id, each, wait);
        if (result) note_stopped(record, each, *result);
        if (!result) {
            problem = Error(ErrorCode::unavailable, "executor " + each.executor + " has not ended the run " +
                                                        agents::name_in_executor(each.run.value) + " yet" +
                                                        ack_if_ended(record.task.id));
        } else if (!*result) {
            const auto& error = result->error();
            problem =
                Error(error.code, "executor " + each.executor + ": " + error.message + ack_if_ended(record.task.id));
        }
    }
    const auto saved = world_.tasks.awake(record.task.id);
    if (saved && !(*saved == record)) CO_TRY(turns_.try_save(record));
    co_return problem;
}

void Placements::note_stopped(TaskRecord& record, const LeftRun& run, const Result<void>& result) {
    const auto found = std::ranges::find(record.left, run.run, &LeftRun::run);
    if (found == record.left.end()) return;  // its human has let go of it
    if (!result) {
        log::warn("executors", result.error().message, {{"task", record.task.id.value}, {"run", run.run.value}});
        return tell_of_left(world_, record, result.error().message);
    }
    record.left.erase(found);
    world_.journal.note_once(record, "executor.stopped", {{"executor", run.executor}, {"run", run.run.value}});
    if (record.left.empty()) tell_of_left(world_, record, {});
    look_after(record.task.id, run);
}

Awaitable<std::optional<Result<void>>> Placements::stop(TaskId id, LeftRun run, Wait wait) {
    auto stopping = stopping_[run.run.value];
    const bool is_new = stopping == nullptr;
    if (is_new) stopping = stopping_[run.run.value] = std::make_shared<Stopping>(world_.executor);
    stopping->is_awaited = true;
    if (is_new) async::spawn(world_.executor, "executor stop", stop_now(id, run, stopping));
    const auto end = async::now() + k_stop_patience;
    const auto moment = k_stop_moment;
    for (bool goes_on = true; goes_on && !stopping->result;) {
        (void)co_await stopping->ended.wait(moment);
        const bool has_answered = std::exchange(stopping->has_answered, false);
        goes_on = (has_answered && async::now() < end) || wait == Wait::to_the_end;
    }
    stopping->is_awaited = false;
    co_return stopping->result;
}

Awaitable<void> Placements::stop_now(TaskId id, LeftRun run, std::shared_ptr<Stopping> stopping) {
    auto result = co_await end_for_sure(id, run, stopping);
    stopping->result = result;
    stopping_.erase(run.run.value);
    stopping->ended.notify();
    if (stopping->is_awaited) co_return;
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    note_stopped(turn->record, run, result);
    turns_.save(turn->record);
}

Awaitable<Result<void>> Placements::end_for_sure(TaskId id, LeftRun run, std::shared_ptr<Stopping> stopping) {
    const auto end = async::now() + k_executor_patience;
    const auto record = world_.tasks.awake(id);
    auto env = executor_environment(world_, record ? record->task.project : std::string());
    auto argv = run.stop;
    CO_TRY(co_await output_of(world_, std::move(argv), std::move(env)));
    stopping->has_answered = true;
    for (auto pause = k_first_stop_look; !run.over.empty(); pause = std::min(pause * 2, k_longest_stop_look)) {
        CO_TRY(const auto seen, co_await probe(id, run.run, run.probe, {}));
        stopping->has_answered = true;
        if (!is_there(run, seen)) break;
        if (async::now() >= end) {
            co_return Error(ErrorCode::timeout, "the run was told to end, and is still shown as " + seen->state +
                                                    (seen->place.empty() ? std::string() : " on " + seen->place));
        }
        (void)co_await async::sleep(pause);
    }
    co_return Result<void>{};
}

void Placements::look_after(const TaskId& id, const LeftRun& run) {
    if (run.over.empty()) return;
    stopped_[run.run.value] = {id, run, async::now() + k_look_after};
    if (looks_for_stopped_) return looks_for_stopped_->notify();
    looks_for_stopped_ = std::make_shared<async::Wakeup>(world_.executor);
    async::spawn(world_.executor, "executor look", look_for_stopped());
}

Awaitable<void> Placements::look_for_stopped() {
    const auto news = looks_for_stopped_;
    auto pause = k_first_after;
    while (!stopped_.empty()) {
        const bool is_newer = co_await news->wait(pause);
        if (is_newer) {  // those that end together are looked for together
            pause = k_first_after;
            (void)co_await async::sleep(pause);
        }
        pause = std::min(pause * 2, k_longest_after);
        std::map<Question, std::vector<RunId>> questions;
        for (const auto& [run, each] : stopped_)
            questions[question_of(each.task, each.run.probe)].push_back(RunId{run});
        for (const auto& [asked, runs] : questions) {
            const auto answer = co_await answer_to(asked);
            for (const auto& run : runs) co_await look_again(run, answer);
        }
    }
    looks_for_stopped_.reset();
}

Awaitable<void> Placements::look_again(RunId run, Text answer) {
    const auto found = stopped_.find(run.value);
    if (found == stopped_.end()) co_return;
    auto& each = found->second;
    if (!answer) {
        each.until = async::now() + k_look_after;  // a controller that is down may come back with what it had saved
        co_return;
    }
    const auto seen = agents::probed(*answer, agents::name_in_executor(run.value), {});
    if (is_there(each.run, seen)) {
        co_await end_again(each.task, each.run, seen->state);
    } else if (async::now() >= each.until) {
        stopped_.erase(found);
    }
}

Awaitable<void> Placements::end_again(TaskId id, LeftRun run, std::string state) {
    const auto why = "the run was ended, and is shown as " + state + " again";
    log::warn("executors", why, {{"task", id.value}, {"run", run.run.value}});
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) {  // the task is deleted: a later look tries again what fails
        const auto stopped = co_await stop(id, run, Wait::to_the_end);
        if (stopped && *stopped) stopped_.erase(run.run.value);
        co_return;
    }
    stopped_.erase(run.run.value);
    auto& record = turn->record;
    record.left.push_back(run);
    tell_of_left(world_, record, why);
    world_.journal.note_once(record, "executor.returned",
                             {{"executor", run.executor}, {"run", run.run.value}, {"state", std::move(state)}});
    turns_.save(record);  // the task's step ends it; without the save, only the next daemon does not know
}

std::optional<AgentRun> Placements::find(const TaskId& id, const RunId& run) const {
    const auto record = world_.tasks.awake(id);
    if (record == nullptr) return std::nullopt;
    const auto found = std::ranges::find(record->runs, run, &AgentRun::run);
    return found == record->runs.end() ? std::nullopt : std::optional(*found);
}

void Placements::follow(const TaskId& id, const AgentRun& run) {
    if (!run.place || followed_.contains(run.run.value)) return;
    const auto news = std::make_shared<async::Wakeup>(world_.executor);
    followed_[run.run.value] = news;
    async::spawn(world_.executor, "executor", watch_over(id, run, news));
}

void Placements::look_at(const RunId& run) {
    if (const auto found = followed_.find(run.value); found != followed_.end()) found->second->notify();
}

Awaitable<void> Placements::watch_over(TaskId id, AgentRun run, News news) {
    const auto* task = world_.tasks.brief(id);
    const auto run_folder = task ? world_.tasks.folder(*task) / "run" : Path();
    starting_.insert(run.run.value);
    co_await wait_for_start(id, run, run_folder, news);
    starting_.erase(run.run.value);
    if (starting_.empty() && unknown_.empty()) answers_.clear();
    co_await end_executor(id, run, run_folder, news);
    followed_.erase(run.run.value);
}

Awaitable<Placements::Seen> Placements::probe(TaskId id, AgentRun run) {
    return probe(std::move(id), run.run, run.place->probe, run.place->queued);
}

Awaitable<Placements::Seen> Placements::probe(TaskId id, RunId run, std::vector<std::string> words,
                                              std::vector<std::string> queued) {
    const auto answer = co_await answer_to(question_of(id, std::move(words)));
    if (!answer) co_return answer.error();
    co_return agents::probed(*answer, agents::name_in_executor(run.value), queued);
}

Placements::Question Placements::question_of(const TaskId& id, std::vector<std::string> words) const {
    const auto record = world_.tasks.awake(id);
    return {std::move(words), executor_environment(world_, record ? record->task.project : std::string())};
}

Awaitable<Placements::Text> Placements::answer_to(Question question) {
    auto& known = answers_[question];
    if (!known) {
        known = std::make_shared<async::SharedAnswer<Text>>([this, question] {
            auto [argv, env] = question;
            return output_of(world_, std::move(argv), std::move(env));
        });
    }
    const auto shared = known;  // answers_ may be cleared meanwhile
    const auto answer = co_await shared->get();
    co_return *answer;
}

Awaitable<void> Placements::wait_for_start(TaskId id, AgentRun run, Path run_folder, News news) {
    const auto since = async::now();
    auto probe_pause = k_first_probe;
    auto probe_at = since + probe_pause;
    for (;;) {
        const auto now = find(id, run.run);
        if (!now || now->ending || now->has_begun()) break;
        if (world_.launcher.liveness(*now) == agents::Liveness::dead) break;
        const auto started = world_.launcher.start_of(run_folder, run);
        if (started) {
            co_await note_begun(id, run.run, *started);  // a save that fails is tried again
        } else if (!run.place->probe.empty() && async::now() >= probe_at) {
            const auto seen = co_await probe(id, run);
            if (seen && *seen) co_await note_probed(id, run.run, **seen);
            probe_pause = std::min(probe_pause * 2, k_longest_probe);
            probe_at = async::now() + probe_pause;
        }
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(async::now() - since);
        const auto pause = std::clamp(waited / k_part_of_wait, k_first_look, k_longest_look);
        (void)co_await news->wait(pause);
    }
}

/// Ends an executor that goes on although its agent has ended. Its shim knows how the agent did.
Awaitable<void> Placements::end_executor(TaskId id, AgentRun run, Path run_folder, News news) {
    std::optional<async::Moment> ended_at;
    for (;;) {
        const auto now = find(id, run.run);
        if (!now || now->ending || world_.launcher.liveness(*now) == agents::Liveness::dead) co_return;
        if (!ended_at && world_.launcher.exit_of(run_folder, *now)) ended_at = async::now();
        if (ended_at && async::now() - *ended_at >= k_executor_end) {
            log::warn("executors", "executor " + run.place->executor + " goes on although its agent has ended",
                      {{"task", id.value}, {"run", run.run.value}});
            signal_process(now->pid, now->start_time, SIGHUP);
            co_return;
        }
        auto pause = k_longest_look;
        if (ended_at) pause = k_executor_end;
        (void)co_await news->wait(pause);
    }
}

Awaitable<void> Placements::note_begun(TaskId id, RunId run, StartRecord started) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto found = std::ranges::find(record.runs, run, &AgentRun::run);
    if (found == record.runs.end() || found->has_begun()) co_return;
    auto& place = *found->place;
    place.started_at = begin_of(*found, started.started_at, world_.clock.now());
    place.queued_since.reset();
    if (place.place.empty() && started.host != own_host()) place.place = std::move(started.host);
    std::map<std::string, Scalar> fields = {
        {"role", name_text(found->role)}, {"run", run.value}, {"executor", place.executor}};
    if (!place.place.empty()) fields["place"] = place.place;
    if (!turns_.save(record)) co_return;
    world_.journal.note_once(record, "agent.begun", std::move(fields));
    placed_(*found);
}

Awaitable<void> Placements::note_probed(TaskId id, RunId run, agents::ProbedRun seen) {
    const auto known = find(id, run);
    if (!known || known->has_begun()) co_return;
    const bool is_same = known->place->queued_since.has_value() == seen.is_queued && known->place->place == seen.place;
    if (is_same) co_return;
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto found = std::ranges::find(record.runs, run, &AgentRun::run);
    if (found == record.runs.end() || found->has_begun()) co_return;
    auto& place = *found->place;
    const bool is_news = seen.is_queued && !place.queued_since;
    if (is_news) place.queued_since = world_.clock.now();
    if (!seen.is_queued) place.queued_since.reset();
    place.place = seen.place;
    const std::map<std::string, Scalar> fields = {
        {"role", name_text(found->role)}, {"run", run.value}, {"executor", place.executor}};
    if (!turns_.save(record) || !is_news) co_return;
    world_.journal.note_once(record, "agent.queued", fields);
    placed_(*found);
}

Awaitable<bool> Placements::has_ended(TaskId id, AgentRun run, Path run_folder) {
    if (!run.place || run.place->probe.empty() || world_.launcher.exit_of(run_folder, run)) co_return true;
    const auto seen = co_await probe(id, run);
    if (seen) co_return true;  // what is still there goes with `stop`: it has lost its window
    wait_for_answer(id, run, seen.error());
    co_return false;
}

void Placements::wait_for_answer(const TaskId& id, const AgentRun& run, const Error& why) {
    log::warn("executors", why.message, {{"task", id.value}, {"run", run.run.value}});
    world_.launcher.set_unknown(run.run);
    if (unknown_.insert(run.run.value).second) async::spawn(world_.executor, "executor", wait_for_end(id, run));
}

Awaitable<std::optional<std::string>> Placements::why_ended(TaskId id, AgentRun run, Path run_folder) {
    if (!run.place || run.place->ended.empty() || run.ending || !run.has_begun()) co_return std::string();
    const auto record = world_.launcher.exit_of(run_folder, run);
    const bool by_itself =
        record && record->signal == 0 && record->passed_on == 0 && record->exit_status < k_signalled_status;
    if (by_itself) co_return std::string();
    const auto& states = run.place->ended;
    auto pause = k_first_why_look;
    for (const auto end = async::now() + k_why_patience;;) {
        const auto seen = co_await probe(id, run);
        if (!seen) {
            wait_for_answer(id, run, seen.error());
            co_return std::nullopt;
        }
        if (!*seen) break;
        if (std::ranges::find(states, (*seen)->state) != states.end()) co_return (*seen)->state;
        if (async::now() >= end) break;
        const bool slept = co_await async::sleep(pause);
        if (!slept) co_return std::nullopt;
        pause = std::min(pause * 2, k_longest_why_look);
    }
    co_return std::string();
}

Awaitable<std::string> Placements::state_of(TaskId id, AgentRun run) {
    if (!run.place || run.place->probe.empty()) co_return std::string();
    const auto seen = co_await probe(id, run);
    if (!seen || !*seen) co_return std::string();
    co_return (*seen)->state;
}

Awaitable<void> Placements::wait_for_end(TaskId id, AgentRun run) {
    auto pause = k_first_probe;
    while (find(id, run.run)) {
        const bool slept = co_await async::sleep(pause);
        if (!slept) co_return;
        const auto seen = co_await probe(id, run);
        if (seen) break;
        pause = std::min(pause * 2, k_longest_probe);
    }
    unknown_.erase(run.run.value);
    world_.launcher.forget_unknown(run.run);
    ended_(id, run.run);
}

}  // namespace orange
