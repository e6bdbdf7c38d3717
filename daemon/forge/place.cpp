#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/forge/forge.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_url = 4096;

struct RemotePlace {
    std::string host;
    std::string path;
    bool by_ssh = false;  ///< then the host may be an alias of the ssh configuration
};

/// Splits a URL (scheme://[user@]host[:port]/path) or ssh's short form ([user@]host:path) into host and path.
RemotePlace split_remote(std::string_view url) {
    const auto scheme = url.find("://");
    const bool is_short = scheme == std::string_view::npos;
    const auto rest = is_short ? url : url.substr(scheme + 3);
    const auto end = rest.find(is_short ? ':' : '/');
    if (end == std::string_view::npos || rest.substr(0, end).find('/') != std::string_view::npos) return {};
    auto host = rest.substr(0, end);
    if (const auto at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
    host = host.substr(0, host.find(':'));
    std::string_view path = rest.substr(end + 1);
    while (path.ends_with('/')) path.remove_suffix(1);
    while (path.starts_with('/')) path.remove_prefix(1);
    if (path.ends_with(".git")) path.remove_suffix(4);
    const auto name = to_lower(is_short ? "ssh" : url.substr(0, scheme));
    return {to_lower(host), std::string(path), name.find("ssh") != std::string::npos};
}

bool is_plain_word(std::string_view text) {
    if (text.empty() || text.front() == '-' || text == "." || text == "..") return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

}  // namespace

Result<ForgePlace> place_of_remote(std::string_view url, const ForgeRule* setting) {
    url = trim(url);
    const bool readable = url.size() <= k_longest_url && printable(url) == url;
    if (!readable) return Error(ErrorCode::invalid_argument, "origin's URL cannot be read; look: git remote -v");
    auto [host, path, by_ssh] = split_remote(url);
    if (host == "ssh.github.com" || host == "www.github.com") host = "github.com";
    const bool is_github = host == "github.com" || host.ends_with(".ghe.com");
    if (!is_github && !setting) return ForgePlace{};
    const auto parts = split(path, '/');
    if (!is_plain_word(host) || parts.size() != 2 || !is_plain_word(parts[0]) || !is_plain_word(parts[1])) {
        return Error(ErrorCode::invalid_argument,
                     "origin's URL does not name a repository at GitHub, as https://github.com/OWNER/NAME does; set "
                     "it with: git remote set-url origin URL");
    }
    if (by_ssh && host.find('.') == std::string::npos) {
        return Error(ErrorCode::invalid_argument,
                     "origin's host \"" + host +
                         "\" is a name of your ssh configuration, which gh does not know; use the real one: git "
                         "remote set-url origin git@HOST:" +
                         path + ".git");
    }
    return ForgePlace{setting ? setting : &k_github, host, path};
}

}  // namespace orange
