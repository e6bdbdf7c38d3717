#include "common/config/versions.hpp"

#include <cstdlib>
#include <string>

#include "common/base/text.hpp"

namespace orange {
namespace {

long part(std::string_view version, std::size_t index) {
    const auto parts = split(version, '.');
    return index < parts.size() ? std::strtol(std::string(parts[index]).c_str(), nullptr, 10) : 0;
}

}  // namespace

bool is_older(std::string_view version, std::string_view than) {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto have = part(version, i);
        const auto need = part(than, i);
        if (have != need) return have < need;
    }
    return false;
}

std::string_view version_word(std::string_view output) {
    const auto lines = split_lines(output);
    if (lines.empty()) return {};
    for (auto word : split(lines.front(), ' ')) {
        if (const auto dash = word.rfind('-'); dash != word.npos) word = word.substr(dash + 1);
        if (!word.empty() && word.front() >= '0' && word.front() <= '9') return word;
    }
    return {};
}

}  // namespace orange
