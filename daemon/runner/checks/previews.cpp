#include "daemon/runner/checks/previews.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/listening.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/checks/check_report.hpp"
#include "daemon/runner/checks/preview_output.hpp"
#include "daemon/runner/placing/networks.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_kept_of_preview = 64 << 10;  ///< bytes of output
constexpr std::chrono::milliseconds k_deadline_of_preview = std::chrono::hours(24 * 365);
constexpr std::chrono::milliseconds k_between_connections{500}, k_time_to_connect{20};
constexpr const char* k_own_dev = ".orange/dev";

Awaitable<bool> is_listened_on(int port) {
    if (port == 0) co_return false;
    const auto connections = process::begin_connections(port);
    if (connections.empty()) co_return false;
    co_await async::sleep(k_time_to_connect);
    co_return process::is_any_connected(connections);
}

std::string url_of_port(int port) {
    return "http://localhost:" + std::to_string(port);
}

Error has_no_command(const Project& project, const std::vector<std::string>& notes) {
    if (!notes.empty()) return {ErrorCode::conflict, notes.front()};
    return {ErrorCode::conflict, "project " + project.name +
                                     " has no command that runs its tasks' work for you to try. Set one, for "
                                     "example:\n  orange project update " +
                                     project.name + " --dev npm run dev"};
}

Error has_no_workspace(const TaskRecord& record) {
    const auto& task = record.task;
    if (store::has_ended(record)) {
        return {ErrorCode::conflict, "task " + task.id.value + " is " + task.status + "; there is nothing to try"};
    }
    return {ErrorCode::conflict, "task " + task.id.value +
                                     " has no workspace in which its work could be tried. To see what it waits "
                                     "for:\n  orange task why " +
                                     task.id.value};
}

}  // namespace

/// A command, until its task is tried again or has ended.
struct Previews::Running : Preview {
    std::string project;
    std::string workspace;
    std::string mark;  ///< of its processes
    std::string output;
    std::int64_t dropped = 0;  ///< bytes of output before `output`
    std::shared_ptr<Stop> stop = std::make_shared<Stop>();
    bool is_over = false;  ///< it has ended, and with it what it had left
    std::vector<std::shared_ptr<async::Wakeup>> waiting;

    void take(std::string_view text) {
        output += text;
        if (output.size() > 2 * k_kept_of_preview) {
            const auto surplus = output.size() - k_kept_of_preview;
            dropped += static_cast<std::int64_t>(surplus);
            output.erase(0, surplus);
        }
        wake();
    }
    void wake() {
        for (const auto& each : std::exchange(waiting, {})) each->notify();
    }
    /// Returns how many bytes of `output` can be told: whole lines, and the last one once there can be no more.
    std::size_t told() const {
        if (is_over) return output.size();
        const auto line_end = output.find_last_of("\r\n");
        return line_end == std::string::npos ? 0 : line_end + 1;
    }
    std::int64_t printed() const { return dropped + static_cast<std::int64_t>(told()); }
};

Previews::Previews(Runner& runner) : Owner(runner) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { saved(id); });
    world_.pool.before_release([this](TaskId id) -> Awaitable<void> { (void)co_await end(std::move(id)); });
}

Previews::~Previews() {
    world_.tasks.unobserve(observer_);
    world_.pool.before_release(nullptr);
}

/// Ends the command of a task that has ended, or has given its workspace back.
void Previews::saved(const TaskId& id) {
    const auto running = running_of(id);
    if (!running) return;
    const auto record = world_.tasks.awake(id);
    if (record && !store::has_ended(*record) && record->task.workspace == running->workspace) return;
    running->stop->request();
    if (running->is_over) all_.erase(id);
}

Previews::RunningPtr Previews::running_of(const TaskId& id) const {
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : found->second;
}

const Preview* Previews::of(const TaskId& id) const {
    return running_of(id).get();
}

std::string Previews::url_of(const TaskId& id) const {
    const auto* preview = of(id);
    return preview != nullptr && preview->state == "running" ? preview->url : std::string();
}

bool Previews::any_running() const {
    return std::ranges::any_of(all_, [](const auto& each) { return !each.second->is_over; });
}

void Previews::stop_all() {
    ended_ = true;
    const auto all = all_;
    for (const auto& [id, running] : all) running->stop->request();
}

Awaitable<Result<std::vector<std::string>>> Previews::start(TaskId id) {
    CO_TRY(const auto turn, co_await turns_.begin_turn(id));
    const auto before = running_of(id);
    if (before && !before->is_over && !before->stop->requested()) {
        co_return words("it is running already: " + before->command);
    }
    while (before && !before->is_over) co_await next_change(before);
    if (ended_) co_return Error(ErrorCode::conflict, "the daemon ends");
    const auto& record = turn.record;
    if (store::has_ended(record) || !record.task.workspace) co_return has_no_workspace(record);
    const auto running = std::make_shared<Running>();
    prepared_[id] = running->stop;
    auto command = co_await command_for(record, running);
    prepared_.erase(id);
    if (!command) co_return command.error();
    if (ended_) co_return Error(ErrorCode::conflict, "the daemon ends");
    if (running->stop->requested()) co_return Error(ErrorCode::conflict, "it was stopped before it had begun");
    all_[id] = running;
    change_state(*running, "starting");
    publish(id, *running, "preview.started",
            {{"command", running->command}, {"port", static_cast<std::int64_t>(running->port)}});
    async::spawn(world_.executor, "preview", run(id, running, std::move(*command)));
    async::spawn(world_.executor, "looking for a listener", look_for_listener(id, running));
    co_return words("started: " + running->command);
}

Awaitable<Result<Command>> Previews::command_for(TaskRecord record, RunningPtr running) {
    const auto& task = record.task;
    CO_TRY(const auto project, registered_project(world_, task.project));
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    std::vector<std::string> notes;
    const auto wall = walls::wall_of(world_, task);
    if (wall && wall->has_commands_inside() && networks::network_of(world_, task.project).is_limited()) {
        co_return Error(ErrorCode::conflict,
                        "the network of project " + project.name +
                            " is limited, so your browser would not reach what runs behind the wall. Files of the "
                            "agent run with your rights if you start them yourself:\n  " +
                            task_command("shell", task.id.value).text());
    }
    const auto argv = project.dev.empty() ? Pool::consented(project, worktree, k_own_dev, notes) : project.dev;
    if (argv.empty()) co_return has_no_command(project, notes);
    running->command = checked::spoken(argv);
    running->project = project.name;
    running->workspace = *task.workspace;
    running->mark = world_.pool.mark() + "/try-" + task.id.value;
    running->port = first_port(world_.settings, world_.pool.ports_of(*task.workspace));
    // Only its own: the checks of the task may run in this worktree, and have the mark of no daemon.
    co_await agents::end_left_by_command(running->mark);
    const bool is_taken = co_await is_listened_on(running->port);
    if (is_taken) {
        co_return Error(ErrorCode::conflict,
                        "another program listens on port " + std::to_string(running->port) +
                            ", which is that of the workspace. Perhaps the agent has started it; it is at " +
                            url_of_port(running->port));
    }
    auto copy = task;
    CO_TRY(auto walled, co_await walls::behind(world_, std::move(copy), worktree, argv));
    Command command;
    command.argv = std::move(walled);
    command.shown = running->command;
    command.cwd = worktree.path();
    command.folder = worktree.folder();
    auto env = runner_.agents.environment(record, {}, Role::system, RunId{});
    env[process::k_daemon_variable] = running->mark;
    command.env = std::move(env);
    command.deadline = k_deadline_of_preview;
    command.as_log = true;
    command.on_output = [running](std::string_view text) { running->take(text); };
    command.stop = running->stop;
    co_return command;
}

Awaitable<void> Previews::run(TaskId id, RunningPtr running, Command command) {
    auto done = co_await world_.processes.run(std::move(command));
    co_await agents::end_left_by_command(running->mark);
    const auto end = checked::end_of(std::move(done), k_deadline_of_preview);
    if (running->stop->requested()) {
        running->why = "was stopped";
    } else if (end) {
        running->exit_status = static_cast<int>(end->status);
        running->why = end->why;
    } else {
        running->why = "failed: " + end.error().message;
    }
    running->is_over = true;
    running->url.clear();
    change_state(*running, "ended");
    std::map<std::string, Scalar> fields = {{"why", running->why}};
    if (running->exit_status) fields["exit_status"] = std::int64_t{*running->exit_status};
    publish(id, *running, "preview.ended", std::move(fields));
    const bool is_last = running_of(id) == running;
    if (is_last) saved(id);
}

/// Looks at the port of the workspace, and at the one of the first URL that the command prints.
Awaitable<void> Previews::look_for_listener(TaskId id, RunningPtr running) {
    while (running->state == "starting") {
        const auto printed = checked::local_url(checked::plain(running->output));
        bool is_there = false;
        if (printed) is_there = co_await is_listened_on(printed->port);
        auto url = is_there ? printed->text : url_of_port(running->port);
        if (!is_there) is_there = co_await is_listened_on(running->port);
        if (running->state != "starting") co_return;
        if (is_there) {
            running->url = std::move(url);
            change_state(*running, "running");
            publish(id, *running, "preview.ready", {{"url", running->url}});
            co_return;
        }
        const bool slept = co_await async::sleep(k_between_connections);
        if (!slept) co_return;
    }
}

void Previews::change_state(Running& running, const char* state) {
    running.state = state;
    running.since = world_.clock.now();
    running.wake();
}

/// Publishes an event to subscribers only; no history has it.
void Previews::publish(const TaskId& id, const Running& running, const char* type,
                       std::map<std::string, Scalar> fields) {
    HistoryEvent event;
    event.type = type;
    event.fields = std::move(fields);
    world_.journal.publish(id, running.project, std::move(event));
}

Awaitable<void> Previews::next_change(RunningPtr running) {
    const auto woken = std::make_shared<async::Wakeup>(world_.executor);
    running->waiting.push_back(woken);
    co_await woken->wait();
}

Awaitable<bool> Previews::end(TaskId id) {
    if (const auto found = prepared_.find(id); found != prepared_.end()) {
        found->second->request();
        co_return true;
    }
    const auto running = running_of(id);
    if (!running || running->is_over) co_return false;
    running->stop->request();
    while (!running->is_over) co_await next_change(running);
    co_return true;
}

Awaitable<void> Previews::wait(TaskId id, std::optional<std::int64_t> after, std::shared_ptr<Waiter> waiter) {
    const auto running = running_of(id);
    const auto is_waited_for = [&] {
        if (!running || running->is_over || waiter->is_gone) return false;
        return after ? running->printed() <= *after : running->state == "starting";
    };
    const std::shared_ptr<async::Wakeup> woken(waiter, &waiter->woken);
    for (bool waits = is_waited_for(); waits; waits = is_waited_for()) {
        running->waiting.push_back(woken);
        co_await woken->wait();
    }
    if (running) std::erase(running->waiting, woken);  // of one that is gone
}

Previews::Output Previews::output_of(const TaskId& id, std::size_t lines, std::optional<std::int64_t> after) const {
    const auto running = running_of(id);
    if (!running) return {};
    const auto printed = running->printed();
    if (!after) {
        const auto text = checked::plain(running->output);
        return {printable(checked::tail_of(text, lines), true), printed};
    }
    const auto begin = static_cast<std::size_t>(std::clamp(*after, running->dropped, printed) - running->dropped);
    const auto text = checked::plain(std::string_view(running->output).substr(begin, running->told() - begin));
    return {printable(text, true), printed};
}

}  // namespace orange
