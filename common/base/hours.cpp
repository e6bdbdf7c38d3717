#include "common/base/hours.hpp"

#include <algorithm>
#include <ctime>

namespace orange {
namespace {

using std::chrono::minutes;

constexpr int k_day = 24 * 60;

/// Parses "HH:MM" up to "24:00".
std::optional<int> minute_in(std::string_view text) {
    const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) return std::nullopt;
    const int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
    if (minute > 59 || hour * 60 + minute > k_day) return std::nullopt;
    return hour * 60 + minute;
}

int minute_of_day(Timestamp time) {
    const auto seconds = std::chrono::system_clock::to_time_t(time);
    std::tm local{};
    if (::localtime_r(&seconds, &local) == nullptr) return 0;
    return local.tm_hour * 60 + local.tm_min;
}

bool is_within(const Hours& hours, Timestamp time) {
    const int minute = minute_of_day(time);
    if (hours.begin < hours.end) return hours.begin <= minute && minute < hours.end;
    return minute >= hours.begin || minute < hours.end;
}

}  // namespace

std::optional<Hours> hours_in(std::string_view text) {
    if (text.size() != 11 || text[5] != '-') return std::nullopt;
    const auto begin = minute_in(text.substr(0, 5)), end = minute_in(text.substr(6));
    if (!begin || !end || *begin == *end || *begin == k_day) return std::nullopt;
    return Hours{*begin, *end};
}

Timestamp next_within(const Hours& hours, Timestamp time) {
    if (is_within(hours, time)) return time;
    // Use short steps: if clocks are set forward, a long step could jump over the beginning.
    constexpr int k_step = 30;
    constexpr auto k_farthest = minutes(3 * k_day);
    auto at = Timestamp(std::chrono::floor<minutes>(time));
    const auto first = at;
    while (!is_within(hours, at) && at - first < k_farthest) {
        const int left = (hours.begin - minute_of_day(at) + k_day) % k_day;
        at += minutes(std::clamp(left, 1, k_step));
    }
    while (at - minutes(1) > first && is_within(hours, at - minutes(1))) at -= minutes(1);
    return at;
}

}  // namespace orange
