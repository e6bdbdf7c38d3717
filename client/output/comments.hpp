#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/rpc/comment_methods.hpp"

/// Comments on lines of a task's work, for people.
namespace orange::output {

/// Returns the lines of a comment as `orange comment` takes them: "src/cart.py:12-14", "src/cart.py:-3", "Plan:2".
std::string place_text(const rpc::CommentView& comment);
std::string place_text(const rpc::RemarkView& remark);

/// Returns all comments of a task. Those whose lines are gone follow in a list of their own, and then the reviewer's
/// remarks. Resolved ones have one row, unless `whole`. At the end are the commands for those that are open.
std::string comments_page(const rpc::TaskComments::Reply& reply, const Style& style, bool whole);
/// Returns comments that were made or changed.
std::string changed_comments(const rpc::TaskComment::Reply& reply, const Style& style);
/// Returns "2 not sent, 1 answered"; empty without comments.
std::string comment_counts_text(const CommentCounts& counts);

}  // namespace orange::output
