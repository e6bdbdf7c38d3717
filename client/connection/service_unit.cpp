#include "client/connection/service_unit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "client/connection/child.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::connection {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view k_home_line = "Environment=\"ORANGE_HOME=";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

fs::path unit_folder() {
    const auto config = variable("XDG_CONFIG_HOME");
    return (config.starts_with('/') ? fs::path(config) : fs::path(variable("HOME")) / ".config") / "systemd" / "user";
}

/// Returns a text for double quotes in a unit; invalid_argument for a text that cannot be there.
Result<std::string> quoted_for_unit(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ')
            return {ErrorCode::invalid_argument, "a systemd unit cannot hold \"" + printable(text) + "\""};
        if (c == '"' || c == '\\') out += '\\';
        if (c == '%') out += '%';
        out += c;
    }
    return out;
}

/// Reverses quoted_for_unit().
std::string unquoted(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] == '\\' || text[i] == '%') && i + 1 < text.size()) ++i;
        out += text[i];
    }
    return out;
}

/// Returns the home of the daemon that this unit starts; nothing if the file cannot be read.
std::optional<fs::path> home_in(const fs::path& unit) {
    std::ifstream in(unit);
    if (!in) return std::nullopt;
    auto home = fs::path(variable("HOME")) / "orange";
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(k_home_line) && line.ends_with('"'))
            home = unquoted(std::string_view(line).substr(k_home_line.size(), line.size() - k_home_line.size() - 1));
    }
    return home;
}

/// Returns the first line of a unit that Orange writes. The line shows later whether the rest was edited.
std::string own_line(const std::string& rest) {
    std::string line(k_own_unit);
    line += ' ';
    line += sha256(rest);
    return line;
}

}  // namespace

fs::path unit_file() {
    return unit_folder() / "oranged.service";
}

fs::path enabled_link() {
    return unit_folder() / "default.target.wants" / "oranged.service";
}

Result<std::string> unit_for(const fs::path& oranged, const Paths& paths, const std::string& search_path) {
    TRY(const auto home, quoted_for_unit(paths.home.string()));
    TRY(const auto path, quoted_for_unit(search_path));
    TRY(auto program, quoted_for_unit(oranged.string()));
    constexpr std::string_view k_shipped = "ExecStart=/usr/local/bin/oranged\n";
    std::string unit(shipped_unit());
    const auto at = unit.find(k_shipped);
    // systemd expands variables even in quoted words.
    for (auto dollar = program.find('$'); dollar != std::string::npos; dollar = program.find('$', dollar + 2))
        program.insert(dollar, "$");
    unit.replace(at, k_shipped.size(),
                 "ExecStart=\"" + program +
                     "\"\n# From the terminal in which the service was installed.\nEnvironment=\"PATH=" + path +
                     "\"\n" + std::string(k_home_line) + home + "\"\n");
    return own_line(unit) + '\n' + unit;
}

bool is_own_unit(const std::string& unit) {
    return unit.starts_with(k_own_unit);
}

bool is_edited_unit(const std::string& unit) {
    const auto end = unit.find('\n');
    if (!is_own_unit(unit) || end == std::string::npos) return false;
    return !is_hash_of(unit.substr(k_own_unit.size() + 1, end - k_own_unit.size() - 1), unit.substr(end + 1));
}

std::optional<fs::path> home_of_service() {
    const auto enabled = home_in(enabled_link());
    return enabled ? enabled : home_in(unit_file());
}

bool is_service_of(const Paths& paths) {
    std::error_code error;
    return fs::is_symlink(enabled_link(), error) && home_in(enabled_link()) == paths.home;
}

int systemctl(std::vector<std::string> words, bool loud) {
    words.insert(words.begin(), {"systemctl", "--user"});
    ChildOptions options;
    if (loud) options.err = STDERR_FILENO;
    return status_of(words, options);
}

}  // namespace orange::connection
