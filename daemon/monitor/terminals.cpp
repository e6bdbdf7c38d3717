#include "daemon/monitor/terminals.hpp"

#include <algorithm>
#include <utility>

#include "daemon/agents/events.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_quiet = 1s;
constexpr auto k_latest = 3s;
/// A watch reports the first write and ends. This pause limits how often an agent that always writes wakes the daemon.
constexpr auto k_watch_again = 500ms;
constexpr auto k_between_events = 250ms;
constexpr FileWatcher::WatchId k_none = 0;

}  // namespace

std::optional<Pacing::Time> Pacing::due() const {
    if (!first_) return std::nullopt;
    return std::min(last_ + k_quiet, std::max(*first_ + k_latest, last_));
}

void Terminals::follow(const TaskId& id) {
    if (stopped_) return;
    const auto record = runner_.world.tasks.awake(id);
    const auto runs = record ? record->runs : std::vector<AgentRun>{};
    const auto found = followed_.find(id);
    if (found == followed_.end() && runs.empty()) return;
    auto& watches = followed_[id].watches;
    std::erase_if(watches, [&](const auto& entry) {
        const auto is_it = [&](const AgentRun& run) { return run.pid == entry.first; };
        if (std::any_of(runs.begin(), runs.end(), is_it)) return false;
        if (entry.second != k_none) files_.unwatch(entry.second);
        return true;
    });
    for (const auto& run : runs) {
        if (run.pid > 0 && !watches.contains(run.pid)) wrote(id, run.pid);
    }
    watch_events(id, !watches.empty());
    if (watches.empty() && !followed_[id].updating && !followed_[id].listening) followed_.erase(id);
}

void Terminals::watch_events(const TaskId& id, bool any_run) {
    auto& watch = followed_[id].run_folder;
    if (!any_run && watch != k_none) {
        files_.unwatch(std::exchange(watch, k_none));
    } else if (any_run && watch == k_none) {
        const auto record = runner_.world.tasks.awake(id);
        const auto made = files_.watch(runner_.agents.run_folder(*record), [this, id](const std::string& name) {
            if (name.empty() || name.ends_with(".events")) told(id);
            if (name.empty() || name.ends_with(".begun")) runner_.exits.look_at_start(id);
        });
        if (made) watch = *made;
        if (!made) log::debug("monitor", made.error().message, {{"task", id.value}});  // the poll looks instead
    }
}

void Terminals::told(const TaskId& id) {
    const auto found = followed_.find(id);
    if (stopped_ || found == followed_.end()) return;
    found->second.told = true;
    if (std::exchange(found->second.listening, true)) return;
    async::spawn(runner_.world.executor, "events", listen(id));
}

void Terminals::look_at_events(const TaskId& id) {
    const auto record = runner_.world.tasks.awake(id);
    const auto found = followed_.find(id);
    if (record == nullptr || found == followed_.end()) return;
    bool is_new = false;
    for (const auto& run : record->runs) {
        if (!run.place || !run.place->is_elsewhere()) continue;
        // A network file system learns the size when the file is opened.
        const auto file = agents::events_file(runner_.agents.run_folder(*record), run.run);
        const auto end = runner_.world.files.read_before(file, std::nullopt, 0);
        if (!end) continue;
        is_new = std::exchange(found->second.events[run.run], end->from) != end->from || is_new;
    }
    if (is_new) told(id);
}

Awaitable<void> Terminals::listen(TaskId id) {
    bool slept = true;
    while (slept && !stopped_ && followed_[id].told) {
        followed_[id].told = false;
        co_await runner_.activities.update(id);
        if (runner_.outbox.may_be_seen(id)) runner_.reconciler.wake(id);
        slept = co_await async::sleep(k_between_events);
    }
    followed_[id].listening = false;
    follow(id);
}

bool Terminals::is_quiet(const TaskId& id) const {
    const auto found = followed_.find(id);
    if (found == followed_.end() || found->second.updating || found->second.watches.empty()) return false;
    return std::ranges::all_of(found->second.watches, [](const auto& entry) { return entry.second != k_none; });
}

void Terminals::wrote(const TaskId& id, std::int64_t pid) {
    if (stopped_) return;
    auto& followed = followed_[id];
    followed.watches[pid] = k_none;
    followed.pacing.wrote(async::now());
    written_(id);
    if (std::exchange(followed.updating, true)) return;
    async::spawn(runner_.world.executor, "activity", update_while_written(id));
}

bool Terminals::watch(const TaskId& id) {
    bool any = false;
    for (auto& [pid, watch] : followed_[id].watches) {
        any = any || watch == k_none;
        const auto terminal = watch == k_none ? process::terminal_of(pid) : std::nullopt;
        if (!terminal) continue;
        const auto made = files_.watch_once(*terminal, [this, id, pid = pid] { wrote(id, pid); });
        if (made) watch = *made;
        if (!made) log::debug("monitor", made.error().message, {{"task", id.value}});  // the poll looks instead
    }
    return any;
}

Awaitable<void> Terminals::update_while_written(TaskId id) {
    while (co_await async::sleep(k_watch_again) && !stopped_) {
        // Watch before looking, so that a write after the look causes the next one.
        if (watch(id)) written_(id);
        const auto due = followed_[id].pacing.due();
        if (!due) break;
        if (async::now() < *due) continue;
        followed_[id].pacing.looked();
        co_await runner_.activities.update(id);
        if (runner_.outbox.may_be_seen(id)) runner_.reconciler.wake(id);
        const auto record = runner_.world.tasks.awake(id);
        if (record && runner_.activities.is_in_doubt(*record)) followed_[id].pacing.wrote(async::now() + k_quiet);
    }
    followed_[id].updating = false;
    follow(id);
}

}  // namespace orange
