#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/model/usage.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/environment.hpp"

/// Reads how many tokens a run has used, from what its program writes while it runs (docs/harnesses.md, "Usage"). The
/// definition says where the program writes, and what the lines mean. A program's files belong to its user, and an
/// agent may write there whatever it likes: what it writes changes the numbers of its own run, and nothing else.
namespace orange::agents {

/// A run, and where its program may have written.
struct UsageSource {
    const Harness& harness;
    const Environment& env;  ///< of the agent: HOME, and the variables that the definition names
    Path run_folder;         ///< the value of {run_folder}, and the folder of the events file
    Path talk_folder;        ///< the value of {talk_dir}; empty: none
    RunId run;
    Timestamp began;                ///< what was written about an earlier time is another run's
    Timestamp now;                  ///< the time of a record that has none, and the latest time of any
    std::vector<std::string> ids;   ///< the run's conversations: the id that Orange chose, and those of its events
    std::vector<std::string> told;  ///< paths that its events named, and files that an earlier daemon has counted
    /// The files of `told` that an earlier daemon has counted. Their ids may be among events that nobody reads again,
    /// so {session} in a pattern matches any id in them.
    std::vector<std::string> counted = {};
};

/// Returns the files in which the program keeps a conversation that was begun without Orange (`session.files`). `env`
/// is the environment of the agent.
std::vector<Path> conversation_files(FileSystem& files, const Harness& harness, const Environment& env,
                                     const std::string& id);

/// A file that is counted, for people.
struct UsageFile {
    std::string path;
    std::uintmax_t offset = 0;  ///< read up to here
    std::uintmax_t size = 0;
    std::int64_t records = 0;  ///< in it, also those of an id that another one has
    bool operator==(const UsageFile&) const = default;
};

/// Adds up what a run has used. After a restart of the daemon a new reader finds the same: it reads everything once
/// more.
class UsageReader {
  public:
    static constexpr std::size_t k_most_at_once = 1 << 20;                   ///< bytes, of all files
    static constexpr std::uintmax_t k_most_bytes = std::uintmax_t{1} << 30;  ///< of a run, in the life of a daemon
    static constexpr std::size_t k_most_ids = 100'000;
    static constexpr std::size_t k_most_files = 100;

    /// Reads what has been written since the last call, but no more than k_most_at_once. Returns true if there is more:
    /// the sums are not yet whole. Call it with the same run only.
    ///
    /// If the definition has `events.transcript`, files are those among `told` that fit a pattern, those that
    /// {transcript} patterns find beside them, and those that patterns with {session} find for `ids`. Otherwise they
    /// are those that all patterns find for `ids`.
    ///
    /// A record that names no model has the one that its file named last, in whichever line; otherwise the one that
    /// any file named last.
    ///
    /// A record counts if its time is `began` or later; without a time, if it has an id or is in the events file. Each
    /// id counts once, with its largest record. A record does not count if one of its numbers is impossible, if all of
    /// them are 0, or if it has no id although the definition names one.
    bool read(FileSystem& files, const UsageSource& source);

    /// Returns the sums by day and model. `role` and `harness` are left for the caller.
    const std::vector<UsageRow>& rows() const { return rows_; }
    /// Returns what the program said last about its account's window.
    const std::optional<UsageWindow>& window() const { return window_; }
    /// Returns when it said that.
    Timestamp window_at() const { return window_at_; }
    /// True if a record has counted. Otherwise it is not known what the run has used, which is not 0.
    bool has_told() const { return has_told_; }
    /// True if there was more than is counted, or a number that cannot be right: the sums are too low.
    bool is_incomplete() const { return is_incomplete_; }
    /// Returns the files that exist, in the order in which they were found.
    std::vector<UsageFile> files() const;

  private:
    /// One record, or the one that counts for an id.
    struct Record {
        std::string id;
        std::string day;
        std::string model;
        Tokens tokens;
        std::int64_t money = 0;
    };
    /// A place, and what is known of the file that was there.
    struct Place {
        Path root;
        Path below;
        bool is_beside = false;  ///< found by a {transcript} pattern
        std::uint64_t device = 0, inode = 0;
        std::uintmax_t at = 0;       ///< the lines up to here have been taken
        std::uintmax_t read_to = 0;  ///< the bytes up to here have been read: the last line may be unfinished
        std::uintmax_t size = 0;     ///< when it was looked at last
        std::chrono::sys_time<std::chrono::nanoseconds> modified{};
        bool is_there = false;
        bool is_skipping = false;                      ///< the line at `at` is too long
        std::optional<std::uintmax_t> listed_at = {};  ///< its size when {transcript} patterns were listed last
        std::int64_t records = 0;
        std::string model = {};              ///< that its lines named last
        std::vector<UsageRow> unnamed = {};  ///< the sums of its records without an id
    };

    /// The rest of a file that is left to be read; of a long line, its file has to be read first next time.
    enum class Left { nothing, more, long_line };

    void find_files(const UsageSource& source);
    void find_told(const UsageSource& source);
    bool has_found_more(FileSystem& files, const UsageSource& source);
    void find_by_ids(FileSystem& files, const UsageSource& source);
    void find_beside(FileSystem& files, const UsageSource& source, std::size_t index);
    void add_place(const Path& root, const Path& below, bool is_beside = false);
    Left read_place(FileSystem& files, const UsageSource& source, std::size_t index, std::size_t& budget);
    Left take_bytes(const UsageSource& source, std::string_view bytes, Place& place);
    bool is_known_by_another_name(const FileSystem::Beneath& facts, std::size_t index) const;
    void begin_anew(Place& place);
    void take_lines(const UsageSource& source, std::string_view lines, Place& place);
    void take_record(Record record, Place& place);
    void take(const Record& record);

    std::vector<Place> places_;
    std::size_t next_ = 0;  ///< the place with which the next read() begins
    std::vector<std::string> known_ids_, known_told_;
    /// Patterns and ids for which there is a file, and the size of all files when it was looked for them last.
    std::map<std::pair<std::string, std::string>, std::uintmax_t> found_;
    std::unordered_map<std::string, Record> by_id_;
    std::set<std::string> models_;
    std::string model_;  ///< that was named last
    std::vector<UsageRow> rows_;
    std::optional<UsageWindow> window_;
    Timestamp window_at_{};
    std::uintmax_t bytes_ = 0;  ///< read so far
    bool has_told_ = false;
    bool is_incomplete_ = false;
};

}  // namespace orange::agents
