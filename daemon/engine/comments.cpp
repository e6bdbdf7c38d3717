#include "daemon/engine/comments.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

constexpr std::size_t k_quoted_lines = 8;
constexpr std::size_t k_longest_letter = 256 << 10;  ///< bytes; TASK.md may have 1 MiB in all
constexpr std::size_t k_quoted_columns = 160;
constexpr std::string_view k_indent = "    ";  ///< a line that is indented so far is neither a heading nor a fence
constexpr std::string_view k_usual_section = "Handoff";

bool has_happened(std::int64_t at, std::int64_t step) {
    return at > 0 && at <= step;
}

/// Takes digits from the front; nullopt if there are none, or too many for a number of a line or a comment.
std::optional<std::int64_t> take_digits(std::string_view& text) {
    const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
    if (count == 0 || count > 9) return std::nullopt;
    const auto number = whole_number(text.substr(0, count));
    text.remove_prefix(count);
    return number;
}

std::string_view without_mark(std::string_view line) {
    line = trim(line);
    if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) line = trim(line.substr(2));
    return line;
}

bool is_fence_mark(std::string_view bare) {
    return bare.starts_with("```") || bare.starts_with("~~~");
}

/// Returns the number and the text of "3: text"; nullopt for any other line.
std::optional<std::pair<std::int64_t, std::string_view>> answer_in(std::string_view line) {
    line = without_mark(line);
    for (const std::string_view bold : {"**", "__"}) {
        if (!line.starts_with(bold)) continue;
        line.remove_prefix(bold.size());
        break;
    }
    if (line.starts_with('#')) line.remove_prefix(1);
    const auto number = take_digits(line);
    if (!number) return std::nullopt;
    for (const std::string_view colon : {"**:", "__:", ":**", ":__", ":"}) {
        if (!line.starts_with(colon)) continue;
        const auto rest = line.substr(colon.size());
        if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return std::nullopt;  // as "12:30"
        return std::pair(*number, trim(rest));
    }
    return std::nullopt;
}

/// Returns true for "DONE: ...", which begins the next part of a handoff.
bool is_field(std::string_view line) {
    const auto end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return end != std::string_view::npos && end > 1 && line[end] == ':';
}

std::string listed_numbers(const std::vector<std::int64_t>& numbers) {
    std::vector<std::string> texts;
    for (const auto number : numbers) texts.push_back(std::to_string(number));
    return listed(std::move(texts), " and ");
}

void add_indented(std::string& text, std::string_view lines, std::string_view mark = "") {
    for (const auto line : split_lines(lines)) {
        text += std::string(k_indent) + std::string(mark) + printable(line);
        while (text.ends_with(' ')) text.pop_back();
        text += '\n';
    }
}

void add_quoted(std::string& text, std::string_view quoted) {
    const auto lines = split_lines(quoted);
    for (std::size_t i = 0; i < lines.size() && i < k_quoted_lines; ++i) {
        add_indented(text, ellipsized(printable(lines[i]), k_quoted_columns), "> ");
    }
    if (lines.size() > k_quoted_lines) {
        add_indented(text, "(and " + counted(lines.size() - k_quoted_lines, "more line") + ")", "> ");
    }
}

bool takes_comments(const Transition& edge) {
    return edge.gate && edge.gate->comments;
}

/// Takes "12" or "12-14", and the colon after it.
bool take_lines(std::string_view& text, LineRemark& remark) {
    const auto first = take_digits(text);
    if (!first || *first == 0) return false;
    remark.line = remark.end = *first;
    if (text.starts_with('-')) {
        text.remove_prefix(1);
        const auto last = take_digits(text);
        if (!last || *last < *first) return false;
        remark.end = *last;
    }
    return true;
}

/// Reads "src/cart.py:12: text", also as an item of a list, and with the place in backticks or bold.
std::optional<LineRemark> remark_in(std::string_view row) {
    auto text = without_mark(row);
    const auto marks = std::min(text.find_first_not_of("*`"), text.size());
    const auto mark = text.substr(0, marks);
    text.remove_prefix(marks);
    for (auto colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        LineRemark remark;
        auto rest = text.substr(colon + 1);
        if (!take_lines(rest, remark)) continue;
        const auto closing = std::min(rest.find_first_not_of("*`"), rest.size());
        if (closing > 0 && mark.empty()) return std::nullopt;
        rest.remove_prefix(closing);
        if (!rest.starts_with(':')) continue;
        remark.path = text.substr(0, colon);
        remark.text = trim(rest.substr(1));
        while (remark.text.starts_with("** ") || remark.text.starts_with("` ")) {
            remark.text.erase(0, remark.text.find(' ') + 1);
        }
        const bool is_path = !remark.path.empty() && remark.path.find("://") == std::string::npos &&
                             !remark.path.starts_with('/') && trim(remark.path) == remark.path;
        if (!is_path) return std::nullopt;
        if (remark.path.starts_with("./")) remark.path.erase(0, 2);
        return remark;
    }
    return std::nullopt;
}

}  // namespace

std::string_view text_of(CommentState state) {
    switch (state) {
        case CommentState::draft:
            return "not sent yet";
        case CommentState::sent:
            return "sent, and not answered yet";
        case CommentState::answered:
            return "answered";
        case CommentState::resolved:
            return "resolved";
        case CommentState::outside:
            break;
    }
    return "by somebody who may not push";
}

CommentState state_of(const Comment& comment, std::int64_t step) {
    if (comment.resolved) return CommentState::resolved;
    if (comment.outside) return CommentState::outside;
    const auto& last = comment.turns.back();
    if (!has_happened(last.sent, step)) return CommentState::draft;
    return has_happened(last.answered, step) ? CommentState::answered : CommentState::sent;
}

CommentCounts counts_of(const CommentList& list, std::int64_t step) {
    CommentCounts counts;
    for (const auto& comment : list.comments) {
        const auto state = state_of(comment, step);
        counts.drafts += state == CommentState::draft ? 1 : 0;
        counts.sent += state == CommentState::sent ? 1 : 0;
        counts.answered += state == CommentState::answered ? 1 : 0;
        counts.outside += state == CommentState::outside ? 1 : 0;
    }
    return counts;
}

std::map<std::int64_t, std::string> unanswered(const CommentList& list, std::int64_t step) {
    std::map<std::int64_t, std::string> open;
    for (const auto& comment : list.comments) {
        if (state_of(comment, step) != CommentState::sent) continue;
        const auto& turns = comment.turns;
        auto& before = open[comment.number] = turns.back().stale;
        if (before.empty() && turns.size() > 1) before = turns[turns.size() - 2].answer;
    }
    return open;
}

bool is_meant(const Comment& comment, std::int64_t step, Drafts which) {
    return state_of(comment, step) == CommentState::draft && (which == Drafts::all || !comment.thread.empty());
}

void settle(CommentList& list, std::int64_t step) {
    for (auto& comment : list.comments) {
        for (auto& turn : comment.turns) {
            if (turn.sent > step) turn.sent = 0;
            if (turn.answered <= step) continue;
            turn.answered = 0;
            turn.answer.clear();
            turn.answered_at.reset();
        }
    }
}

void send_drafts(CommentList& list, std::int64_t step, const std::set<std::int64_t>& numbers,
                 std::string_view section) {
    const auto written = answers_in(section);
    for (auto& comment : list.comments) {
        if (!numbers.contains(comment.number)) continue;
        const auto answer = written.find(comment.number);
        comment.turns.back().sent = step + 1;
        comment.turns.back().stale = answer == written.end() ? std::string() : answer->second;
    }
}

bool take_answers(CommentList& list, std::int64_t step, std::string_view section, Timestamp now) {
    const auto answers = answers_in(section);
    const auto open = unanswered(list, step);
    bool is_new = false;
    for (auto& comment : list.comments) {
        const auto asked = open.find(comment.number);
        const auto answer = answers.find(comment.number);
        if (asked == open.end() || answer == answers.end() || answer->second == asked->second) continue;
        auto& turn = comment.turns.back();
        turn.answer = answer->second;
        turn.answered = step + 1;
        turn.answered_at = now;
        is_new = true;
    }
    return is_new;
}

std::map<std::int64_t, std::string> answers_in(std::string_view section) {
    std::map<std::int64_t, std::string> answers;
    std::string* current = nullptr;
    bool is_fenced = false;
    for (const auto line : split_lines(section)) {
        const auto bare = trim(line);
        const bool is_fence = is_fence_mark(bare);
        is_fenced = is_fenced != is_fence;
        const auto answer = is_fenced ? std::nullopt : answer_in(line);
        if (answer) {
            const auto [place, is_first] = answers.emplace(answer->first, answer->second);
            current = is_first ? &place->second : nullptr;
        } else if (!is_fenced && !is_fence && (bare.empty() || bare.starts_with('#') || is_field(bare))) {
            current = nullptr;
        } else if (current != nullptr) {
            *current += (current->empty() ? "" : "\n") + std::string(bare);
        }
    }
    std::erase_if(answers, [](const auto& each) { return each.second.empty(); });
    return answers;
}

std::string answer_problem(const std::string& heading, std::string_view section,
                           const std::map<std::int64_t, std::string>& open) {
    if (open.empty()) return {};
    const auto answers = answers_in(section);
    std::vector<std::int64_t> missing, same;
    for (const auto& [number, before] : open) {
        const auto found = answers.find(number);
        if (found == answers.end()) missing.push_back(number);
        if (found != answers.end() && found->second == before) same.push_back(number);
    }
    if (missing.empty() && same.empty()) return {};
    const auto& first = missing.empty() ? same.front() : missing.front();
    std::string text;
    if (!missing.empty()) {
        text = "## " + heading + " does not answer comment" + (missing.size() == 1 ? " " : "s ") +
               listed_numbers(missing) + " of ## Feedback. ";
    }
    if (!same.empty()) {
        text += "Comment" + std::string(same.size() == 1 ? " " : "s ") + listed_numbers(same) +
                (same.size() == 1 ? " was" : " were") + " asked again, and the answer is still the same. ";
    }
    return text + "Write a line for each number into ## " + heading +
           ", with what you have done about it: " + std::to_string(first) + ": ...";
}

std::string answers_section(const Definition& definition, std::string_view to) {
    for (const auto& target : definition.targets_from(to)) {
        for (const auto* edge : definition.between(to, target)) {
            if (takes_comments(*edge)) return edge->gate->section;
        }
    }
    return std::string(k_usual_section);
}

std::string taken_section(const Definition& definition, std::string_view from, std::string_view to) {
    for (const auto* edge : definition.between(from, to)) {
        if (takes_comments(*edge)) return edge->gate->section;
    }
    const auto works = [&](std::string_view name) {
        const auto* state = definition.state(name);
        return state != nullptr && state->agent == Role::worker;
    };
    if (!works(from) || works(to)) return {};
    const auto other = std::ranges::find_if(definition.transitions, takes_comments);
    return other == definition.transitions.end() ? std::string(k_usual_section) : other->gate->section;
}

CommentLetter letter_of(std::string_view free, const CommentList& list, std::int64_t step, Drafts which,
                        const std::map<std::int64_t, std::string>& places, const std::string& section) {
    CommentLetter letter{std::string(trim(free)), {}};
    std::string items;
    for (const auto& comment : list.comments) {
        const bool is_draft = is_meant(comment, step, which);
        if (!is_draft && state_of(comment, step) != CommentState::sent) continue;
        const auto place = places.find(comment.number);
        const auto& turns = comment.turns;
        auto item = "\n" + std::to_string(comment.number) + ". ";
        if (place != places.end()) item += printable(place->second);
        if (!comment.author.empty()) item += " (by " + printable(comment.author) + ")";
        if (!is_draft) item += " (sent before, and not answered)";
        if (is_draft && turns.size() > 1) item += " (asked again)";
        item += '\n';
        add_quoted(item, comment.anchor.text);
        if (turns.size() > 1) add_indented(item, "Your answer was: " + turns[turns.size() - 2].answer);
        add_indented(item, turns.back().text);
        if (is_draft && !letter.drafts.empty() && items.size() + item.size() > k_longest_letter) continue;
        items += item;
        if (is_draft) letter.drafts.insert(comment.number);
    }
    if (items.empty()) return letter;
    if (!letter.text.empty()) letter.text += "\n\n";
    letter.text += "Comments on lines. Answer each of them under ## " + section +
                   ", on a line of its own that begins with its number, as `1: ...`.\n" + items;
    return letter;
}

std::vector<LineRemark> remarks_in(std::string_view review) {
    std::vector<LineRemark> remarks;
    bool is_open = false, is_fenced = false;
    for (const auto row : split_lines(review)) {
        const auto bare = trim(row);
        if (is_fence_mark(bare)) is_fenced = !is_fenced;
        if (auto remark = is_fenced ? std::nullopt : remark_in(row)) {
            remarks.push_back(std::move(*remark));
            is_open = true;
        } else if (bare.empty() || (!row.starts_with("  ") && !row.starts_with('\t'))) {
            is_open = false;
        } else if (is_open) {
            auto& text = remarks.back().text;
            text += (text.empty() ? "" : "\n") + std::string(bare);
        }
    }
    std::erase_if(remarks, [](const LineRemark& remark) { return remark.text.empty(); });
    return remarks;
}

}  // namespace orange::engine
