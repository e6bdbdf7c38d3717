#include "daemon/agents/reset_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <string>

#include "common/base/text.hpp"

namespace orange::agents {
namespace {

constexpr auto k_day = std::chrono::hours(24);
constexpr auto k_longest_past = std::chrono::hours(6);
constexpr auto k_farthest = std::chrono::hours(24 * 32);

/// The formats of codex and claude for strptime, which ignores case, and for which a blank may be missing.
constexpr const char* k_formats[] = {"%b %d, %Y %I:%M %p", "%b %d, %I:%M %p", "%b %d, %I %p",
                                     "%I:%M %p",           "%I %p",           "%H:%M"};

/// Sets the local time of a zone for its own lifetime; the daemon has one thread.
class Zone {
  public:
    explicit Zone(const std::string& name) {
        if (name.empty()) return;
        if (const char* old = std::getenv("TZ")) before_ = old;
        changed_ = true;
        ::setenv("TZ", name.c_str(), 1);
        ::tzset();
    }
    ~Zone() {
        if (!changed_) return;
        if (before_) ::setenv("TZ", before_->c_str(), 1);
        if (!before_) ::unsetenv("TZ");
        ::tzset();
    }
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;

  private:
    std::optional<std::string> before_;
    bool changed_ = false;
};

bool is_known_zone(const std::string& name) {
    if (name.empty() || name == "UTC" || name == "GMT") return true;
    const bool plain =
        std::isalpha(static_cast<unsigned char>(name.front())) != 0 && name.find('.') == std::string::npos;
    return plain && ::access(("/usr/share/zoneinfo/" + name).c_str(), R_OK) == 0;
}

/// Removes the "th" of "25th".
std::string without_ordinal(std::string text) {
    const auto number = text.find_first_of("0123456789");
    const auto letters = text.find_first_not_of("0123456789", number);
    if (letters == std::string::npos) return text;
    for (const char* ordinal : {"st,", "nd,", "rd,", "th,"}) {
        if (text.compare(letters, 3, ordinal) == 0) return text.erase(letters, 2);
    }
    return text;
}

/// Parses a text such as "5 days 22 hours 11 minutes".
std::optional<std::chrono::seconds> duration(const std::string& text) {
    static const std::map<char, int> units = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    std::istringstream words(text);
    std::chrono::seconds all{};
    std::string unit;
    for (int number = 0; words >> number >> unit && number >= 0;) {
        const auto known = units.find(unit.front());
        if (known == units.end()) break;
        all += std::chrono::seconds(number) * known->second;
    }
    if (all.count() == 0 || all > k_farthest) return std::nullopt;
    return all;
}

std::optional<Timestamp> moment(std::tm at, int days) {
    at.tm_sec = 0;
    at.tm_isdst = -1;
    at.tm_mday += days;
    const auto time = std::mktime(&at);
    if (time == static_cast<std::time_t>(-1)) return std::nullopt;
    return std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::from_time_t(time));
}

std::optional<Timestamp> read_as(const char* format, const std::string& text, Timestamp now) {
    std::tm read{};
    const char* behind = ::strptime(text.c_str(), format, &read);
    if (!behind || std::isdigit(static_cast<unsigned char>(*behind)) != 0) return std::nullopt;
    std::string zone_name(trim(behind));
    zone_name = zone_name.starts_with('(') ? zone_name.substr(1, zone_name.find(')') - 1) : "";
    if (!is_known_zone(zone_name)) return std::nullopt;
    const Zone zone(zone_name);
    const auto seconds = std::chrono::system_clock::to_time_t(now);
    if (::localtime_r(&seconds, &read) == nullptr) return std::nullopt;
    const int year = read.tm_year;
    (void)::strptime(text.c_str(), format, &read);
    const std::string_view parts(format);
    auto at = moment(read, 0);
    if (!parts.starts_with("%b")) {
        if (at && now - *at > k_longest_past) at = moment(read, 1);
        if (at && *at - now > k_day - k_longest_past) at = moment(read, -1);
    } else if (parts.find("%Y") == std::string_view::npos && at && now - *at > k_farthest) {
        read.tm_year = year + 1;
        at = moment(read, 0);
    }
    if (at && *at - now > k_farthest) return std::nullopt;
    return at;
}

}  // namespace

std::optional<Timestamp> reset_time(std::string_view text, Timestamp now) {
    text = trim(text);
    if (text.starts_with("in ")) text.remove_prefix(3);
    const auto words = without_ordinal(std::string(text));
    for (const char* format : k_formats) {
        if (const auto at = read_as(format, words, now)) return at;
    }
    const auto length = duration(words);
    return length ? std::optional(now + *length) : std::nullopt;
}

}  // namespace orange::agents
