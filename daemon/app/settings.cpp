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

Error wrong_at(std::string_view file, const yaml::Place& place, const std::string& what) {
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

/// A key of the file with its value.
struct Entry {
    const std::string& key;
    const yaml::Node& value;
    std::string_view file;

    Error wrong(const std::string& what) const { return wrong_at(file, value.place, what); }
    Error wrong_in(const yaml::Node& part, const std::string& what) const { return wrong_at(file, part.place, what); }
    /// Returns the value if it is one word; otherwise a text that no setting accepts.
    std::string word() const { return value.is_scalar() ? value.scalar : std::string(); }
};

using ReadKey = Result<void> (*)(const Entry&, Settings&);

/// Takes a value that could be read; otherwise the error says what the key must be.
Result<void> take(const Entry& entry, const auto& value, const char* what, auto& into) {
    if (!value) return entry.wrong(entry.key + " must be " + what);
    into = *value;
    return {};
}

template <auto member>
Result<void> read_seconds(const Entry& entry, Settings& settings) {
    return take(entry, seconds_of(entry.value), "a number of seconds from 0.05 to 86400", settings.*member);
}

template <auto member>
Result<void> read_flag(const Entry& entry, Settings& settings) {
    const auto& text = entry.value.scalar;
    if (text != "true" && text != "false") return entry.wrong(entry.key + " must be true or false");
    settings.*member = text == "true";
    return {};
}

Result<void> read_port_base(const Entry& entry, Settings& settings) {
    const auto port = number_of(entry.value, k_lowest_port_base, 65536 - k_ports_each);
    return take(entry, port, "a number from 1024 to 65526", settings.port_base);
}

Result<void> read_start_pressure(const Entry& entry, Settings& settings) {
    return take(entry, number_of(entry.value, 1, 100), "a number of percent from 1 to 100", settings.start_pressure);
}

Result<void> read_umask(const Entry& entry, Settings& settings) {
    return take(entry, process::umask_from(entry.word()), "an octal number from 000 to 077", settings.umask);
}

Result<void> read_log_level(const Entry& entry, Settings& settings) {
    return take(entry, log::level_from(entry.word()), "debug, info, warn or error", settings.log_level);
}

Result<void> read_file_limit(const Entry& entry, Settings& settings) {
    constexpr int k_most = store::k_most_upload_bytes / store::k_mebibyte;
    yaml::Node number = entry.value;
    const bool has_unit = number.scalar.ends_with('M');
    if (has_unit) number.scalar.pop_back();
    const auto size = has_unit ? number_of(number, 1, k_most) : std::nullopt;
    if (!size) return entry.wrong("file_limit must be a size from 1M to " + std::to_string(k_most) + "M, as 64M");
    settings.file_limit = *size * store::k_mebibyte;
    return {};
}

Result<void> read_command(const Entry& entry, const std::string& what, std::vector<std::string>& command) {
    if (!entry.value.is_sequence() || entry.value.items.empty()) {
        return entry.wrong(entry.key + " must be " + what + ": a program and its arguments");
    }
    for (const auto& item : entry.value.items) {
        if (!item.is_scalar()) return entry.wrong_in(item, entry.key + " must be a list of plain texts");
        command.push_back(item.scalar);
    }
    return {};
}

Result<void> read_notify(const Entry& entry, Settings& settings) {
    settings.notify = entry.word() != "off" && entry.word() != "false";
    if (!settings.notify) return {};
    return read_command(entry, "off, or a list", settings.notify_command);
}

Result<void> read_reply(const Entry& entry, Settings& settings) {
    return read_command(entry, "a list", settings.reply_command);
}

Result<void> read_cluster_address(const Entry& entry, Settings& settings) {
    const auto parsed = ClusterAddress::parse(entry.word());
    if (!parsed) return entry.wrong("cluster_address: " + parsed.error().message);
    settings.cluster_address = entry.word();
    return {};
}

Result<void> read_detach_key(const Entry& entry, Settings& settings) {
    const auto parsed = detach_key_from(entry.word());
    if (!parsed) return entry.wrong(parsed.error().message);
    settings.detach_key = *parsed;
    return {};
}

Result<void> read_env(const Entry& entry, Settings& settings) {
    if (!entry.value.is_map()) return entry.wrong("env must be a map of names to values");
    for (const auto& [name, item] : entry.value.members) {
        if (!item.is_scalar() && !item.is_null()) return entry.wrong_in(item, name + " must be a plain text");
        settings.env[name] = item.scalar;
    }
    return {};
}

/// Reads a map whose members are settings of projects: "limits: {worker: 4}" is limits.worker.
Result<void> read_group(const Entry& entry, Settings& settings, const std::string& example) {
    if (!entry.value.is_map()) return entry.wrong(entry.key + " must be a map, as " + example);
    for (const auto& [name, item] : entry.value.members) {
        const auto done = set_setting(settings.project_defaults, entry.key + "." + name, json_of(item));
        if (!done) return entry.wrong_in(item, done.error().message);
    }
    return {};
}

Result<void> read_limits(const Entry& entry, Settings& settings) {
    return read_group(entry, settings, "{worker: 4, reviewer: 2}");
}

Result<void> read_budget(const Entry& entry, Settings& settings) {
    return read_group(entry, settings, "{task: 3M, day: 40M}");
}

Result<void> read_harness_limits(const Entry& entry, Settings& settings) {
    if (!entry.value.is_map()) return entry.wrong("harness_limits must be a map, as {claude: 3}");
    for (const auto& [name, item] : entry.value.members) {
        const auto number = number_of(item, 1, k_highest_limit);
        if (!number) {
            return entry.wrong_in(item, "the limit of " + name + " must be a number from 1 to " +
                                            std::to_string(k_highest_limit) + "; without one there is no limit");
        }
        settings.harness_limits[name] = *number;
    }
    return {};
}

/// The keys of config.yml, without those that are settings of projects.
const std::vector<std::pair<std::string, ReadKey>>& readers() {
    static const std::vector<std::pair<std::string, ReadKey>> k_readers = {
        {"env", read_env},
        {"notify", read_notify},
        {"detach_key", read_detach_key},
        {"poll_interval", read_seconds<&Settings::poll_interval>},
        {"log_level", read_log_level},
        {"port_base", read_port_base},
        {"pr_interval", read_seconds<&Settings::pull_interval>},
        {"message_patience", read_seconds<&Settings::message_patience>},
        {"auto_restart", read_flag<&Settings::auto_restart>},
        {"exit_notification", read_flag<&Settings::exit_notification>},
        {"limits", read_limits},
        {"budget", read_budget},
        {"harness_limits", read_harness_limits},
        {"resume_after_reboot", read_flag<&Settings::resume_after_reboot>},
        {"umask", read_umask},
        {"file_limit", read_file_limit},
        {"start_pressure", read_start_pressure},
        {"reply", read_reply},
        {"cluster_address", read_cluster_address}};
    return k_readers;
}

Result<void> read_key(const Entry& entry, const yaml::Place& place, Settings& settings) {
    for (const auto& [key, read] : readers()) {
        if (entry.key == key) return read(entry, settings);
    }
    const auto names = setting_names();
    if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
        const auto known = join(config_keys(), ", ");
        return wrong_at(entry.file, place, "unknown key \"" + entry.key + "\"; known: " + known);
    }
    const auto done = set_setting(settings.project_defaults, entry.key, json_of(entry.value));
    if (!done) return entry.wrong(done.error().message);
    return {};
}

}  // namespace

std::vector<std::string> config_keys() {
    std::vector<std::string> keys;
    for (const auto& [key, read] : readers()) keys.push_back(key);
    for (auto& name : setting_names()) {
        if (name.find('.') == std::string::npos) keys.push_back(std::move(name));
    }
    return keys;
}

Result<Settings> parse_settings(std::string_view text, std::string_view file_name) {
    TRY(auto root, yaml::parse(text, file_name));
    Settings settings;
    if (root.is_null()) return settings;
    if (!root.is_map()) return wrong_at(file_name, root.place, "must be a map of keys to values");
    for (std::size_t i = 0; i < root.members.size(); ++i) {
        const auto& [key, value] = root.members[i];
        TRY(read_key({key, value, file_name}, root.member_places[i], settings));
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
