#include "client/output/local_time.hpp"

#include <ctime>

namespace orange::output {

std::string local_time(const std::string& stamp) {
    const auto time = from_rfc3339(stamp);
    if (!time) return stamp;
    const auto seconds = std::chrono::system_clock::to_time_t(*time);
    std::tm parts{};
    char text[32];
    if (::localtime_r(&seconds, &parts) == nullptr) return stamp;
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string local_clock(const std::string& stamp) {
    const auto time = local_time(stamp);
    return time == stamp ? stamp : time.substr(11);
}

Timestamp start_of_day(Timestamp time) {
    const auto seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    if (::localtime_r(&seconds, &parts) == nullptr) return time;
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::from_time_t(std::mktime(&parts)));
}

}  // namespace orange::output
