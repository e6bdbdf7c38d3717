#include "daemon/store/sections.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "common/base/text.hpp"
#include "daemon/store/markdown.hpp"

namespace orange::store {
namespace {

constexpr std::string_view k_bom = "\xEF\xBB\xBF";

/// A body cut into lines as Markdown cuts it: "\n", "\r\n" and a lone "\r" end one.
class Lines {
  public:
    explicit Lines(std::string_view body) : body_(body) {
        std::size_t at = 0;
        while (at < body.size()) {
            starts_.push_back(at);
            const auto end = body.find_first_of("\r\n", at);
            if (end == std::string_view::npos) break;
            at = end + (body.substr(end, 2) == "\r\n" ? 2 : 1);
        }
        if (starts_.empty() || starts_.back() != body.size()) starts_.push_back(body.size());
    }
    int count() const { return static_cast<int>(starts_.size()) - 1; }
    /// Offset of a line's first byte, 1-based; of the line after the last: the end.
    std::size_t start(int line) const {
        return starts_[static_cast<std::size_t>(std::clamp(line, 1, count() + 1)) - 1];
    }
    std::string_view with_end(int line) const { return body_.substr(start(line), start(line + 1) - start(line)); }
    std::string_view text(int line) const {
        auto text = with_end(line);
        while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
        if (line == 1 && text.starts_with(k_bom)) text.remove_prefix(k_bom.size());
        return text;
    }
    std::string_view body() const { return body_; }

  private:
    std::string_view body_;
    std::vector<std::size_t> starts_;
};

/// `line` without up to three blanks; nothing where it is indented deeper.
std::optional<std::string_view> unindented(std::string_view line) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return std::string_view{};
    if (first > 3) return std::nullopt;
    return line.substr(first);
}

struct AtxHeading {
    int level = 0;
    std::string_view text;
};

/// Reads `## Text ##`. Whether the line really is a heading depends on those before it: markdown::blocks_of() tells.
std::optional<AtxHeading> atx_heading(std::string_view line) {
    const auto rest = unindented(line);
    if (!rest) return std::nullopt;
    const auto level = std::min(rest->find_first_not_of('#'), rest->size());
    if (level < 1 || level > 6) return std::nullopt;
    auto text = rest->substr(level);
    if (!text.empty() && text.front() != ' ' && text.front() != '\t') return std::nullopt;
    text = trim(text);
    const auto last = text.find_last_not_of('#');
    if (last == std::string_view::npos) {
        text = {};
    } else if (last + 1 < text.size() && (text[last] == ' ' || text[last] == '\t')) {
        text = trim(text.substr(0, last));
    }
    return AtxHeading{static_cast<int>(level), text};
}

struct Heading {
    int line = 0;
    int last_line = 0;
    AtxHeading atx;  ///< level 0: a Setext heading
};

std::vector<Heading> headings(const markdown::Blocks& blocks, const Lines& lines) {
    std::vector<Heading> found;
    for (const auto& heading : blocks.headings) {
        const auto atx = heading.is_setext ? std::nullopt : atx_heading(lines.text(heading.line));
        found.push_back({heading.line, heading.last_line, atx.value_or(AtxHeading{})});
    }
    return found;
}

struct Fence {
    int line = 0;
    std::string marker;
};

/// The marker of a line that opens a fence: ``` or ~~~, three or more.
std::optional<std::string> fence_marker(std::string_view line) {
    const auto rest = unindented(line);
    if (!rest || rest->size() < 3 || (rest->front() != '`' && rest->front() != '~')) return std::nullopt;
    const auto length = std::min(rest->find_first_not_of(rest->front()), rest->size());
    if (length < 3) return std::nullopt;
    return std::string(length, rest->front());
}

/// The fence that is open at the end of the document, if there is one.
std::optional<Fence> unclosed_fence(const markdown::Blocks& blocks, const Lines& lines) {
    if (!blocks.open_fence) return std::nullopt;
    return Fence{*blocks.open_fence, fence_marker(lines.text(*blocks.open_fence)).value_or("```")};
}

struct Span {
    std::string heading;
    int heading_line = 0;
    int end_line = 0;  ///< the first line that no longer belongs to it
};

std::vector<Span> spans(const std::vector<Heading>& found, const Lines& lines) {
    std::vector<Span> result;
    bool open = false;
    for (const auto& heading : found) {
        if (heading.atx.level != 1 && heading.atx.level != 2) continue;
        if (open) result.back().end_line = heading.line;
        open = heading.atx.level == 2;
        if (open) result.push_back({std::string(heading.atx.text), heading.line, lines.count() + 1});
    }
    return result;
}

std::string_view text_of(const Span& span, const Lines& lines) {
    const auto start = lines.start(span.heading_line + 1);
    return trim(lines.body().substr(start, lines.start(span.end_line) - start));
}

}  // namespace

engine::Artifacts parse_sections(std::string_view body) {
    const Lines lines(body);
    const auto blocks = markdown::blocks_of(body);
    engine::Artifacts artifacts;
    for (const auto& span : spans(headings(blocks, lines), lines)) {
        const auto text = text_of(span, lines);
        artifacts.sections[span.heading] = {std::string(text), content_hash(text)};
    }
    if (const auto fence = unclosed_fence(blocks, lines)) {
        for (int line = fence->line + 1; line <= lines.count(); ++line) {
            const auto atx = atx_heading(lines.text(line));
            if (!atx || atx->level != 2) continue;
            const std::string heading(atx->text);
            if (!artifacts.sections.contains(heading)) artifacts.swallowed_by_fence[heading] = fence->line;
        }
    }
    return artifacts;
}

std::vector<std::string> section_headings(std::string_view body) {
    const Lines lines(body);
    std::vector<std::string> found;
    std::set<std::string, std::less<>> seen;
    for (auto& span : spans(headings(markdown::blocks_of(body), lines), lines)) {
        if (seen.insert(span.heading).second) found.push_back(std::move(span.heading));
    }
    return found;
}

std::string with_section(std::string_view body, std::string_view heading, std::string_view text) {
    const Lines lines(body);
    const auto blocks = markdown::blocks_of(body);
    const auto all = spans(headings(blocks, lines), lines);
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [&](const Span& span) { return span.heading == heading; });
    const std::string end = body.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
    const auto block = [&] { return end + std::string(text) + (text.ends_with('\n') ? "" : end); };
    if (found == all.rend()) {
        std::string result(body);
        if (!result.empty() && !result.ends_with('\n')) result += end;
        if (!result.empty()) result += end;
        return result + "## " + std::string(heading) + end + block();
    }
    std::string result(body.substr(0, lines.start(found->heading_line + 1)));
    if (!result.ends_with('\n')) result += end;
    result += block();
    if (found->end_line <= lines.count()) result += end;
    return result + std::string(body.substr(lines.start(found->end_line)));
}

namespace {

/// Whether a section written below `text` would be one: nothing in `text` is left open.
bool lets_pass(const std::string& text) {
    const auto whole = text + "\n\n## orange probe\n";
    const Lines lines(whole);
    const auto blocks = markdown::blocks_of(whole);
    return !blocks.headings.empty() && blocks.headings.back().line == lines.count();
}

/// `text` as a code block, whatever it contains.
std::string fenced(std::string_view text) {
    std::size_t longest = 2, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string marker(longest + 1, '`');
    return marker + "\n" + std::string(text) + (text.ends_with('\n') ? "" : "\n") + marker + "\n";
}

void rewrite(std::string& out, const Heading& heading, int shift, const Lines& lines) {
    const auto level = [&](int old) { return std::string(static_cast<std::size_t>(std::min(6, old + shift)), '#'); };
    if (heading.atx.level > 0) {
        out += level(heading.atx.level) + " " + std::string(heading.atx.text) + "\n";
        return;
    }
    const auto underline = trim(lines.text(heading.last_line));
    out += level(underline.starts_with('=') ? 1 : 2);
    for (int line = heading.line; line < heading.last_line; ++line) out += " " + std::string(trim(lines.text(line)));
    out += "\n";
}

}  // namespace

std::string demoted(std::string_view text) {
    const Lines lines(text);
    const auto blocks = markdown::blocks_of(text);
    const auto found = headings(blocks, lines);
    int top = 3;
    for (const auto& heading : found) top = std::min(top, heading.atx.level > 0 ? heading.atx.level : 1);
    std::string out;
    int line = 1;
    for (const auto& heading : found) {
        for (; line < heading.line; ++line) out += lines.with_end(line);
        rewrite(out, heading, 3 - top, lines);
        line = heading.last_line + 1;
    }
    for (; line <= lines.count(); ++line) out += lines.with_end(line);
    auto whole = closed(out);
    return lets_pass(whole) ? whole : fenced(text);
}

std::string closed(std::string_view text) {
    std::string whole(text);
    if (lets_pass(whole)) return whole;
    const Lines lines(text);
    const auto fence = unclosed_fence(markdown::blocks_of(text), lines);
    if (!whole.ends_with('\n')) whole += '\n';
    // Of the HTML blocks each is ended by its own mark alone.
    for (const auto& closer : {fence ? fence->marker : std::string("-->"), std::string("</pre>"), std::string("?>"),
                               std::string("]]>"), std::string(">")}) {
        if (auto ended = whole + closer + "\n"; lets_pass(ended)) return ended;
    }
    return whole;
}

}  // namespace orange::store
