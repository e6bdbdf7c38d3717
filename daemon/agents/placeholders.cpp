#include "daemon/agents/placeholders.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace orange::agents {
namespace {

constexpr std::array<std::string_view, 26> k_placeholders = {
    "prompt",     "effort",      "effort_args", "model",       "model_args", "trust_args", "session_args",
    "check_args", "task_dir",    "worktree",    "repo",        "git_dir",    "git_common", "summary",
    "role",       "session",     "check",       "check_rules", "task_file",  "shipped",    "events",
    "event_args", "event_rules", "talk_dir",    "from",        "from_file"};
constexpr std::string_view k_in_json = "_json";

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
}

Piece placeholder(std::string_view name) {
    const bool in_json = name.ends_with(k_in_json) && name.size() > k_in_json.size();
    if (in_json) name.remove_suffix(k_in_json.size());
    return Piece{std::string(name), true, in_json};
}

}  // namespace

std::string json_escaped(std::string_view text) {
    constexpr std::string_view k_hex = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\u00";
            out += k_hex[byte >> 4U];
            out += k_hex[byte & 0xFU];
        } else {
            out += c;
        }
    }
    return out;
}

std::vector<Piece> pieces_of(std::string_view argument) {
    std::vector<Piece> pieces;
    std::string fixed;
    std::size_t at = 0;
    while (at < argument.size()) {
        std::size_t end = at + 1;
        while (end < argument.size() && is_name_character(argument[end])) ++end;
        const bool found = argument[at] == '{' && end > at + 1 && end < argument.size() && argument[end] == '}';
        if (!found) {
            fixed += argument[at++];
            continue;
        }
        if (!fixed.empty()) pieces.push_back({std::exchange(fixed, {}), false, false});
        pieces.push_back(placeholder(argument.substr(at + 1, end - at - 1)));
        at = end + 1;
    }
    if (!fixed.empty()) pieces.push_back({std::move(fixed), false, false});
    return pieces;
}

bool mentions(std::string_view argument, std::string_view placeholder) {
    const auto pieces = pieces_of(argument);
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const Piece& piece) { return piece.placeholder && piece.text == placeholder; });
}

std::string filled(std::string_view argument, const std::map<std::string, std::string>& values) {
    std::string text;
    for (const auto& piece : pieces_of(argument)) {
        const auto value = piece.placeholder ? values.find(piece.text) : values.end();
        if (value != values.end()) {
            text += piece.in_json ? json_escaped(value->second) : value->second;
        } else {
            text += piece.placeholder ? "{" + piece.text + (piece.in_json ? "_json}" : "}") : piece.text;
        }
    }
    return text;
}

std::string placeholder_list() {
    std::string text;
    for (const auto name : k_placeholders) {
        text += (text.empty() ? "{" : ", {") + std::string(name) + "}";
    }
    return text;
}

bool is_placeholder(std::string_view name) {
    return std::find(k_placeholders.begin(), k_placeholders.end(), name) != k_placeholders.end();
}

}  // namespace orange::agents
