#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/log/tail.hpp"
#include "common/rpc/watch_methods.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/windows.hpp"
#include "daemon/shim/exit_record.hpp"

/// `task.log`: the screens of agents' windows, of closed ones from their logs (logs/<window>-<run>.log), of open ones
/// from tmux.
namespace orange::rpc {
namespace {

constexpr const char* k_worker_window = "worker";

std::string role_of(const std::string& window) {
    const bool is_worker = window == k_worker_window || window.starts_with("worker-");  // worker-2: of the second round
    return name_text(is_worker ? Role::worker : Role::reviewer);
}

}  // namespace

std::optional<WindowView> window_from(const std::string& file) {
    if (!file.ends_with(".log") || file.starts_with('.')) return std::nullopt;
    const auto stem = file.substr(0, file.size() - 4);
    const auto dash = stem.rfind('-');
    if (dash == std::string::npos || dash == 0 || dash + 1 == stem.size()) return std::nullopt;
    WindowView view;
    view.window = stem.substr(0, dash);
    view.run = stem.substr(dash + 1);
    view.role = role_of(view.window);
    return view;
}

namespace {

Path log_of(World& world, const TaskRecord& record, const WindowView& view) {
    return world.tasks.folder(record) / "logs" / (view.window + "-" + view.run + ".log");
}

WindowView living(const AgentRun& run) {
    WindowView view;
    view.window = run.window_name;
    view.run = run.run.value;
    view.role = name_text(run.role);
    view.alive = true;
    return view;
}

/// Returns the task's windows: open ones first, then closed ones, newest first.
Result<std::vector<WindowView>> windows_of(Api& api, const TaskRecord& record) {
    auto& world = api.world();
    std::vector<WindowView> alive;
    for (const auto& run : record.runs) {
        const auto role = run.role;
        if (!run.pane_id.empty() && api.runner().agents.alive(record, role)) alive.push_back(living(run));
    }
    const auto folder = world.tasks.folder(record);
    TRY(const auto names, world.files.list(folder / "logs"));
    std::vector<std::pair<decltype(FileFacts::modified), WindowView>> saved;
    for (const auto& name : names) {
        auto view = window_from(name);
        const auto is_it = [&](const WindowView& other) { return view && other.run == view->run; };
        if (!view || std::any_of(alive.begin(), alive.end(), is_it)) continue;
        const auto facts = world.files.facts_of(log_of(world, record, *view));
        if (!facts || facts->kind != FileFacts::Kind::file) continue;
        view->size = static_cast<std::int64_t>(facts->size);
        view->ended_at = to_rfc3339(std::chrono::floor<std::chrono::milliseconds>(facts->modified));
        const auto end = world.files.read(folder / "run" / (view->run + ".exit"));
        if (end) {
            if (const auto exit = exit_record_from_text(*end)) view->exit_status = exit->exit_status;
        }
        saved.emplace_back(facts->modified, std::move(*view));
    }
    std::stable_sort(saved.begin(), saved.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [time, view] : saved) alive.push_back(std::move(view));
    return alive;
}

/// Picks the window that the call names. Names are only compared with existing ones and never become part of a path.
Result<WindowView> pick(const std::vector<WindowView>& windows, const TaskLog& params, const std::string& task) {
    std::string known;
    for (const auto& view : windows) {
        const auto whole = view.window + "-" + view.run;
        const auto& wanted = params.window;
        const bool named = !wanted || *wanted == view.window || *wanted == view.run || *wanted == whole;
        if (named && (!params.role || *params.role == view.role)) return view;
        known += (known.empty() ? "" : ", ") + whole;
    }
    if (windows.empty()) {
        return {ErrorCode::not_found, "task " + task + " has no windows yet; no agent has been started for it"};
    }
    const auto what = params.window ? "window \"" + *params.window + "\"" : "window of its " + *params.role;
    return {ErrorCode::not_found, "task " + task + " has no " + what + "; known: " + known};
}

Result<void> check(const TaskLog& params) {
    if (params.lines < 1 || params.lines > 5000) {
        return {ErrorCode::invalid_argument, "--lines must be from 1 to 5000"};
    }
    if (params.role && *params.role != name_of(Role::worker) && *params.role != name_of(Role::reviewer)) {
        return {ErrorCode::invalid_argument, "--role must be worker or reviewer"};
    }
    return {};
}

Awaitable<Result<TaskLog::Reply>> task_log(Api& api, TaskLog params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(check(params));
    auto& world = api.world();
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    TaskLog::Reply reply;
    CO_TRY(reply.windows, windows_of(api, record));
    if (params.list) co_return reply;
    CO_TRY(auto shown, pick(reply.windows, params, id.value));
    if (shown.alive) {
        const auto* run = record.run_of(*role_from(shown.role));
        CO_TRY(reply.text, co_await world.tmux.capture(run->pane_id, params.lines));
    } else {
        CO_TRY(const auto lines, log::last_lines(log_of(world, record, shown), static_cast<std::size_t>(params.lines)));
        for (const auto& line : lines) reply.text += line + "\n";
    }
    reply.shown = std::move(shown);
    co_return reply;
}

}  // namespace

void add_task_log(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskLog>(Access::read, "What an agent's window showed, also when it is gone.", {not_found}, api,
                       task_log);
}

}  // namespace orange::rpc
