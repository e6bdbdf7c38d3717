#include "daemon/app/settings.hpp"

#include <charconv>
#include <cmath>

#include "common/base/try.hpp"
#include "daemon/yaml/node.hpp"

namespace orange {
namespace {

Error wrong(std::string_view file, const yaml::Place& place, const std::string& what) {
    return {ErrorCode::invalid_argument,
            std::string(file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + what};
}

std::optional<std::chrono::milliseconds> seconds_of(const yaml::Node& node) {
    double seconds = 0;
    const auto& text = node.scalar;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (!node.is_scalar() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (!(seconds >= 0.05) || seconds > 86400) return std::nullopt;
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

Result<void> read_key(const std::string& key, const yaml::Node& value, const yaml::Place& place, std::string_view file,
                      Settings& settings) {
    if (key == "poll_interval" || key == "message_patience") {
        const auto time = seconds_of(value);
        if (!time) return wrong(file, value.place, key + " must be a number of seconds from 0.05 to 86400");
        (key == "poll_interval" ? settings.poll_interval.emplace() : settings.message_patience) = *time;
    } else if (key == "log_level") {
        const auto level = log::level_from(value.scalar);
        if (!value.is_scalar() || !level) {
            return wrong(file, value.place, "log_level must be debug, info, warn or error");
        }
        settings.log_level = *level;
    } else if (key == "exit_notification") {
        if (value.scalar != "true" && value.scalar != "false") {
            return wrong(file, value.place, "exit_notification must be true or false");
        }
        settings.exit_notification = value.scalar == "true";
    } else if (key == "notify") {
        if (value.is_scalar() && (value.scalar == "off" || value.scalar == "false")) {
            settings.notify = false;
            return {};
        }
        if (!value.is_sequence() || value.items.empty()) {
            return wrong(file, value.place, "notify must be off, or a list: a program and its arguments");
        }
        for (const auto& item : value.items) {
            if (!item.is_scalar()) return wrong(file, item.place, "notify must be a list of plain texts");
            settings.notify_command.push_back(item.scalar);
        }
    } else if (key == "detach_key") {
        const auto parsed = detach_key_from(value.is_scalar() ? value.scalar : "");
        if (!parsed) return wrong(file, value.place, parsed.error().message);
        settings.detach_key = *parsed;
    } else if (key == "env") {
        if (!value.is_map()) return wrong(file, value.place, "env must be a map of names to values");
        for (const auto& [name, item] : value.members) {
            if (!item.is_scalar() && !item.is_null()) return wrong(file, item.place, name + " must be a plain text");
            settings.env[name] = item.scalar;
        }
    } else {
        return wrong(file, place,
                     "unknown key \"" + key +
                         "\"; there is: poll_interval, exit_notification, notify, env, message_patience, "
                         "log_level, detach_key");
    }
    return {};
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, std::string_view file_name) {
    TRY(auto root, yaml::parse(text, file_name));
    Settings settings;
    if (root.is_null()) return settings;
    if (!root.is_map()) return wrong(file_name, root.place, "must be a map of keys to values");
    for (std::size_t i = 0; i < root.members.size(); ++i) {
        const auto& [key, value] = root.members[i];
        TRY(read_key(key, value, root.member_places[i], file_name, settings));
    }
    return settings;
}

Result<std::optional<Settings>> load_settings(FileSystem& files, const Path& file) {
    const auto text = files.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return std::optional<Settings>();
    if (!text) return text.error();
    TRY(auto settings, parse_settings(*text, file.string()));
    return std::optional<Settings>(std::move(settings));
}

}  // namespace orange
