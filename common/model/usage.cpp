#include "common/model/usage.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace orange {
namespace {

constexpr std::int64_t k_thousand = 1000, k_million = 1'000'000;
/// Higher than any agent can get, and far from an overflow of sums.
constexpr std::int64_t k_most_tokens = 1'000'000 * k_million;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return std::clamp<std::int64_t>(a + b, 0, k_most_tokens * k_thousand);
}

std::tm local_time(Timestamp time) {
    const auto seconds = std::chrono::system_clock::to_time_t(time);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    return local;
}

/// Returns the first moment of the day after.
Timestamp next_day(Timestamp time) {
    auto local = local_time(time);
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    ++local.tm_mday;
    local.tm_isdst = -1;
    return std::chrono::time_point_cast<Timestamp::duration>(
        std::chrono::system_clock::from_time_t(std::mktime(&local)));
}

}  // namespace

Tokens& Tokens::operator+=(const Tokens& more) {
    requests = sum(requests, more.requests);
    input = sum(input, more.input);
    cache_read = sum(cache_read, more.cache_read);
    cache_write = sum(cache_write, more.cache_write);
    output = sum(output, more.output);
    return *this;
}

Tokens& Tokens::operator-=(const Tokens& less) {
    requests = sum(requests, -less.requests);
    input = sum(input, -less.input);
    cache_read = sum(cache_read, -less.cache_read);
    cache_write = sum(cache_write, -less.cache_write);
    output = sum(output, -less.output);
    return *this;
}

void add(std::vector<UsageRow>& rows, const UsageRow& row) {
    const auto is_same = [&](const UsageRow& each) {
        return each.day == row.day && each.role == row.role && each.harness == row.harness && each.model == row.model &&
               (each.doubtful > 0) == (row.doubtful > 0);
    };
    const auto found = std::ranges::find_if(rows, is_same);
    if (found == rows.end()) return rows.push_back(row);
    found->tokens += row.tokens;
    found->money += row.money;
    found->untold += row.untold;
    found->doubtful += row.doubtful;
}

void add(std::vector<TimeRow>& rows, const TimeOpen& open, Timestamp until) {
    constexpr int k_most_days = 3660;  // a clock that was wrong does not fill the record
    auto from = open.since;
    for (int days = 0; from < until && days < k_most_days; ++days) {
        const auto end = next_day(from);
        const auto to = std::min(until, end > from ? end : from + std::chrono::hours(1));
        const auto day = day_of(from);
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
        const auto found =
            std::ranges::find_if(rows, [&](const TimeRow& row) { return row.day == day && row.what == open.what; });
        if (found != rows.end()) {
            found->seconds += seconds;
        } else if (seconds > 0) {
            rows.push_back({day, open.what, seconds});
        }
        from = to;
    }
}

std::string day_of(Timestamp time, int before) {
    constexpr int k_noon = 12;  // exists on every day
    auto local = local_time(time);
    if (before > 0) {
        local.tm_hour = k_noon;
        local.tm_mday -= before;
        local.tm_isdst = -1;
        (void)std::mktime(&local);
    }
    char text[32] = "";
    (void)std::strftime(text, sizeof text, "%F", &local);
    return text;
}

std::optional<std::int64_t> tokens_in(std::string_view text) {
    std::int64_t unit = 1;
    if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) unit = k_thousand;
    if (!text.empty() && (text.back() == 'm' || text.back() == 'M')) unit = k_million;
    if (unit > 1) text.remove_suffix(1);
    std::int64_t whole = 0, part = 0, scale = 1;
    bool any = false, behind_point = false;
    for (const char c : text) {
        if (c == '.' && !behind_point && any && unit > 1) {
            behind_point = true;
            continue;
        }
        if (c < '0' || c > '9' || whole > k_most_tokens || (behind_point && scale >= unit)) return std::nullopt;
        any = true;
        if (behind_point) {
            part = part * 10 + (c - '0');
            scale *= 10;
        } else {
            whole = whole * 10 + (c - '0');
        }
    }
    if (!any || text.back() == '.' || whole > k_most_tokens / unit) return std::nullopt;
    return whole * unit + part * (unit / scale);
}

std::string tokens_text(std::int64_t tokens) {
    if (tokens < k_thousand) return std::to_string(tokens);
    const bool is_millions = tokens >= k_million - k_thousand / 2;
    const auto unit = is_millions ? k_million : k_thousand;
    const auto tenths = (tokens * 10 + unit / 2) / unit;
    const auto text = std::to_string(tenths / 10);
    if (tenths >= 100 || tenths % 10 == 0)
        return std::to_string((tokens + unit / 2) / unit) + (is_millions ? "M" : "k");
    return text + "." + std::to_string(tenths % 10) + (is_millions ? "M" : "k");
}

}  // namespace orange
