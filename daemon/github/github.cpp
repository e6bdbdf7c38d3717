#include "daemon/github/github.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::github {
namespace {

struct Place {
    std::string host;
    std::string path;
};

/// Host and path of a URL (scheme://[user@]host[:port]/path) or of ssh's short form ([user@]host:path).
Place place_of(std::string_view url) {
    const auto scheme = url.find("://");
    const auto from = scheme == std::string_view::npos ? 0 : scheme + 3;
    auto rest = url.substr(from);
    const auto end = scheme == std::string_view::npos ? rest.find(':') : rest.find('/');
    if (end == std::string_view::npos || rest.substr(0, end).find('/') != std::string_view::npos) return {};
    auto host = rest.substr(0, end);
    if (const auto at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
    host = host.substr(0, host.find(':'));
    return {to_lower(host), std::string(rest.substr(end + 1))};
}

bool is_word(std::string_view text) {
    if (text.empty() || text.front() == '-' || text == "." || text == "..") return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

const PullRequest* open_one(const std::vector<PullRequest>& all) {
    const auto found = std::find_if(all.begin(), all.end(), [](const PullRequest& pr) { return pr.state == "OPEN"; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

Result<std::string> repository_of(std::string_view remote_url) {
    auto [host, path] = place_of(trim(remote_url));
    while (path.ends_with('/')) path.pop_back();
    while (path.starts_with('/')) path.erase(0, 1);
    if (path.ends_with(".git")) path.resize(path.size() - 4);
    const auto parts = split(path, '/');
    if (host.empty() || !is_word(host) || parts.size() != 2 || !is_word(parts[0]) || !is_word(parts[1])) {
        return Error(ErrorCode::invalid_argument,
                     "origin is not a repository at GitHub, so there is no pull request to open; the branch can be "
                     "merged with: orange task merge");
    }
    if (host.find('.') == std::string::npos) {
        return Error(ErrorCode::invalid_argument,
                     "origin's host \"" + host +
                         "\" is a name of your ssh configuration, which gh does not know; use the real one: git "
                         "remote set-url origin git@github.com:" +
                         path + ".git");
    }
    if (host == "ssh.github.com" || host == "www.github.com") host = "github.com";
    return host + "/" + path;
}

Awaitable<Result<PullRequest>> open_pull_request(GitHub& github, NewPullRequest request) {
    CO_TRY(const auto before, co_await github.list(request.repository, request.head));
    if (const auto* open = open_one(before)) co_return *open;
    auto asked = request;
    auto url = co_await github.create(std::move(asked));
    if (url) co_return PullRequest{0, std::move(*url), "OPEN"};
    if (url.error().code != ErrorCode::conflict) co_return url.error();
    // Somebody was faster, between the two questions.
    CO_TRY(const auto after, co_await github.list(request.repository, request.head));
    if (const auto* open = open_one(after)) co_return *open;
    co_return url.error();
}

}  // namespace orange::github
