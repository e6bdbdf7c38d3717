#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/comment_methods.hpp"

/// `orange comment`, `orange comments` and `orange review`: a person's comments on lines of a task's work
/// (docs/review.md).
namespace orange::commands {

/// Without any option a comment is made.
struct CommentOptions {
    std::vector<std::string> words;  ///< [ID] FILE:LINE TEXT; with an option [ID] TEXT or [ID]
    std::optional<std::int64_t> edit, ask;
    std::vector<std::int64_t> remove, resolve, reopen;
    std::vector<std::string> take;  ///< numbers, or places of remarks of the reviewer
};
Status task_comment(Context& context, const CommentOptions& options);

/// `whole`: also the texts of resolved ones.
Status task_comments(Context& context, rpc::TaskComments params, bool whole);

/// Opens the task's diff, or a section of TASK.md, in the user's editor, and makes the comments that were written into
/// it. All of them are made, or none; a text that cannot be used stays in a file, whose name the error has.
/// invalid_argument without a terminal.
Status task_review(Context& context, std::optional<std::string> id, const std::string& section);

}  // namespace orange::commands
