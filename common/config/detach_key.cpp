#include "common/config/detach_key.hpp"

#include <cctype>

#include "common/base/text.hpp"

namespace orange {
namespace {

struct Chord {
    bool ctrl = false, alt = false;
    std::string key;  ///< without the modifiers
};

bool cut_modifier(std::string_view& rest, std::string_view name) {
    if (rest.size() <= name.size() + 1 || rest[name.size()] != '-') return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (std::tolower(static_cast<unsigned char>(rest[i])) != name[i]) return false;
    }
    rest.remove_prefix(name.size() + 1);
    return true;
}

Chord chord_from(std::string_view text) {
    Chord chord;
    for (bool cut = true; cut;) {
        const bool ctrl = cut_modifier(text, "ctrl") || cut_modifier(text, "c");
        const bool alt = !ctrl && (cut_modifier(text, "alt") || cut_modifier(text, "m"));
        chord.ctrl |= ctrl;
        chord.alt |= alt;
        cut = ctrl || alt;
    }
    chord.key = text;
    // Terminals send the same for upper and lower case.
    if (chord.ctrl && chord.key.size() == 1)
        chord.key[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(chord.key[0])));
    return chord;
}

bool is_function_key(const std::string& key) {
    if (key.size() < 2 || key.size() > 3 || key[0] != 'F' || key[1] == '0') return false;
    if (key.find_first_not_of("0123456789", 1) != std::string::npos) return false;
    return std::stoi(key.substr(1)) <= 12;
}

bool is_possible(const Chord& chord) {
    if (is_function_key(chord.key)) return true;
    if (chord.key.size() != 1) return false;
    const auto c = static_cast<unsigned char>(chord.key[0]);
    if (chord.ctrl) return (c >= 'a' && c <= 'z') || c == ']' || c == '\\' || c == '^' || c == '_';
    return chord.alt && c < 0x80 && std::isalnum(c) != 0;
}

/// Returns true for keys that terminals need: Ctrl-b is tmux's prefix, c and d end programs, and h, i, j and m are
/// Backspace, Tab and Enter.
bool is_needed(const Chord& chord) {
    return chord.ctrl && !chord.alt && chord.key.size() == 1 &&
           std::string_view("bcdhijm").find(chord.key[0]) != std::string_view::npos;
}

}  // namespace

std::string DetachKey::spoken() const {
    if (name.empty()) return {};
    const auto chord = chord_from(name);
    return std::string(chord.ctrl ? "Ctrl-" : "") + (chord.alt ? "Alt-" : "") + chord.key;
}

Result<DetachKey> detach_key_from(std::string_view text) {
    if (text == "off" || text == "false") return DetachKey{""};
    const auto chord = chord_from(text);
    const auto wrong = [&](const std::string& why) {
        return Error(ErrorCode::invalid_argument,
                     "detach_key cannot be \"" + printable(text) + "\", " + why + "; use C-q, M-q, F12 or off");
    };
    if (is_needed(chord)) return wrong("because tmux or the program in the terminal needs this key");
    if (!is_possible(chord)) return wrong("because it is neither a key with Ctrl or Alt nor a function key");
    return DetachKey{std::string(chord.ctrl ? "C-" : "") + (chord.alt ? "M-" : "") + chord.key};
}

}  // namespace orange
