// The rows of a pane: the agent's screen, the diff, TASK.md, the history, why, the work that is tried.
#include <algorithm>
#include <initializer_list>

#include "client/dashboard/ansi.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/pane_comments.hpp"
#include "client/output/attempts.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "client/output/usage.hpp"
#include "common/base/text.hpp"
#include "common/model/fields.hpp"
#include "common/model/patch.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::dashboard {
namespace {

std::string text_in(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void add_rows(Lines& lines, std::string_view text, std::size_t width, Look look, std::string_view indent = "") {
    const auto room = width > indent.size() ? width - indent.size() : 1;
    for (auto& row : wrapped(clean(text), room)) lines.push_back(Line(std::string(indent)).add(std::move(row), look));
}

/// Returns true for blanks and for characters that form frames and rules.
bool is_frame(char32_t point) {
    constexpr char32_t k_first = 0x2500, k_last = 0x259f;
    return point == U' ' || (point >= k_first && point <= k_last);
}

/// Wraps a line at any character, because an agent's window and a diff may be wider than the pane. A row that only
/// continues a frame is omitted.
void add_wrapped(Lines& lines, const Line& line, std::size_t width) {
    if (line.width() <= width) return lines.push_back(line);
    Line row;
    std::size_t used = 0;
    bool tells = true;
    for (const auto& span : line.spans) {
        for (std::size_t at = 0; at < span.text.size();) {
            const auto begin = at;
            const auto point = next_point(span.text, at);
            const auto wide = static_cast<std::size_t>(std::max(0, width_of(point)));
            if (used > 0 && used + wide > width) {
                if (tells) lines.push_back(row);
                row = Line();
                used = 0;
                tells = false;
            }
            row.add(span.text.substr(begin, at - begin), span.look);
            used += wide;
            tells = tells || !is_frame(point);
        }
    }
    if (tells) lines.push_back(std::move(row));
}

Look look_of_diff(std::string_view line) {
    if (line.starts_with("diff ") || line.starts_with("+++") || line.starts_with("---")) return k_bold;
    if (line.starts_with('+')) return k_green;
    if (line.starts_with('-')) return k_red;
    if (line.starts_with("@@")) return k_cyan;
    if (line.starts_with("index ") || line.starts_with("new file") || line.starts_with("deleted file")) return k_dim;
    return {};
}

/// Colours a line such as " src/total.cpp | 12 ++++++------".
Line stat_line(std::string_view row) {
    Line line;
    const auto bar = row.rfind('|');
    if (bar == std::string_view::npos) return Line(clean(row), k_bold);
    line.add(clean(row.substr(0, bar + 1)));
    for (const char c : row.substr(bar + 1))
        line.add(std::string(1, c), c == '+' ? k_green : c == '-' ? k_red : Look{});
    return line;
}

/// Returns the line without the "\r" of its end.
std::string_view without_return(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

Place place_of(const Patch& patch, const PatchRow& row) {
    Place place;
    if (patch.files.empty()) return place;
    const auto& file = patch.files[row.file];
    place.path = file.path();
    if (!row.is_line()) return place;
    place.before_path = file.before.empty() ? file.now : file.before;
    place.now = row.now;
    place.before = row.before;
    place.text = row.line();
    return place;
}

void add_patch(Lines& lines, PlacedRows& rows, std::string_view text, std::size_t width) {
    const auto patch = parse_patch(text);
    for (const auto& row : patch.rows) {
        const auto line = without_return(row.text);
        if (row.text.starts_with("diff ")) lines.emplace_back();
        add_wrapped(lines, Line(clean(without_tabs(line)), look_of_diff(line)), width);
        rows.end_line(place_of(patch, row));
    }
}

Lines diff_lines(const Json& reply, std::size_t width, Places& places) {
    Lines lines;
    auto diff = read_as<rpc::TaskDiff::Reply>(reply, "", UnknownKeys::ignore);
    if (!diff) return lines;
    places.comments = std::move(diff->comments);
    places.remarks = std::move(diff->remarks);
    places.base = diff->base;
    places.tip = diff->tip;
    PlacedRows rows(lines, places, width);
    const auto& changes = diff->changes;
    const auto large = output::large_files_text(changes);
    if (changes.files == 0 && large.empty()) {
        lines.emplace_back("The branch has no changes yet.", k_dim);
        rows.end_line();
        rows.add_rest();
        return lines;
    }
    add_rows(lines,
             counted(static_cast<std::size_t>(changes.commits), "commit") +
                 (changes.uncommitted ? ", and some of it is not committed" : ""),
             width, k_bold);
    rows.end_line();
    if (!large.empty()) add_rows(lines, large, width, k_yellow);
    rows.end_line();
    for (const auto row : split_lines(diff->stat)) {
        if (!trim(row).empty()) lines.push_back(stat_line(row));
        rows.end_line();
    }
    add_patch(lines, rows, diff->text, width);
    if (diff->cut) lines.emplace_back("… the rest is left out; D shows all of it", k_dim);
    rows.end_line();
    rows.add_rest();
    return lines;
}

/// Moves `place` to a line of Markdown: of the section whose heading came last, or of none.
void go_to_line(Place& place, std::string_view row, bool is_text) {
    const bool begins = !is_text && row.starts_with("## ");
    if (begins || (!is_text && row.starts_with("# "))) {
        place = Place();
        if (begins) place.section = trim(row.substr(3));
    } else if (!place.section.empty()) {
        ++place.now;
        place.text = row;
    }
}

/// Adds the lines of Markdown with colours for headings, lists and fences; the text stays as it is in the file.
void add_markdown(Lines& lines, PlacedRows& rows_of_body, std::string_view body, std::size_t width) {
    Place place;
    bool fenced = false;
    for (const auto row : split_lines(body)) {
        const auto bare = trim(row);
        const bool fence = bare.starts_with("```") || bare.starts_with("~~~");
        if (fence) fenced = !fenced;
        if (fence || fenced) {
            add_wrapped(lines, Line(clean(without_tabs(row)), fence ? k_dim : k_cyan), width);
        } else if (bare.starts_with('#')) {
            add_rows(lines, row, width, Look{5, -1, true});
        } else if (bare.starts_with("- ") || bare.starts_with("* ")) {
            const auto indent = static_cast<std::size_t>(bare.data() - row.data()) + 2;
            auto rows = wrapped(clean(bare.substr(2)), width > indent ? width - indent : 1);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                auto begin = std::string(indent, ' ');
                if (i == 0) begin[indent - 2] = '-';
                lines.push_back(Line(begin, k_bold).add(rows[i]));
            }
        } else {
            add_rows(lines, row, width, bare.starts_with('>') ? k_dim : Look{});
        }
        const bool returns = row.data() + row.size() < body.data() + body.size() && row.data()[row.size()] == '\r';
        go_to_line(place, {row.data(), row.size() + (returns ? 1 : 0)}, fence || fenced);
        rows_of_body.end_line(place);
    }
}

/// Adds lines that the command line prints, with text that is safe for the screen.
void add_cleaned(Lines& lines, const Lines& printed) {
    for (const auto& line : printed) {
        lines.emplace_back();
        for (const auto& span : line.spans) lines.back().add(clean(span.text), span.look);
    }
}

/// Returns the text without the empty lines at its ends.
std::string_view without_empty_lines(std::string_view text) {
    const auto bare = trim(text);
    if (bare.empty()) return bare;
    text.remove_prefix(static_cast<std::size_t>(bare.data() - text.data()));
    const auto end = text.find('\n', bare.size());
    return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

Lines task_lines(const Json& reply, std::size_t width, Places& places) {
    Lines lines;
    const auto shown = read_as<rpc::TaskShow::Reply>(reply, "", UnknownKeys::ignore);
    if (!shown) return lines;
    places.comments = shown->comments;
    PlacedRows rows(lines, places, width);
    for (const auto& line : output::task_fields(*shown, {}, {false, width}, true)) {
        add_cleaned(lines, {line});
        rows.end_line();
    }
    lines.emplace_back();
    rows.end_line();
    add_markdown(lines, rows, without_empty_lines(shown->body), width);
    rows.add_rest();
    return lines;
}

Lines history_lines(const Json& reply, std::size_t width) {
    Lines lines;
    const auto events = output::causes_first(reply.value("events", Json::array()));
    output::TokenSteps steps;
    std::vector<std::string> used;
    for (const auto& event : events) used.push_back(steps.next(event));
    for (auto at = events.size(); at-- > 0;) {
        add_cleaned(lines, output::history_lines(events[at], {false, width}, used[at]));
    }
    return lines;
}

/// Returns the sections with these names, with their headings. A heading inside a fence does not count.
std::string sections_in(std::string_view body, std::initializer_list<std::string_view> names) {
    std::string text;
    bool inside = false, fenced = false;
    for (const auto row : split_lines(body)) {
        const auto bare = trim(row);
        if (bare.starts_with("```") || bare.starts_with("~~~")) fenced = !fenced;
        if (!fenced && row.starts_with("## ")) inside = std::ranges::find(names, trim(row.substr(3))) != names.end();
        if (inside) text += std::string(row) + "\n";
    }
    return text;
}

Lines why_lines(const Json& reply, std::size_t width) {
    Lines lines;
    const auto why = read_as<rpc::TaskWhy::Reply>(reply, "", UnknownKeys::ignore);
    if (!why) return lines;
    const auto task = row_of(why->task);
    const auto key = [&task](std::string_view line) { return key_for(&task, OrangeCommand::from_text(line)); };
    add_cleaned(lines, output::why_lines(*why, {false, width}, key));
    return lines;
}

/// Returns the output, and below it how the command fares: the pane is shown from its bottom.
Lines preview_lines(const Json& reply, std::size_t width) {
    const auto tried = read_as<rpc::PreviewReply>(reply, "", UnknownKeys::ignore);
    if (!tried || tried->state == "none") return {Line("Its work is not tried; T starts it.", k_dim)};
    Lines lines;
    for (const auto row : split_lines(tried->output)) add_wrapped(lines, Line(clean(without_tabs(row))), width);
    if (!lines.empty()) lines.emplace_back();
    const auto command = "`" + tried->command + "` ";
    if (tried->state == "ended") {
        const bool is_good = tried->exit_status == 0 || !tried->exit_status;
        add_rows(lines, command + tried->why + "; T starts it again", width, is_good ? k_dim : k_red);
    } else if (tried->url.empty()) {
        const auto port = tried->port == 0 ? std::string() : " on port " + std::to_string(tried->port);
        add_rows(lines, command + "is running, and nothing listens" + port + " yet; T ends it", width, k_yellow);
    } else {
        add_rows(lines, command + "is running; T ends it", width, k_green);
        add_rows(lines, tried->url, width, k_bold);
    }
    return lines;
}

/// Returns the attempts side by side; the rows of each are a place.
Lines compare_lines(const Json& reply, std::size_t width, Places& places) {
    Lines lines;
    const auto found = read_as<rpc::TaskCompare::Reply>(reply, "", UnknownKeys::ignore);
    if (!found || found->rows.empty()) return {Line("No attempt is left.", k_dim)};
    PlacedRows rows(lines, places, width);
    const auto compared = output::compared(*found, {false, width});
    for (std::size_t i = 0; i < compared.lines.size(); ++i) {
        const auto attempt = compared.of_line[i];
        add_cleaned(lines, {compared.lines[i]});
        if (i + 1 < compared.lines.size() && attempt == compared.of_line[i + 1] && attempt > 0) continue;
        Place place;
        if (attempt > 0) place.attempt = found->rows[attempt - 1].id;
        rows.end_line(place);
    }
    rows.add_rest();
    return lines;
}

}  // namespace

std::vector<Line> about_lines(const About& about, std::size_t width) {
    if (about.what == About::What::given) {
        Lines lines;
        for (const auto& line : about.given) lines.emplace_back(cut(line, width));
        return lines;
    }
    if (!about.reply.is_object()) return {};
    Places unused;
    if (about.what == About::What::changes) return diff_lines(about.reply, width, unused);
    const auto shown = read_as<rpc::TaskShow::Reply>(about.reply, "", UnknownKeys::ignore);
    if (!shown) return {};
    const bool asks = about.what == About::What::questions;
    const bool plans = about.what == About::What::plan;
    auto text = asks    ? sections_in(shown->body, {"Questions"})
                : plans ? sections_in(shown->body, {"Plan", "Subtasks"})
                        : sections_in(shown->body, {"Handoff", "Review", "Second review"});
    if (text.empty() && !asks) text = sections_in(shown->body, {"Plan"});
    if (text.empty()) text = shown->body;
    Lines lines;
    if (const auto& checked = shown->task.checked; checked && !asks) {
        add_rows(lines, checked->passed ? "The checks passed." : "The checks failed: " + checked->failed, width,
                 checked->passed ? k_green : k_red);
        lines.emplace_back();
    }
    for (const auto& child : plans ? shown->children : std::vector<rpc::RelatedTask>()) {
        add_rows(lines, child.short_id + "  " + child.summary, width, k_bold);
    }
    if (plans && !shown->children.empty()) lines.emplace_back();
    PlacedRows rows(lines, unused, width);
    add_markdown(lines, rows, trim(text), width);
    return lines;
}

std::vector<Line> pane_lines(Pane pane, const PaneText& text, std::size_t width, Places& places) {
    if (!text.error.empty()) {
        Lines lines;
        for (const auto row : split_lines(text.error)) add_rows(lines, row, width, k_dim);
        return lines;
    }
    if (!text.reply.is_object()) return {Line("…", k_dim)};
    switch (pane) {
        case Pane::screen: {
            Lines lines;
            for (const auto& line : screen_lines(text_in(text.reply, "text"))) add_wrapped(lines, line, width);
            if (lines.empty())
                return {Line(text.reply.contains("windows") ? "No agent has run yet." : "The agent's screen is empty.",
                             k_dim)};
            return lines;
        }
        case Pane::diff:
            return diff_lines(text.reply, width, places);
        case Pane::task:
            return task_lines(text.reply, width, places);
        case Pane::history:
            return history_lines(text.reply, width);
        case Pane::preview:
            return preview_lines(text.reply, width);
        case Pane::compare:
            return compare_lines(text.reply, width, places);
        case Pane::why:
            break;
    }
    return why_lines(text.reply, width);
}

}  // namespace orange::dashboard
