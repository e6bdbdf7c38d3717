#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/store/history_reader.hpp"
#include "daemon/store/history_times.hpp"
#include "daemon/store/run_index.hpp"

namespace orange::store {

/// A task folder that cannot be read: listed, never overwritten, never in the way of the others.
struct Unreadable {
    std::string project;
    std::string id;
    std::string why;
    /// What its TASK.md says: the last that is known of it. Nothing where that cannot be read either.
    std::optional<Task> shown;
};

/// The task that a branch belongs to.
struct BranchHolder {
    TaskId task;
    std::string status;
    bool readable = true;
};

/// What may name a task.
enum class Naming {
    id_or_branch,  ///< for a call that cannot be undone, or whose text may begin with such words
    anything,      ///< words of its summary too
};

/// The tasks: state.json on disk, authoritative, and an index of all of them in memory. One write of state.json commits
/// a change; nothing here is proportional to the number of tasks but load(). TASK.md is TaskFiles' business.
///
/// Pointers to records stay valid until that task is saved or removed: copy before a co_await.
class TaskStore {
  public:
    static constexpr std::size_t k_no_limit = static_cast<std::size_t>(-1);

    TaskStore(FileSystem& files, Path root);

    /// Reads every task folder. A folder without state.json is imported from its TASK.md, once. One unreadable task
    /// does not keep the others from loading.
    Result<void> load();

    const TaskRecord* find(const TaskId& id) const;
    /// The task that a person means: by its whole id, by the beginning of its id in any case, by its branch or, if
    /// `by` allows it, by words of its summary. An error lists the candidates. Only a whole id costs the same with any
    /// number of tasks.
    Result<TaskId> resolve(std::string_view text, Naming by = Naming::anything) const;
    /// The shortest beginning of the id, at least four characters, that no other task's id has; also of a task that was
    /// deleted.
    std::string short_id(const TaskId& id) const;
    /// A text for people, who type short ids. Ids in paths and names stay.
    std::string with_short_ids(std::string text) const;
    /// An error keeps whole ids; its detail short_ids says what people type for them: "ID=SHORT ID=SHORT".
    Error with_short_ids(Error error) const;
    /// The active task (status not in `ended`) on that branch of that project: branches belong to one task at a time.
    /// One that cannot be read keeps the branch that its TASK.md names.
    std::optional<BranchHolder> on_branch(const std::string& project, const std::string& branch) const;
    /// Newest first. Calls `visit` until it returns false.
    void each(const std::function<bool(const TaskRecord&)>& visit) const;
    /// The same of those alone that have not ended, or whose alarm has outlived them.
    void each_open(const std::function<bool(const TaskRecord&)>& visit) const;
    bool is_open(const TaskRecord& record) const;
    /// How many the others are; of that project, if one is named.
    std::size_t closed(const std::optional<std::string>& project) const;
    /// Pending tasks of a project that wait for a workspace and for nothing else, first in first out.
    std::vector<TaskId> queue(const std::string& project) const;
    /// From 1; 0 where it does not wait.
    std::int64_t queue_place(const TaskRecord& record) const;
    /// The tasks that wait until this one is done; it needs not be there.
    std::vector<TaskId> blocked_by(const TaskId& id) const;
    /// Its sub-tasks that are there, oldest first, ended ones too; it needs not be there itself.
    std::vector<TaskId> children_of(const TaskId& id) const;
    /// All that have sub-tasks.
    std::vector<TaskId> parents() const;
    /// All that wait for others to be done.
    const std::set<TaskId>& blocked() const { return blocked_; }
    /// All that have an agent that waits for room.
    const std::set<TaskId>& held() const { return held_; }
    /// A task is in some project's queue.
    bool any_queued() const;
    /// Tasks that have not ended, or whose end is not finished (an intent, an agent, what is left of one): what the
    /// monitor looks at.
    const std::set<TaskId>& active() const { return active_; }
    /// Whose agent a process is.
    const RunIndex& runs() const { return runs_; }
    std::size_t size() const { return records_.size(); }
    const std::vector<Unreadable>& unreadable() const { return unreadable_; }

    /// Makes the folder with state.json and TASK.md.
    Result<void> create(const TaskRecord& record, std::string_view body);
    /// The commit point of every change: replaces state.json, then the index. updated_at is the caller's. Whoever is
    /// told that something has happened is told after a `synced` one; what the next daemon would find out, or do, again
    /// may be `atomic`. Of several, a loss of power leaves an earlier one, never a mixture.
    Result<void> save(const TaskRecord& record, Durability durability = Durability::synced);
    /// Removes the folder with everything in it.
    Result<void> remove(const TaskId& id);

    /// `observer` is called after each save and removal of a task; it must not change any. Returns a number for
    /// unobserve().
    int observe(std::function<void(const TaskId&)> observer);
    void unobserve(int number) { observers_.erase(number); }

    /// A torn last line of history.jsonl is cut off and kept aside as history.jsonl.torn (in a very large one, which is
    /// not written anew, it stays as a line that nobody can read). Returns the event that says so, which is written by
    /// then, at the time that `now` gave; nothing where there was nothing to mend.
    Result<std::optional<HistoryEvent>> mend_history(const TaskId& id, const std::function<Timestamp()>& now);
    /// history.jsonl: appends durably, mended first.
    Result<void> append_history(const TaskId& id, const HistoryEvent& event);
    /// The last `count` readable events of those in its last 4 MiB, oldest first.
    Result<std::vector<HistoryEvent>> history(const TaskId& id, std::size_t count = k_no_limit) const;
    /// For whoever looks further back, or for one event. Of a task that is not there: empty.
    HistoryReader read_history(const TaskId& id) const;
    /// When they were last written to. Of a file that somebody else has changed since load(), the time from before.
    const HistoryTimes& histories() const { return histories_; }

    /// tasks/<project>/<id>
    Path folder(const TaskRecord& record) const;

  private:
    /// The tasks whose whole ids a text has, and what people type for them.
    std::vector<std::pair<TaskId, std::string>> short_ids_in(std::string_view text) const;
    std::vector<TaskId> named(std::string_view text) const;
    std::vector<TaskId> summarized(std::string_view text) const;
    std::string candidates(const std::vector<TaskId>& ids) const;
    Error unknown(std::string_view text) const;
    void notify_observers(const TaskId& id) const;
    void index(const TaskRecord& record);
    void unindex(const TaskRecord& record);
    void add_unreadable(const std::string& project, const std::string& id, std::string why);
    bool is_above(const TaskId& id, TaskId below) const;
    void load_folder(const std::string& project, const std::string& id);
    void load_history_time(const TaskRecord& record);
    Result<TaskRecord> read_folder(const std::string& project, const std::string& id);
    Result<TaskRecord> import_folder(const std::string& project, const std::string& id);
    Result<std::optional<HistoryEvent>> mend(const Path& file, const std::function<Timestamp()>& now);

    FileSystem& files_;
    Path root_;
    std::unordered_map<TaskId, TaskRecord> records_;
    std::set<std::pair<std::string, TaskId>> ids_;  ///< of all records, each behind its id in lower case
    using ByAge = std::set<std::pair<Timestamp, TaskId>>;
    void each_of(const ByAge& tasks, const std::function<bool(const TaskRecord&)>& visit) const;
    ByAge by_age_;
    ByAge open_by_age_;                                                          ///< those of each_open()
    std::map<std::string, std::size_t> sizes_;                                   ///< of projects: all of their tasks
    std::map<std::string, std::size_t> open_;                                    ///< of projects: those of each_open()
    std::map<std::pair<std::string, std::string>, std::set<TaskId>> by_branch_;  ///< active tasks only
    std::map<std::string, std::set<std::pair<std::int64_t, TaskId>>> queues_;
    std::set<TaskId> active_;
    std::set<TaskId> blocked_;
    std::set<TaskId> held_;
    std::map<TaskId, std::set<TaskId>> dependents_;  ///< blocker → those of blocked_ that wait for it
    std::map<TaskId, ByAge> children_;               ///< parent → its sub-tasks
    RunIndex runs_;
    HistoryTimes histories_;
    /// History files whose end was looked at, with their size then: somebody else may write into one.
    std::map<std::string, std::uintmax_t> known_history_;
    std::vector<Unreadable> unreadable_;
    std::map<int, std::function<void(const TaskId&)>> observers_;
    int next_observer_ = 1;
};

/// Its state is terminal: as its workflow says, or `done` or `cancelled`, which are so in every workflow (and all that
/// is known of a task that was imported).
bool has_ended(const TaskRecord& record);

}  // namespace orange::store
