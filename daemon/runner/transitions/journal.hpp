#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {

/// An event with its task and project, as subscribers get it.
struct StreamEvent {
    std::int64_t number = 0;  ///< its place in this daemon's stream; 0: read from a history
    TaskId task;
    std::string project;
    HistoryEvent event;
    /// The time by which histories are merged: the event's own, or an earlier one of a later line of its history (the
    /// clock was set back in between). Only events that were read from a history have one.
    Timestamp order = {};
};

/// Selects events.
struct EventFilter {
    std::optional<TaskId> task;
    std::optional<std::string> project;
    std::vector<std::string> types;  ///< whole types, or the part before the dot; empty: all
    bool behind_wall = false;        ///< without `clashes.changed`, which names files of tasks that a wall hides

    bool wants(const StreamEvent& event) const;
};

/// Writes events durably to each task's history.jsonl, and publishes them to subscribers.
///
/// A cursor is "<boot>-<number>-<milliseconds>": an event's place in the stream of one daemon, and its time. The last
/// few thousand events are kept in memory and are found by their place. Older events, and those of earlier daemons, are
/// read from the tasks' histories by their time. No two events of a daemon have the same time (a collision moves the
/// later one by a millisecond), so no event is lost or repeated. Only the events of deleted tasks are lost with them.
class Journal {
  public:
    Journal(store::TaskStore& tasks, const Clock& clock);

    /// Appends an event to the task's history and publishes it. A history that cannot be written is logged; the event
    /// is still published.
    void write(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields = {});
    void write(const TaskRecord& record, HistoryEvent event);
    /// Writes an event that may have been written before a crash. Does nothing if the last mebibyte of the history has
    /// an event of this type with these fields (one of which must make it unique). After an Error, nothing is written
    /// or published.
    Result<void> write_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields);
    /// Calls write_once() for a caller that continues without the event: logs a failure and returns false.
    bool note_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields);
    /// Publishes an event that no history keeps.
    void publish(const TaskId& task, const std::string& project, HistoryEvent event);

    using Listener = std::function<void(const StreamEvent&)>;
    int listen(Listener listener);
    void unlisten(int id);

    /// Returns the cursor of the last event.
    std::string cursor() const;
    std::string cursor_of(const StreamEvent& event) const;
    /// Returns the events after a cursor, oldest first; with `task` only this task's. nullopt if they are not known:
    /// the text is no cursor, its time is in the future (a clock was set back), or there are so many events that
    /// reading the state again is cheaper.
    /// Histories are read in pieces, with everybody's turn in between; nothing happens between the last piece and the
    /// return.
    Awaitable<std::optional<std::vector<StreamEvent>>> since(std::string cursor, std::optional<TaskId> task = {}) const;
    /// Returns the last `limit` events that match `filter`, oldest first, also those of earlier daemons. Of a history,
    /// at most the last few thousand events are read.
    Awaitable<std::vector<StreamEvent>> recent(EventFilter filter, std::size_t limit) const;

  private:
    static constexpr std::size_t k_kept = 4096;

    struct Mark {
        std::string boot;
        std::int64_t number = 0;
        Timestamp time{};
    };
    static std::optional<Mark> place_from(const std::string& cursor);

    Result<bool> is_told(const TaskId& id, const std::string& type, const std::map<std::string, Scalar>& fields) const;
    Timestamp stamp(Timestamp wanted);
    void mend(const TaskRecord& record);
    void note(const TaskId& task, const std::string& project, const HistoryEvent& event);
    void send(const TaskId& task, const std::string& project, HistoryEvent event);
    /// The events that were in memory at any time of one call: the histories have them, too.
    struct Remembered {
        std::set<std::tuple<TaskId, Timestamp, std::string>> events;
        std::int64_t next = 0;  ///< the number of the first event that is not in `events`
    };
    void add_new(Remembered& remembered) const;
    Awaitable<std::vector<StreamEvent>> read_back(std::optional<TaskId> task, Timestamp after) const;
    Awaitable<std::vector<StreamEvent>> read_back_of(TaskId id, Timestamp after, EventFilter filter, std::size_t most,
                                                     Remembered& remembered) const;
    Awaitable<std::vector<StreamEvent>> recent_before(EventFilter filter, std::size_t missing,
                                                      Remembered remembered) const;

    store::TaskStore& tasks_;
    const Clock& clock_;
    std::string boot_;
    Timestamp began_;
    Timestamp last_;  ///< of the last event
    std::int64_t next_ = 1;
    std::deque<StreamEvent> recent_;
    std::map<int, Listener> listeners_;
    int next_listener_ = 1;
};

}  // namespace orange
