#include "daemon/agents/prompt.hpp"

#include <algorithm>
#include <vector>

#include "common/base/text.hpp"

namespace orange::agents {
namespace {

/// A line of the screen, and for each of its bytes whether the program shows it dimmed, or marks it as it draws a
/// cursor.
struct Line {
    std::string text;
    std::vector<bool> dim;
    std::vector<bool> marked;
};

/// The attributes of text.
struct Pen {
    bool faint = false;
    bool reversed = false;
    bool underlined = false;
    std::string colour;  ///< SGR parameters such as "90" or "38;5;246"

    /// Applies the parameters of an SGR sequence, such as "0;2;38;5;246".
    void apply(std::string_view parameters) {
        const auto codes = split(parameters, ';');
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const auto& code = codes[i];
            const bool is_long = code == "38" || code == "48" || code == "58";
            const auto size = std::min<std::size_t>(!is_long                                      ? 1
                                                    : i + 1 < codes.size() && codes[i + 1] == "5" ? 3
                                                                                                  : 5,
                                                    codes.size() - i);
            if (code.empty() || code == "0") *this = {};
            if (code == "1" || code == "2" || code == "22") faint = code == "2";
            if (code == "7" || code == "27") reversed = code == "7";
            if (code == "4" || code == "24") underlined = code == "4";
            if (code.size() == 2 && (code.front() == '3' || code.front() == '9')) {
                colour = join({codes.begin() + static_cast<std::ptrdiff_t>(i),
                               codes.begin() + static_cast<std::ptrdiff_t>(i + size)},
                              ";");
            }
            i += size - 1;
        }
    }
};

/// A program draws its cursor as one reversed or underlined character. On the first one of a suggestion, it belongs to
/// that.
void dim_cursor(Line& line) {
    for (std::size_t begin = 0, end = 0; begin < line.text.size(); begin = end + 1) {
        end = begin;
        int characters = 0;
        while (end < line.text.size() && line.marked[end]) {
            if ((static_cast<unsigned char>(line.text[end++]) & 0xC0) != 0x80) ++characters;
        }
        if (characters != 1 || end == line.text.size() || !line.dim[end]) continue;
        std::fill(line.dim.begin() + static_cast<std::ptrdiff_t>(begin),
                  line.dim.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
}

/// Splits a screen into lines, and takes its escapes out. Attributes last over line ends. Faint text, "bright black"
/// and the colours of `dimmed` are what a program shows in the place of typed text.
std::vector<Line> lines_of(std::string_view styled, const std::vector<std::string>& dimmed) {
    std::vector<Line> lines(1);
    Pen pen;
    for (std::size_t i = 0; i < styled.size(); ++i) {
        const char c = styled[i];
        if (c == '\n') {
            lines.emplace_back();
        } else if (c == '\x1b' && styled.substr(i + 1).starts_with('[')) {
            const auto end = styled.find_first_not_of("0123456789;:", i + 2);
            if (end == std::string_view::npos) break;
            if (styled[end] == 'm') pen.apply(styled.substr(i + 2, end - i - 2));
            i = end;
        } else if (c == '\x1b' && styled.substr(i + 1).starts_with(']')) {  // a link: up to ESC and a backslash
            const auto end = styled.find("\x1b\\", i + 2);
            if (end == std::string_view::npos) break;
            i = end + 1;
        } else if (static_cast<unsigned char>(c) >= ' ') {
            lines.back().text += c;
            const bool is_grey = pen.colour == "90" || std::ranges::find(dimmed, pen.colour) != dimmed.end();
            lines.back().dim.push_back(pen.faint || is_grey);
            lines.back().marked.push_back(pen.reversed || pen.underlined);
        }
    }
    std::ranges::for_each(lines, dim_cursor);
    return lines;
}

/// Returns the text without blanks, and without the characters that a terminal does not show.
std::string dense(std::string_view text) {
    static constexpr std::string_view k_unseen[] = {"\u00a0", "\u200b", "\u200c", "\u200d",
                                                    "\u2060", "\ufe0f", "\ufeff"};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto rest = text.substr(i);
        const auto* unseen = std::ranges::find_if(k_unseen, [&](auto each) { return rest.starts_with(each); });
        if (unseen != std::end(k_unseen)) {
            i += unseen->size() - 1;
        } else if (static_cast<unsigned char>(text[i]) > ' ') {
            out += text[i];
        }
    }
    return out;
}

constexpr std::string_view k_edges[] = {"│", "┃", "║"};

/// Takes the edges of a box off a dense line.
std::string_view inside_box(std::string_view line) {
    for (const auto edge : k_edges) {
        if (line.starts_with(edge)) line.remove_prefix(edge.size());
        if (line.ends_with(edge)) line.remove_suffix(edge.size());
    }
    return line;
}

/// Returns what the line has behind a sign with which it begins, dense and without what is dimmed. The sign itself may
/// be dimmed.
std::string typed_behind(const Line& line, std::string_view sign) {
    const std::string_view text = line.text;
    auto at = std::min(text.find_first_not_of(' '), text.size());
    for (const auto edge : k_edges) {
        if (text.substr(at).starts_with(edge)) at += edge.size();
    }
    for (; at < text.size() && !sign.empty(); ++at) {
        if (text[at] == sign.front()) sign.remove_prefix(1);
    }
    std::string typed;
    for (; at < text.size(); ++at) {
        if (!line.dim[at]) typed += text[at];
    }
    typed = dense(typed);
    return std::string(inside_box(typed));
}

/// A screen, read by the prompt of one definition.
class Screen {
  public:
    Screen(const PromptSigns& signs, std::string_view styled) : signs_(signs), lines_(lines_of(styled, signs.dimmed)) {
        for (const auto& each : signs.empty) {
            empty_.push_back(dense(each));
            signs_of_it_.emplace_back(inside_box(empty_.back()));
        }
        std::ranges::sort(signs_of_it_, {}, &std::string::size);
    }

    Prompt read(std::optional<std::size_t> cursor) const {
        const auto below = end_of_prompt();
        for (auto at = lines_.size(); at-- > 0 && at + 1 >= below;) {
            if (stands_below(at) && shows_empty(at) && is_in_sight(at, cursor)) return {Prompt::State::empty};
        }
        for (auto at = below; at-- > 0;) {
            if (!stands_below(at) || !sign_of(at)) continue;
            auto text = text_between(at, below);
            if (text.empty()) continue;
            const bool has_cursor = !cursor || (*cursor >= at && *cursor < below) || is_in_sight(at, cursor);
            if (has_cursor) return {Prompt::State::filled, std::move(text)};
        }
        return {};
    }

    /// True if exactly this dense text stands in the prompt. A line of it may contain a text of `below`.
    bool holds(std::string_view text) const {
        for (auto at = lines_.size(); at-- > 0;) {
            if (!stands_below(at) || !sign_of(at)) continue;
            for (auto end = std::max(at + 1, end_of_prompt()); end <= lines_.size(); ++end) {
                if (text_between(at, end) == text) return true;
            }
            if (at < end_of_prompt()) return false;
        }
        return false;
    }

  private:
    bool is_blank(std::size_t at) const { return dense(lines_[at].text).empty(); }

    bool is_named_below(std::size_t at) const {
        return is_blank(at) || std::ranges::any_of(signs_.below, [&](const std::string& text) {
                   return lines_[at].text.find(text) != std::string::npos;
               });
    }

    /// Returns the line behind the last one that is neither blank nor named by `below`. What stands in the prompt may
    /// contain a text of `below`.
    std::size_t end_of_prompt() const {
        auto end = lines_.size();
        while (end > 0 && is_named_below(end - 1) && !is_written_in(end - 1)) --end;
        return end;
    }

    bool is_written_in(std::size_t at) const {
        const auto sign = sign_of(at);
        return sign && !sign->empty() && stands_below(at) && !typed_behind(lines_[at], *sign).empty();
    }

    /// The cursor stands in an empty prompt that reads keys. A menu or a search that leaves the prompt on the screen
    /// has it, in a line with text. A program that hides its cursor may leave the terminal's in a blank line further
    /// below.
    bool is_in_sight(std::size_t at, std::optional<std::size_t> cursor) const {
        if (!cursor || *cursor == at) return true;
        return *cursor > at && (*cursor >= lines_.size() || is_blank(*cursor));
    }

    bool shows_empty(std::size_t at) const {
        const auto whole = dense(lines_[at].text);
        if (std::ranges::find(empty_, whole) != empty_.end()) return true;
        const auto sign = sign_of(at);
        return sign && typed_behind(lines_[at], *sign).empty();
    }

    /// True if the lines of `above` stand directly above that line.
    bool stands_below(std::size_t at) const {
        if (at < signs_.above.size()) return false;
        const auto first = at - signs_.above.size();
        for (std::size_t i = 0; i < signs_.above.size(); ++i) {
            if (!trim(lines_[first + i].text).starts_with(signs_.above[i])) return false;
        }
        return true;
    }

    /// Returns the shortest sign with which the line begins.
    std::optional<std::string_view> sign_of(std::size_t at) const {
        const auto whole = dense(lines_[at].text);
        const auto inside = inside_box(whole);
        const auto found = std::ranges::find_if(signs_of_it_, [&](auto& sign) { return inside.starts_with(sign); });
        return found == signs_of_it_.end() ? std::nullopt : std::optional<std::string_view>(*found);
    }

    std::string text_between(std::size_t first, std::size_t end) const {
        auto text = typed_behind(lines_[first], sign_of(first).value_or(""));
        for (auto at = first + 1; at < end; ++at) text += typed_behind(lines_[at], {});
        return text;
    }

    const PromptSigns& signs_;
    std::vector<Line> lines_;
    std::vector<std::string> empty_;
    std::vector<std::string>
        signs_of_it_;  ///< with one of which an empty prompt and a filled one begin; short ones first
};

}  // namespace

Prompt prompt_on(const Harness& harness, std::string_view styled, std::optional<std::size_t> cursor) {
    return names_prompt(harness) ? Screen(harness.prompt, styled).read(cursor) : Prompt{};
}

Pasted pasted_in(const Harness& harness, std::string_view styled, std::string_view text) {
    constexpr std::size_t k_beginning = 20, k_telling = 8;  // the rest may have scrolled away
    if (!names_prompt(harness)) return Pasted::gone;
    const auto pasted = dense(text);
    const Screen screen(harness.prompt, styled);
    if (screen.holds(pasted)) return Pasted::alone;
    const auto prompt = screen.read(std::nullopt);
    if (prompt.state != Prompt::State::filled) return Pasted::gone;
    const bool is_cut_off = prompt.text.size() >= k_telling && pasted.starts_with(prompt.text);
    const bool has_more = prompt.text.find(pasted.substr(0, k_beginning)) != std::string::npos;
    return is_cut_off || has_more ? Pasted::beside : Pasted::gone;
}

bool names_prompt(const Harness& harness) {
    return !harness.prompt.empty.empty();
}

}  // namespace orange::agents
