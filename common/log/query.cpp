#include "common/log/query.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/log/tail.hpp"

namespace orange::log {
namespace {

constexpr std::array<std::string_view, 4> k_levels = {"debug", "info", "warn", "error"};

std::size_t rank_of(std::string_view level) {
    return static_cast<std::size_t>(std::find(k_levels.begin(), k_levels.end(), level) - k_levels.begin());
}

std::string text_at(const Json& json, const char* key) {
    if (!json.is_object()) return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool holds(const Line& line, const std::string& lower) {
    if (to_lower(line.text).find(lower) != std::string::npos) return true;
    if (!line.json.is_object()) return false;
    // The line's text has quotes and line ends escaped, so search the values, too.
    for (const auto& [key, value] : line.json.items()) {
        if (value.is_string() && to_lower(value.get_ref<const std::string&>()).find(lower) != std::string::npos) {
            return true;
        }
    }
    return false;
}

bool is_before(const Line& line, Timestamp since) {
    const auto time = from_rfc3339(text_at(line.json, "ts"));
    return time && *time < since;
}

Result<Tail> end_of(const std::filesystem::path& file, std::uint64_t most) {
    auto tail = tail_of(file, most);
    return tail || tail.error().code != ErrorCode::not_found ? std::move(tail) : Tail{};
}

/// Adds matching lines, newest first. Returns false if older text does not need to be searched.
bool search_text(std::string_view text, const Query& query, std::vector<Line>& found) {
    const auto lines = split_lines(text);
    for (auto at = lines.rbegin(); at != lines.rend(); ++at) {
        if (found.size() >= query.lines) return false;
        auto line = parse_line(std::string(*at));
        if (query.since && is_before(line, *query.since)) return false;
        if (matches(query, line)) found.push_back(std::move(line));
    }
    return found.size() < query.lines;
}

}  // namespace

Result<void> check(const Query& query) {
    if (query.level.empty() || rank_of(query.level) < k_levels.size()) return {};
    return {ErrorCode::invalid_argument, "there is no level \"" + query.level + "\"; known: debug, info, warn, error"};
}

Line parse_line(std::string text) {
    Line line{std::move(text), nullptr};
    if (auto json = parse_json(line.text); json && json->is_object()) line.json = std::move(*json);
    return line;
}

bool matches(const Query& query, const Line& line) {
    if (line.text.empty()) return false;
    // A line that is no JSON has no level or component. Such a line is never filtered out by them, because it may show
    // a crash.
    if (line.json.is_object()) {
        if (!query.level.empty() && rank_of(text_at(line.json, "level")) < rank_of(query.level)) return false;
        if (!query.component.empty() && text_at(line.json, "component") != query.component) return false;
        if (query.since && is_before(line, *query.since)) return false;
    }
    return query.grep.empty() || holds(line, to_lower(query.grep));
}

std::filesystem::path rotated(const std::filesystem::path& log, int number) {
    auto name = log.stem().string() + "." + std::to_string(number) + log.extension().string();
    return log.parent_path() / name;
}

Result<Found> search(const std::filesystem::path& log, const Query& query) {
    TRY(check(query));
    Found found;
    auto left = query.most_read;
    bool on = true;
    for (int number = 0; on && left > 0 && number <= k_rotated_kept; ++number) {
        const auto file = number == 0 ? log : rotated(log, number);
        const auto known = found.lines.size();
        TRY(auto tail, end_of(file, std::min(k_end, left)));
        on = search_text(tail.text, query, found.lines);
        if (on && !tail.whole && k_end < left) {  // the last MiB was not enough
            found.lines.resize(known);
            TRY(tail, end_of(file, left));
            on = search_text(tail.text, query, found.lines);
        }
        left = tail.whole ? left - tail.text.size() : 0;
    }
    found.more = on && left == 0;
    std::reverse(found.lines.begin(), found.lines.end());
    return found;
}

std::optional<Timestamp> time_from(std::string_view text, Timestamp now) {
    if (auto time = from_rfc3339(text)) return time;
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end + 1 != text.data() + text.size() || count < 0 || count > 100'000'000) {
        return std::nullopt;
    }
    std::int64_t seconds = 0;
    switch (*end) {
        case 's':
            seconds = 1;
            break;
        case 'm':
            seconds = 60;
            break;
        case 'h':
            seconds = 3600;
            break;
        case 'd':
            seconds = 86400;
            break;
        default:
            return std::nullopt;
    }
    return now - std::chrono::seconds(count * seconds);
}

}  // namespace orange::log
