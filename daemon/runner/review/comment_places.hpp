#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/git/git.hpp"
#include "daemon/runner/review/comments.hpp"

/// Finds lines in texts and in the trees of a repository, for comments (comments.hpp).
namespace orange::review {

/// Returns the lines from `first` to `last`, counted from 1, without the end of the last one; nullopt if the text does
/// not have them.
std::optional<std::string> lines_of(std::string_view text, std::int64_t first, std::int64_t last);

/// Returns the line at which these lines stand in the text, if they stand there once and are not so short that they
/// may stand anywhere; 0 otherwise.
std::int64_t only_place_of(std::string_view text, std::string_view lines);

/// Returns the text as JSON can hold it: bytes that are no UTF-8 are replaced.
std::string as_text(std::string text);

/// Returns the contents of a file in a commit or tree. invalid_argument if there is no such file, or if it is binary.
Awaitable<Result<std::string>> file_in(Git& git, std::string repository, std::string tree, std::string path);

/// Returns true for a whole id of an object of git.
bool is_object_id(std::string_view text);

/// Returns true for a path that can name a file of a tree.
bool is_file_path(std::string_view path);

/// Returns the place of an anchor's lines in `target`, a commit or tree. Without an answer of git it is outdated.
Awaitable<std::vector<CommentPlace>> places_in(Git& git, std::string repository, std::string target,
                                               std::vector<CommentAnchor> anchors);

/// Returns the lines below the heading of a section of TASK.md, as they are; nullopt if there is no such section.
std::optional<std::string_view> section_in(std::string_view body, const std::string& heading);

/// Returns the place of an anchor's lines in a section of TASK.md.
CommentPlace place_in_section(const CommentAnchor& anchor, std::string_view section);

}  // namespace orange::review
