// The rows of the page with a request of an agent's program. No character of it is hidden.
#include <algorithm>

#include "client/dashboard/core.hpp"
#include "client/dashboard/pane_comments.hpp"
#include "client/output/local_time.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

/// Adds a line of the request. What does not fit stands in further rows, with another mark.
void add_request_line(Lines& lines, const std::string& text, std::size_t width) {
    constexpr std::size_t k_mark = 3;
    const auto room = std::max<std::size_t>(2, width > k_mark ? width - k_mark : 0);
    std::string row;
    std::size_t used = 0;
    const char* mark = "│ ";
    const auto finish = [&] {
        lines.push_back(Line(" ").add(std::exchange(mark, "│…"), k_dim).add(std::exchange(row, "")));
        used = 0;
    };
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = at;
        const auto wide = static_cast<std::size_t>(std::max(0, width_of(next_point(text, at))));
        if (used + wide > room) finish();
        row += text.substr(begin, at - begin);
        used += wide;
    }
    finish();
}

}  // namespace

Line permit_title(const State& state) {
    const auto& page = *state.permit;
    Line line(" Request", k_bold);
    if (!page.shown) return line.add(" of " + page.title, k_bold);
    line.add(" " + clean(page.short_id) + "." + std::to_string(page.shown->number), k_bold);
    const auto at = std::ranges::find(page.open, page.shown->number, &rpc::PermitView::number);
    if (page.over) {
        line.add("  over", k_red);
    } else if (page.open.size() > 1 && at != page.open.end()) {
        line.add("  " + std::to_string(at - page.open.begin() + 1) + " of " + std::to_string(page.open.size()), k_bold);
    }
    const auto last = std::min(page.scroll + permit_rows(layout_of(state)), page.lines.size());
    return line.add("  rows " + std::to_string(page.scroll + 1) + "-" + std::to_string(last) + " of " +
                        std::to_string(page.lines.size()),
                    k_dim);
}

std::vector<Line> permit_lines(const PermitPage& page, std::size_t width) {
    Lines lines;
    const auto add = [&](const std::string& text, Look look) {
        for (auto& row : wrapped(text, width > 2 ? width - 2 : 1)) lines.push_back(Line(" ").add(std::move(row), look));
    };
    if (!page.shown) {
        if (!page.error.empty()) add(clean(page.error), k_red);
        if (page.error.empty()) add(page.over ? "Nothing is asked." : "…", k_dim);
        return lines;
    }
    const auto& permit = *page.shown;
    const auto look = page.over ? k_dim : Look{};
    add(revealed(permit.harness) + " asks to use " + revealed(permit.tool), page.over ? k_dim : k_bold);
    const auto clock = output::local_clock(to_rfc3339(permit.since));
    const auto where = page.worktree.empty() ? std::string() : " in " + revealed(page.worktree);
    add("It is the " + std::string(name_of(permit.role)) + " of " + page.title + where + ", and asks since " + clock,
        look);
    if (!permit.whole) add("Not all of the request is here: it can only be denied.", k_yellow);
    lines.emplace_back();
    for (const auto line : split(permit.request, '\n')) add_request_line(lines, revealed(without_tabs(line)), width);
    add(permit.whole ? "end of the request" : "the rest of the request is missing", permit.whole ? k_dim : k_yellow);
    return lines;
}

}  // namespace orange::dashboard
