#include "daemon/doctor/report.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange::doctor {
namespace {

constexpr std::string_view k_digits = "0123456789";

std::string number_at(std::string_view text, std::size_t at) {
    if (at >= text.size()) return {};
    const auto end = text.find_first_not_of(k_digits, at);
    return std::string(text.substr(at, end == text.npos ? text.npos : end - at));
}

}  // namespace

Located place_in(const std::filesystem::path& file, std::string_view message) {
    const auto first = split_lines(message).empty() ? std::string_view() : split_lines(message).front();
    for (auto at = first.find(':'); at != first.npos; at = first.find(':', at + 1)) {
        const auto line = number_at(first, at + 1);
        const auto column = line.empty() ? std::string() : number_at(first, at + line.size() + 2);
        const auto end = at + line.size() + column.size() + 2;
        if (line.empty() || column.empty() || first.substr(end, 2) != ": ") continue;
        return {file.string() + ":" + line, std::string(first.substr(end + 2))};
    }
    if (const auto at = message.find("line "); at != message.npos) {
        if (const auto line = number_at(message, at + 5); !line.empty()) {
            return {file.string() + ":" + line, std::string(message)};
        }
    }
    return {file.string(), std::string(message)};
}

std::string spoken(std::chrono::seconds age) {
    const auto seconds = static_cast<std::size_t>(std::max<std::int64_t>(age.count(), 0));
    if (seconds < 120) return counted(seconds, "second");
    if (seconds < 7200) return counted(seconds / 60, "minute");
    if (seconds < 172800) return counted(seconds / 3600, "hour");
    return counted(seconds / 86400, "day");
}

void Report::ok(std::string text) {
    add("ok", std::move(text), {}, {});
}

void Report::warn(std::string text, std::string command, std::string file) {
    add("warning", std::move(text), std::move(command), std::move(file));
}

void Report::wrong(std::string text, std::string command, std::string file) {
    add("error", std::move(text), std::move(command), std::move(file));
}

void Report::add(const char* level, std::string text, std::string command, std::string file) {
    rpc::Finding finding;
    finding.check = check_;
    finding.level = level;
    finding.text = std::move(text);
    if (!command.empty()) finding.command = std::move(command);
    if (!file.empty()) finding.file = std::move(file);
    findings_.push_back(std::move(finding));
}

}  // namespace orange::doctor
