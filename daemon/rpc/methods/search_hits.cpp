#include "daemon/rpc/methods/search_hits.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace orange::rpc {
namespace {

constexpr std::size_t k_longest_text = 500, k_longest_head = 4096, k_before = 80, k_behind = 160;
constexpr std::int64_t k_most_repeats = 1000;

/// The fields of events that hold words (docs/files.md), and what people look for besides words.
constexpr std::array<std::string_view, 16> k_texts = {"message", "text",     "reason", "error",  "why", "how",
                                                      "request", "command",  "forced", "commit", "ref", "url",
                                                      "refused", "sections", "what",   "summary"};

bool is_middle_of_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Refuses what makes grep need gigabytes: many repetitions of repetitions, and references back.
Result<void> check_expression(std::string_view text) {
    std::int64_t repeats = 1;
    for (std::size_t i = 0; i + 1 < text.size() && repeats <= k_most_repeats; ++i) {
        if (text[i] == '\\' && text[i + 1] >= '1' && text[i + 1] <= '9') {
            return {ErrorCode::invalid_argument, "the expression refers back (\\1), which a search does not do"};
        }
        if (text[i] != '{') continue;
        const auto numbers = text.substr(i + 1, text.find('}', i) - i - 1);
        const auto most = whole_number(numbers.substr(numbers.find(',') + 1));
        const auto least = whole_number(numbers.substr(0, numbers.find(',')));
        repeats *= std::clamp<std::int64_t>(std::max(most.value_or(1), least.value_or(1)), 1, k_most_repeats + 1);
    }
    if (repeats <= k_most_repeats) return {};
    return {ErrorCode::invalid_argument, "the expression repeats more than 1000 times; use * instead of {…}"};
}

}  // namespace

Result<void> check_search(const TaskSearch& params) {
    constexpr std::array<std::string_view, 4> k_places = {"tasks", "reviews", "logs", "all"};
    if (std::ranges::find(k_places, params.in) == k_places.end()) {
        return {ErrorCode::invalid_argument, "in must be tasks, reviews, logs or all"};
    }
    const auto is_control = [](char byte) { return (byte >= 0 && byte < ' ' && byte != '\t') || byte == 0x7f; };
    if (trim(params.text).empty() || params.text.size() > k_longest_text ||
        std::ranges::any_of(params.text, is_control)) {
        return {ErrorCode::invalid_argument, "the text to search for must be one line of 1 to 500 bytes"};
    }
    return params.regex ? check_expression(params.text) : Result<void>();
}

std::vector<std::string> grep_words(const TaskSearch& params) {
    std::vector<std::string> words = {"grep", "-r", "-a", "-s", "-o", "-b", "-n", "-H", "--null"};
    const auto is_capital = [](char byte) { return byte >= 'A' && byte <= 'Z'; };
    words.emplace_back(params.regex ? "-E" : "-F");
    if (std::ranges::none_of(params.text, is_capital)) words.emplace_back("-i");
    words.insert(words.end(), {"-e", params.text});
    const auto in_history = dump(params.text);
    const auto escaped = in_history.substr(1, in_history.size() - 2);
    if (!params.regex && escaped != params.text) words.insert(words.end(), {"-e", escaped});
    words.insert(words.end(), {"--exclude-dir=files", "--exclude-dir=run"});
    if (params.in != "tasks") words.emplace_back("--include=*-*.log");
    if (params.in != "logs") words.insert(words.end(), {"--include=TASK.md", "--include=TASK.kept-*.md"});
    if (params.in == "tasks" || params.in == "all") words.emplace_back("--include=history.jsonl");
    words.emplace_back("--");
    return words;
}

void GrepOutput::take(std::string_view output) {
    while (!output.empty() && !full_) {
        const auto end = output.find('\n');
        const auto piece = output.substr(0, end);
        head_.append(piece.substr(0, k_longest_head - head_.size()));
        length_ += piece.size();
        if (end == std::string_view::npos) return;
        add_line();
        head_.clear();
        length_ = 0;
        output.remove_prefix(end + 1);
    }
}

void GrepOutput::add_line() {
    const std::string_view head = head_;
    const auto name = head.find('\0');
    const auto line = head.find(':', name == std::string_view::npos ? head.size() : name);
    const auto offset = head.find(':', line == std::string_view::npos ? head.size() : line + 1);
    const auto slash = head.find('/', std::min(head.find('/'), head.size() - 1) + 1);
    if (offset == std::string_view::npos || slash > name) return;
    const auto number = whole_number(head.substr(name + 1, line - name - 1));
    const auto at = whole_number(head.substr(line + 1, offset - line - 1));
    if (!number || !at) return;
    const auto task = head.substr(0, slash), below = head.substr(slash + 1, name - slash - 1);
    const bool is_next_task = files_.empty() || files_.back().task != task;
    full_ = is_next_task && kept_ >= k_enough;
    if (full_) return;
    if (is_next_task || files_.back().below != below) files_.push_back({std::string(task), std::string(below), {}, 0});
    auto& file = files_.back();
    const auto from = static_cast<std::uintmax_t>(*at);
    file.last.push_back({from, from + length_ - offset - 1, *number});
    ++kept_;
    if (file.last.size() <= k_of_a_file) return;
    if (file.last[0].line != file.last[1].line) ++file.dropped;
    file.last.pop_front();
    --kept_;
}

std::string excerpt(std::string_view text, std::size_t at) {
    at = std::min(at, text.size());
    const auto before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    const auto end = std::min(text.find('\n', at), text.size());
    auto from = at - begin > k_before ? at - k_before : begin;
    auto to = end - at > k_behind ? at + k_behind : end;
    while (from > begin && from < at && is_middle_of_character(text[from])) ++from;
    while (to < end && to > at && is_middle_of_character(text[to])) --to;
    const auto line = printable(trim(text.substr(from, to - from)));
    return (from > begin ? "… " : "") + line + (to < end ? " …" : "");
}

std::optional<EventText> event_text(std::string_view line, std::size_t at) {
    std::string_view key;
    for (std::size_t i = 0; i < line.size() && i <= at; ++i) {
        if (line[i] != '"') continue;
        const auto begin = i + 1;
        auto end = begin;
        while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
        if (end >= line.size()) break;
        const auto text = line.substr(begin, end - begin);
        i = end;
        if (line.substr(end + 1).starts_with(':')) {
            key = text;
        } else if (at >= begin && at < end) {
            if (std::ranges::find(k_texts, key) == k_texts.end()) break;
            const auto whole = Json::parse("\"" + std::string(text) + "\"", nullptr, false);
            // A match may begin within an escape, such as the n of \n: that is none.
            const auto part = Json::parse("\"" + std::string(text.substr(0, at - begin)) + "\"", nullptr, false);
            if (!whole.is_string() || !part.is_string()) break;
            return EventText{whole.get<std::string>(), part.get<std::string>().size()};
        }
    }
    return std::nullopt;
}

}  // namespace orange::rpc
