#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "daemon/store/markdown_line.hpp"

namespace orange::store::markdown {
namespace {

constexpr std::array k_verbatim = {"pre", "script", "style", "textarea"};

constexpr std::array k_block_tags = {
    "address",  "article",    "aside",  "base",    "basefont", "blockquote", "body",     "caption",  "center",
    "col",      "colgroup",   "dd",     "details", "dialog",   "dir",        "div",      "dl",       "dt",
    "fieldset", "figcaption", "figure", "footer",  "form",     "frame",      "frameset", "h1",       "h2",
    "h3",       "h4",         "h5",     "h6",      "head",     "header",     "hr",       "html",     "iframe",
    "legend",   "li",         "link",   "main",    "menu",     "menuitem",   "nav",      "noframes", "ol",
    "optgroup", "option",     "p",      "param",   "section",  "source",     "summary",  "table",    "tbody",
    "td",       "tfoot",      "th",     "thead",   "title",    "tr",         "track",    "ul"};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_letter_or_digit(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

/// Takes a piece off the front of a tag.
class Tag {
  public:
    explicit Tag(std::string_view text) : text_(text) {}

    bool take(char c) {
        if (!text_.starts_with(c)) return false;
        text_.remove_prefix(1);
        return true;
    }
    template <class Belongs>
    std::string_view take_while(Belongs belongs) {
        const auto end = std::find_if_not(text_.begin(), text_.end(), belongs);
        const auto taken = text_.substr(0, static_cast<std::size_t>(end - text_.begin()));
        text_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view name() {
        if (text_.empty() || !is_letter(text_.front())) return {};
        return take_while([](char c) { return is_letter_or_digit(c) || c == '-'; });
    }
    bool spaces() { return !take_while(is_space).empty(); }
    /// ` name`, ` name=value`: false where none follows, and then nothing but blanks is taken.
    bool attribute() {
        if (!spaces() || text_.empty()) return false;
        if (!is_letter(text_.front()) && text_.front() != '_' && text_.front() != ':') return false;
        take_while([](char c) { return is_letter_or_digit(c) || c == '_' || c == ':' || c == '.' || c == '-'; });
        const auto behind_name = text_;
        spaces();
        if (!take('=')) {
            text_ = behind_name;
            return true;
        }
        spaces();
        return value();
    }
    std::string_view left() const { return text_; }
    bool failed() const { return failed_; }

  private:
    bool value() {
        for (const char quote : {'"', '\''}) {
            if (!take(quote)) continue;
            take_while([quote](char c) { return c != quote; });
            failed_ = !take(quote);
            return !failed_;
        }
        const auto word = take_while(
            [](char c) { return !is_space(c) && std::string_view("\"'=<>`").find(c) == std::string_view::npos; });
        failed_ = word.empty();
        return !failed_;
    }

    std::string_view text_;
    bool failed_ = false;
};

/// One whole opening or closing tag of whatever name, and nothing behind it.
bool is_lone_tag(std::string_view rest) {
    Tag tag(rest);
    tag.take('<');
    const bool closing = tag.take('/');
    if (tag.name().empty()) return false;
    if (closing) {
        tag.spaces();
    } else {
        while (tag.attribute()) {
        }
        if (tag.failed()) return false;
        tag.take('/');
    }
    return tag.take('>') && tag.left().find_first_not_of(" \t\f") == std::string_view::npos;
}

bool is_one_of(std::string_view name, const auto& names) {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return equal_ignoring_case(name, one); });
}

}  // namespace

int html_block_start(std::string_view rest, bool interrupts_paragraph) {
    if (!rest.starts_with('<')) return 0;
    if (rest.starts_with("<!--")) return 2;
    if (rest.starts_with("<?")) return 3;
    if (rest.starts_with("<!") && rest.size() > 2 && rest[2] >= 'A' && rest[2] <= 'Z') return 4;
    if (rest.starts_with("<![CDATA[")) return 5;
    Tag tag(rest.substr(1, 32));  // longer than any of the names
    const bool closing = tag.take('/');
    const auto name = tag.take_while(is_letter_or_digit);
    const auto left = tag.left();
    const bool ends = left.empty() || is_space(left.front()) || left.front() == '>';
    if (!closing && ends && is_one_of(name, k_verbatim)) return 1;
    if ((ends || left.starts_with("/>")) && is_one_of(name, k_block_tags)) return 6;
    return !interrupts_paragraph && is_lone_tag(rest) ? 7 : 0;
}

bool ends_html_block(int kind, std::string_view rest) {
    constexpr std::array<std::string_view, 4> k_ends = {"-->", "?>", ">", "]]>"};
    if (kind >= 2 && kind <= 5) return rest.find(k_ends[static_cast<std::size_t>(kind - 2)]) != std::string_view::npos;
    if (kind != 1) return false;
    for (auto at = rest.find("</"); at != std::string_view::npos; at = rest.find("</", at + 2)) {
        Tag tag(rest.substr(at + 2, 16));
        if (is_one_of(tag.take_while(is_letter), k_verbatim) && tag.take('>')) return true;
    }
    return false;
}

}  // namespace orange::store::markdown
