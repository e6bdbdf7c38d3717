#include "common/base/clock.hpp"

#include <cstdio>
#include <ctime>

namespace orange {

using namespace std::chrono;

Timestamp SystemClock::now() const {
    return floor<milliseconds>(system_clock::now());
}

std::string to_rfc3339(Timestamp time) {
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return text;
}

std::optional<Timestamp> from_rfc3339(std::string_view text) {
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, used = 0;
    const std::string copy(text);
    if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi, &s, &used) != 6 ||
        used == 0) {
        return std::nullopt;
    }
    const year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
    if (!date.ok() || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 60) return std::nullopt;

    auto rest = std::string_view(copy).substr(static_cast<std::size_t>(used));
    int millis = 0;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        int scale = 100;
        while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
            millis += (rest.front() - '0') * scale;
            scale /= 10;
            rest.remove_prefix(1);
        }
    }
    minutes offset{0};
    if (rest != "Z" && rest != "z") {
        int oh = 0, om = 0;
        char sign = 0;
        if (std::sscanf(std::string(rest).c_str(), "%c%2d:%2d", &sign, &oh, &om) != 3 || (sign != '+' && sign != '-')) {
            return std::nullopt;
        }
        offset = minutes{(sign == '-' ? -1 : 1) * (oh * 60 + om)};
    }
    return Timestamp{sys_days{date} + hours{h} + minutes{mi} + seconds{s} + milliseconds{millis} - offset};
}

std::string age_text(Timestamp then, Timestamp now) {
    const auto age = duration_cast<seconds>(now - then).count();
    if (age < 1) return "now";
    if (age < 60) return std::to_string(age) + "s";
    if (age < 3600) return std::to_string(age / 60) + "m";
    if (age < 86400) return std::to_string(age / 3600) + "h";
    return std::to_string(age / 86400) + "d";
}

}  // namespace orange
