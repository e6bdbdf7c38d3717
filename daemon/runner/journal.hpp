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
    std::int64_t number = 0;
    TaskId task;
    std::string project;
    HistoryEvent event;
};

/// What happened: into history.jsonl, durably, and out to whoever listens. A cursor is "<boot>-<number>"; the last few
/// thousand events are kept in memory, so that a client that reconnects misses nothing or is told to read anew.
class Journal {
  public:
    Journal(store::TaskStore& tasks, const Clock& clock);

    /// Appends to the task's history and publishes. A history that cannot be written is logged; the event still goes
    /// out.
    void write(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields = {});
    void write(const TaskRecord& record, HistoryEvent event);
    /// For what is repeated after a crash: writes unless the history has an event of this type with these fields (one
    /// of which makes it unique). An Error has written and published nothing.
    Result<void> write_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields);
    /// Publishes without a task's history (a task that was deleted, the daemon itself).
    void publish(const TaskId& task, const std::string& project, HistoryEvent event);

    using Listener = std::function<void(const StreamEvent&)>;
    int listen(Listener listener);
    void unlisten(int id);

    std::string cursor() const { return cursor_of(next_ - 1); }
    std::string cursor_of(std::int64_t number) const { return boot_ + "-" + std::to_string(number); }
    /// The events after a cursor; nothing where the cursor is of another daemon or too old.
    std::optional<std::vector<StreamEvent>> since(const std::string& cursor) const;

  private:
    static constexpr std::size_t k_kept = 4096;

    store::TaskStore& tasks_;
    const Clock& clock_;
    std::string boot_;
    std::int64_t next_ = 1;
    std::deque<StreamEvent> recent_;
    std::map<int, Listener> listeners_;
    int next_listener_ = 1;
};

}  // namespace orange
