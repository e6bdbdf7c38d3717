#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// A task folder that cannot be read: listed, never overwritten, never in the way of the others.
struct Unreadable {
    std::string project;
    std::string id;
    std::string why;
};

/// The tasks: state.json on disk, authoritative, and an index of all of them in memory. One write of state.json commits
/// a change; nothing here is proportional to the number of tasks but load(). TASK.md is TaskFiles' business.
///
/// Pointers to records stay valid until that task is saved or removed: copy before a co_await.
class TaskStore {
  public:
    TaskStore(FileSystem& files, Path root);

    /// Reads every task folder. A folder without state.json is imported from its TASK.md, once. One unreadable task
    /// does not keep the others from loading.
    Result<void> load();

    const TaskRecord* find(const TaskId& id) const;
    /// A whole id, or an unambiguous beginning of at least four characters.
    Result<TaskId> resolve(std::string_view text) const;
    /// The active task (status not in `ended`) on that branch of that project: branches belong to one task at a time.
    const TaskRecord* on_branch(const std::string& project, const std::string& branch) const;
    /// Newest first. Calls `visit` until it returns false.
    void each(const std::function<bool(const TaskRecord&)>& visit) const;
    /// Pending tasks of a project that wait for a workspace, first in first out.
    std::vector<TaskId> queue(const std::string& project) const;
    /// Tasks that have not ended, or whose end is not finished (an intent, an agent): what the monitor looks at.
    const std::set<TaskId>& active() const { return active_; }
    std::size_t size() const { return records_.size(); }
    const std::vector<Unreadable>& unreadable() const { return unreadable_; }

    /// Makes the folder with state.json and TASK.md.
    Result<void> create(const TaskRecord& record, std::string_view body);
    /// The commit point of every change: replaces state.json, then the index. updated_at is the caller's.
    Result<void> save(const TaskRecord& record);
    /// Removes the folder with everything in it.
    Result<void> remove(const TaskId& id);

    /// history.jsonl: appends durably. A torn last line is first cut off and kept aside as history.jsonl.torn.
    Result<void> append_history(const TaskId& id, const HistoryEvent& event);
    /// All readable events, oldest first.
    Result<std::vector<HistoryEvent>> history(const TaskId& id) const;

    /// tasks/<project>/<id>
    Path folder(const TaskRecord& record) const;

  private:
    void index(const TaskRecord& record);
    void unindex(const TaskRecord& record);
    void load_folder(const std::string& project, const std::string& id);
    Result<TaskRecord> read_folder(const std::string& project, const std::string& id);
    Result<TaskRecord> import_folder(const std::string& project, const std::string& id);
    Result<void> mend_history(const Path& file, Timestamp now);

    FileSystem& files_;
    Path root_;
    std::unordered_map<TaskId, TaskRecord> records_;
    std::set<std::pair<Timestamp, TaskId>> by_age_;
    std::map<std::pair<std::string, std::string>, std::set<TaskId>> by_branch_;  ///< active tasks only
    std::map<std::string, std::set<std::pair<std::int64_t, TaskId>>> queues_;
    std::set<TaskId> active_;
    std::set<std::string> known_history_;  ///< history files whose tail was checked
    std::vector<Unreadable> unreadable_;
};

/// Ended means `done` or `cancelled` in every workflow that ships, and any terminal state of a custom one; the store
/// knows only these two and treats the others as active, which costs a little and loses nothing.
bool has_ended(std::string_view status);

}  // namespace orange::store
