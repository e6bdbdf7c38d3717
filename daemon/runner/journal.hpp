#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {

/// An event and where it belongs, as subscribers get it.
struct StreamEvent {
    std::int64_t number = 0;  ///< its place in this daemon's stream; 0: read back from a history
    TaskId task;
    std::string project;
    HistoryEvent event;
};

/// Which events somebody wants.
struct EventFilter {
    std::optional<TaskId> task;
    std::optional<std::string> project;
    std::vector<std::string> types;  ///< whole types, or what stands before the dot; empty: all

    bool wants(const StreamEvent& event) const;
};

/// What happened: into history.jsonl, durably, and out to whoever listens.
///
/// A cursor is "<boot>-<number>-<milliseconds>": an event's place in the stream of one daemon, and its time. The last
/// few thousand events are kept in memory, where the place tells. What is older, or of a daemon before this one, is
/// read back from the tasks' histories by the time: no two events of a daemon have the same (a collision moves the
/// later one by a millisecond), so nothing is lost or told twice. Only the events of deleted tasks are gone with them.
class Journal {
  public:
    Journal(store::TaskStore& tasks, const Clock& clock);

    /// Appends to the task's history and publishes. A history that cannot be written is logged; the event still goes
    /// out.
    void write(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields = {});
    void write(const TaskRecord& record, HistoryEvent event);
    /// For what is repeated after a crash: writes unless the last mebibyte of the history has an event of this type
    /// with these fields (one of which makes it unique). An Error has written and published nothing.
    Result<void> write_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields);
    /// The same for callers that continue without the event: a failure is logged, and false.
    bool note_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields);
    /// Publishes without a task's history (a task that was deleted, the daemon itself).
    void publish(const TaskId& task, const std::string& project, HistoryEvent event);

    using Listener = std::function<void(const StreamEvent&)>;
    int listen(Listener listener);
    void unlisten(int id);

    /// Where the stream is now.
    std::string cursor() const;
    std::string cursor_of(const StreamEvent& event) const;
    /// The events after a cursor, oldest first. Nothing where that cannot be told: it is no cursor, it is of the
    /// future (a clock was set back), or so much has happened since that reading the state anew is cheaper.
    std::optional<std::vector<StreamEvent>> since(const std::string& cursor) const;
    /// The last `limit` events that `filter` wants, oldest first, of this daemon and those before it. Of what is read
    /// back, no more than a task's last few thousand are looked at.
    std::vector<StreamEvent> recent(const EventFilter& filter, std::size_t limit) const;

  private:
    static constexpr std::size_t k_kept = 4096;

    struct Place {
        std::string boot;
        std::int64_t number = 0;
        Timestamp time{};
    };
    static std::optional<Place> place_from(const std::string& cursor);

    Result<bool> is_told(const TaskId& id, const std::string& type, const std::map<std::string, Scalar>& fields) const;
    Timestamp stamp(Timestamp wanted);
    void mend(const TaskRecord& record);
    void note(const TaskId& task, const std::string& project, const HistoryEvent& event);
    void send(const TaskId& task, const std::string& project, HistoryEvent event);
    /// From when on everything is in memory.
    Timestamp remembered_from() const;
    std::vector<StreamEvent> read_back(Timestamp after, Timestamp before) const;
    void read_back_of(const TaskRecord& record, Timestamp after, Timestamp before,
                      std::vector<StreamEvent>& into) const;

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
