#include "client/output/permits.hpp"

#include <algorithm>

#include "client/output/task_cells.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {

std::string permit_word(const rpc::TaskView& task, std::int64_t number) {
    return short_id(task) + "." + std::to_string(number);
}

Lines request_lines(std::string_view request, const Style& style) {
    constexpr std::size_t k_indent = 4, k_narrowest = 20;
    const auto room = std::max(style.row, k_indent + k_narrowest) - k_indent;
    const auto text = printable(request, true);
    Lines lines;
    for (const auto line : split(text, '\n')) {
        Line row(std::string(k_indent, ' '));
        std::size_t begin = 0, used = 0;
        for (std::size_t at = 0; at < line.size();) {
            const auto before = at;
            const auto width = static_cast<std::size_t>(std::max(0, width_of(next_point(line, at))));
            used += width;
            if (used <= room) continue;
            row.add(std::string(line.substr(begin, before - begin)));
            lines.push_back(row);
            row = Line("  ↪ ", k_dim);
            begin = before;
            used = width;
        }
        row.add(std::string(line.substr(begin)));
        lines.push_back(std::move(row));
    }
    return lines;
}

Lines permit_lines(const rpc::TaskView& task, const rpc::PermitView& permit, Timestamp now, const Style& style) {
    const auto age = age_of(permit.since, now);
    const auto since = age.empty() ? "" : age == "now" ? ", just now" : ", " + age + " ago";
    const auto room = std::max<std::size_t>(style.row, 40);
    const auto who = permit_word(task, permit.number) + "  " + clean(permit.harness) + " (" + name_text(permit.role) +
                     ") asks to use " + clean(permit.tool) + since;
    Lines lines;
    const auto add = [&](const std::string& text, const Look& look) {
        for (const auto& row : wrapped(text, room - 4)) lines.emplace_back((lines.empty() ? "  " : "    ") + row, look);
    };
    add(who, k_bold);
    if (!task.worktree.empty()) add("in " + clean(task.worktree), k_dim);
    for (auto& line : request_lines(permit.request, style)) lines.push_back(std::move(line));
    return lines;
}

Lines permits_lines(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style) {
    Lines lines;
    for (const auto& permit : reply.permits) {
        for (auto& line : permit_lines(reply.task, permit, now, style)) lines.push_back(std::move(line));
        const auto word = permit_word(reply.task, permit.number);
        if (permit.whole) {
            lines.emplace_back("  orange allow " + word);
        } else {
            lines.emplace_back("  This is not all of it, so it can only be denied here.", k_yellow);
        }
        lines.emplace_back("  orange deny " + word + " \"what to do instead\"");
    }
    return lines;
}

std::string not_whole_text(const rpc::TaskView& task, std::int64_t number) {
    const auto word = permit_word(task, number);
    return "Orange does not have all of request " + word + ", so it can only be denied here. To deny it:\n" +
           "  orange deny " + word + "\nTo see it in the program's window:\n  orange attach " + short_id(task);
}

}  // namespace orange::output
