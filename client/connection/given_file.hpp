#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/file_methods.hpp"

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

/// Returns how many bytes a file may have for the daemon of this home (`file_limit` of config.yml); 0 if that is not
/// known here. Then the daemon decides.
std::int64_t file_limit(const std::filesystem::path& home);

/// Opens regular files, through links, and never waits for one. `limit`: bytes of one file; 0: not known. An error says
/// what to do; then no file is open.
Result<std::vector<GivenFile>> open_given(const std::vector<std::string>& paths, std::int64_t limit);

/// Refuses too many files, and files that are too large, alone or together.
Result<void> check_given(const std::vector<GivenFile>& files, std::int64_t limit);

/// Returns the next bytes from `offset` on: `most`, or the rest. conflict: the file has not the size any more that it
/// had when it was opened.
Result<std::string> bytes_of(const GivenFile& file, std::int64_t offset, std::int64_t most);

/// Returns the request that sends these bytes. `upload`: from the reply to the first piece; empty: this is the first.
Result<rpc::FilePut> piece_of(const GivenFile& file, const std::string& upload, std::int64_t offset,
                              std::int64_t most = rpc::k_largest_piece);

}  // namespace orange::connection
