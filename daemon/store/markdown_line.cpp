#include "daemon/store/markdown_line.hpp"

#include <algorithm>

namespace orange::store::markdown {
namespace {

constexpr int k_tab = 4;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t run_of(std::string_view text, char c) {
    return std::min(text.find_first_not_of(c), text.size());
}

bool only_blanks(std::string_view text) {
    return text.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

void Cursor::find() {
    if (nonspace_ > offset_) return;
    nonspace_ = offset_;
    nonspace_column_ = column_;
    for (; nonspace_ < line_.size(); ++nonspace_) {
        if (line_[nonspace_] == ' ') {
            ++nonspace_column_;
        } else if (line_[nonspace_] == '\t') {
            nonspace_column_ += k_tab - nonspace_column_ % k_tab;
        } else {
            break;
        }
    }
}

void Cursor::skip_columns(int count) {
    while (count > 0 && offset_ < line_.size()) {
        const int width = line_[offset_] == '\t' ? k_tab - column_ % k_tab : 1;
        const int used = std::min(width, count);
        column_ += used;
        count -= used;
        if (used == width) ++offset_;
    }
    find();
}

void Cursor::skip_to_text(std::size_t count) {
    offset_ = nonspace_ + count;
    column_ = nonspace_column_ + static_cast<int>(count);
    find();
}

bool is_atx_heading(std::string_view rest) {
    const auto level = run_of(rest, '#');
    return level >= 1 && level <= 6 && (level == rest.size() || rest[level] == ' ' || rest[level] == '\t');
}

bool is_setext_underline(std::string_view rest) {
    if (!rest.starts_with('=') && !rest.starts_with('-')) return false;
    return only_blanks(rest.substr(run_of(rest, rest.front())));
}

bool is_thematic_break(std::string_view rest) {
    if (rest.empty() || std::string_view("*-_").find(rest.front()) == std::string_view::npos) return false;
    int marks = 0;
    for (const char c : rest) {
        if (c == rest.front()) {
            ++marks;
        } else if (c != ' ' && c != '\t') {
            return false;
        }
    }
    return marks >= 3;
}

std::size_t opening_fence(std::string_view rest) {
    if (!rest.starts_with("```") && !rest.starts_with("~~~")) return 0;
    const auto length = run_of(rest, rest.front());
    const bool has_backtick = rest.find('`', length) != std::string_view::npos;
    return rest.front() == '`' && has_backtick ? 0 : length;
}

bool is_closing_fence(std::string_view rest, char mark, std::size_t length) {
    const auto found = run_of(rest, mark);
    return found >= length && only_blanks(rest.substr(found));
}

std::size_t list_marker(std::string_view rest, bool interrupts_paragraph) {
    std::size_t length = 0;
    if (rest.starts_with('-') || rest.starts_with('+') || rest.starts_with('*')) {
        length = 1;
    } else {
        while (length < std::min<std::size_t>(rest.size(), 9) && is_digit(rest[length])) ++length;
        if (length == 0 || length == rest.size() || (rest[length] != '.' && rest[length] != ')')) return 0;
        const auto number = rest.substr(0, length);
        const bool is_one = number.find_first_not_of('0') == length - 1 && number.back() == '1';
        if (interrupts_paragraph && !is_one) return 0;
        ++length;
    }
    const auto text = rest.substr(length);
    if (!text.empty() && !is_space(text.front())) return 0;
    return interrupts_paragraph && only_blanks(text) ? 0 : length;
}

}  // namespace orange::store::markdown
