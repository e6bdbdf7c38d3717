#include "daemon/runner/checks/preview_output.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange::checked {
namespace {

constexpr std::size_t k_longest_url = 200;
constexpr int k_largest_port = 65535;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the place behind the escape sequence that begins at `at`.
std::size_t end_of_sequence(std::string_view text, std::size_t at) {
    constexpr char k_escape = '\x1b', k_bell = '\a';
    auto next = at + 1;
    if (next >= text.size()) return text.size();
    const char kind = text[next++];
    if (kind == '[') {
        while (next < text.size() && (text[next] < '@' || text[next] > '~')) ++next;
        return std::min(next + 1, text.size());
    }
    if (kind != ']') return next;
    while (next < text.size() && text[next] != k_bell && text[next] != k_escape) ++next;
    const bool has_two = next + 1 < text.size() && text[next] == k_escape;  // ESC and a backslash end it
    return std::min(next + (has_two ? 2 : 1), text.size());
}

/// Reads a URL at the beginning of the text; nothing if it is of another machine, or none.
std::optional<LocalUrl> url_at(std::string_view text) {
    const bool is_secure = text.starts_with("https://");
    if (!is_secure && !text.starts_with("http://")) return std::nullopt;
    std::size_t at = is_secure ? 8 : 7;
    bool is_local = false;
    for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
        if (is_local || !text.substr(at).starts_with(host)) continue;
        is_local = true;
        at += host.size();
    }
    if (!is_local) return std::nullopt;
    const auto rest = [&] { return at < text.size() ? text[at] : ' '; };
    LocalUrl url;
    url.port = is_secure ? 443 : 80;
    if (rest() == ':') {
        const auto begin = ++at;
        while (is_digit(rest()) && at - begin < 6) ++at;
        const auto port = whole_number(text.substr(begin, at - begin));
        if (!port || *port < 1 || *port > k_largest_port) return std::nullopt;
        url.port = static_cast<int>(*port);
    }
    // The text behind it may make it a user's name, or the beginning of another host.
    constexpr std::string_view k_of_host = ".-_:@%";
    if (is_word(rest()) || k_of_host.find(rest()) != std::string_view::npos) return std::nullopt;
    if (rest() == '/' || rest() == '?' || rest() == '#') {
        constexpr std::string_view k_of_path = "/?#-._~=&%+";
        while (at < k_longest_url && (is_word(rest()) || k_of_path.find(rest()) != std::string_view::npos)) ++at;
        while (text[at - 1] == '.') --at;  // the end of a sentence
    }
    url.text = text.substr(0, at);
    return url;
}

}  // namespace

std::string plain(std::string_view output) {
    std::string text;
    text.reserve(output.size());
    for (std::size_t at = 0; at < output.size();) {
        const char c = output[at];
        if (c == '\x1b') {
            at = end_of_sequence(output, at);
            continue;
        }
        if (c != '\r') {
            text += c;
        } else if (at + 1 < output.size() && output[at + 1] != '\n') {
            text += '\n';  // a line that is written over
        }
        ++at;
    }
    return text;
}

std::optional<LocalUrl> local_url(std::string_view text) {
    for (auto at = text.find("http"); at != std::string_view::npos; at = text.find("http", at + 1)) {
        if (auto url = url_at(text.substr(at))) return url;
    }
    return std::nullopt;
}

std::string_view tail_of(std::string_view text, std::size_t count) {
    if (count == 0) return {};
    auto begin = text.size();
    if (begin > 0 && text[begin - 1] == '\n') --begin;
    for (; begin > 0; --begin) {
        if (text[begin - 1] == '\n' && --count == 0) break;
    }
    return text.substr(begin);
}

}  // namespace orange::checked
