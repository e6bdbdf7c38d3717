#include "client/connection/launch_agent.hpp"

#include <cstdlib>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::connection {
namespace {

constexpr std::string_view k_home = "<key>ORANGE_HOME</key>\n        <string>";
constexpr std::string_view k_own = "<!-- Written by `orange service install`. ", k_own_end = " -->\n";

Result<std::string> in_xml(const std::string& text) {
    if (!is_valid_utf8(text)) return {ErrorCode::invalid_argument, printable(text) + " is not UTF-8"};
    std::string out;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ')
            return {ErrorCode::invalid_argument, "a property list cannot hold \"" + printable(text) + "\""};
        if (c == '&') out += "&amp;";
        if (c == '<') out += "&lt;";
        if (c == '>') out += "&gt;";
        if (c != '&' && c != '<' && c != '>') out += c;
    }
    return out;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

/// Returns the place after the line of the document type, because an XML declaration must come first.
std::size_t place_of_mark(std::string_view text) {
    const auto type = text.find("<!DOCTYPE");
    return type == std::string_view::npos ? type : text.find('\n', type) + 1;
}

}  // namespace

std::filesystem::path launch_agent_file() {
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home ? home : "") / "Library" / "LaunchAgents" /
           (std::string(k_launch_agent) + ".plist");
}

Result<std::string> launch_agent_for(const std::filesystem::path& oranged, const Paths& paths,
                                     const std::string& search_path) {
    TRY(const auto program, in_xml(oranged.string()));
    TRY(const auto home, in_xml(paths.home.string()));
    TRY(const auto path, in_xml(search_path));
    std::string text(shipped_launch_agent());
    const auto comment = text.find("<!-- Orange's daemon");  // instructions for filling it in by hand
    text.erase(comment, text.find("-->\n", comment) + 4 - comment);
    replace_all(text, "/Users/YOU/orange", home);
    replace_all(text, "/usr/local/bin/oranged", program);
    const std::string_view key = "    <key>RunAtLoad</key>\n";
    text.insert(text.find(key), "    <key>EnvironmentVariables</key>\n    <dict>\n        " + std::string(k_home) +
                                    home + "</string>\n        <key>PATH</key>\n        <string>" + path +
                                    "</string>\n    </dict>\n");
    const auto hash = sha256(text);
    text.insert(place_of_mark(text), std::string(k_own) + hash + std::string(k_own_end));
    return text;
}

bool is_own_launch_agent(const std::string& text) {
    const auto begin = text.find(k_own);
    if (begin == std::string::npos || begin != place_of_mark(text)) return false;
    const auto end = text.find(k_own_end, begin);
    if (end == std::string::npos) return false;
    auto rest = text;
    rest.erase(begin, end + k_own_end.size() - begin);
    return is_hash_of(text.substr(begin + k_own.size(), end - begin - k_own.size()), rest);
}

bool is_launch_agent_of(const std::string& text, const Paths& paths) {
    const auto home = in_xml(paths.home.string());
    return home && text.find(std::string(k_home) + *home + "</string>") != std::string::npos;
}

}  // namespace orange::connection
