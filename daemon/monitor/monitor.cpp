#include "daemon/monitor/monitor.hpp"

#include <algorithm>
#include <utility>

#include "daemon/engine/notices.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// Enough time for the second half of a save to arrive, and too short for users to notice.
constexpr std::chrono::milliseconds k_settle = 25ms;
/// Each look at a file that is written without pause waits for longer, so that its writer takes little from the others.
constexpr std::chrono::milliseconds k_longest_settle = 1s;
/// Editors that delete and create a file leave a moment without it; restoring it at once would disturb them.
constexpr auto k_settle_missing = 300ms;
constexpr auto k_default_interval = 30s;
constexpr std::chrono::milliseconds k_look_elsewhere = 1s;
constexpr std::size_t k_polls_anyway = 10;  ///< one of this many polls looks at every window
constexpr std::chrono::milliseconds k_longest_sleep = 30s;

}  // namespace

Monitor::Monitor(Runner& runner, FileWatcher& files)
    : runner_(runner), world_(runner.world), files_(files), terminals_(runner, files), branches_(runner, files) {
    runner_.usage.on_change([this] { usage_limits_changed(); });
    runner_.agents.on_started([this](const TaskId& id, const AgentRun& run) { watch_exit(id, run); });
    runner_.placements.on_ended([this](const TaskId& id, const RunId& run) {
        async::spawn(world_.executor, "exit", runner_.exits.agent_exited(id, run));
    });
    runner_.placements.on_placed(
        [this](const AgentRun& run) { async::spawn(world_.executor, "login", go_on_after_login(run.harness)); });
    observer_ = world_.tasks.observe([this](const TaskId& id) { task_changed(id); });
    world_.projects.on_edit([this] { projects_edited(); });
}

Monitor::~Monitor() {
    world_.tasks.unobserve(observer_);
    runner_.placements.on_ended([](const TaskId&, const RunId&) {});
    runner_.placements.on_placed([](const AgentRun&) {});
    world_.projects.on_edit([] {});
}

Awaitable<void> Monitor::run() {
    world_.tasks.end_times_at(world_.clock.now());
    // Watch first: a task whose interrupted hooks take long must not keep other tasks from being watched.
    watch_projects();
    runner_.uploads.remove_left();
    usage_limits_changed();
    look_for_repositories(runner_);
    runner_.reconciler.start();
    co_await runner_.reconciler.wake_all();
    const auto active = world_.tasks.active();
    for (const auto& id : active) {
        const auto record = world_.tasks.awake(id);
        if (!record) continue;
        const auto runs = record->runs;
        for (const auto& agent : runs) watch_exit(id, agent);
        if (!runs.empty()) {
            log::info("monitor", "adopted", {{"task", id.value}, {"agents", std::to_string(runs.size())}});
        }
        task_changed(id);
    }
    for (const auto& id : active) {
        const auto record = world_.tasks.awake(id);
        // Resume in order, except for tasks that may take minutes, or on which a request already works.
        if (record && (record->intent || !Merges::under_way(*record).empty() || world_.task_locks.busy(id.value))) {
            async::spawn(world_.executor, "resume", runner_.recovery.resume(id));
        } else {
            co_await runner_.recovery.resume(id);
        }
    }
    for (const auto& project : world_.projects.list()) {
        async::spawn(world_.executor, "collecting workspaces", collect(project));
    }
    if (resumes_agents_) co_await bring_agents_back();
    while (!stopping_) {
        co_await poll();
        const auto pause = interval();
        if (!co_await async::sleep(pause)) co_return;
    }
}

/// First handles the end of each agent as usual, so that the task's history has it with its cause; then starts them
/// again.
Awaitable<void> Monitor::bring_agents_back() {
    const auto active = world_.tasks.active();
    for (const auto& id : active) {
        const auto record = world_.tasks.awake(id);
        const auto runs = record ? record->runs : std::vector<AgentRun>();
        for (const auto& run : runs) co_await runner_.exits.agent_exited(id, run.run);
    }
    Caller by;
    by.role = Role::system;
    by.evidence = "reboot";
    for (const auto& id : runner_.respawns.with_dead_agents()) {
        const auto done = co_await runner_.respawns.respawn(id, by);
        if (!done) log::warn("monitor", done.error().message, {{"task", id.value}});
    }
}

/// Each project has its own coroutine, so that the silent remote of one project does not block the others.
Awaitable<void> Monitor::collect(Project project) {
    co_await runner_.merges.remove_left(project);
    const auto collected = co_await runner_.workspaces.collect(project, Freeing::known_lost);
    if (!collected) log::warn("monitor", collected.error().message, {{"project", project.name}});
    if (collected) {
        for (const auto& note : *collected) log::info("monitor", note);
    }
    runner_.queue.schedule(project.name);
}

void Monitor::stop() {
    stopping_ = true;
    terminals_.stop();
    exits_.clear();
}

std::chrono::milliseconds Monitor::interval() const {
    if (world_.settings.poll_interval) return *world_.settings.poll_interval;
    std::chrono::milliseconds shortest = k_default_interval;
    for (const auto& id : world_.tasks.active()) {
        const auto record = world_.tasks.awake(id);
        if (!record || record->runs.empty()) continue;
        if (const auto definition = runner_.turns.definition_of(record->task)) {
            shortest =
                std::min(shortest, std::chrono::milliseconds(std::chrono::seconds((*definition)->poll_interval)));
        }
    }
    return shortest;
}

void Monitor::watch_projects() {
    const auto file = world_.paths.projects();
    const auto name = file.filename().string();
    const auto made = files_.watch(file.parent_path(), [this, name](const std::string& changed) {
        if (changed.empty() || changed == name) projects_touched();
    });
    if (!made) log::warn("monitor", made.error().message);  // the poll looks instead
}

void Monitor::projects_touched() {
    if (stopping_ || projects_settling_) return;
    const bool removed = is_missing(world_.files, world_.paths.projects()) && !world_.projects.list().empty();
    if (!removed) {
        (void)world_.projects.refresh();  // problem() says what is wrong; the poll logs what stays wrong
        return;
    }
    projects_settling_ = true;
    async::spawn(world_.executor, "projects", settle_projects());
}

/// Looks again after a moment: an editor that saves may have removed the file only briefly.
Awaitable<void> Monitor::settle_projects() {
    co_await async::sleep(k_settle_missing);
    projects_settling_ = false;
    if (!stopping_) (void)world_.projects.refresh();
}

/// More tasks may start now, for example because a project has more workspaces.
void Monitor::projects_edited() {
    if (stopping_) return;
    for (const auto& project : world_.projects.list()) runner_.queue.schedule(project.name);
    runner_.reconciler.room_changed();
}

Awaitable<void> Monitor::poll() {
    projects_touched();
    if (const auto& problem = world_.projects.problem(); problem != projects_problem_) {
        projects_problem_ = problem;
        if (!problem.empty()) log::error("monitor", problem);
    }
    end_times_now();
    runner_.budgets.look();  // a new day may have begun
    runner_.uploads.remove_old();
    look_for_repositories(runner_);
    co_await take_in_new();
    const auto active = world_.tasks.active();
    for (const auto& id : active) {
        if (stopping_) co_return;
        co_await look_at(id);
        co_await async::yield();
    }
    co_await runner_.workspaces.release_left_over();
    co_await runner_.reconciler.wake_all();
    co_await runner_.queue.restart_stalled();
    runner_.reconciler.room_changed();
    branches_.poll();
    forget_ended_exits();
    last_poll_ = world_.clock.now();
    polled_at_ = async::now();
    ++polls_;
    polled_();
}

/// A clock that was set right leaves times of the future behind. There are many records: these are looked at only if
/// the clock went back since the last poll, measured with the steady clock.
void Monitor::end_times_now() {
    const auto now = world_.clock.now();
    runner_.usage.end_times_at(now);
    runner_.activities.end_times_at(now);
    if (last_poll_ && now - *last_poll_ < async::now() - polled_at_ - 1s) world_.tasks.end_times_at(now);
}

Awaitable<void> Monitor::take_in_new() {
    const auto found = world_.tasks.load_new();
    for (const auto& id : found) {
        if (stopping_) co_return;
        log::info("monitor", "its folder has come back", {{"task", id.value}});
        const auto* task = world_.tasks.brief(id);
        if (task) world_.journal.publish(id, task->project, HistoryEvent{"task.returned", world_.clock.now(), {}});
        co_await runner_.workspaces.forget_lost(id);
        const auto record = world_.tasks.awake(id);
        if (!record || record->ended) continue;
        const auto runs = record->runs;
        for (const auto& run : runs) watch_exit(id, run);
        async::spawn(world_.executor, "resume", runner_.recovery.resume(id));  // its actions may take minutes
    }
}

Awaitable<void> Monitor::look_at(TaskId id) {
    const auto record = world_.tasks.awake(id);
    if (!record || world_.task_locks.busy(id.value)) co_return;  // a call works on it
    if (record->intent || !Merges::under_way(*record)
                               .empty()) {  // no call works on it: its transition was left, for example by a full disk
        async::spawn(world_.executor, "resume", runner_.recovery.resume(id));  // its actions may take minutes
        co_return;
    }
    if (record->asked) runner_.gates.go_on(id);  // its transition could not be saved
    const auto runs = record->runs;
    if (!record->task.workspace && runs.empty()) co_return;
    for (const auto& run : runs) {
        const auto liveness = world_.launcher.liveness(run);
        if (liveness == agents::Liveness::dead) {  // handling it may take minutes, and covers the other runs
            async::spawn(world_.executor, "exit", runner_.exits.agent_exited(id, run.run));
            co_return;
        }
        // No call works on the task, so the start has given up waiting for tmux.
        if (liveness == agents::Liveness::starting) co_await runner_.recovery.settle_starting(id);
    }
    co_await runner_.memory.update(id);
    co_await runner_.turns.body_changed(id);
    // A thousand idle windows would cost tmux much of a processor, so most polls skip windows without news.
    const bool anyway = polls_ % k_polls_anyway == 0;
    if (anyway || !shows_nothing_new(id)) {
        runner_.disks.look(id);
        co_await runner_.activities.update(id);
    }
    task_changed(id);
}

/// Returns true if the task's agents have written nothing and have no other source of events. False for agents that are
/// busy or at a limit: their state may have to be reported after a while, although the window does not change.
bool Monitor::shows_nothing_new(const TaskId& id) const {
    const auto record = world_.tasks.awake(id);
    if (!record || !terminals_.is_quiet(id) || runner_.activities.is_due(*record)) return false;
    return std::ranges::all_of(record->runs, [&](const AgentRun& run) {
        const auto seen = runner_.activities.of(*record, run.role);
        const auto harness = world_.harnesses.find(run.harness);
        const bool waits = seen && seen->activity != Activity::busy && seen->activity != Activity::limited;
        return waits && harness && harness->harness.state_file.path.empty();
    });
}

void Monitor::usage_limits_changed() {
    go_on_after_limits();
    if (waiting_for_limits_ || stopping_ || !runner_.usage.next_end()) return;
    waiting_for_limits_ = true;
    async::spawn(world_.executor, "usage limits", wait_for_usage_limits());
}

/// Sleeps in pieces: a suspended machine stops the timer, but not the limit.
Awaitable<void> Monitor::wait_for_usage_limits() {
    for (auto end = runner_.usage.next_end(); end && !stopping_; end = runner_.usage.next_end()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - world_.clock.now());
        const auto time = std::clamp<std::chrono::milliseconds>(left, 1ms, k_longest_sleep);
        const bool slept = co_await async::sleep(time);
        if (!slept) co_return;
        if (runner_.usage.next_end() != end) go_on_after_limits();
    }
    waiting_for_limits_ = false;
}

/// Tells agents that were at a limit that has ended to continue, and starts those that waited for it.
void Monitor::go_on_after_limits() {
    if (stopping_) return;
    runner_.reconciler.room_changed();
    auto tasks = world_.tasks.runs().tasks();
    const auto held = world_.tasks.held();
    tasks.insert(held.begin(), held.end());
    for (const auto& id : tasks) {
        const auto record = world_.tasks.awake(id);
        if (!record) continue;
        if (record->held.empty() && engine::find_notice(*record, NoticeKind::usage_limit) == nullptr) continue;
        async::spawn(world_.executor, "usage limit", runner_.activities.update(id));
    }
}

void Monitor::forget_ended_exits() {
    std::set<std::string> runs;
    for (const auto& id : world_.tasks.active()) {
        const auto record = world_.tasks.awake(id);
        if (!record) continue;
        for (const auto& run : record->runs) runs.insert(run.run.value);
    }
    std::erase_if(exits_, [&](const auto& entry) { return !runs.contains(entry.first); });
}

void Monitor::task_changed(const TaskId& id) {
    terminals_.follow(id);
    branches_.follow(id);
    const auto record = world_.tasks.awake(id);
    if (!record || store::has_ended(*record)) {
        unwatch_files(id);
        return;
    }
    watch_files(*record);
    if (stopping_ || looking_elsewhere_ || !has_agent_elsewhere(id)) return;
    looking_elsewhere_ = true;
    async::spawn(world_.executor, "other machines", look_elsewhere());
}

bool Monitor::has_agent_elsewhere(const TaskId& id) const {
    const auto record = world_.tasks.awake(id);
    return record && std::ranges::any_of(record->runs, [](const AgentRun& run) {
               return run.place && run.place->is_elsewhere() && run.has_begun();
           });
}

/// Looks at the files of agents on other machines, as long as there are any: the kernel does not report their writes.
/// An agent that has not begun writes nothing, and may wait for days.
Awaitable<void> Monitor::look_elsewhere() {
    for (bool any = true; any && !stopping_;) {
        const auto pause = k_look_elsewhere;
        const bool slept = co_await async::sleep(pause);
        if (!slept) break;
        any = false;
        const auto tasks = world_.tasks.runs().tasks();  // a look may end a run
        for (const auto& id : tasks) {
            if (!has_agent_elsewhere(id)) continue;
            any = true;
            terminals_.look_at_events(id);
            const auto watched = watched_.find(id);
            if (watched != watched_.end() && !world_.task_locks.busy(id.value)) body_touched(id, watched->second.own);
        }
    }
    looking_elsewhere_ = false;
}

void Monitor::watch_files(const TaskRecord& record) {
    const auto id = record.task.id;
    auto& watched = watched_[id];
    const auto copies = copies_of(world_, record);
    const auto& own = copies.own;
    const auto mirror = copies.mirror.value_or(Path{});
    const auto watch = [&](const Path& file, FileWatcher::WatchId& watch_id, bool again) {
        if (watch_id != 0) files_.unwatch(watch_id);
        watch_id = 0;
        if (file.empty()) return;
        const auto name = file.filename().string();
        auto made = files_.watch(file.parent_path(), [this, id, file, name](const std::string& changed) {
            if (changed.empty() || changed == name) body_touched(id, file);
        });
        if (made) {
            watch_id = *made;
        } else if (!again) {
            log::warn("monitor", made.error().message, {{"task", id.value}});  // the poll looks instead
        }
    };
    // The kernel may have watches again. A worktree that was deleted and created again is another folder with the same
    // name.
    if (watched.own != own || watched.own_watch == 0) {
        const bool again = std::exchange(watched.own, own) == own;
        watch(own, watched.own_watch, again);
    }
    if (watched.mirror != mirror || (!mirror.empty() && watched.mirror_watch == 0)) {
        const bool again = std::exchange(watched.mirror, mirror) == mirror;
        watch(mirror, watched.mirror_watch, again);
    }
}

void Monitor::unwatch_files(const TaskId& id) {
    const auto found = watched_.find(id);
    if (found == watched_.end()) return;
    for (const auto watch : {found->second.own_watch, found->second.mirror_watch}) {
        if (watch != 0) files_.unwatch(watch);
    }
    watched_.erase(found);
}

void Monitor::body_touched(const TaskId& id, const Path& file) {
    if (stopping_ || !settling_.insert(id).second) return;
    async::spawn(world_.executor, "body", settle_body(id, file));
}

/// Returns how long to wait before the next look at a task's files: twice as long as last time if that was just now.
std::chrono::milliseconds Monitor::pause_of(const TaskId& id) {
    const auto watched = watched_.find(id);
    if (watched == watched_.end()) return k_settle;
    auto& [pause, due] = watched->second.pace;
    const bool is_quiet = async::now() - due > k_longest_settle;
    pause = is_quiet ? k_settle : std::min(2 * pause, k_longest_settle);
    due = async::now() + pause;
    return pause;
}

Awaitable<void> Monitor::settle_body(TaskId id, Path file) {
    const auto pause = pause_of(id);
    co_await async::sleep(pause);
    if (is_missing(world_.files, file)) co_await async::sleep(k_settle_missing);
    settling_.erase(id);  // reset first: a change during the look causes another look
    if (!stopping_) co_await runner_.turns.body_changed(id);
}

/// Starts the agents of the same harness that wait for this one's login.
Awaitable<void> Monitor::go_on_after_login(std::string harness) {
    constexpr std::chrono::milliseconds k_later{50};
    const auto entry = world_.harnesses.find(harness);
    if (!entry || entry->harness.ready_after.count() == 0) co_return;
    const auto time = entry->harness.ready_after + k_later;
    const bool slept = co_await async::sleep(time);
    if (slept && !stopping_) runner_.reconciler.room_changed();
}

/// Watches what the far side of an executor writes. The watch ends with the folder, which is removed with the run.
void Monitor::watch_far_side(const TaskId& id, const AgentRun& run) {
    const auto* task = world_.tasks.brief(id);
    if (!run.place || !task) return;
    const auto folder = agents::Launcher::inner_folder(world_.tasks.folder(*task) / "run", run.run);
    const auto made = files_.watch(folder, [this, id_of_run = run.run](const std::string& changed) {
        if (changed.empty() || changed == k_inner_started || changed == k_inner_exit)
            runner_.placements.look_at(id_of_run);
    });
    if (!made) log::warn("monitor", made.error().message, {{"task", id.value}});  // placements look by themselves
}

void Monitor::watch_exit(const TaskId& id, const AgentRun& run) {
    watch_far_side(id, run);
    runner_.placements.follow(id, run);
    async::spawn(world_.executor, "login", go_on_after_login(run.harness));
    if (!world_.settings.exit_notification || run.pid == 0) return;
    exits_[run.run.value] = async::spawn_stoppable(world_.executor, "exit watch", wait_for_exit(id, run));
}

Awaitable<void> Monitor::wait_for_exit(TaskId id, AgentRun run) {
    const auto ended = co_await world_.exits.wait(run.pid, run.start_time);
    if (!ended) {
        log::warn("monitor", ended.error().message, {{"task", id.value}});  // the poll sees it
        co_return;
    }
    if (stopping_) co_return;
    // Use a separate coroutine: stopping the watch must not stop the handling of the end.
    async::spawn(world_.executor, "exit", runner_.exits.agent_exited(id, run.run));
}

}  // namespace orange
