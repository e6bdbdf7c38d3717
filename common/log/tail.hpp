#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::log {

/// What is read of the end of a file at first, and for last_lines() at most.
inline constexpr std::uint64_t k_end = 1 << 20;

struct Tail {
    std::string text;
    bool whole = true;  ///< false: the file has more before it
};
/// The last `most` bytes of a regular file, from the beginning of a line on unless a line is longer. `not_found`: there
/// is no file.
Result<Tail> tail_of(const std::filesystem::path& file, std::uint64_t most = k_end);

/// The last `count` lines of a file, as far as they are in its last MiB, oldest first.
Result<std::vector<std::string>> last_lines(const std::filesystem::path& file, std::size_t count);

}  // namespace orange::log
