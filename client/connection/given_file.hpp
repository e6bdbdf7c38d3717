#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/connection/connection.hpp"
#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

/// Files for an agent (docs/protocol.md, "Files"): the client opens them with its own rights, and sends their bytes.
namespace orange::connection {

/// The most files of one call, and the most bytes that they may have together. The daemon refuses more, too.
inline constexpr std::size_t k_most_files = 20;
inline constexpr std::int64_t k_largest_together = std::int64_t{256} << 20;

struct GivenFile {
    std::string name;       ///< without folders
    std::string origin;     ///< for people, one printable line: a path, the clipboard
    std::int64_t size = 0;  ///< bytes
    UniqueFd fd = {};       ///< a regular file; none: `bytes` has the contents
    std::shared_ptr<const std::string> bytes = {};
};

/// Opens regular files, through links, and never waits for one. An error says what to do; then no file is open.
Result<std::vector<GivenFile>> open_given(const std::vector<std::string>& paths);

/// Refuses too many files, and files that are too large together.
Result<void> check_given(const std::vector<GivenFile>& files);

/// Returns the next bytes from `offset` on: `most`, or the rest. conflict: the file has not the size any more that it
/// had when it was opened.
Result<std::string> bytes_of(const GivenFile& file, std::int64_t offset, std::int64_t most);

/// Sends the files one after the other, and waits for each piece. Returns the ids that a request names in `files`, in
/// their order. An error names the file and says what to do; unavailable: the daemon ended, or is too old for files.
Result<std::vector<std::string>> send_given(Connection& connection, const std::vector<GivenFile>& files);

}  // namespace orange::connection
