#pragma once

#include "common/base/result.hpp"
#include "common/model/comment.hpp"
#include "daemon/files/file_system.hpp"

/// The comments of a task: `comments.json` in its folder (docs/files.md). Only runner/review/comments.hpp writes it.
namespace orange::store {

/// Returns the comments of a task at this step; an empty list if there is no such file and nothing was ever sent. io
/// for a file that cannot be read, or that is not what Orange wrote, so that it is never overwritten.
Result<CommentList> read_comments(FileSystem& files, const Path& folder, std::int64_t step);

/// Replaces the file; synced.
Result<void> write_comments(FileSystem& files, const Path& folder, const CommentList& list);

}  // namespace orange::store
