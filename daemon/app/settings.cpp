#include "daemon/app/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/cluster_address.hpp"
#include "common/model/json.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/umask.hpp"
#include "daemon/yaml/node.hpp"

namespace orange {
namespace {

Error wrong(std::string_view file, const yaml::Place& place, const std::string& what) {
    return {ErrorCode::invalid_argument,
            std::string(file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + what};
}

std::optional<std::chrono::milliseconds> seconds_of(const yaml::Node& node) {
    double seconds = 0;
    std::istringstream text(node.scalar);  // libc++ 16 has no from_chars for double
    text.imbue(std::locale::classic());
    if (!node.is_scalar() || !(text >> std::noskipws >> seconds) || !text.eof()) return std::nullopt;
    if (!(seconds >= 0.05) || seconds > 86400) return std::nullopt;
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

std::optional<int> number_of(const yaml::Node& node, int lowest, int highest) {
    int number = 0;
    const auto& text = node.scalar;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!node.is_scalar() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (number < lowest || number > highest) return std::nullopt;
    return number;
}

Json json_of(const yaml::Node& node) {
    if (node.is_scalar()) return node.scalar;
    if (!node.is_sequence()) return Json::object();  // a map, which no setting accepts
    Json list = Json::array();
    for (const auto& item : node.items) list.push_back(json_of(item));
    return list;
}

Result<void> read_command(const std::string& key, const std::string& what, const yaml::Node& value,
                          std::string_view file, std::vector<std::string>& command) {
    if (!value.is_sequence() || value.items.empty()) {
        return wrong(file, value.place, key + " must be " + what + ": a program and its arguments");
    }
    for (const auto& item : value.items) {
        if (!item.is_scalar()) return wrong(file, item.place, key + " must be a list of plain texts");
        command.push_back(item.scalar);
    }
    return {};
}

Result<void> read_key(const std::string& key, const yaml::Node& value, const yaml::Place& place, std::string_view file,
                      Settings& settings) {
    if (key == "pr_interval") {
        const auto time = seconds_of(value);
        if (!time) return wrong(file, value.place, key + " must be a number of seconds from 0.05 to 86400");
        settings.pull_interval = *time;
    } else if (key == "poll_interval" || key == "message_patience") {
        const auto time = seconds_of(value);
        if (!time) return wrong(file, value.place, key + " must be a number of seconds from 0.05 to 86400");
        (key == "poll_interval" ? settings.poll_interval.emplace() : settings.message_patience) = *time;
    } else if (key == "port_base") {
        const auto port = number_of(value, k_lowest_port_base, 65536 - k_ports_each);
        if (!port) return wrong(file, value.place, "port_base must be a number from 1024 to 65526");
        settings.port_base = *port;
    } else if (key == "start_pressure") {
        const auto percent = number_of(value, 1, 100);
        if (!percent) return wrong(file, value.place, "start_pressure must be a number of percent from 1 to 100");
        settings.start_pressure = *percent;
    } else if (key == "umask") {
        const auto mask = value.is_scalar() ? process::umask_from(value.scalar) : std::nullopt;
        if (!mask) return wrong(file, value.place, "umask must be an octal number from 000 to 077");
        settings.umask = *mask;
    } else if (key == "log_level") {
        const auto level = log::level_from(value.scalar);
        if (!value.is_scalar() || !level) {
            return wrong(file, value.place, "log_level must be debug, info, warn or error");
        }
        settings.log_level = *level;
    } else if (key == "exit_notification" || key == "auto_restart" || key == "resume_after_reboot") {
        if (value.scalar != "true" && value.scalar != "false") {
            return wrong(file, value.place, key + " must be true or false");
        }
        auto& setting = key == "auto_restart"          ? settings.auto_restart
                        : key == "resume_after_reboot" ? settings.resume_after_reboot
                                                       : settings.exit_notification;
        setting = value.scalar == "true";
    } else if (key == "notify") {
        if (value.is_scalar() && (value.scalar == "off" || value.scalar == "false")) {
            settings.notify = false;
            return {};
        }
        return read_command(key, "off, or a list", value, file, settings.notify_command);
    } else if (key == "reply") {
        return read_command(key, "a list", value, file, settings.reply_command);
    } else if (key == "cluster_address") {
        const auto parsed = ClusterAddress::parse(value.is_scalar() ? value.scalar : "");
        if (!parsed) return wrong(file, value.place, key + ": " + parsed.error().message);
        settings.cluster_address = value.scalar;
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
    } else if (key == "limits") {
        if (!value.is_map()) return wrong(file, value.place, "limits must be a map, as {worker: 4, reviewer: 2}");
        for (const auto& [role, item] : value.members) {
            const auto done = set_setting(settings.project_defaults, key + "." + role, json_of(item));
            if (!done) return wrong(file, item.place, done.error().message);
        }
    } else if (key == "harness_limits") {
        if (!value.is_map()) return wrong(file, value.place, "harness_limits must be a map, as {claude: 3}");
        for (const auto& [name, item] : value.members) {
            const auto number = number_of(item, 1, k_highest_limit);
            if (!number) {
                return wrong(file, item.place,
                             "the limit of " + name + " must be a number from 1 to " + std::to_string(k_highest_limit) +
                                 "; without one there is no limit");
            }
            settings.harness_limits[name] = *number;
        }
    } else if (const auto names = setting_names(); std::find(names.begin(), names.end(), key) != names.end()) {
        const auto done = set_setting(settings.project_defaults, key, json_of(value));
        if (!done) return wrong(file, value.place, done.error().message);
    } else {
        return wrong(file, place, "unknown key \"" + key + "\"; known: " + join(config_keys(), ", "));
    }
    return {};
}

}  // namespace

std::vector<std::string> config_keys() {
    std::vector<std::string> keys = {
        "env",       "notify",         "detach_key",          "poll_interval", "log_level",
        "port_base", "pr_interval",    "message_patience",    "auto_restart",  "exit_notification",
        "limits",    "harness_limits", "resume_after_reboot", "umask",         "start_pressure",
        "reply",     "cluster_address"};
    for (auto& name : setting_names()) {
        if (!name.starts_with("limits.")) keys.push_back(std::move(name));
    }
    return keys;
}

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

namespace {

/// nullopt: there is no such file.
Result<std::optional<std::string>> text_of(FileSystem& files, const Path& file) {
    auto text = files.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return std::optional<std::string>();
    if (!text) return text.error();
    return std::optional<std::string>(std::move(*text));
}

Result<std::optional<Settings>> settings_in(const std::optional<std::string>& text, const Path& file) {
    if (!text) return std::optional<Settings>();
    TRY(auto settings, parse_settings(*text, file.string()));
    return std::optional<Settings>(std::move(settings));
}

}  // namespace

Result<std::optional<Settings>> load_settings(FileSystem& files, const Path& file) {
    TRY(const auto text, text_of(files, file));
    return settings_in(text, file);
}

Result<std::optional<Settings>> take_settings(FileSystem& files, const Paths& paths) {
    TRY(const auto text, text_of(files, paths.config()));
    TRY(auto settings, settings_in(text, paths.config()));
    const auto copy = paths.good_config();
    const auto kept = text_of(files, copy);
    if (kept && *kept == text) return settings;
    const auto done = text ? files.replace(copy, *text) : files.remove(copy);
    if (!done) log::warn("daemon", "the copy of config.yml could not be kept: " + done.error().message);
    return settings;
}

FirstSettings first_settings(FileSystem& files, const Paths& paths) {
    auto taken = take_settings(files, paths);
    if (taken) return {std::move(*taken).value_or(Settings{}), {}};
    auto copy = load_settings(files, paths.good_config());
    const bool has_copy = copy && *copy;
    const std::string in_force = has_copy ? "the settings of its last good version" : "the default settings";
    return {has_copy ? std::move(**copy) : Settings{}, taken.error().message + ". Until it is repaired, " + in_force +
                                                           " are in force. Then run: orange daemon reload"};
}

}  // namespace orange
