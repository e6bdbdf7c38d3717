#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::log {

/// A file's lines from the last to the first, a block at a time: what is asked of the end of a large log never reads
/// the whole. Bytes as they are; a last line without an end counts.
class BackwardLines {
  public:
    /// Of a line that is longer only the last so many bytes come, so that no file makes a reader grow without bound.
    static constexpr std::size_t k_longest = 1 << 20;

    explicit BackwardLines(const std::filesystem::path& file, std::size_t block = 64 * 1024);
    ~BackwardLines();
    BackwardLines(const BackwardLines&) = delete;
    BackwardLines& operator=(const BackwardLines&) = delete;

    /// errno of opening or reading; 0: none. A file that is not there is an empty one with ENOENT here.
    int problem() const { return problem_; }
    /// The line before the one given last, without its end; nothing at the beginning, or where reading failed.
    std::optional<std::string> next();
    /// How many bytes were read.
    std::uint64_t read() const { return read_; }

  private:
    bool fill();

    int fd_ = -1;
    int problem_ = 0;
    std::size_t block_;
    std::uint64_t at_ = 0;  ///< of the file, everything from here on was read
    std::uint64_t read_ = 0;
    std::string buffer_;  ///< what was read and not given
    bool begun_ = false;
    bool done_ = false;
};

/// The last `count` lines of a file, oldest first. not_found where there is none.
Result<std::vector<std::string>> last_lines(const std::filesystem::path& file, std::size_t count);

}  // namespace orange::log
