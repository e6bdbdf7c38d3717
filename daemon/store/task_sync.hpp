#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/async/time.hpp"
#include "daemon/store/task_files.hpp"
#include "daemon/store/task_memory.hpp"

namespace orange::store {

struct SectionEdit {
    std::string heading;
    std::string text;
};

/// One call of TaskFiles. The memory is changed when it has succeeded; a call that fails or is cancelled leaves only
/// the displaced files in it, to be counted again.
class TaskSync {
  public:
    TaskSync(FileSystem& files, ProcessRunner& processes, const Clock& clock, std::chrono::milliseconds keeps_displaced,
             std::shared_ptr<TaskMemory> memory, TaskRecord record, Copies copies);
    ~TaskSync();
    TaskSync(const TaskSync&) = delete;
    TaskSync& operator=(const TaskSync&) = delete;

    Awaitable<Result<Synced>> run(std::optional<SectionEdit> edit, bool retire_mirror);

  private:
    /// A copy as it was last seen.
    struct Side {
        bool is_mirror = false;
        Path path;
        CopyMemory* memory = nullptr;
        bool exists = false;
        bool link = false;     ///< a symlink stands in its place: not read, replaced
        bool held = false;     ///< half-written: left alone this time
        bool damaged = false;  ///< nothing is in it any more: written anew
        bool fresh = false;    ///< somebody else's text, which nobody may have synced
        std::string text = {};

        bool counts() const { return exists && !held && !link && !damaged; }
    };
    using Deadline = async::Moment;

    void set_up();
    Result<void> sweep(const Path& folder);
    Awaitable<Result<void>> look(Side& side);
    Result<void> read(Side& side);
    void find_damaged();
    Result<void> sync_fresh();
    Result<void> keep_what_went(const std::optional<std::string>& known, const std::string& found);
    bool is_news(const Side& side, const std::string& body) const;
    Awaitable<Result<void>> decide();
    Awaitable<Result<void>> conflict(Side& winner, Side& loser);
    Awaitable<Result<void>> absorb(Side& side, std::string text, bool in_a_race);
    Awaitable<Result<void>> merge_in(std::string base, std::string other);
    Result<void> note_frontmatter(const Side& side, const std::string& text);
    Awaitable<Result<void>> write_all();
    Result<void> remember_projection();
    Awaitable<Result<void>> put(Side& side, std::string desired);
    Awaitable<Result<void>> create(Side& side, std::string desired);
    Awaitable<Result<void>> exchange(Side& side, std::string desired);
    Awaitable<Result<void>> settle();
    Awaitable<Result<bool>> count_displaced();
    std::string base_of(const Displaced& displaced, const std::string& found) const;
    Result<bool> put_away_quiet();
    void put_away(Displaced& displaced);
    Awaitable<Result<void>> retire();
    Result<Path> keep(const std::string& kind, const std::string& text);
    Result<void> prune(const std::string& kind);
    Result<void> note_lost(const std::string& before, const std::string& written, bool in_mirror);
    Awaitable<Result<bool>> when_left(Path path, std::function<Result<void>()> read);
    void show(CopyMemory& copy, const std::string& body, bool by_daemon);
    Synced finish();

    FileSystem& files_;
    ProcessRunner& processes_;
    const Clock& clock_;
    const std::chrono::milliseconds keeps_displaced_;
    std::shared_ptr<TaskMemory> memory_;
    TaskMemory now_;  ///< the memory as it will be
    TaskRecord record_;
    Copies copies_;
    std::vector<Side> sides_;  ///< own first
    std::string body_;
    bool by_others_ = false;
    bool written_ = false;  ///< both copies say body_
    bool committed_ = false;
    Deadline patience_;
    Synced out_;
};

}  // namespace orange::store
