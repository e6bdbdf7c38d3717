#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/history_chain.hpp"
#include "daemon/async/awaitable.hpp"

/// The chain of a history: each event has `prev`, the SHA-256 of the line of the event before it; the first one has
/// that of the task's id. Lines that are no events do not belong to the chain.
namespace orange::store {

class TaskStore;

inline constexpr const char* k_prev = "prev";

/// Returns the `prev` of the first line.
std::string chain_start(const TaskId& id);
/// Returns the line of an event, without its line end.
std::string chained_line(const HistoryEvent& event, const std::string& prev);

/// Verifies a chain, line by line, from the last line to the first. Needs some bytes of memory for each line.
class ChainCheck {
  public:
    /// `head` is the hash that the last line must have; empty: not known.
    ChainCheck(TaskId id, const std::string& head);
    void add(std::string_view line);
    /// Returns the result; `head` of the report is set if there is a line. Call it once, after the last add().
    ChainReport finish();

  private:
    struct Link {
        std::uint64_t own = 0, prev = 0;  ///< short hashes, to find the line that `prev` names
        bool is_event = false;
        bool is_chained = false;  ///< has `prev`
        bool is_linked = false;   ///< its `prev` is the hash of the event before it
        bool is_known = false;    ///< cut off by a crash, or a point is about it
        bool is_break() const { return is_chained && !is_linked; }
    };
    void expect(std::string_view prev);
    void join(std::string_view hash);
    void tell(std::string kind, std::int64_t line, std::int64_t last, std::string text);
    void find_places();
    void find_breaks();
    void tell_break(std::int64_t line, std::int64_t before);
    void tell_unchained();
    std::uint64_t own_of(std::int64_t line);
    Link& at(std::int64_t line) { return links_[static_cast<std::size_t>(line - 1)]; }

    TaskId id_;
    std::vector<Link> links_;           ///< in the order of add(), which finish() reverses
    std::string wanted_;                ///< the `prev` of links_[newer_]
    std::optional<std::size_t> newer_;  ///< the event after the next line; its `prev` was not compared yet
    std::int64_t repaired_ = -1;        ///< the size of the line that a crash cut off before that event
    bool has_end_ = false;              ///< the newest link stands for the end of the file, which has `head`
    std::int64_t begin_ = 0;            ///< the first line with `prev`
    /// A line whose hash a break names (-1: there is none), and the last of these breaks.
    struct Place {
        std::int64_t line = -1, follower = 0;
    };
    std::unordered_map<std::uint64_t, Place> places_;  ///< the lines of the hashes that breaks name
    ChainReport report_;
};

/// Verifies the chain of a task's history as it is now. Reads all of it, in pieces, with everybody's turn in between.
/// An Error if there is no such task or the file cannot be read.
Awaitable<Result<ChainReport>> verify_history(const TaskStore& tasks, TaskId id);

}  // namespace orange::store
