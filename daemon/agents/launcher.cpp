#include "daemon/agents/launcher.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/agents/survivors.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/signal_process.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/process/umask.hpp"
#include "daemon/shim/event.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/scope.hpp"
#include "daemon/shim/spec.hpp"

namespace orange::agents {
namespace {

using namespace std::chrono_literals;

constexpr int k_scrollback_lines = 20'000;
constexpr std::chrono::milliseconds k_step = 20ms, k_longest_step = 320ms;
constexpr auto k_after_kill = 2s;
/// The pid of a run that began and ended unseen. No process has it.
constexpr std::int64_t k_ended_pid = -1;

void take_ids(AgentRun& run, const PaneRef& ref) {
    run.server_pid = ref.server_pid;
    run.server_start = ref.server_start;
    run.session_id = ref.session_id;
    run.window_id = ref.window_id;
    run.pane_id = ref.pane_id;
}

/// True if the process can be found neither alive nor ended: it could not be examined.
bool is_unknown(const Result<std::int64_t>& started) {
    return !started && started.error().code != ErrorCode::not_found;
}

}  // namespace

Launcher::Launcher(FileSystem& files, Tmux& tmux, ExitWatcher& exits, const Clock& clock, Path shim, ArgvOf argv_of)
    : files_(files), tmux_(tmux), exits_(exits), clock_(clock), shim_(std::move(shim)), argv_of_(std::move(argv_of)) {}

void Launcher::drop_files(const StartRequest& request, const Path& run_folder) const {
    if (request.run.place) (void)files_.remove(inner_folder(run_folder, request.run.run));
    if (!request.events.empty()) (void)files_.remove(request.events);
}

Awaitable<Result<Started>> Launcher::start(StartRequest request, Path run_folder) {
    auto spec = spec_of(request, run_folder);
    auto copy = request.run;
    spec.scope = co_await scope_for(std::move(copy));
    if (auto written = write_specs(spec, request, run_folder); !written) {
        drop_files(request, run_folder);
        co_return written.error();
    }
    Started started;
    const auto spec_path = spec_file(run_folder, request.run.run);
    const auto opened = co_await open_window(request, spec_path, started.session);
    if (!opened) {
        // After a timeout tmux may still open the window: adopt() looks for it by its spec, and removes that.
        if (opened.error().code == ErrorCode::timeout) co_return opened.error();
        if (auto removed = files_.remove(spec_path); !removed) log::warn("agents", removed.error().message);
        drop_files(request, run_folder);
        co_return opened.error();
    }
    auto& run = started.run = request.run;
    take_ids(run, *opened);
    run.pid = opened->pid;
    const auto begun = exits_.start_time(opened->pid);
    if (is_unknown(begun)) co_return Error(ErrorCode::timeout, begun.error().message);
    run.start_time = begun.value_or(0);
    run.spawned_at = clock_.now();
    co_return started;
}

RunSpec Launcher::spec_of(const StartRequest& request, const Path& run_folder) const {
    const auto& run = request.run;
    RunSpec spec;
    spec.run = run.run;
    spec.task = request.task;
    spec.role = run.role;
    spec.project = request.project;
    spec.argv = request.argv;
    spec.env = request.env;
    spec.cwd = request.worktree;
    spec.worktree = request.worktree;
    spec.umask = process::umask_text(process::current_umask());
    spec.exit_file = exit_file(run_folder, run.run).string();
    spec.memory_limit = run.memory_limit;
    spec.processes_limit = run.own_processes_limit();
    spec.disk_limit = run.disk_limit;
    if (run.place) spec.token = run.place->token;
    if (!request.events.empty()) {
        spec.env["ORANGE_EVENTS"] = request.events;
        spec.env["ORANGE_EVENT"] =
            shell_word(shim_.string()) + " " + std::string(k_event_option) + " " + shell_word(request.events);
        spec.env["ORANGE_ASK"] =
            shell_word(shim_.string()) + " " + std::string(k_ask_option) + " " + shell_word(request.events);
    }
    if (!request.inbox.empty()) spec.env["ORANGE_INBOX"] = request.inbox;
    return spec;
}

Awaitable<Result<PaneRef>> Launcher::open_window(const StartRequest& request, const Path& spec_path,
                                                 std::string& new_session) {
    WindowSpec window;
    window.session = request.session;
    window.in_session = request.in_session;
    window.window = request.run.window_name;
    window.argv = {shim_.string(), spec_path.string()};
    // Two branches may have the same name in tmux's alphabet: the later one gets a number.
    auto opened = co_await tmux_.open(window);
    for (int n = 2; !opened && opened.error().code == ErrorCode::conflict && n < 100; ++n) {
        window.session = request.session + "-" + std::to_string(n);
        opened = co_await tmux_.open(window);
    }
    if (window.in_session.empty()) new_session = window.session;
    co_return opened;
}

Result<void> Launcher::write_specs(RunSpec& spec, const StartRequest& request, const Path& run_folder) {
    if (!request.around.empty()) TRY(write_inner_spec(spec, request, inner_folder(run_folder, spec.run)));
    return files_.replace(spec_file(run_folder, spec.run), spec_text(spec), Durability::atomic);
}

/// Lets a shim on the far side run the agent. The shim in the window starts the executor, which starts the other shim.
Result<void> Launcher::write_inner_spec(RunSpec& spec, const StartRequest& request, const Path& folder) {
    auto inner = spec;
    inner.scope.clear();
    inner.exit_file = (folder / k_inner_exit).string();
    inner.user_namespace = process::user_namespace_of(::getpid()).value_or("");
    inner.started_file = (folder / k_inner_started).string();
    if (!spec.token.empty()) inner.address_file = (folder / k_inner_daemon).string();
    spec.token.clear();
    for (const auto& [path, content] : request.copies) {
        TRY(files_.replace(copy_in(folder, inner.copies.size()), content, Durability::atomic));
        inner.copies.push_back(path);
    }
    const auto file = folder / k_inner_spec;
    TRY(files_.replace(file, spec_text(inner), Durability::atomic));
    ExecutorValues values;
    values.lists["inner"] = {real_path(shim_.string()), k_inner_option, file.string()};
    spec.argv = expanded(request.around, values);
    spec.inner_folder = folder.string();
    return {};
}

/// Returns an empty list if the run can have no scope. Only a manager that refuses is logged, once.
Awaitable<std::vector<std::string>> Launcher::scope_for(AgentRun run) {
    std::vector<std::string> words;
    if (scopes_ == nullptr) co_return words;
    auto id = run.run.value;
    auto found = co_await scopes_->words(std::move(id), run.memory_limit, run.own_processes_limit());
    if (found) {
        words = std::move(*found);
        words.insert(words.end(), {shim_.string(), std::string(k_join_option)});
    } else if (found.error().code != ErrorCode::not_found && found.error().message != scope_problem_) {
        scope_problem_ = found.error().message;
        log::warn("agents", "agents start without a scope of their own: " + scope_problem_);
    }
    co_return words;
}

Awaitable<Result<void>> Launcher::has_groups() {
    if (scopes_ == nullptr) co_return Error(ErrorCode::not_found, "this machine has no systemd user manager");
    CO_TRY(co_await scopes_->words("none", 0, 0));
    const auto controllers = files_.read(groups_.parent_path() / "cgroup.controllers");
    if (controllers && controllers->find("memory") != std::string::npos) co_return Result<void>{};
    co_return Error(ErrorCode::unavailable, "your user manager does not have the kernel's memory controller");
}

Awaitable<std::vector<process::StrayProcess>> Launcher::left_by(AgentRun run, Path run_folder) {
    const bool ended = process::use_of(group_of(run)) && !is_missing(files_, exit_file(run_folder, run.run));
    if (run.run.empty() || ended) co_return std::vector<process::StrayProcess>();
    auto id = run.run.value;
    co_return co_await remains_.of_run(std::move(id));
}

/// Without a control group, processes that the agent left elsewhere may have another purpose: they are only named.
Awaitable<std::string> Launcher::end_group(AgentRun run, std::vector<process::StrayProcess> left) {
    const auto group = group_of(run);
    if (run.run.empty()) co_return std::string();
    if (!process::use_of(group)) {
        std::erase_if(left, [](const auto& each) { return process::start_time(each.pid) != each.start_time; });
        auto text = process::shown(left);
        if (!text.empty()) log::warn("agents", "an agent left processes", {{"run", run.run.value}, {"left", text}});
        co_return text;
    }
    if (!process::has_processes(group)) co_return std::string();
    log::warn("agents", "ending what an agent left", {{"run", run.run.value}});
    if (!process::kill_all(group)) log::warn("agents", group.string() + " cannot be ended");
    for (std::chrono::milliseconds waited{}; process::has_processes(group) && waited < k_after_kill; waited += k_step) {
        co_await async::sleep(k_step);
    }
    co_return std::string();
}

Awaitable<Result<AgentRun>> Launcher::adopt(AgentRun run, Path run_folder) {
    const auto state = co_await tmux_.list();
    if (!state) co_return Error(ErrorCode::unavailable, state.error().message);
    const auto spec = spec_file(run_folder, run.run).string();
    bool ended = files_.read(exit_file(run_folder, run.run)).has_value() || exit_of(run_folder, run);
    for (const auto& pane : state->panes) {
        if (pane.dead) {  // its window is closed with the other remains of the run
            if (pane.command.find(run.run.value + ".json") == std::string::npos) continue;
            take_ids(run, pane.ref);
            ended = true;
            continue;
        }
        const auto begun = exits_.start_time(pane.ref.pid);
        const auto argv = argv_of_(pane.ref.pid);
        if (is_unknown(begun)) co_return Error(ErrorCode::unavailable, begun.error().message);
        if (std::find(argv.begin(), argv.end(), spec) == argv.end()) continue;
        take_ids(run, pane.ref);
        run.pid = pane.ref.pid;
        run.start_time = begun.value_or(0);
        co_return run;
    }
    if (ended) {
        run.pid = k_ended_pid;
        co_return run;
    }
    // A tmux client that outlived the daemon may still open its window: without a spec the shim refuses to run.
    CO_TRY(files_.remove(spec));
    if (run.place) (void)files_.remove(inner_folder(run_folder, run.run));
    co_return Error(ErrorCode::not_found, "run " + run.run.value + " never began");
}

std::optional<std::int64_t> Launcher::inner_shim_of(const AgentRun& run, const Path& run_folder) const {
    constexpr std::size_t k_most = 32;  // only the programs of the executor are in between
    const auto spec = (inner_folder(run_folder, run.run) / k_inner_spec).string();
    std::vector<std::int64_t> found = {run.pid};
    for (std::size_t i = 0; run.place && i < std::min(found.size(), k_most); ++i) {
        const auto argv = argv_of_(found[i]);
        if (argv.size() > 2 && argv[1] == k_inner_option && argv[2] == spec) return found[i];
        const auto children = process::children_of(found[i]).value_or(std::vector<std::int64_t>());
        found.insert(found.end(), children.begin(), children.end());
    }
    return std::nullopt;
}

bool Launcher::has_processes_limited(const AgentRun& run, const Path& run_folder) const {
    if (run.processes_limit == 0) return false;
    if (run.place && run.place->limits_processes) return true;
    if (process::is_limited_to(group_of(run), run.processes_limit, process::k_most_processes)) return true;
    const auto shim = inner_shim_of(run, run_folder);
    const auto children = shim ? process::children_of(*shim) : std::nullopt;
    return children && std::ranges::any_of(*children, [&](std::int64_t pid) {
               return process::processes_limit_of(pid) == run.processes_limit;
           });
}

Result<std::string> Launcher::read_inner(const Path& file) const {
    constexpr std::size_t k_longest = 64 * 1024;
    TRY(auto piece, files_.read_before(file, std::nullopt, k_longest));
    return std::move(piece.bytes);
}

std::optional<ExitRecord> Launcher::exit_of(const Path& run_folder, const AgentRun& run) const {
    auto text = files_.read(exit_file(run_folder, run.run));
    if (!text && run.place) text = read_inner(inner_folder(run_folder, run.run) / k_inner_exit);
    auto record = text ? exit_record_from_text(*text) : Result<ExitRecord>(text.error());
    if (!record || record->run != run.run) return std::nullopt;
    if (is_missing(files_, exit_file(run_folder, run.run))) {  // an agent can write the record of the far side, too
        record->use.reset();
        record->not_started = false;
    }
    return std::move(*record);
}

std::optional<StartRecord> Launcher::start_of(const Path& run_folder, const AgentRun& run) const {
    const auto text = read_inner(inner_folder(run_folder, run.run) / k_inner_started);
    auto record = text ? start_record_from_text(*text) : Result<StartRecord>(text.error());
    if (!record || record->run != run.run) return std::nullopt;
    return std::move(*record);
}

std::optional<std::int64_t> Launcher::program_of(const Path& run_folder, const AgentRun& run) const {
    const auto text = read_inner(begun_file(run_folder, run.run));
    return text ? begun_from_text(*text) : std::nullopt;
}

/// Keeps what the far side has told. A burial may be repeated, and the folder of the far side is gone then.
bool Launcher::keep_end(const AgentRun& run, const RunEnd& end, const Path& run_folder) {
    const auto file = exit_file(run_folder, run.run);
    if (files_.facts_of(file)) return true;
    const ExitRecord record{run.run, end.exit_status, end.signal, end.error, clock_.now(), end.use, end.not_started};
    const auto kept = files_.replace(file, exit_record_text(record));
    if (!kept) log::warn("agents", kept.error().message);
    return kept.has_value();
}

Liveness Launcher::liveness(const AgentRun& run) const {
    if (run.run.empty()) return Liveness::none;
    if (run.pid == 0) return Liveness::starting;
    const auto started = exits_.start_time(run.pid);
    if (is_unknown(started)) return Liveness::unknown;
    if (started && *started == run.start_time) return Liveness::alive;
    return unknown_.contains(run.run.value) ? Liveness::unknown : Liveness::dead;
}

std::optional<std::int64_t> Launcher::server_start(const AgentRun& run) const {
    const auto started = run.server_pid > 0 ? exits_.start_time(run.server_pid) : Result<std::int64_t>(0);
    if (!started || *started == 0) return std::nullopt;
    // If the record does not have it, a living shim is the proof, because it is the server's child.
    const bool same = run.server_start != 0
                          ? *started == run.server_start
                          : liveness(run) == Liveness::alive && process::parent_of(run.pid) == run.server_pid;
    return same ? std::optional(*started) : std::nullopt;
}

Awaitable<WindowOfRun> Launcher::window_of(AgentRun run) {
    WindowOfRun window;
    if (run.server_pid == 0) co_return window;
    const auto deadline = async::now() + server_patience_;
    std::chrono::milliseconds pause = k_step;
    do {
        window = co_await look_at_window(run);
        // If it is unknown at the end, it runs and cannot be reached: another one has its socket, or it is stopped.
        if (window.server != ServerOfRun::unknown) break;
        co_await async::sleep(pause);
        pause = std::min(2 * pause, k_longest_step);
    } while (async::now() < deadline);
    co_return window;
}

Awaitable<WindowOfRun> Launcher::look_at_window(AgentRun run) {
    WindowOfRun window;
    if (run.window_id.empty()) co_return window;
    PaneRef pane{run.server_pid, run.server_start, run.session_id, run.window_id, run.pane_id, run.pid};
    auto answer = co_await tmux_.last_lines(std::move(pane), k_scrollback_lines);
    if (answer && is_on_server(run, *answer)) {
        window.server = ServerOfRun::answers;
        window.text = std::move(answer->text);
        co_return window;
    }
    const bool seen = !is_unknown(exits_.start_time(run.server_pid));
    if (seen && !server_start(run) && (answer || run.server_start != 0)) window.server = ServerOfRun::is_gone;
    co_return window;
}

/// Saves what a window of this server shows, and then closes the window. A window that a person closed leaves nothing
/// to save.
Awaitable<Result<void>> Launcher::close_window(AgentRun run, WindowOfRun window, Path log) {
    if (window.server != ServerOfRun::answers) co_return Result<void>{};
    if (window.text) {
        const auto saved = files_.replace(log, *window.text, Durability::atomic);
        if (!saved) log::warn("agents", saved.error().message);
    }
    co_return co_await tmux_.kill(run.window_id);
}

Awaitable<Result<bool>> Launcher::end(AgentRun run, Path log) {
    auto window = co_await look_at_window(run);
    const bool answers = window.server == ServerOfRun::answers;
    CO_TRY(co_await close_window(run, std::move(window), std::move(log)));
    // tmux returns long before the process has gone. An agent that still acts must not count as ended.
    for (std::chrono::milliseconds waited{}; may_live(liveness(run)); waited += k_step) {
        if (waited == patience_) signal_process(run.pid, run.start_time, SIGKILL);
        if (waited > patience_ + k_after_kill) {
            co_return Error(ErrorCode::timeout, "process " + std::to_string(run.pid) + " does not end");
        }
        co_await async::sleep(k_step);
    }
    co_return answers;
}

Awaitable<RunEnd> Launcher::reap(AgentRun run, Path run_folder, Path log, Path worktree) {
    auto left = co_await left_by(run, run_folder);
    auto window = co_await look_at_window(run);
    co_return co_await reap(std::move(run), std::move(run_folder), std::move(log), std::move(worktree), std::move(left),
                            std::move(window));
}

Awaitable<RunEnd> Launcher::reap(AgentRun run, Path run_folder, Path log, Path worktree,
                                 std::vector<process::StrayProcess> left, WindowOfRun window) {
    const auto closed = co_await close_window(run, std::move(window), std::move(log));
    if (!closed) log::warn("agents", closed.error().message);
    RunEnd end;
    const auto started = run.place ? start_of(run_folder, run) : std::nullopt;
    if (started) end.started_at = started->started_at;
    if (const auto record = exit_of(run_folder, run)) {
        end.exit_status = record->exit_status;
        end.signal = record->signal;
        end.error = record->error;
        end.use = record->use;
        end.not_started = record->not_started;
    } else if (run.place) {
        end.not_started = is_missing(files_, inner_folder(run_folder, run.run) / k_inner_started);
    }
    if (is_missing(files_, exit_file(run_folder, run.run))) {
        if (!end.use) end.use = use_of(run);
        const auto spec = files_.read(spec_file(run_folder, run.run));
        const auto begun = spec ? spec_from_text(*spec) : Result<RunSpec>(spec.error());
        end.scope_killed = begun && !begun->scope.empty() && !process::has_processes(group_of(run));
        (void)process::kill_all(group_of(run));  // first of all: no shim watches them
        if (!left.empty()) co_await end_survivors(run, worktree);
    }
    end.left = co_await end_group(run, std::move(left));
    std::vector<Path> files = {spec_file(run_folder, run.run)};
    if (run.place && keep_end(run, end, run_folder)) files.push_back(inner_folder(run_folder, run.run));
    for (const auto& path : {events_file(run_folder, run.run), inbox_file(run_folder, run.run),
                             rest_file(run_folder, run.run), begun_file(run_folder, run.run)}) {
        if (!is_missing(files_, path)) files.push_back(path);
    }
    for (const auto& path : files) {
        if (auto removed = files_.remove(path); !removed) log::warn("agents", removed.error().message);
    }
    co_return end;
}

}  // namespace orange::agents
