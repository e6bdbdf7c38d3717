#include "daemon/forge/github_jobs.hpp"

#include <algorithm>
#include <cstdint>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/forge/github_answers.hpp"

namespace orange::forge {
namespace {

constexpr std::size_t k_most_lines = 60;
constexpr std::size_t k_longest_line = 240;
constexpr std::size_t k_longest_end = 4500;
constexpr std::size_t k_most_named = 10;
/// "2026-01-02T03:04:05.1234567Z ", at the beginning of each line of a log.
constexpr std::size_t k_time = 29;

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string line_of(std::string_view text) {
    return ellipsized(printable(trim(text)), k_longest_line);
}

std::string_view without_time(std::string_view line) {
    const bool has_time =
        line.size() >= k_time && line[10] == 'T' && line[k_time - 2] == 'Z' && line[k_time - 1] == ' ';
    return has_time ? line.substr(k_time) : line;
}

/// Removes the colours that programs write also where no terminal is.
std::string without_colours(std::string_view line) {
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line.substr(i, 2) != "\x1b[") {
            plain += line[i];
            continue;
        }
        i += 2;
        while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    }
    return plain;
}

}  // namespace

std::string job_at(std::string_view url, std::string_view repository) {
    const auto runs = "https://" + std::string(repository) + "/actions/runs/";
    if (!equal_ignoring_case(url.substr(0, runs.size()), runs)) return {};
    url.remove_prefix(runs.size());
    const auto parts = split(url.substr(0, url.find_first_of("?#")), '/');
    if (parts.size() < 3 || parts[1] != "job" || !all_digits(parts[2])) return {};
    return std::string(parts[2]);
}

std::string failed_steps_in(std::string_view job) {
    const auto json = parse_json(job);
    if (!json || !json->is_object() || !json->contains("steps") || !json->at("steps").is_array()) return {};
    std::string text;
    std::size_t named = 0;
    for (const auto& step : json->at("steps")) {
        const auto end = text_member(step, "conclusion");
        if (end != "failure" && end != "timed_out" && end != "cancelled") continue;
        if (++named > k_most_named) break;
        text += "\nfailed step: " + line_of(text_member(step, "name"));
    }
    return text;
}

std::string end_of_log(std::string_view log) {
    auto lines = split_lines(log);
    const auto is_error = [](std::string_view line) { return without_time(line).starts_with("##[error]"); };
    const auto last = std::find_if(lines.rbegin(), lines.rend(), is_error);
    if (last != lines.rend()) lines.erase(last.base(), lines.end());
    std::string text;
    std::size_t taken = 0;
    for (auto line = lines.rbegin(); line != lines.rend() && taken < k_most_lines; ++line, ++taken) {
        const auto shown = "\n  " + line_of(without_colours(without_time(*line)));
        if (text.size() + shown.size() > k_longest_end) break;
        text.insert(0, shown);
    }
    return text.empty() ? text : "\nthe end of its log:" + text;
}

std::string annotations_in(std::string_view annotations) {
    const auto json = parse_json(annotations);
    if (!json || !json->is_array()) return {};
    std::string text;
    std::size_t named = 0;
    for (const auto& note : *json) {
        const auto message = text_member(note, "message");
        if (message.empty() || text_member(note, "annotation_level") == "notice") continue;
        if (++named > k_most_named) break;
        auto where = text_member(note, "path");
        if (note.contains("start_line") && note.at("start_line").is_number_integer()) {
            where += ":" + std::to_string(note.at("start_line").get<std::int64_t>());
        }
        text += "\n  " + line_of(where + ": " + message);
    }
    return text;
}

}  // namespace orange::forge
