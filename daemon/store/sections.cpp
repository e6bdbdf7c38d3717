#include "daemon/store/sections.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "common/base/text.hpp"
#include "daemon/store/markdown.hpp"

namespace orange::store {
namespace {

using markdown::Lines;

/// Returns the line without up to three leading blanks; nothing if it is indented deeper.
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

/// Reads `## Text ##`. Only markdown::outline_of() knows if the line is a heading, because that depends on earlier
/// lines.
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
    AtxHeading atx;
};

std::vector<Heading> headings(const markdown::Outline& outline, const Lines& lines) {
    std::vector<Heading> found;
    for (const int line : outline.headings) {
        if (const auto atx = atx_heading(lines.text(line))) found.push_back({line, *atx});
    }
    return found;
}

struct Span {
    std::string heading;
    int heading_line = 0;
    int end_line = 0;  ///< the first line after the section
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
    const auto outline = markdown::outline_of(lines);
    engine::Artifacts artifacts;
    for (const auto& span : spans(headings(outline, lines), lines)) {
        const auto text = text_of(span, lines);
        artifacts.sections[span.heading] = {std::string(text)};
    }
    if (const auto fence = outline.open_fence) {
        for (int line = *fence + 1; line <= lines.count(); ++line) {
            const auto atx = atx_heading(lines.text(line));
            if (!atx || atx->level != 2) continue;
            const std::string heading(atx->text);
            if (!artifacts.sections.contains(heading)) artifacts.swallowed_by_fence[heading] = *fence;
        }
    }
    return artifacts;
}

std::vector<Block> blocks_of(std::string_view body) {
    const Lines lines(body);
    const auto outline = markdown::outline_of(lines);
    std::vector<Block> blocks;
    std::map<std::string, int> times;
    std::size_t start = 0;
    std::string heading;
    const auto end_at = [&](std::size_t end) {
        if (end > start) blocks.push_back({heading, times[heading]++, body.substr(start, end - start)});
        start = end;
    };
    if (outline.closer.empty()) {
        for (const auto& each : headings(outline, lines)) {
            if (each.atx.level > 2) continue;
            end_at(lines.start(each.line));
            heading = (each.atx.level == 1 ? "# " : "") + std::string(each.atx.text);
        }
    }
    end_at(body.size());
    return blocks;
}

bool is_open(std::string_view text) {
    return !markdown::outline_of(Lines(text)).closer.empty();
}

std::string with_section(std::string_view body, std::string_view heading, std::string_view text) {
    const Lines lines(body);
    const auto all = spans(headings(markdown::outline_of(lines), lines), lines);
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

std::string with_lines(std::string_view body, std::string_view heading, std::string_view lines) {
    const auto sections = parse_sections(body).sections;
    const auto found = sections.find(std::string(heading));
    std::string_view before = found == sections.end() ? std::string_view() : found->second.text;
    while (before.starts_with('\n') || before.starts_with('\r')) before.remove_prefix(1);
    while (!before.empty() && trim(before.substr(before.size() - 1)).empty()) before.remove_suffix(1);
    const auto known = split_lines(before);
    auto text = closed(before);
    for (const auto line : split_lines(lines)) {
        if (std::ranges::find(known, line) != known.end()) continue;
        if (!text.empty() && !text.ends_with('\n')) text += '\n';
        text += line;
    }
    return with_section(body, heading, text);
}

std::string demoted(std::string_view text) {
    const Lines lines(text);
    const auto found = headings(markdown::outline_of(lines), lines);
    int top = 3;
    for (const auto& heading : found) top = std::min(top, heading.atx.level);
    std::string out;
    int line = 1;
    for (const auto& heading : found) {
        for (; line < heading.line; ++line) out += lines.with_end(line);
        const int level = std::min(6, heading.atx.level + 3 - top);
        out += std::string(static_cast<std::size_t>(level), '#') + " " + std::string(heading.atx.text) + "\n";
        line = heading.line + 1;
    }
    for (; line <= lines.count(); ++line) out += lines.with_end(line);
    return closed(out);
}

std::string closed(std::string_view text) {
    const auto closer = markdown::outline_of(Lines(text)).closer;
    std::string whole(text);
    if (closer.empty()) return whole;
    if (!whole.ends_with('\n')) whole += '\n';
    return whole + closer + "\n";
}

}  // namespace orange::store
