#include "daemon/git/publish.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"

namespace orange::git {
namespace {

constexpr int k_no_such_remote = 2;  // exit status of `git remote get-url`

/// Makes the error of a failed push, with what to do about it, from git's output (LC_ALL=C).
Error push_failed(const std::string& repo, const std::string& branch, Error error) {
    const auto found = error.details.find("stderr");
    const auto said = found == error.details.end() ? error.message : found->second + error.message;
    const auto name = printable(branch);
    const auto by_hand = "git -C " + printable(repo) + " push origin " + name;
    const auto refused = [&](ErrorCode code, const std::string& sentence) {
        return Error(code, sentence + ": " + error.message, error.details);
    };
    if (error.code == ErrorCode::timeout) {
        return refused(ErrorCode::timeout,
                       "origin did not answer in time; when it is reachable, push with: " + by_hand);
    }
    // A hook or a protected branch at origin causes "[remote rejected]"; "[rejected]" is git's own refusal.
    if (says(said, {"[rejected]"})) {
        return refused(ErrorCode::conflict, "origin's branch " + name +
                                                " has commits that the local one does not have; adopt them (git pull "
                                                "--rebase in the workspace), or push over them by hand: " +
                                                by_hand + " --force-with-lease");
    }
    if (says(said, {"[remote rejected]"})) {
        return refused(ErrorCode::external_failed, "origin refuses the branch " + name);
    }
    if (says(said, {"could not read Username", "could not read Password", "Authentication failed", "Permission denied",
                    "access rights", "Host key verification failed"})) {
        return refused(
            ErrorCode::external_failed,
            "origin does not let Orange in, which cannot answer questions; make this work without one: " + by_hand);
    }
    if (says(said, {"Could not resolve host", "Could not resolve hostname", "Failed to connect", "unable to access",
                    "Connection refused", "timed out", "Network is unreachable"})) {
        return refused(ErrorCode::unavailable, "origin cannot be reached; when it can be, push with: " + by_hand);
    }
    return in_context("pushing " + name, std::move(error));
}

/// The word of `line` that is a URL and safe to show; empty if there is none.
std::string url_of(std::string_view line) {
    constexpr std::size_t k_longest_url = 2000;
    const auto from = std::min(line.find("https://"), line.find("http://"));
    if (from == std::string_view::npos) return {};
    const auto url = line.substr(from, std::min(line.find_first_of(" \t", from), line.size()) - from);
    return url.size() <= k_longest_url && printable(url) == url ? std::string(url) : std::string();
}

/// Returns the URL at which a pull request can be opened. Servers print it after the push, on lines that git marks with
/// "remote: ", usually one line below a sentence about the request. Other lines may have URLs of their own.
std::string url_for_request(const std::string& said) {
    bool is_near = false;
    for (const auto line : split_lines(said)) {
        if (!line.starts_with("remote:")) continue;
        const auto text = to_lower(line.substr(7));
        const bool names_it = says(text, {"pull request", "merge request", "/pull", "/merge_request", "/compare/"});
        if (auto url = url_of(line); !url.empty()) {
            if (names_it || is_near) return url;
            is_near = false;
        }
        if (!trim(text).empty()) is_near = names_it;
    }
    return {};
}

/// Returns the regular files directly in `folder` ("" is the root) of a tree.
Awaitable<Result<std::vector<TreeEntry>>> files_in(Git& git, std::string repo, std::string ref, std::string folder) {
    auto args = words("ls-tree", "-z", "--full-tree", "--end-of-options", ref);
    if (!folder.empty()) args.push_back(folder);
    CO_TRY(const auto listed, co_await ask(git, repo, std::move(args)));
    auto files = tree_entries(listed);
    std::erase_if(files, [](const TreeEntry& entry) { return !entry.mode.starts_with("100"); });
    co_return files;
}

/// Returns the folders at the top of the tree whose lower-case name is in `wanted`, as the tree spells them, and "".
Awaitable<Result<std::vector<std::string>>> folders_in(Git& git, std::string repo, std::string ref,
                                                       std::set<std::string> wanted) {
    CO_TRY(
        const auto listed,
        co_await ask(git, repo, words("ls-tree", "-z", "--full-tree", "-d", "--name-only", "--end-of-options", ref)));
    std::vector<std::string> folders = {""};
    for (const auto& name : pieces(listed)) {
        if (wanted.contains(to_lower(name))) folders.push_back(name + "/");
    }
    co_return folders;
}

}  // namespace

Awaitable<Result<std::string>> origin_url(Git& git, std::string repo) {
    CO_TRY(const auto done, co_await attempt(git, repo, words("remote", "get-url", "origin")));
    if (done.exit_status == k_no_such_remote) co_return std::string();
    if (!done.ok()) co_return command_failed(words("git", "remote", "get-url", "origin"), done);
    const auto lines = split_lines(done.out);
    co_return lines.empty() ? std::string() : std::string(lines.front());
}

Awaitable<Result<PushedBranch>> push_branch(Git& git, std::string repo, std::string branch) {
    CO_TRY(const auto origin, co_await has_origin(git, repo));
    if (!origin) {
        co_return Error(ErrorCode::not_found, printable(repo) +
                                                  " has no remote called origin to push to; add it: git -C " +
                                                  printable(repo) + " remote add origin URL");
    }
    const auto ref = "refs/heads/" + branch;
    CO_TRY(const auto local, co_await commit_of(git, repo, ref));
    if (local.empty()) {
        co_return Error(ErrorCode::not_found, "there is no local branch " + printable(branch) + " to push");
    }
    GitCommand push{repo, words("push", "--quiet", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                                "--end-of-options", "origin", ref + ":" + ref)};
    push.deadline = std::chrono::minutes(5);
    auto argv = words("git");
    argv.insert(argv.end(), push.args.begin(), push.args.end());
    const auto pushed = co_await git.run(std::move(push));
    if (!pushed) co_return push_failed(repo, branch, pushed.error());
    if (!pushed->ok()) co_return push_failed(repo, branch, command_failed(argv, *pushed));
    PushedBranch done;
    done.url = url_for_request(pushed->err);
    co_return done;
}

Awaitable<Result<std::optional<std::string>>> first_file_at(Git& git, std::string repo, std::string ref,
                                                            std::vector<std::string> names) {
    std::set<std::string> parents;
    for (const auto& name : names) {
        const auto parent = std::filesystem::path(name).parent_path().string();
        if (!parent.empty()) parents.insert(to_lower(parent));
    }
    CO_TRY(const auto folders, co_await folders_in(git, repo, ref, std::move(parents)));
    std::map<std::string, std::string> objects;
    for (const auto& folder : folders) {
        CO_TRY(const auto files, co_await files_in(git, repo, ref, folder));
        for (const auto& file : files) objects.emplace(to_lower(file.path), file.object);
    }
    for (const auto& name : names) {
        const auto found = objects.find(to_lower(name));
        if (found == objects.end()) continue;
        CO_TRY(auto text, co_await ask(git, repo, words("cat-file", "blob", found->second)));
        co_return std::optional<std::string>(std::move(text));
    }
    co_return std::optional<std::string>();
}

}  // namespace orange::git
