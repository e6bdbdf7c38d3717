#include "common/base/shown_path.hpp"

#include "common/base/text.hpp"

namespace orange {
namespace {

bool is_plain(std::string_view path) {
    return printable(path) == path && path.find_first_of("\"\\") == std::string_view::npos && !path.starts_with(' ') &&
           !path.ends_with(' ');
}

std::string octal(unsigned char byte) {
    const auto digit = [&](int shift) { return static_cast<char>('0' + ((byte >> shift) & 7)); };
    return {'\\', digit(6), digit(3), digit(0)};
}

std::string escaped(char c) {
    constexpr std::string_view k_letters = "\a\b\t\n\v\f\r\"\\", k_escapes = "abtnvfr\"\\";
    const auto at = k_letters.find(c);
    return at == std::string_view::npos ? octal(static_cast<unsigned char>(c)) : std::string{'\\', k_escapes[at]};
}

/// Returns the length of the first character of `text` if it is valid UTF-8 and visible; 0 otherwise.
std::size_t visible_character(std::string_view text) {
    constexpr std::size_t k_longest = 4;
    for (std::size_t length = 1; length <= k_longest && length <= text.size(); ++length) {
        const auto character = text.substr(0, length);
        if (is_valid_utf8(character)) return printable(character) == character ? length : 0;
    }
    return 0;
}

}  // namespace

std::string shown_path(std::string_view path) {
    if (is_plain(path)) return std::string(path);
    std::string shown = "\"";
    while (!path.empty()) {
        const auto length = visible_character(path);
        const bool is_itself = length > 0 && path.front() != '"' && path.front() != '\\';
        if (is_itself) {
            shown += path.substr(0, length);
            path.remove_prefix(length);
        } else {
            shown += escaped(path.front());
            path.remove_prefix(1);
        }
    }
    return shown + "\"";
}

std::vector<std::string> shown_paths(const std::vector<std::string>& paths) {
    std::vector<std::string> shown;
    shown.reserve(paths.size());
    for (const auto& path : paths) shown.push_back(shown_path(path));
    return shown;
}

}  // namespace orange
