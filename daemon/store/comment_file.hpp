#pragma once

#include "common/base/result.hpp"
#include "common/model/comment.hpp"
#include "daemon/files/file_system.hpp"

/// The comments of a task: `comments.json` in its folder (docs/files.md). Only runner/review/comments.hpp writes it.
namespace orange::store {

/// Returns the comments; an empty list if there is no such file. io for a file that cannot be read, or that is not what
/// Orange wrote, so that it is never overwritten.
Result<CommentList> read_comments(FileSystem& files, const Path& folder);

/// Replaces the file; synced.
Result<void> write_comments(FileSystem& files, const Path& folder, const CommentList& list);

}  // namespace orange::store
