#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/task.hpp"
#include "daemon/async/time.hpp"
#include "daemon/store/task_files.hpp"

namespace orange::store {

/// The state of a copy at the end of the last call.
struct CopyMemory {
    Path path;
    std::optional<std::string> body;        ///< unset: unknown
    std::optional<async::Moment> given_at;  ///< the last time the daemon changed its body
    std::optional<FileFacts> seen;          ///< facts of the file when it was last read or written
};

/// A file that was exchanged out of its place. A process may still have it open, or be about to open it.
struct Displaced {
    Path path;
    std::string counted;       ///< the part of its body that has been merged into the task's
    std::string counted_then;  ///< `counted` at the end of the last call that succeeded
    bool of_mirror = false;
    bool leftover = false;  ///< a killed daemon left the file, and it has not been read yet
    bool open = true;       ///< at the last read, a process had it open for writing
    bool gone = false;      ///< an agent removed it
    async::Moment since{};
    std::optional<FileFacts> seen = {};  ///< facts at the last read
    async::Moment read_at{};
};

/// The memory of TaskFiles about a task between calls. After a restart only the record's hash of the body is known.
struct TaskMemory {
    std::optional<std::string> body;  ///< the last body that both copies had
    CopyMemory own;
    CopyMemory mirror;
    std::vector<Displaced> displaced;
    std::set<Path> swept;                        ///< folders that were searched for leftovers of a killed daemon
    std::deque<Task> written;                    ///< the last tasks whose frontmatter was written, newest last
    int held_back = 0;                           ///< consecutive calls that left a half-written copy alone
    std::map<std::string, Timestamp> rewritten;  ///< heading → when an editor last wrote this section
};

struct SectionEdit {
    std::string heading;
    std::string text;
};

/// A call of TaskFiles. The call works on a copy of the memory, which replaces the old one if the call succeeds.
class TaskSync {
  public:
    TaskSync(FileSystem& files, ProcessRunner& processes, const Clock& clock, std::chrono::milliseconds keeps_displaced,
             std::shared_ptr<TaskMemory> memory, TaskRecord record, Copies copies);
    ~TaskSync();
    TaskSync(const TaskSync&) = delete;
    TaskSync& operator=(const TaskSync&) = delete;

    Awaitable<Result<Synced>> run(std::optional<SectionEdit> edit, bool retire_mirror);

  private:
    /// A copy as it was read.
    struct Side {
        bool is_mirror = false;
        Path path;
        CopyMemory* memory = nullptr;
        bool exists = false;
        bool link = false;     ///< it is a symbolic link: not read, but replaced
        bool held = false;     ///< half-written: left alone in this call
        bool damaged = false;  ///< blank although its text is known: replaced
        bool edited = false;   ///< an editor wrote it, perhaps without a sync
        std::string text = {};
        std::optional<FileFacts> facts = {};

        bool counts() const { return exists && !held && !link && !damaged; }
    };
    /// A text that an editor wrote.
    struct Edit {
        std::optional<std::string> base;  ///< the body that the editor started from; unset: unknown
        std::string text;
        bool of_mirror = false;
        bool older = false;   ///< it is older than the present body
        bool unsure = false;  ///< its author may not have seen the present body
    };

    void set_up();
    Result<void> sweep(const Path& folder);
    Result<void> read(Side& side);
    Awaitable<Result<void>> look_at(Side& side);
    Awaitable<Result<bool>> when_left(Path path, std::function<Result<void>()> read);
    void find_damaged();
    bool is_edited(const Side& side) const;
    bool may_be_unseen(const Side& side) const;
    Awaitable<Result<void>> decide();
    Awaitable<Result<void>> take_in(Edit edit);
    Result<void> resolve(const Edit& edit, const std::string& found);
    Result<void> keep_lost(const Edit& edit, const std::string& before);
    Result<void> check_frontmatter(bool of_mirror, const std::string& text);
    void note_written();
    bool is_saved_again(const Side& side) const;
    void note_rewritten(bool saved_again);
    bool is_before_memory(const std::string& frontmatter) const;
    Result<Path> keep(const std::string& text);
    void ask_for_attention(const std::string& why);

    Awaitable<Result<void>> write_all();
    void note_facts(Side& side);
    Awaitable<Result<void>> put(Side& side, std::string desired);
    Awaitable<Result<void>> exchange(Side& side, std::string desired);
    Awaitable<Result<bool>> count_displaced();
    Result<void> count_leftover(Displaced& displaced, const std::string& text);
    Awaitable<Result<void>> remove_mirror();
    Result<void> remove_displaced();
    Result<void> sync_edited();
    Synced finish();

    FileSystem& files_;
    ProcessRunner& processes_;
    const Clock& clock_;
    const std::chrono::milliseconds keeps_displaced_;
    std::shared_ptr<TaskMemory> memory_;
    TaskMemory now_;  ///< the memory after this call
    TaskRecord record_;
    Copies copies_;
    std::vector<Side> sides_;  ///< the task's own copy first
    std::string body_;
    bool edited_ = false;
    bool written_ = false;  ///< both copies have body_
    bool wrote_ = false;    ///< this call has changed a copy
    bool succeeded_ = false;
    async::Moment patience_;
    Synced out_;
};

}  // namespace orange::store
