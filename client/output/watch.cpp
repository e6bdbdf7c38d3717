#include "client/output/watch.hpp"

#include "client/output/events.hpp"
#include "client/output/local_time.hpp"
#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_summary_columns = 24;

/// Returns `head` and `text` on one line, or `text` indented below if it does not fit.
std::string headed(const std::string& head, std::size_t head_columns, const std::string& text, const Style& style) {
    if (head_columns + 2 + columns(text) <= style.width) return head + "  " + text + "\n";
    return head + "\n" + wrapped(text, "          ", style.width);
}

Look look_of(const std::string& level) {
    if (level == "error") return k_red;
    if (level == "warn") return k_yellow;
    return level == "debug" ? k_dim : k_plain;
}

}  // namespace

std::string event_line(const rpc::EventNotification& event, const Style& style) {
    const auto time = local_clock(time_of(event.event));
    const auto project = cut(printable(event.project), 20);
    const auto id = printable(event.short_id.empty() ? event.task : event.short_id);
    const auto summary = cut(printable(event.summary), k_summary_columns);
    auto used = columns(time) + 2 + columns(project) + 2 + columns(id);
    auto head = style.paint(time, k_dim) + "  " + project + "  " + style.paint(id, k_blue);
    if (!summary.empty()) {
        head += " " + summary;
        used += 1 + columns(summary);
    }
    return headed(head, used, event_sentence(event.event), style);
}

std::string log_line(const log::Line& line, const Style& style) {
    if (!line.json.is_object()) return wrapped(printable(line.text), "", style.width);
    const auto level = text_of(line.json, "level");
    auto begin = local_clock(text_of(line.json, "ts")) + " " + level;
    begin.resize(std::max<std::size_t>(begin.size(), 14), ' ');
    std::string text = begin + " " + text_of(line.json, "component") + ": " + text_of(line.json, "msg");
    for (const auto& [key, value] : line.json.items()) {
        if (key == "ts" || key == "level" || key == "component" || key == "msg") continue;
        text += " " + printable(key) + "=" + text_of(line.json, key.c_str());
    }
    std::string out;
    if (columns(text) <= style.width) {
        out = text + "\n";
    } else {
        // Indent all lines but the first below the message.
        const auto lines = wrapped(text, "", style.width);
        const auto end = lines.find('\n');
        auto rest = text.substr(end);
        if (rest.starts_with(' ')) rest.erase(0, 1);
        out = lines.substr(0, end + 1) + wrapped(rest, "               ", style.width);
    }
    if (look_of(level) == k_plain) return out;
    out.pop_back();
    return style.paint(out, look_of(level)) + "\n";
}

std::string windows_page(const rpc::TaskLog::Reply& reply, Timestamp now, const Style& style) {
    if (reply.windows.empty()) return "No windows yet; no agent has been started for this task.\n";
    Table table({{"WINDOW"}, {"RUN"}, {"WHEN"}, {"EXIT"}, {"SIZE"}});
    for (const auto& view : reply.windows) {
        const auto ended = view.ended_at ? from_rfc3339(*view.ended_at) : std::nullopt;
        const auto age = ended ? age_text(*ended, now) : std::string();
        const auto when = view.alive ? "running" : age == "now" ? age : age + " ago";
        table.row({{view.window},
                   {view.run},
                   {when, view.alive ? k_green : k_plain},
                   {view.exit_status ? std::to_string(*view.exit_status) : "-"},
                   {view.alive ? "-" : size_text(view.size)}});
    }
    return table.render(style);
}

std::string chain_page(const ChainReport& report, const Style& style) {
    std::string page = report.holds ? "" : "The chain of the history does not hold:\n";
    for (const auto& point : report.points) page += wrapped(printable(point.text), "  ", style.width);
    if (report.more > 0) page += "  " + counted(static_cast<std::size_t>(report.more), "more place") + "\n";
    const auto to =
        " holds from line " + std::to_string(report.from) + " to line " + std::to_string(report.lines) + ".";
    if (report.from > 0) page += (report.holds ? "The chain" : "It") + to + "\n";
    if (report.from > 1 && report.holds) page += "The lines before that have no prev: an older Orange wrote them.\n";
    if (report.is_cut_off) page += "A crash cut off the last line. Orange removes it before the next event.\n";
    return page + (report.head.empty() ? "" : "Last line: " + printable(report.head) + "\n");
}

}  // namespace orange::output
