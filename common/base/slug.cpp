#include "common/base/slug.hpp"

namespace orange {
namespace {

/// U+00C0 to U+00FF without diacritics; '-' for a character that is no letter.
constexpr std::string_view k_latin1 = "aaaaaaaceeeeiiiidnooooo-ouuuuytsaaaaaaaceeeeiiiidnooooo-ouuuuyty";

/// The summary as lower-case ASCII, with "-" for each character that is neither a letter nor a digit.
std::string spaced(std::string_view summary) {
    std::string out;
    for (std::size_t i = 0; i < summary.size(); ++i) {
        const auto c = static_cast<unsigned char>(summary[i]);
        const auto next = i + 1 < summary.size() ? static_cast<unsigned char>(summary[i + 1]) : 0;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out += static_cast<char>(c);
        } else if (c >= 'A' && c <= 'Z') {
            out += static_cast<char>(c - 'A' + 'a');
        } else if (c == 0xc3 && next >= 0x80 && next <= 0xbf) {
            out += k_latin1[next - 0x80];
            ++i;
        } else if (c == 0xe2 && next == 0x80 && i + 2 < summary.size() && summary[i + 2] == '\x99') {
            i += 2;  // treat a typographic apostrophe like the plain one
        } else if (c != '\'') {
            out += '-';
        }
    }
    return out;
}

}  // namespace

std::string slug_of(std::string_view summary) {
    std::string slug;
    for (const char c : spaced(summary)) {
        if (c != '-' || (!slug.empty() && slug.back() != '-')) slug += c;
    }
    if (slug.ends_with('-')) slug.pop_back();
    return slug;
}

}  // namespace orange
