#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// Reads a history's lines from the last to the first, a piece of the file at a time, so that a reader of the last
/// events does not read the whole file. The file may grow meanwhile. A caller that reads far back has to stop at a
/// limit, or yield now and then.
class HistoryReader {
  public:
    /// Longer lines are not events. Only some bytes of such a line are returned.
    static constexpr std::size_t k_longest = std::size_t{4} << 20;

    HistoryReader(FileSystem& files, Path file) : files_(files), file_(std::move(file)) {}

    /// Returns the line before the last returned one, without its line end; empty lines are skipped. Nothing at the
    /// beginning of the file, or if there is no such file.
    Result<std::optional<std::string>> next_line();
    /// Returns true if the line that was returned first has no line end.
    bool is_torn() const { return is_torn_; }
    /// Returns the number of bytes that were read.
    std::uintmax_t read() const { return read_; }

  private:
    Result<void> fill();

    FileSystem& files_;
    Path file_;
    std::optional<std::uintmax_t> from_;  ///< offset of the oldest byte that was read; unset: nothing was read
    std::uintmax_t read_ = 0;
    bool is_torn_ = false;
    std::string buffer_;          ///< bytes that were read and not returned yet
    std::size_t unsearched_ = 0;  ///< the number of its first bytes that were not searched for a line end
};

/// Returns the event of a line, without `prev` (history_chain.hpp); nothing if the line is no event.
std::optional<HistoryEvent> event_from_line(std::string_view line);

}  // namespace orange::store
