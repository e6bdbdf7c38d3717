#include "client/output/comments.hpp"

#include <algorithm>

#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::string_view k_comment_indent = "     ";
constexpr std::size_t k_quoted_rows = 6;

Look look_of_state(std::string_view state) {
    if (state == "draft") return k_yellow;
    if (state == "sent") return k_blue;
    if (state == "answered") return k_green;
    if (state == "outside") return k_magenta;
    return k_dim;
}

std::string lines_text(DiffSide side, std::int64_t line, std::int64_t end) {
    return (side == DiffSide::before ? ":-" : ":") + std::to_string(line) +
           (end > line ? "-" + std::to_string(end) : "");
}

std::string file_text(const std::string& path) {
    const bool is_section = path == "Plan" || path == "Handoff" || path.starts_with("## ");
    return is_section ? "./" + path : path;
}

/// Returns the notes behind a comment's place.
std::string notes_of(const rpc::CommentView& comment) {
    std::vector<std::string> notes;
    if (!comment.was.empty()) notes.push_back("was " + comment.was);
    if (comment.place == "outdated") notes.emplace_back("outdated");
    if (!comment.author.empty()) notes.push_back("by " + comment.author);
    if (comment.origin == "review") notes.emplace_back("from the review");
    if (!comment.origin.empty() && comment.origin != "review") notes.push_back(comment.origin);
    return notes.empty() ? "" : "(" + join(notes, "; ") + ")";
}

/// Adds a text of several lines; the first row begins with `mark`, which is as wide as the indent or narrower.
void add_text(Lines& lines, std::string mark, std::string_view text, Look look, const Style& style) {
    mark.resize(std::max(mark.size(), k_comment_indent.size()), ' ');
    const auto rows = wrapped(printable(text, true), k_comment_indent, style.width);
    for (const auto row : split_lines(rows)) {
        const auto rest = row.substr(std::min(row.size(), k_comment_indent.size()));
        if (rest.empty()) {
            lines.emplace_back();
            continue;
        }
        lines.push_back(Line(std::exchange(mark, std::string(k_comment_indent)), k_dim).add(std::string(rest), look));
    }
}

void add_quoted(Lines& lines, std::string_view quoted, const Style& style) {
    const auto rows = split_lines(quoted.empty() ? "\n" : quoted);
    const auto room = style.width > k_comment_indent.size() + 22 ? style.width - k_comment_indent.size() - 2 : 20;
    for (std::size_t i = 0; i < std::min(rows.size(), k_quoted_rows); ++i) {
        const auto row = cut(clean(rows[i]), room);
        lines.emplace_back(std::string(k_comment_indent) + (row.empty() ? "|" : "| " + row), k_dim);
    }
    if (rows.size() > k_quoted_rows) {
        lines.emplace_back(std::string(k_comment_indent) + "| … " + counted(rows.size() - k_quoted_rows, "more line"),
                           k_dim);
    }
}

void add_comment(Lines& lines, const rpc::CommentView& comment, const Style& style, bool whole) {
    constexpr std::size_t k_state_width = 10;
    auto number = std::to_string(comment.number);
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, ' ');
    auto state = printable(comment.state);
    state.resize(std::max(state.size() + 1, k_state_width), ' ');
    Line first = Line(number + "  ", k_bold).add(state, look_of_state(comment.state));
    const std::string indent(first.width(), ' ');
    first.add(printable(place_text(comment)));
    const auto notes = printable(notes_of(comment));
    const bool fits = first.width() + 2 + columns(notes) <= style.width;
    if (fits && !notes.empty()) first.add("  " + notes);
    lines.push_back(std::move(first));
    const auto rows = fits ? std::string() : wrapped(notes, indent, style.width);
    for (const auto row : split_lines(rows)) lines.emplace_back(std::string(row));
    if (!whole && comment.state == "resolved") return;
    add_quoted(lines, comment.quoted, style);
    for (const auto& turn : comment.turns) {
        add_text(lines, &turn == &comment.turns.front() ? "" : "  ?  ", turn.text, {}, style);
        if (turn.answer) add_text(lines, "  →  ", *turn.answer, k_green, style);
    }
}

void add_command(Lines& lines, const std::string& sentence, const std::string& command) {
    lines.emplace_back(sentence);
    lines.emplace_back("  " + command);
}

std::string command_about(const rpc::TaskView& task, const std::string& command, const std::string& rest = {}) {
    return "orange " + command + " " + short_id(task) + (rest.empty() ? "" : " " + rest);
}

std::int64_t first_in(const std::vector<rpc::CommentView>& comments, std::string_view state) {
    const auto found = std::ranges::find(comments, state, &rpc::CommentView::state);
    return found == comments.end() ? 0 : found->number;
}

/// Adds the commands for comments that wait for the human.
void add_next(Lines& lines, const rpc::TaskView& task, const std::vector<rpc::CommentView>& comments) {
    const auto count = std::ranges::count(comments, std::string_view("draft"), &rpc::CommentView::state);
    const auto drafts = counted(static_cast<std::size_t>(count), "comment");
    const auto answered = first_in(comments, "answered"), outside = first_in(comments, "outside");
    const auto about = [&](const std::string& rest) { return command_about(task, "comment", rest); };
    if (count + answered + outside > 0) lines.emplace_back();
    if (answered > 0) {
        const auto number = std::to_string(answered);
        add_command(lines, "If an answer is enough, or to ask again:", about("--resolve " + number));
        lines.emplace_back("  " + about("--ask " + number + " \"TEXT\""));
    }
    if (outside > 0) {
        add_command(lines, "To take over what somebody else wrote:", about("--take " + std::to_string(outside)));
    }
    if (count > 0 && std::ranges::find(task.can, "reject") != task.can.end()) {
        add_command(lines, "To send " + drafts + " to the worker:", command_about(task, "reject"));
    } else if (count > 0) {
        lines.emplace_back(drafts + " not sent: the next rejection sends them.");
    }
}

void add_review_remarks(Lines& lines, const rpc::TaskComments::Reply& reply, const Style& style) {
    if (reply.remarks.empty()) return;
    if (!lines.empty()) lines.emplace_back();
    lines.emplace_back("The reviewer about lines:", k_dim);
    for (const auto& remark : reply.remarks) {
        lines.emplace_back();
        const bool is_outdated = remark.place == "outdated";
        lines.emplace_back(std::string(k_comment_indent) + printable(place_text(remark)) +
                           (is_outdated ? " (outdated)" : ""));
        add_text(lines, "", remark.text, {}, style);
        if (is_outdated) continue;
        lines.emplace_back(std::string(k_comment_indent) +
                           command_about(reply.task, "comment", "--take " + shell_word(printable(place_text(remark)))));
    }
}

}  // namespace

std::string place_text(const rpc::CommentView& comment) {
    const auto lines = lines_text(comment.side, comment.line, comment.end);
    if (comment.section.empty()) return file_text(comment.path) + lines;
    const bool is_short = comment.section == "Plan" || comment.section == "Handoff";
    return (is_short ? "" : "## ") + comment.section + lines;
}

std::string place_text(const rpc::RemarkView& remark) {
    return file_text(remark.path) + lines_text(DiffSide::now, remark.line, remark.end);
}

std::string comments_page(const rpc::TaskComments::Reply& reply, const Style& style, bool whole) {
    Lines lines;
    const auto add_all = [&](bool outdated) {
        for (const auto& comment : reply.comments) {
            if ((comment.place == "outdated") != outdated) continue;
            if (!lines.empty() && (whole || comment.state != "resolved")) lines.emplace_back();
            add_comment(lines, comment, style, whole);
        }
    };
    add_all(false);
    if (std::ranges::any_of(reply.comments, [](const auto& each) { return each.place == "outdated"; })) {
        if (!lines.empty()) lines.emplace_back();
        lines.emplace_back(reply.unplaced.empty()
                               ? "Their lines were changed or removed since:"
                               : "It is not known where these lines are now: " + printable(reply.unplaced),
                           k_dim);
        add_all(true);
    }
    add_next(lines, reply.task, reply.comments);
    add_review_remarks(lines, reply, style);
    if (!lines.empty()) return style.paint(lines);
    return "No comments. To make one:\n  " + command_about(reply.task, "comment", "FILE:LINE \"TEXT\"") + "\n";
}

std::string changed_comments(const rpc::TaskComment::Reply& reply, const Style& style) {
    Lines lines;
    for (const auto& comment : reply.comments) add_comment(lines, comment, style, true);
    return style.paint(lines);
}

std::string comment_counts_text(const CommentCounts& counts) {
    std::vector<std::string> texts;
    const auto add = [&](std::int64_t count, const char* what) {
        if (count > 0) texts.push_back(std::to_string(count) + " " + what);
    };
    add(counts.drafts, "not sent");
    add(counts.sent, "not answered");
    add(counts.answered, "answered");
    add(counts.outside, "from outside");
    return join(texts, ", ");
}

}  // namespace orange::output
