#include "daemon/agents/reset_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include "common/base/text.hpp"

namespace orange::agents {
namespace {

using namespace std::chrono_literals;

constexpr auto k_day = std::chrono::hours(24);
constexpr auto k_longest_past = std::chrono::hours(6);
constexpr auto k_farthest = std::chrono::hours(24 * 32);

/// What is left of a text that is read from its beginning.
class Words {
  public:
    explicit Words(std::string_view text) : rest_(text) { skip(); }

    std::optional<int> number() {
        int value = 0;
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + std::min<std::size_t>(rest_.size(), 6), value);
        if (error != std::errc{} || value < 0) return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    /// In lower case; empty: there is none.
    std::string word() {
        std::size_t length = 0;
        while (length < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[length])) != 0) ++length;
        auto text = to_lower(std::string(rest_.substr(0, length)));
        rest_.remove_prefix(length);
        return text;
    }
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == ',')) rest_.remove_prefix(1);
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

/// The local time of a zone, for as long as this lives; the daemon has one thread.
class Zone {
  public:
    explicit Zone(const std::string& name) {
        if (name.empty()) return;
        const char* old = std::getenv("TZ");
        if (old) before_ = old;
        changed_ = true;
        ::setenv("TZ", name.c_str(), 1);
        ::tzset();
    }
    ~Zone() {
        if (!changed_) return;
        if (before_) {
            ::setenv("TZ", before_->c_str(), 1);
        } else {
            ::unsetenv("TZ");
        }
        ::tzset();
    }
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;

  private:
    std::optional<std::string> before_;
    bool changed_ = false;
};

bool is_known_zone(const std::string& name) {
    if (name == "UTC" || name == "GMT") return true;
    const bool plain = !name.empty() && name.size() < 64 &&
                       std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
                       name.find("..") == std::string::npos && std::ranges::all_of(name, [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
                       });
    return plain && ::access(("/usr/share/zoneinfo/" + name).c_str(), R_OK) == 0;
}

std::optional<int> month_of(const std::string& word) {
    static constexpr std::array<std::string_view, 12> k_months = {"jan", "feb", "mar", "apr", "may", "jun",
                                                                  "jul", "aug", "sep", "oct", "nov", "dec"};
    const auto found = std::ranges::find(k_months, std::string_view(word).substr(0, 3));
    if (found == k_months.end()) return std::nullopt;
    return static_cast<int>(found - k_months.begin());
}

/// "5 days 22 hours 11 minutes"
std::optional<std::chrono::seconds> duration(Words words) {
    std::chrono::seconds all{};
    bool any = false;
    for (auto number = words.number(); number; number = words.number()) {
        words.skip();
        const auto unit = words.word();
        words.skip();
        if (unit.empty()) break;
        if (unit.front() == 'd') {
            all += *number * k_day;
        } else if (unit.front() == 'h') {
            all += std::chrono::hours(*number);
        } else if (unit.front() == 'm') {
            all += std::chrono::minutes(*number);
        } else if (unit.front() == 's') {
            all += std::chrono::seconds(*number);
        } else {
            break;
        }
        any = true;
    }
    return any ? std::optional(all) : std::nullopt;
}

struct Read {
    std::optional<int> year, month, day;
    int hour = 0, minute = 0;
    std::string zone;
};

/// "Nov 25th, 2026 " in front of the time, or nothing.
bool read_date(Words& words, Read& read) {
    const auto month = words.word();
    if (month.empty()) return true;
    read.month = month_of(month);
    words.skip();
    read.day = words.number();
    if (!read.month || !read.day) return false;
    (void)words.word();  // "th"
    words.skip();
    auto ahead = words;
    if (const auto year = ahead.number(); year && *year > 2000) {
        read.year = year;
        words = ahead;
        words.skip();
    }
    if (auto at = words; at.word() == "at") {
        words = at;
        words.skip();
    }
    return true;
}

std::optional<Read> read_time(std::string_view text) {
    Words words(text);
    Read read;
    if (!read_date(words, read)) return std::nullopt;
    const auto hour = words.number();
    if (!hour) return std::nullopt;
    const bool has_minutes = words.take(':');
    if (const auto minute = has_minutes ? words.number() : std::optional(0)) {
        read.minute = *minute;
    } else {
        return std::nullopt;
    }
    words.skip();
    const auto half = words.word();
    const bool twelve = half == "am" || half == "pm";
    if (!twelve && !has_minutes) return std::nullopt;
    if (*hour > (twelve ? 12 : 23) || (twelve && *hour < 1) || read.minute > 59) return std::nullopt;
    read.hour = twelve ? *hour % 12 + (half == "pm" ? 12 : 0) : *hour;
    words.skip();
    if (words.take('(')) read.zone = std::string(words.rest().substr(0, words.rest().find(')')));
    return read;
}

/// `days` later than it says.
std::optional<Timestamp> moment(const Read& read, std::tm at, int days) {
    at.tm_hour = read.hour;
    at.tm_min = read.minute;
    at.tm_sec = 0;
    at.tm_isdst = -1;
    if (read.month) at.tm_mon = *read.month;
    if (read.day) at.tm_mday = *read.day;
    if (read.year) at.tm_year = *read.year - 1900;
    at.tm_mday += days;
    const auto time = std::mktime(&at);
    if (time == static_cast<std::time_t>(-1)) return std::nullopt;
    return std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::from_time_t(time));
}

}  // namespace

std::optional<Timestamp> reset_time(std::string_view text, Timestamp now) {
    text = trim(text);
    if (text.starts_with("in ")) text.remove_prefix(3);
    const auto read = read_time(text);
    if (!read) {
        const auto length = duration(Words(text));
        if (!length || *length > k_farthest) return std::nullopt;
        return now + *length;
    }
    if (!read->zone.empty() && !is_known_zone(read->zone)) return std::nullopt;
    const Zone zone(read->zone);
    const auto seconds = std::chrono::system_clock::to_time_t(now);
    std::tm today{};
    if (::localtime_r(&seconds, &today) == nullptr) return std::nullopt;
    auto at = moment(*read, today, 0);
    if (!at) return std::nullopt;
    if (!read->day && now - *at > k_longest_past) at = moment(*read, today, 1);
    if (!read->day && at && *at - now > k_day - k_longest_past) at = moment(*read, today, -1);
    if (read->day && !read->year && at && now - *at > k_farthest) {  // of the next year
        auto next = today;
        ++next.tm_year;
        at = moment(*read, next, 0);
    }
    if (!at || *at - now > k_farthest) return std::nullopt;
    return at;
}

}  // namespace orange::agents
