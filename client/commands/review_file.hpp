#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/rpc/comment_methods.hpp"

/// The file of `orange review`: a diff, or a section of TASK.md, into which a person writes comments. Pure functions.
///
/// A person may delete rows of the file. So the row above a comment is found by aligning the rows that are left with
/// all rows, not by counting; a row that could be two is an error, because a guess would put the comment at other code.
namespace orange::commands {

/// A row of the diff or of the section, as it stands in the file.
struct ReviewRow {
    std::string text;
    std::string line;         ///< the line of the file or section, without the mark of a diff
    std::string path;         ///< its file, on the side on which it stands; empty for a section
    std::string before_path;  ///< the file's path in the base
    std::string section;
    std::int64_t before = 0;  ///< its number in the base; 0: it is not there
    std::int64_t now = 0;     ///< its number in the work; 0: it is not there
    std::size_t part = 0;     ///< rows of the same part follow each other in their file
    std::string refusal;      ///< why no comment can stand below it; empty: one can
};

std::vector<ReviewRow> review_rows(std::string_view patch);
/// Returns the rows of the section with this heading in the body of TASK.md, each behind a blank; empty without it.
std::vector<ReviewRow> section_rows(std::string_view body, const std::string& heading);

/// A comment that a person has written into the file.
struct TypedComment {
    std::size_t row = 0;        ///< index of the row above it; 0 if it is not known
    std::int64_t lines = 1;     ///< the number of lines that it is about; the row is the last of them
    std::string text;           ///< without "> " and "[3] "
    std::size_t at = 0;         ///< its line in the edited file, counted from 1
    bool is_ambiguous = false;  ///< `row` is the first of several that may be meant
};

/// The reason why an edited file cannot be used.
struct ReviewProblem {
    std::size_t line = 0;  ///< in the edited file, counted from 1
    std::string why;       ///< a sentence
};

/// An edited file.
struct ReviewReading {
    std::vector<TypedComment> comments;   ///< those with a text, in their order
    std::vector<rpc::NewComment> made;    ///< the comments to make; without problems one for each
    std::vector<ReviewProblem> problems;  ///< empty: all comments can be made
    bool only_ambiguous = true;           ///< all problems are rows that may be several
};
ReviewReading read_review(const std::vector<ReviewRow>& rows, std::string_view edited);

/// Returns the lines that show comments that are not resolved, and the reviewer's remarks, by the index of the row
/// below which they stand. Those without a row are under rows.size().
std::map<std::size_t, std::vector<std::string>> review_notes(const std::vector<ReviewRow>& rows,
                                                             const std::vector<rpc::CommentView>& comments,
                                                             const std::vector<rpc::RemarkView>& remarks);

/// Returns the file: `explanation` and the notes behind "#", the rows, and below them typed comments.
std::string review_page(const std::vector<ReviewRow>& rows, const std::vector<std::string>& explanation,
                        const std::map<std::size_t, std::vector<std::string>>& notes,
                        const std::vector<TypedComment>& typed = {});

/// Returns the file with these reasons on top, in place of those of the last time.
std::string with_reasons(std::string_view page, const std::vector<std::string>& reasons);
/// Returns the file with the reasons of these problems on top. Their lines become those of the returned file.
std::string with_problems(std::string_view page, const std::vector<ReviewProblem>& problems);

/// Returns true if an editor seems to have ended before a person could write: it left the page as it was, and took less
/// than a second. Some editors hand the file to a window that is open already.
bool was_too_quick(std::string_view page, std::string_view edited, std::chrono::nanoseconds took);

}  // namespace orange::commands
