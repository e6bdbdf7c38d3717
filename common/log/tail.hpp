#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::log {

/// The bytes at the end of a file that are read first, and the most for last_lines().
inline constexpr std::uint64_t k_end = 1 << 20;

struct Tail {
    std::string text;
    bool whole = true;  ///< false: the file has earlier text
};
/// Returns the last `most` bytes of a regular file, from the beginning of a line unless a line is longer. not_found if
/// there is no file.
Result<Tail> tail_of(const std::filesystem::path& file, std::uint64_t most = k_end);

/// Returns the last `count` lines of a file, oldest first, as far as they are in its last MiB.
Result<std::vector<std::string>> last_lines(const std::filesystem::path& file, std::size_t count);

}  // namespace orange::log
