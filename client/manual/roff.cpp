#include "client/manual/roff.hpp"

#include <algorithm>
#include <vector>

#include "common/base/text.hpp"

namespace orange::manual {
namespace {

constexpr std::string_view k_bold = "\\fB", k_italic = "\\fI", k_end = "\\fR";

/// Returns the position of the mark that ends the text at `at`; npos if there is none.
std::size_t end_of(std::string_view text, std::size_t at, std::string_view mark) {
    const auto end = text.find(mark, at + mark.size());
    return end == at + mark.size() ? std::string_view::npos : end;
}

/// Translates [text](place): the text, with the place if it is a web address.
bool take_link(std::string_view text, std::size_t& at, std::string& out);

/// Translates a line or paragraph of Markdown.
std::string inline_text(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto marked = [&](std::string_view mark, std::string_view font, bool code) {
            const auto end = text.substr(at).starts_with(mark) ? end_of(text, at, mark) : std::string_view::npos;
            if (end == std::string_view::npos) return false;
            const auto inner = text.substr(at + mark.size(), end - at - mark.size());
            out += std::string(font) + (code ? escaped(inner, true) : inline_text(inner)) + std::string(k_end);
            at = end + mark.size();
            return true;
        };
        const bool emphasis = text[at] == '*' && at + 1 < text.size() && text[at + 1] != ' ';
        if (marked("`", k_bold, true) || marked("**", k_bold, false)) continue;
        if (emphasis && marked("*", k_italic, false)) continue;
        if (text[at] == '[' && take_link(text, at, out)) continue;
        out += escaped(text.substr(at, 1));
        ++at;
    }
    return out;
}

bool take_link(std::string_view text, std::size_t& at, std::string& out) {
    const auto middle = text.find("](", at);
    const auto end = middle == std::string_view::npos ? middle : text.find(')', middle);
    if (end == std::string_view::npos || text.substr(at, middle - at).find('\n') != std::string_view::npos)
        return false;
    const auto place = text.substr(middle + 2, end - middle - 2);
    out += inline_text(text.substr(at + 1, middle - at - 1));
    if (place.starts_with("http")) out += " (" + escaped(place, true) + ")";
    at = end + 1;
    return true;
}

/// Escapes the beginning of a line that roff would read as a request.
std::string guarded(std::string line) {
    return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

std::vector<std::string> cells_of(std::string_view row) {
    std::vector<std::string> cells(1);
    for (std::size_t i = 1; i < row.size(); ++i) {
        const bool escape = row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|';
        if (escape) {
            cells.back() += row[++i];
        } else if (row[i] == '|') {
            cells.emplace_back();
        } else {
            cells.back() += row[i];
        }
    }
    for (auto& cell : cells) cell = std::string(trim(cell));
    if (cells.back().empty()) cells.pop_back();
    return cells;
}

std::size_t indent_of(std::string_view line) {
    const auto at = line.find_first_not_of(' ');
    return at == std::string_view::npos ? line.size() : at;
}

/// Returns the length of "- " or "12. " at the beginning of `text`; 0 if it is no item.
std::size_t bullet_of(std::string_view text) {
    if (text.starts_with("- ")) return 2;
    const auto dot = text.find_first_not_of("0123456789");
    return dot != 0 && dot != std::string_view::npos && text.substr(dot, 2) == ". " ? dot + 2 : 0;
}

class Translation {
  public:
    explicit Translation(std::string_view markdown) : lines_(split_lines(markdown)) {}

    std::string text() {
        while (at_ < lines_.size()) block();
        return std::move(out_);
    }

  private:
    std::string_view line() const { return lines_[at_]; }
    void put(const std::string& text) { out_ += text + "\n"; }

    void block() {
        const auto text = trim(line());
        if (text.empty() || text.starts_with("<!--")) {
            const bool comment = !text.empty();
            while (comment && at_ < lines_.size() && line().find("-->") == std::string_view::npos) ++at_;
            ++at_;
        } else if (text.starts_with("#")) {
            heading(text);
        } else if (text.starts_with("```")) {
            fence(indent_of(line()));
        } else if (text.starts_with("|")) {
            table();
        } else if (indent_of(line()) >= 4) {
            indented();
        } else {
            paragraph();
        }
    }

    void heading(std::string_view text) {
        const auto depth = text.find_first_not_of('#');
        auto title = inline_text(trim(text.substr(depth)));
        std::ranges::replace(title, '"', '\'');
        put((depth <= 2 ? ".SH \"" : ".SS \"") + title + "\"");
        ++at_;
    }

    void code(const std::vector<std::string_view>& body) {
        put(".PP\n.RS 4\n.EX");
        for (const auto one : body) put(guarded(escaped(one, true)));
        put(".EE\n.RE");
    }

    void fence(std::size_t indent) {
        std::vector<std::string_view> body;
        for (++at_; at_ < lines_.size() && !trim(line()).starts_with("```"); ++at_)
            body.push_back(line().substr(std::min(indent, indent_of(line()))));
        ++at_;
        code(body);
    }

    void indented() {
        std::vector<std::string_view> body;
        const auto indent = indent_of(line());
        for (; at_ < lines_.size() && (trim(line()).empty() || indent_of(line()) >= 4); ++at_)
            body.push_back(line().substr(std::min(indent, indent_of(line()))));
        while (!body.empty() && trim(body.back()).empty()) body.pop_back();
        code(body);
    }

    void table() {
        std::size_t row = 0;
        for (; at_ < lines_.size() && trim(line()).starts_with("|"); ++at_, ++row) {
            if (row < 2) continue;  // skip the titles and the line below them
            const auto cells = cells_of(trim(line()));
            put(".TP\n" + guarded(inline_text(cells.front().empty() ? "…" : cells.front())));
            for (std::size_t i = 1; i < cells.size(); ++i) {
                if (cells[i].empty()) continue;
                put(guarded(inline_text(cells[i])));
                if (i + 1 < cells.size()) put(".br");
            }
        }
    }

    /// Translates the text up to a blank line or the next block; a list item begins with its bullet.
    void paragraph() {
        const auto bullet = bullet_of(trim(line()));
        std::string text(trim(line()).substr(bullet));
        const auto mark = trim(line()).substr(0, bullet ? bullet - 1 : 0);
        const auto depth = indent_of(line()) / 2;
        for (++at_; at_ < lines_.size(); ++at_) {
            const auto next = trim(line());
            if (next.empty() || next.starts_with("|") || next.starts_with("```") || next.starts_with("#")) break;
            if (bullet_of(next)) break;
            text += "\n" + std::string(next);
        }
        if (bullet && depth > 0) put(".RS " + std::to_string(2 * depth));
        put(bullet ? ".IP " + (mark == "-" ? std::string("\\(bu 2") : std::string(mark) + " 4") : ".PP");
        const auto shown = inline_text(text);
        for (const auto one : split_lines(shown)) put(guarded(std::string(one)));
        if (bullet && depth > 0) put(".RE");
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string escaped(std::string_view text, bool code) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (code && c == '-') {
            out += "\\-";
        } else if (code && c == '\'') {
            out += "\\(aq";
        } else if (code && c == '`') {
            out += "\\(ga";
        } else if (code && (c == '~' || c == '^')) {
            out += c == '~' ? "\\(ti" : "\\(ha";
        } else {
            out += c;
        }
    }
    return out;
}

std::string section_of(std::string_view markdown, std::string_view title) {
    std::string out;
    std::size_t depth = 0;
    bool fenced = false;
    for (const auto line : split_lines(markdown)) {
        if (line.starts_with("```")) fenced = !fenced;
        const auto hashes = fenced ? 0 : std::min(line.find_first_not_of('#'), line.size());
        if (depth > 0 && hashes > 0 && hashes <= depth) return out;
        if (depth > 0) {
            out += std::string(line) + "\n";
        } else if (hashes > 0 && (title.empty() || trim(line.substr(hashes)) == title)) {
            depth = hashes;
        }
    }
    return out;
}

std::string roff_of(std::string_view markdown) {
    return Translation(markdown).text();
}

std::string roff_of_paragraph(std::string_view text) {
    return guarded(inline_text(text)) + "\n";
}

std::string roff_of_footer(std::string_view text) {
    std::string out;
    bool kept = false, begins = true;
    const auto keep = [&](bool now) {
        if (kept && !now) out += ".EE\n.RE\n";
        if (!kept && now) out += ".RS 4\n.EX\n";
        kept = now;
    };
    for (const auto line : split_lines(text)) {
        if (trim(line).empty()) {
            keep(false);
            begins = true;
            continue;
        }
        keep(line.starts_with("  "));
        if (begins && !kept) out += ".PP\n";
        out += guarded(kept ? escaped(line.substr(2), true) : inline_text(line)) + "\n";
        begins = false;
    }
    keep(false);
    return out;
}

}  // namespace orange::manual
