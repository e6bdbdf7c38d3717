#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the headings of a Markdown text line by line: which lines are headings, and which only look so because they
/// stand in a fence, a comment or a list (docs/files.md, "Sections"). What is inside a line is never parsed.
namespace orange::store::markdown {

/// A text cut into lines as Markdown cuts it: "\n", "\r\n" and a lone "\r" end a line. Lines count from 1.
class Lines {
  public:
    explicit Lines(std::string_view body);

    int count() const { return static_cast<int>(starts_.size()) - 1; }
    /// Offset of a line's first byte; of the line after the last: the end.
    std::size_t start(int line) const;
    std::string_view with_end(int line) const { return body_.substr(start(line), start(line + 1) - start(line)); }
    /// The line without its end and, if it is the first, without a byte order mark.
    std::string_view text(int line) const;
    std::string_view body() const { return body_; }

  private:
    std::string_view body_;
    std::vector<std::size_t> starts_;
};

struct Outline {
    std::vector<int> headings;
    std::optional<int> open_fence;  ///< the line of a fence that hides everything behind it
    std::string closer;             ///< ends the fence or comment that is open at the end of the text; empty: none is
};

Outline outline_of(const Lines& lines);

}  // namespace orange::store::markdown
