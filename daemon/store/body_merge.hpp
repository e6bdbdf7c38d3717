#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

/// Bringing two versions of a body together so that no line of either is lost.
namespace orange::store {

/// What became of `base` in `current` and in `other`, in one text: `git merge-file --union`, so that lines added at one
/// place by both are both there. Its temporary files are made in `folder`. An Error where git cannot (a binary body).
Awaitable<Result<std::string>> merge_bodies(FileSystem& files, ProcessRunner& processes, Path folder,
                                            std::string current, std::string base, std::string other);

/// Which of the bodies that a file showed lately `found` was made from. The last one, unless its writer cannot have
/// seen that: none of the lines which the last one has and an earlier one had not is in `found`, and the earlier one,
/// of which something is left, misses fewer lines there. An agent that rewrites a section keeps at least its heading,
/// so that it is not taken for one that worked on an old copy. `shown` is not empty.
const std::string& likely_base(const std::vector<const std::string*>& shown, const std::string& found);

/// `text` without the lines that stand nowhere in `body`: a base against which `text` only adds lines.
std::string without_lines_missing_in(const std::string& body, const std::string& text);

}  // namespace orange::store
