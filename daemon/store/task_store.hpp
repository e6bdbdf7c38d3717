#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/store/brief.hpp"
#include "daemon/store/history_reader.hpp"
#include "daemon/store/history_times.hpp"
#include "daemon/store/run_index.hpp"

namespace orange::store {

/// A task folder that cannot be read. The folder is listed and never overwritten, and does not affect other tasks.
struct Unreadable {
    std::string project;
    std::string id;  ///< empty: the folder of all tasks of the project
    std::string why;
    /// The task as its TASK.md has it, the last known state. Nothing if TASK.md cannot be read either.
    std::optional<Task> shown;
};

/// The task that a branch belongs to.
struct BranchHolder {
    TaskId task;
    std::string status;
    bool readable = true;
};

/// A record as it was when it was looked up: a later save of the task does not change it.
using RecordPtr = std::shared_ptr<const TaskRecord>;

/// A task's place in the order of creation.
struct Age {
    Timestamp created_at{};
    TaskId id;
};

/// The ways in which a text may name a task.
enum class Naming {
    id_or_branch,  ///< for calls that cannot be undone, and for calls whose text may begin with such words
    anything,      ///< also by words of its summary
};

/// The tasks: an authoritative state.json for each on disk, and an index of all of them in memory. The runner reads and
/// saves tasks here; other parts only read them. One write of state.json commits a change; only load() takes time in
/// proportion to the number of tasks. A failed write changes neither the file nor the index. TaskFiles handles TASK.md.
///
/// The store keeps only the brief of a task that rests() in memory. Code that acts by itself calls awake(). Code that
/// needs only a brief calls brief(). Code that needs the whole record of any task calls read(), which may read a file.
class TaskStore {
  public:
    static constexpr std::size_t k_no_limit = static_cast<std::size_t>(-1);

    TaskStore(FileSystem& files, Path root);

    /// Reads all tasks. A folder without state.json is imported from its TASK.md once. An unreadable task goes to
    /// unreadable(), and the others load. For a task that rests, only the brief is read (brief_of_resting()), and its
    /// folder is not listed: tidy_next() does that.
    Result<void> load();
    /// Loads the tasks whose folders have come since, whole: moved away and back, or restored from a backup. Returns
    /// them.
    std::vector<TaskId> load_new();
    /// Sets the times of all tasks that do not rest to `now` if they are later, because the clock was wrong then: no
    /// age is negative, and nothing waits for a year. The files follow with the next save.
    void end_times_at(Timestamp now);
    /// The rest of load() for the next of the tasks that rest: removes the temporary files that a killed daemon left in
    /// the task's folder, and looks at the task's history. Returns false if there is no such task any more.
    bool tidy_next();

    /// Returns the record of a task that does not rest, without reading a file; null if there is no such task.
    RecordPtr awake(const TaskId& id) const;
    /// Returns the record of any task. state.json of a task that rests is read each time. conflict if that file is
    /// whole, but says that the task does not rest, is of a newer Orange or belongs to another task.
    Result<RecordPtr> read(const TaskId& id) const;
    /// Reads what these tasks have used, of a task that rests from its state.json, in one pass over each folder. `take`
    /// gets an Error for a task that cannot be read; a task that is gone is left out.
    void read_spent(const std::vector<TaskId>& ids,
                    const std::function<void(const TaskId& id, Result<Spent> spent)>& take) const;
    /// Returns the brief of any task without reading a file; null if there is no such task. The pointer stays valid
    /// until the task is removed: copy what you need before a co_await.
    const Brief* brief(const TaskId& id) const;
    /// Returns the task that a person means: by its whole id, by the beginning of its id in any case, by its branch or,
    /// if `by` allows it, by words of its summary. An error lists the candidates. The cost grows with the number of
    /// tasks, except for a whole id.
    Result<TaskId> resolve(std::string_view text, Naming by = Naming::anything) const;
    /// Returns the shortest beginning of the id, at least four characters, that no other task's id has. The task may
    /// have been deleted.
    std::string short_id(const TaskId& id) const;
    /// Replaces whole ids in a text for people by short ids. Ids in paths and names stay.
    std::string with_short_ids(std::string text) const;
    /// Adds the detail short_ids, "ID=SHORT ID=SHORT", to an error: the short ids of the whole ids in it, which stay.
    Error with_short_ids(Error error) const;
    /// Returns the active task (status not in `ended`) on that branch of that project: a branch belongs to at most one
    /// active task. An unreadable task holds the branch that its TASK.md names.
    std::optional<BranchHolder> on_branch(const std::string& project, const std::string& branch) const;
    /// Calls `visit` for each task, newest first, beginning behind `after`, until it returns false.
    void each(const std::function<bool(const Brief&)>& visit, const std::optional<Age>& after = {}) const;
    /// Calls `visit` for all tasks that do not rest, newest first.
    void each_awake(const std::function<void(const TaskRecord&)>& visit) const;
    /// Calls `visit` as each() does, for tasks that have not ended or still have an alarm.
    void each_open(const std::function<bool(const TaskRecord&)>& visit) const;
    /// Returns true for the tasks of each_open().
    bool is_open(const Brief& brief) const;
    /// Returns the number of tasks that are not open; only of that project, if one is named.
    std::size_t closed(const std::optional<std::string>& project) const;
    /// Returns a project's pending tasks that wait for a workspace and for no other task, first in first out.
    std::vector<TaskId> queue(const std::string& project) const;
    /// Returns the place of the task in its queue, from 1; 0 if it is not in the queue.
    std::int64_t queue_place(const TaskRecord& record) const;
    /// Returns the tasks that wait until this one is done, and those that are built on it; a task with this id does not
    /// need to exist.
    std::vector<TaskId> blocked_by(const TaskId& id) const;
    /// Returns the sub-tasks of a task, oldest first, including ended ones; the task itself does not need to exist.
    std::vector<TaskId> children_of(const TaskId& id) const;
    /// Returns all tasks that have sub-tasks.
    std::vector<TaskId> parents() const;
    /// Returns all tasks that wait for other tasks.
    const std::set<TaskId>& blocked() const { return blocked_; }
    /// Returns all tasks with an agent that waits for room.
    const std::set<TaskId>& held() const { return held_; }
    /// Returns true if a project has a task in its queue.
    bool any_queued() const;
    /// Tasks that have not ended, or whose end is not finished (an intent, an agent, what is left of one): what the
    /// monitor looks at.
    const std::set<TaskId>& active() const { return active_; }
    /// Returns the index that finds the task of a process.
    const RunIndex& runs() const { return runs_; }
    std::size_t size() const { return entries_.size(); }
    const std::vector<Unreadable>& unreadable() const { return unreadable_; }
    /// Returns true if load() has failed: there may be more tasks than these.
    bool has_failed_to_load() const { return has_failed_to_load_; }

    /// Makes the folder with state.json and TASK.md.
    Result<void> create(const TaskRecord& record, std::string_view body);
    /// Replaces state.json, then the index: the commit point of every change. The caller sets updated_at. Use `synced`
    /// before people or agents learn of the change. `atomic` is enough if the next daemon would find it out, or do it,
    /// again. After a power failure one of several `atomic` writes is on disk, never a mixture.
    Result<void> save(const TaskRecord& record, Durability durability = Durability::synced);
    /// Removes the folder with everything in it.
    Result<void> remove(const TaskId& id);

    /// `observer` is called after each save and removal of a task; it must not change any. Returns a number for
    /// unobserve().
    int observe(std::function<void(const TaskId&)> observer);
    void unobserve(int number) { observers_.erase(number); }

    /// Repairs a torn last line of history.jsonl: the line is moved to history.jsonl.torn. In a very large file, which
    /// is not rewritten, it stays as an unreadable line. Returns the event history.repaired, already written, at the
    /// time that `now` returns; nothing if the file was intact.
    Result<std::optional<HistoryEvent>> repair_history(const TaskId& id, const std::function<Timestamp()>& now);
    /// Appends an event to history.jsonl and syncs it; repairs the file first. Its line names the hash of the event
    /// before it (history_chain.hpp). This hash is kept in memory: what another program does to the end of the file
    /// meanwhile breaks the chain.
    Result<void> append_history(const TaskId& id, const HistoryEvent& event);
    /// Returns the last `count` readable events in the last 4 MiB, oldest first.
    Result<std::vector<HistoryEvent>> history(const TaskId& id, std::size_t count = k_no_limit) const;
    /// Returns a reader for events further back, or for a single one. If there is no such task, the reader is empty.
    HistoryReader read_history(const TaskId& id) const;
    /// Returns the hash of the last line that this daemon has written or repaired; empty if there was none.
    std::string chain_head(const TaskId& id) const;
    /// Returns the times of the last writes. For a file that was changed from outside since load(), it is an earlier
    /// time. The histories that tidy_next() has not reached yet are missing.
    const HistoryTimes& histories() const { return histories_; }

    /// tasks/<project>/<id>
    Path folder(const TaskRecord& record) const;
    Path folder(const Brief& brief) const;

  private:
    struct Entry {
        Brief brief;
        bool open = false;    ///< one of each_open()
        bool is_tidy = true;  ///< load() or tidy() has looked at its folder
        RecordPtr record;     ///< null: the task rests
        bool rests() const { return record == nullptr; }
    };
    struct Older {
        using is_transparent = void;
        using Key = std::pair<Timestamp, std::string_view>;
        static Key key(const Entry* entry) { return {entry->brief.created_at, entry->brief.id.value}; }
        static Key key(const Age& age) { return {age.created_at, age.id.value}; }
        bool operator()(const auto& a, const auto& b) const { return key(a) < key(b); }
    };
    /// The beginning of an id in any case, and the whole id.
    struct Name {
        std::string_view beginning;
        std::string_view whole;
    };
    struct ByName {
        using is_transparent = void;
        static Name key(const Entry* entry) { return {entry->brief.id.value, entry->brief.id.value}; }
        static Name key(const Name& name) { return name; }
        static bool comes_before(const Name& a, const Name& b);
        bool operator()(const auto& a, const auto& b) const { return comes_before(key(a), key(b)); }
    };
    using EntryPtr = std::unique_ptr<Entry>;
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
        std::size_t operator()(const EntryPtr& entry) const { return (*this)(entry->brief.id.value); }
    };
    struct SameId {
        using is_transparent = void;
        static std::string_view key(std::string_view id) { return id; }
        static std::string_view key(const EntryPtr& entry) { return entry->brief.id.value; }
        bool operator()(const auto& a, const auto& b) const { return key(a) == key(b); }
    };
    using ByAge = std::set<const Entry*, Older>;

    /// Returns the tasks whose whole ids are in a text, with their short ids.
    std::vector<std::pair<TaskId, std::string>> short_ids_in(std::string_view text) const;
    std::vector<TaskId> named(std::string_view text) const;
    std::vector<TaskId> summarized(std::string_view text) const;
    std::string candidates(const std::vector<TaskId>& ids) const;
    Error unknown(std::string_view text) const;
    void notify_observers(const TaskId& id) const;
    Entry* entry_of(const TaskId& id) const;
    /// Calls `visit` as each() does, for the tasks of each_open().
    void each_open_brief(const std::function<bool(const Brief&)>& visit) const;
    Entry& add_entry(Brief brief);
    void index(Entry& entry);
    void index(const RecordPtr& saved);
    void unindex(Entry& entry);
    void add_unreadable(const std::string& project, const std::string& id, std::string why);
    bool is_above(const TaskId& id, TaskId below) const;
    void load_folder(const std::string& project, const std::string& id, const Result<std::string>& state);
    bool load_resting(const std::string& project, const std::string& id, std::string_view state);
    void tidy(Entry& entry);
    void look_at_history(const Entry& entry);
    Result<TaskRecord> record_from(const Result<std::string>& state, const std::string& project,
                                   const std::string& id) const;
    Result<TaskRecord> import_folder(const std::string& project, const std::string& id);
    /// A history whose end was checked: its size at that time, since another program may write to it later, and the
    /// hash of its last event, which the next line names.
    struct HistoryEnd {
        std::uintmax_t size = 0;
        std::string head;
    };
    Result<std::optional<HistoryEvent>> mend(const Path& file, const TaskId& id, const std::function<Timestamp()>& now,
                                             std::string& head);

    FileSystem& files_;
    Path root_;
    std::unordered_set<EntryPtr, Hash, SameId> entries_;
    std::set<const Entry*, ByName> ids_;
    ByAge by_age_;
    ByAge awake_;                               ///< tasks that do not rest
    ByAge open_by_age_;                         ///< those of each_open()
    std::map<std::string, std::size_t> sizes_;  ///< by project: number of tasks
    std::map<std::string, std::size_t> open_;   ///< by project: number of tasks of each_open()
    std::map<std::pair<std::string, std::string>, std::set<TaskId>> by_branch_;  ///< active tasks only
    std::map<std::string, std::set<std::pair<std::int64_t, TaskId>>> queues_;
    std::set<TaskId> active_;
    std::set<TaskId> blocked_;
    std::set<TaskId> held_;
    std::map<TaskId, std::set<TaskId>> dependents_;  ///< blocker → the tasks of blocked_ that wait for it
    std::map<TaskId, ByAge> children_;               ///< parent → its sub-tasks
    RunIndex runs_;
    HistoryTimes histories_;
    std::optional<Age> tidied_;                        ///< tidy_next() has come to here, newest first
    std::map<std::string, HistoryEnd> known_history_;  ///< by file
    std::vector<Unreadable> unreadable_;
    bool has_failed_to_load_ = false;
    /// By project: the last change of its folder that load_new() has seen.
    std::map<std::string, std::chrono::sys_time<std::chrono::nanoseconds>> looked_into_;
    std::map<int, std::function<void(const TaskId&)>> observers_;
    int next_observer_ = 1;
};

}  // namespace orange::store
