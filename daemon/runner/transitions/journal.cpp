#include "daemon/runner/transitions/journal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// A clock that is further back than this was set back, and its time is used. Otherwise the event gets a time of
/// k_later after the last one.
constexpr auto k_clock_was_set = 1s;
constexpr auto k_later = 1ms;
/// The tolerance between an event's time and the file system's time of writing it.
constexpr auto k_slack = 5s;

std::optional<std::int64_t> integer(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
    return value;
}

void sort_by_time(std::vector<StreamEvent>& events) {
    std::stable_sort(events.begin(), events.end(),
                     [](const StreamEvent& a, const StreamEvent& b) { return a.order < b.order; });
}

/// Keeps the `count` latest events, in the order of their times.
void keep_last(std::vector<StreamEvent>& events, std::size_t count) {
    sort_by_time(events);
    if (events.size() > count) events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(count));
}

/// Returns the time of the oldest of the `count` latest events. There must be at least `count`.
Timestamp oldest_of_last(const std::vector<StreamEvent>& events, std::size_t count) {
    std::vector<Timestamp> times;
    times.reserve(events.size());
    for (const auto& event : events) times.push_back(event.order);
    const auto place = times.end() - static_cast<std::ptrdiff_t>(count);
    std::nth_element(times.begin(), place, times.end());
    return *place;
}

/// A crash repeats the last events at once: less than this is written in between.
constexpr std::uintmax_t k_told_again_within = std::uintmax_t{1} << 20;
/// After this many older events in a row, no newer event comes before them, even if the clock was set back.
constexpr std::size_t k_surely_older = 256;
/// Histories, and lines of one, that are read in one turn of the loop.
constexpr std::size_t k_histories_at_once = 16, k_lines_at_once = 128;

/// The fields of an event that go into the log. Texts that people and agents wrote never do.
constexpr std::array k_logged = {"from",        "to",     "by",   "role",     "run",       "harness", "window",
                                 "exit_status", "reason", "hook", "ended_by", "workspace", "commit",  "crash_count"};

}  // namespace

bool EventFilter::wants(const StreamEvent& event) const {
    if (task && event.task != *task) return false;
    if (project && event.project != *project) return false;
    const auto& type = event.event.type;
    if (behind_wall && type == "clashes.changed") return false;
    if (types.empty()) return true;
    return std::any_of(types.begin(), types.end(),
                       [&](const std::string& wanted) { return type == wanted || type.starts_with(wanted + "."); });
}

Journal::Journal(store::TaskStore& tasks, const Clock& clock)
    : tasks_(tasks), clock_(clock), boot_(random_id(8)), began_(clock.now()), last_(began_) {}

Timestamp Journal::stamp(Timestamp wanted) {
    auto time = wanted == Timestamp{} ? clock_.now() : wanted;
    if (time <= last_ && last_ - time < k_clock_was_set) time = last_ + k_later;
    last_ = time;
    return time;
}

void Journal::note(const TaskId& task, const std::string& project, const HistoryEvent& event) {
    log::Fields fields = {{"task", task.value}, {"project", project}};
    const bool names = event.type == "summary.changed" || event.type == "branch.changed";
    for (const char* key : k_logged) {
        const auto found = event.fields.find(key);
        if (names || found == event.fields.end()) continue;
        if (const auto* text = std::get_if<std::string>(&found->second)) fields[key] = *text;
        if (const auto* number = std::get_if<std::int64_t>(&found->second)) fields[key] = std::to_string(*number);
    }
    log::info("journal", event.type, fields);
}

void Journal::write(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields) {
    write(record, HistoryEvent{std::move(type), clock_.now(), std::move(fields)});
}

/// Repairs a history with a torn line. The repair is an event, published before the next one.
void Journal::mend(const TaskRecord& record) {
    auto repaired = tasks_.repair_history(record.task.id, [this] { return stamp({}); });
    if (!repaired || !*repaired) return;  // the append that follows tries again and reports the failure
    note(record.task.id, record.task.project, **repaired);
    send(record.task.id, record.task.project, std::move(**repaired));
}

void Journal::write(const TaskRecord& record, HistoryEvent event) {
    mend(record);
    event.timestamp = stamp(event.timestamp);
    if (auto appended = tasks_.append_history(record.task.id, event); !appended) {
        log::error("journal", appended.error().message, {{"task", record.task.id.value}, {"event", event.type}});
    }
    note(record.task.id, record.task.project, event);
    send(record.task.id, record.task.project, std::move(event));
}

Result<bool> Journal::is_told(const TaskId& id, const std::string& type,
                              const std::map<std::string, Scalar>& fields) const {
    auto history = tasks_.read_history(id);
    while (history.read() < k_told_again_within) {
        TRY(const auto line, history.next_line());
        if (!line) break;
        if (line->find(type) == std::string::npos) continue;  // far cheaper than parsing
        const auto event = store::event_from_line(*line);
        if (event && event->type == type && event->fields == fields) return true;
    }
    return false;
}

Result<void> Journal::write_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields) {
    TRY(const auto told, is_told(record.task.id, type, fields));
    if (told) return {};
    mend(record);
    HistoryEvent event{std::move(type), stamp({}), std::move(fields)};
    TRY(tasks_.append_history(record.task.id, event));
    note(record.task.id, record.task.project, event);
    send(record.task.id, record.task.project, std::move(event));
    return {};
}

bool Journal::note_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields) {
    const auto written = write_once(record, std::move(type), std::move(fields));
    if (!written) log::error("journal", written.error().message, {{"task", record.task.id.value}});
    return written.has_value();
}

void Journal::publish(const TaskId& task, const std::string& project, HistoryEvent event) {
    event.timestamp = stamp(event.timestamp);
    note(task, project, event);
    send(task, project, std::move(event));
}

void Journal::send(const TaskId& task, const std::string& project, HistoryEvent event) {
    recent_.push_back(StreamEvent{next_++, task, project, std::move(event)});
    if (recent_.size() > k_kept) recent_.pop_front();
    const auto published = recent_.back();
    const auto listeners = listeners_;  // a listener may leave while it is called
    for (const auto& [id, listener] : listeners) {
        if (listeners_.contains(id)) listener(published);
    }
}

int Journal::listen(Listener listener) {
    listeners_[next_listener_] = std::move(listener);
    return next_listener_++;
}

void Journal::unlisten(int id) {
    listeners_.erase(id);
}

// --- cursors

std::string Journal::cursor() const {
    if (!recent_.empty()) return cursor_of(recent_.back());
    StreamEvent none;
    none.event.timestamp = began_;
    return cursor_of(none);
}

std::string Journal::cursor_of(const StreamEvent& event) const {
    return boot_ + "-" + std::to_string(event.number) + "-" +
           std::to_string(event.event.timestamp.time_since_epoch().count());
}

std::optional<Journal::Mark> Journal::place_from(const std::string& cursor) {
    const auto parts = split(cursor, '-');
    if (parts.size() != 3 || parts[0].empty()) return std::nullopt;
    const auto number = integer(parts[1]);
    const auto time = integer(parts[2]);
    if (!number || !time) return std::nullopt;
    return Mark{std::string(parts[0]), *number, Timestamp(std::chrono::milliseconds(*time))};
}

void Journal::add_new(Remembered& remembered) const {
    for (auto event = recent_.rbegin(); event != recent_.rend() && event->number >= remembered.next; ++event) {
        remembered.events.emplace(event->task, event->event.timestamp, event->event.type);
    }
    remembered.next = next_;
}

/// Reads at most some thousand lines, and lets others have their turns in between. Stops when it has the last `most`
/// that `filter` wants, and a few more, since a history is not quite in the order of its times.
Awaitable<std::vector<StreamEvent>> Journal::read_back_of(TaskId id, Timestamp after, EventFilter filter,
                                                          std::size_t most, Remembered& remembered) const {
    std::vector<StreamEvent> found;
    const auto* task = tasks_.brief(id);
    if (!task) co_return found;
    const std::string project = task->project;
    auto history = tasks_.read_history(id);
    add_new(remembered);
    std::size_t older = 0;
    Timestamp order = clock_.now() + k_clock_was_set;
    for (std::size_t seen = 0; seen < 2 * k_kept && older < k_surely_older; ++seen) {
        if (found.size() >= most + k_surely_older) break;
        if (seen % k_lines_at_once == k_lines_at_once - 1) co_await async::yield();
        const auto line = history.next_line();
        if (!line || !*line) break;
        auto event = store::event_from_line(**line);
        if (!event) continue;
        order = std::min(order, event->timestamp);
        older = event->timestamp <= after ? older + 1 : 0;
        if (event->timestamp <= after || remembered.events.contains({id, event->timestamp, event->type})) continue;
        StreamEvent read{0, id, project, std::move(*event), order};
        if (filter.wants(read)) found.push_back(std::move(read));
    }
    std::reverse(found.begin(), found.end());
    co_return found;
}

Awaitable<std::vector<StreamEvent>> Journal::read_back(std::optional<TaskId> wanted, Timestamp after) const {
    Remembered remembered;
    if (wanted) co_return co_await read_back_of(*wanted, after, {}, k_kept, remembered);
    std::vector<StreamEvent> events;
    std::size_t looked = 0;
    const auto all = tasks_.histories().all();
    for (const auto& [written, id] : all) {
        if (written < after - k_slack || events.size() > k_kept) break;
        if (++looked % k_histories_at_once == 0) co_await async::yield();
        auto found = co_await read_back_of(id, after, {}, k_kept, remembered);
        events.insert(events.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    }
    sort_by_time(events);
    co_return events;
}

Awaitable<std::optional<std::vector<StreamEvent>>> Journal::since(std::string cursor,
                                                                  std::optional<TaskId> task) const {
    const auto place = place_from(cursor);
    if (!place) co_return std::nullopt;
    const bool ours = place->boot == boot_;
    if (ours ? place->number >= next_ : place->time > began_) co_return std::nullopt;
    const auto oldest = recent_.empty() ? next_ : recent_.front().number;
    std::vector<StreamEvent> events;
    std::int64_t from = ours ? place->number + 1 : 1;
    if (from < oldest || place->number == 0 || !ours) {
        events = co_await read_back(task, place->time);
        from = oldest;
        const bool is_all_here = recent_.empty() || recent_.front().number <= from;
        if (!is_all_here) co_return std::nullopt;  // so much has happened while the histories were read
    }
    for (const auto& event : recent_) {
        if (event.number >= from && (!task || event.task == *task)) events.push_back(event);
    }
    if (events.size() > k_kept) co_return std::nullopt;
    co_return events;
}

Awaitable<std::vector<StreamEvent>> Journal::recent(EventFilter filter, std::size_t limit) const {
    std::vector<StreamEvent> events;
    for (auto at = recent_.rbegin(); at != recent_.rend() && events.size() < limit; ++at) {
        if (filter.wants(*at)) events.push_back(*at);
    }
    std::reverse(events.begin(), events.end());
    if (events.size() == limit) co_return events;
    Remembered remembered;
    add_new(remembered);
    auto older = co_await recent_before(std::move(filter), limit - events.size(), std::move(remembered));
    older.insert(older.end(), events.begin(), events.end());
    co_return older;
}

/// Takes events from the histories, the last written first, until no other history can have later ones.
Awaitable<std::vector<StreamEvent>> Journal::recent_before(EventFilter filter, std::size_t missing,
                                                           Remembered remembered) const {
    std::vector<StreamEvent> older;
    auto all = tasks_.histories().all();
    if (filter.task) all = {{Timestamp::max(), *filter.task}};
    // In a copied or restored home, each history may be newer than its events: read from each only what can count.
    Timestamp after{};
    std::size_t looked = 0;
    for (const auto& [written, id] : all) {
        if (written < after - k_slack) break;
        const auto* task = tasks_.brief(id);
        if (!task || (filter.project && task->project.text() != *filter.project)) continue;
        if (++looked % k_histories_at_once == 0) co_await async::yield();
        auto found = co_await read_back_of(id, after, filter, missing, remembered);
        older.insert(older.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
        if (found.empty() || older.size() < missing) continue;
        if (older.size() > 2 * missing) keep_last(older, missing);
        after = oldest_of_last(older, missing) - std::chrono::milliseconds(1);
    }
    keep_last(older, missing);
    co_return older;
}

}  // namespace orange
