#include "daemon/store/markdown.hpp"

#include <algorithm>

namespace orange::store::markdown {
namespace {

constexpr std::string_view k_bom = "\xEF\xBB\xBF";
constexpr int k_code_indent = 4;

std::size_t run_of(std::string_view text, char c) {
    return std::min(text.find_first_not_of(c), text.size());
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t") == std::string_view::npos;
}

/// Removes the blanks before the text of a line; returns the columns that they take.
int take_indent(std::string_view& text) {
    int column = 0;
    for (; text.starts_with(' ') || text.starts_with('\t'); text.remove_prefix(1)) {
        column += text.front() == ' ' ? 1 : k_code_indent - column % k_code_indent;
    }
    return column;
}

/// Removes "- " or "12. " from the front of the text; false if it has no list marker.
bool take_list_marker(std::string_view& text) {
    std::size_t length = 0;
    while (length < std::min<std::size_t>(text.size(), 9) && text[length] >= '0' && text[length] <= '9') ++length;
    if (length == text.size()) return false;
    if (std::string_view(length == 0 ? "-+*" : ".)").find(text[length]) == std::string_view::npos) return false;
    if (++length < text.size() && text[length] != ' ' && text[length] != '\t') return false;
    text.remove_prefix(length);
    take_indent(text);
    return true;
}

bool is_heading(std::string_view text) {
    const auto level = run_of(text, '#');
    return level >= 1 && level <= 6 && (level == text.size() || text[level] == ' ' || text[level] == '\t');
}

/// Returns the marks with which the text opens a fence; empty if it opens none.
std::string_view fence_of(std::string_view text) {
    if (!text.starts_with("```") && !text.starts_with("~~~")) return {};
    const auto marks = text.substr(0, run_of(text, text.front()));
    const bool is_code_in_line = marks.front() == '`' && text.find('`', marks.size()) != std::string_view::npos;
    return is_code_in_line ? std::string_view() : marks;
}

class Scanner {
  public:
    void read(int number, std::string_view text) {
        const int indent = take_indent(text);
        if (text.empty()) return;
        if (in_comment_) return end_comment(text);
        if (!fence_.empty() && (indent > 0 || !fence_is_indented_)) {
            const auto marks = run_of(text, fence_.front());
            const bool may_close = fence_is_indented_ || indent < k_code_indent;
            if (may_close && marks >= fence_.size() && is_blank(text.substr(marks))) fence_.clear();
            return;
        }
        fence_.clear();
        if (indent == 0) in_list_ = false;
        if (indent >= k_code_indent && !in_list_) return;
        bool in_item = in_list_ && indent > 0;
        while (take_list_marker(text)) in_item = in_list_ = true;
        if (fence_ = fence_of(text); !fence_.empty()) {
            fence_is_indented_ = in_item || indent > 0;
            fence_line_ = number;
        } else if (!in_item && text.starts_with("<!--")) {
            end_comment(text);
        } else if (!in_item && is_heading(text)) {
            outline_.headings.push_back(number);
        }
    }

    Outline finish() {
        if (in_comment_) outline_.closer = "-->";
        if (!fence_.empty() && !fence_is_indented_) {
            outline_.open_fence = fence_line_;
            outline_.closer = fence_;
        }
        return std::move(outline_);
    }

  private:
    void end_comment(std::string_view text) { in_comment_ = text.find("-->") == std::string_view::npos; }

    Outline outline_;
    bool in_list_ = false;
    bool in_comment_ = false;
    std::string fence_;  ///< the marks of the open fence
    bool fence_is_indented_ = false;
    int fence_line_ = 0;
};

}  // namespace

Lines::Lines(std::string_view body) : body_(body) {
    for (std::size_t at = 0; at < body.size();) {
        starts_.push_back(at);
        const auto end = body.find_first_of("\r\n", at);
        if (end == std::string_view::npos) break;
        at = end + (body.substr(end, 2) == "\r\n" ? 2 : 1);
    }
    starts_.push_back(body.size());
}

std::size_t Lines::start(int line) const {
    return starts_[static_cast<std::size_t>(std::clamp(line, 1, count() + 1)) - 1];
}

std::string_view Lines::text(int line) const {
    auto text = with_end(line);
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    if (line == 1 && text.starts_with(k_bom)) text.remove_prefix(k_bom.size());
    return text;
}

Outline outline_of(const Lines& lines) {
    Scanner scanner;
    for (int line = 1; line <= lines.count(); ++line) scanner.read(line, lines.text(line));
    return scanner.finish();
}

}  // namespace orange::store::markdown
