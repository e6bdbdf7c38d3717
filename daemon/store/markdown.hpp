#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the headings of a Markdown text, line by line, and tells them from lines in a fence, a comment or a list that
/// only look like headings (docs/files.md, "Sections"). The contents of a line are never parsed.
namespace orange::store::markdown {

/// A text cut into lines as Markdown cuts it: "\n", "\r\n" and a lone "\r" end a line. Lines count from 1.
class Lines {
  public:
    explicit Lines(std::string_view body);

    int count() const { return static_cast<int>(starts_.size()) - 1; }
    /// Returns the offset of a line's first byte; for the line after the last one, the end of the text.
    std::size_t start(int line) const;
    std::string_view with_end(int line) const { return body_.substr(start(line), start(line + 1) - start(line)); }
    /// Returns the line without its end; the first line also without a byte order mark.
    std::string_view text(int line) const;
    std::string_view body() const { return body_; }

  private:
    std::string_view body_;
    std::vector<std::size_t> starts_;
};

struct Outline {
    std::vector<int> headings;
    std::optional<int> open_fence;  ///< the line of a fence that is not closed and hides the rest of the text
    std::string closer;  ///< the text that ends the fence or comment which is open at the end; empty: none is open
};

/// Returns the headings of a text, and the fence or comment that is open at its end.
Outline outline_of(const Lines& lines);

}  // namespace orange::store::markdown
