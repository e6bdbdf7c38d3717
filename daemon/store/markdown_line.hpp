#pragma once

#include <cstddef>
#include <string_view>

/// What a single line can begin, or end: the leaves of CommonMark's block structure. Private to this folder. `line` has
/// no end of its own; `rest` begins at the first character that is no blank.
namespace orange::store::markdown {

/// Where a line is being read: tabs reach to the next multiple of four columns, and may be used up in part.
class Cursor {
  public:
    Cursor(std::string_view line, std::size_t offset) : line_(line), offset_(offset), nonspace_(offset) { find(); }

    int indent() const { return nonspace_column_ - column_; }
    bool blank() const { return nonspace_ >= line_.size(); }
    std::string_view rest() const { return line_.substr(nonspace_); }
    std::string_view unread() const { return line_.substr(offset_); }
    char peek() const { return blank() ? '\n' : line_[nonspace_]; }
    /// The next character is a blank or a tab.
    bool at_space() const { return offset_ < line_.size() && (line_[offset_] == ' ' || line_[offset_] == '\t'); }

    /// Past `count` columns of blanks.
    void skip_columns(int count);
    /// To the first character that is no blank, and `count` characters on.
    void skip_to_text(std::size_t count = 0);

  private:
    void find();

    std::string_view line_;
    std::size_t offset_ = 0;
    int column_ = 0;
    std::size_t nonspace_ = 0;
    int nonspace_column_ = 0;
};

/// A blank, a tab or a line's end, in the wider sense that HTML and link definitions use.
constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_atx_heading(std::string_view rest);
bool is_setext_underline(std::string_view rest);
bool is_thematic_break(std::string_view rest);
/// The length of ``` or ~~~ (at least 3) where `rest` opens a fence, else 0.
std::size_t opening_fence(std::string_view rest);
bool is_closing_fence(std::string_view rest, char mark, std::size_t length);

/// The length of a list item's marker, or 0. Only "1." and what is not empty may interrupt a paragraph.
std::size_t list_marker(std::string_view rest, bool interrupts_paragraph);

/// Which of the seven kinds of HTML block `rest` begins, or 0; the seventh cannot interrupt a paragraph.
int html_block_start(std::string_view rest, bool interrupts_paragraph);
/// Whether an HTML block of that kind ends with this line.
bool ends_html_block(int kind, std::string_view rest);

/// What is left of a paragraph's text behind the link reference definitions that it begins with.
std::string_view behind_definitions(std::string_view paragraph);

}  // namespace orange::store::markdown
