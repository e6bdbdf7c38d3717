#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// A history's lines from the last to the first, a piece of the file at a time: whatever wants its end, or one event of
/// it, never reads the whole. The file may grow meanwhile. Whoever reads on and on stops at some size, or yields.
class HistoryReader {
  public:
    /// Of a longer line, which is no event's, only some bytes come.
    static constexpr std::size_t k_longest = std::size_t{4} << 20;

    HistoryReader(FileSystem& files, Path file) : files_(files), file_(std::move(file)) {}

    /// The line before the one given last, without its end; empty ones are passed over. Nothing at the beginning, and
    /// where there is no such file.
    Result<std::optional<std::string>> next_line();
    /// How many bytes were read.
    std::uintmax_t read() const { return read_; }

  private:
    Result<void> fill();

    FileSystem& files_;
    Path file_;
    std::optional<std::uintmax_t> from_;  ///< where what was read begins; unset: nothing was
    std::uintmax_t read_ = 0;
    std::string buffer_;          ///< what was read and not given
    std::size_t unsearched_ = 0;  ///< how many of its first bytes may have a line's end among them
};

/// Nothing where the line is no event.
std::optional<HistoryEvent> event_from_line(std::string_view line);

}  // namespace orange::store
