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
#include "daemon/store/bases.hpp"
#include "daemon/store/save_merge.hpp"
#include "daemon/store/task_files.hpp"
#include "daemon/store/text.hpp"

namespace orange::store {

/// The state of a copy at the end of the last call.
struct CopyMemory {
    Path path;
    TextPtr body;                   ///< the body that it showed; null: unknown
    TextPtr saved;                  ///< the last body that an editor saved there; null: unknown
    Stood stood;                    ///< the bodies from which its next save may start
    LineSet returned;               ///< the lines that were merged back into `saved`
    LineSet added;                  ///< the lines that its editors have added, and that are still there
    std::optional<FileFacts> seen;  ///< facts of the file when it was last read or written
    bool told_large = false;        ///< the human knows that it is too large to be read
};

/// A file that was exchanged out of its place. A process may still have it open, or be about to open it.
struct Displaced {
    Path path;
    TextPtr counted;       ///< the part of its body that has been merged into the task's
    TextPtr counted_then;  ///< `counted` at the end of the last call that succeeded
    Stood stood;           ///< what stood in the copy when the file was displaced: its writer had read one of them
    bool of_mirror = false;
    bool leftover = false;  ///< a killed daemon left the file, and it has not been read yet
    bool open = true;       ///< at the last read, a process had it open for writing
    bool gone = false;      ///< an agent removed it, or it was set aside
    async::Moment since{};
    std::optional<FileFacts> seen = {};  ///< facts at the last read
    async::Moment read_at{};
};

/// The memory of TaskFiles about a task between calls. After a restart only the record's hash of the body is known, and
/// the bases that lie beside TASK.md.
struct TaskMemory {
    TextPtr body;  ///< the last body that both copies had
    CopyMemory own;
    CopyMemory mirror;
    Bases::Known bases;
    std::vector<Displaced> displaced;
    std::set<Path> swept;                        ///< folders that were searched for leftovers of a killed daemon
    std::deque<Task> written;                    ///< the last tasks whose frontmatter was written, newest last
    int held_back = 0;                           ///< consecutive calls that left a half-written copy alone
    std::map<std::string, Timestamp> rewritten;  ///< heading → when an editor last wrote this section
    std::vector<HistoryEvent> untold;            ///< of a call that wrote a copy and then failed
    std::optional<std::string> untold_attention;
};

/// A call of TaskFiles. The call works on a copy of the memory, which replaces the old one if the call succeeds.
class TaskSync {
  public:
    TaskSync(FileSystem& files, const Clock& clock, std::chrono::milliseconds keeps_displaced,
             std::shared_ptr<TaskMemory> memory, TaskRecord record, Copies copies);
    ~TaskSync();
    TaskSync(const TaskSync&) = delete;
    TaskSync& operator=(const TaskSync&) = delete;

    Awaitable<Result<Synced>> run(bool retire_mirror, std::vector<SectionEdit> edits = {});

  private:
    /// A copy as it was read.
    struct Side {
        bool is_mirror = false;
        Path path;
        CopyMemory* memory = nullptr;
        bool exists = false;
        bool held = false;     ///< half-written, or too large: left alone in this call
        bool damaged = false;  ///< blank although its text is known: replaced
        bool edited = false;   ///< an editor wrote it, perhaps without a sync
        std::string text = {};
        TextPtr body = {};
        std::optional<FileFacts> facts = {};

        bool counts() const { return exists && !held && !damaged; }
    };
    /// A text that an editor wrote.
    struct Edit {
        TextPtr text;
        bool of_mirror = false;
        bool has_frontmatter = true;
        TextPtr counted = {};  ///< what was merged of a displaced file; null: the text stands in its place
        Stood stood = {};      ///< of a displaced file
    };

    // task_sync.cpp: reads both copies and decides on the body
    void set_up();
    Result<void> read(Side& side);
    Result<void> read_file(Side& side);
    bool is_left_large(const Side& side) const;
    Result<void> leave_large(Side& side);
    Awaitable<Result<void>> look_at(Side& side);
    Awaitable<Result<bool>> when_left(Path path, std::function<Result<void>()> read);
    void find_damaged();
    bool is_edited(const Side& side) const;
    Awaitable<Result<void>> decide();
    TextPtr known_body();
    Result<void> check_frontmatter(bool of_mirror, const std::string& text);
    void note_written();
    bool is_saved_again(const Side& side) const;
    void note_rewritten(bool saved_again);
    bool is_before_memory(const std::string& frontmatter) const;
    Synced finish();

    // task_sync_merge.cpp: merges a save, keeps and tells what goes
    TextPtr body_in(const CopyMemory& memory, std::string body) const;
    Awaitable<Result<void>> take_in(Edit edit);
    bool is_reviewers(std::string_view heading) const;
    bool differs_in_review_alone(const Text& one, const Text& other) const;
    bool is_cut(const Edit& edit) const;
    Awaitable<Save> save_of(const Edit& edit) const;
    void note_save(const Edit& edit, LineSet returned, LineSet added);
    bool lives(Role role) const;
    bool owns(bool of_mirror, std::string_view heading) const;
    void tell(const char* type, bool of_mirror, std::map<std::string, Scalar> fields);
    Result<void> tell_removed(const MergedSave& merged, bool of_mirror);
    std::size_t room_for_kept() const;
    Result<Path> keep(const std::string& text);
    Result<void> set_aside(const Path& path, bool of_mirror, const std::string& what);
    void note_large(const Side& side);
    void ask_for_attention(const std::string& why);
    void give(CopyMemory& memory);

    // task_sync_write.cpp: writes both copies, and watches the files that this displaces
    Result<void> sweep(const Path& folder);
    Awaitable<Result<void>> write_all();
    void note_facts(Side& side);
    Awaitable<Result<void>> put(Side& side, std::string desired);
    Awaitable<Result<void>> exchange(Side& side, std::string desired);
    Awaitable<Result<void>> count_faster_editor(Side& side, TextPtr expected);
    Awaitable<Result<bool>> count_displaced();
    Awaitable<Result<bool>> count(Displaced& displaced, FileFacts facts);
    Result<void> count_leftover(Displaced& displaced, const std::string& text);
    Awaitable<Result<void>> remove_mirror();
    Result<void> remove_displaced();
    Result<void> sync_edited();

    CopyMemory& memory_of(bool of_mirror) { return of_mirror ? now_.mirror : now_.own; }
    const CopyMemory& memory_of(bool of_mirror) const { return of_mirror ? now_.mirror : now_.own; }

    FileSystem& files_;
    const Clock& clock_;
    const std::chrono::milliseconds keeps_displaced_;
    std::shared_ptr<TaskMemory> memory_;
    TaskMemory now_;  ///< the memory after this call
    TaskRecord record_;
    Copies copies_;
    Bases bases_;
    std::vector<Side> sides_;  ///< the task's own copy first
    TextPtr body_;
    bool retires_ = false;
    bool edited_ = false;
    bool written_ = false;  ///< both copies have body_
    bool wrote_ = false;    ///< this call has changed a copy
    bool succeeded_ = false;
    std::vector<Path> kept_;  ///< what this call has kept
    async::Moment patience_;
    Synced out_;
};

}  // namespace orange::store
