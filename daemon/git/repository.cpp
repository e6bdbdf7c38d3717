#include "daemon/git/repository.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

/// Identifies a folder by device and inode, because its times change with every file in it. Empty if the path is no
/// folder: a file `.git` may name another place at any time.
std::string identity_of_folder(const std::string& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return {};
    return std::to_string(facts.st_dev) + " " + std::to_string(facts.st_ino);
}

namespace fs = std::filesystem;

bool is_true(const std::string& value) {
    const auto word = to_lower(value);
    return word.empty() || word == "true" || word == "yes" || word == "on" || word == "1";
}

Error denied(const std::string& repo, const std::string& what, const std::string& change) {
    const auto command = "git -C " + shell_word(repo) + " config " + change;
    return {ErrorCode::conflict, what + ". Set it right:\n  " + command, {{"command", command}}};
}

/// The last value of each key that has_origin() asks for, the names of the remotes, and whether the repository's own
/// configuration defines origin.
struct AskedSettings {
    std::map<std::string, std::string> values;
    std::vector<std::string> remotes;
    bool own_origin = false;
};

constexpr std::string_view k_remote = "remote.", k_url = ".url";

AskedSettings read_settings(const std::string& answer, const std::string& git_dir) {
    AskedSettings settings;
    const auto said = pieces(answer);  // a file, a key and its value, a file, …
    for (std::size_t i = 0; i + 1 < said.size(); i += 2) {
        const auto end = std::min(said[i + 1].find('\n'), said[i + 1].size());
        const auto key = said[i + 1].substr(0, end);
        settings.values[key] = end < said[i + 1].size() ? said[i + 1].substr(end + 1) : std::string();
        if (key.starts_with(k_remote) && key.ends_with(k_url)) {
            const auto name = key.substr(k_remote.size(), key.size() - k_remote.size() - k_url.size());
            if (settings.remotes.empty() || settings.remotes.back() != name) settings.remotes.push_back(name);
        }
        const bool own = said[i] == "file:.git/config" || said[i] == "file:" + git_dir + "/config";
        settings.own_origin = settings.own_origin || (own && key == "remote.origin.url");
    }
    return settings;
}

/// Refuses wrong settings that a command with GIT_DIR in its environment (git init, for one) writes by accident.
Result<void> check_checkout(const std::string& repo, const std::string& git_dir, const AskedSettings& settings) {
    const auto bare = settings.values.find("core.bare"), worktree = settings.values.find("core.worktree");
    if (bare != settings.values.end() && is_true(bare->second) && has_checkout(git_dir)) {
        return denied(repo,
                      "core.bare is true in " + printable(git_dir) + "/config, although " + printable(repo) +
                          " has a working tree: git would not update its files",
                      "core.bare false");
    }
    if (worktree == settings.values.end() || real_path(fs::path(git_dir) / worktree->second) == real_path(repo))
        return {};
    return denied(repo,
                  "core.worktree in " + printable(git_dir) + "/config names " + printable(worktree->second) +
                      " instead of " + printable(repo),
                  "--unset core.worktree");
}

/// Returns the facts of both files with the repository's own settings; nothing if one of them was changed just now.
std::optional<std::string> facts_of_settings(const std::string& git_dir) {
    const auto config = settled_facts(git_dir + "/config"), more = settled_facts(git_dir + "/config.worktree");
    if (!config || !more || config->empty()) return std::nullopt;
    return *config + *more;
}

}  // namespace

Awaitable<Result<std::string>> KnownRepositories::git_dir(Git& git, std::string repo) {
    const auto now = identity_of_folder(repo + "/.git");
    const auto known = known_.find(repo);
    if (known != known_.end() && !now.empty() && known->second.git == now) co_return known->second.dir;
    auto dir = real_path(repo) + "/.git";
    if (!files_of_worktrees(repo)) {  // no ordinary repository
        CO_TRY(dir, co_await common_dir(git, repo));
    }
    known_[repo] = {now, dir, {}, {}};
    co_return dir;
}

/// An origin is cached only if the repository's own file defines it, because then no other setting can remove it.
Awaitable<Result<bool>> KnownRepositories::has_origin(Git& git, std::string repo) {
    CO_TRY(const auto dir, co_await git_dir(git, repo));
    const auto config = facts_of_settings(dir);
    if (config && known_[repo].config == *config) co_return true;
    const auto args =
        words("config", "--show-origin", "-z", "--get-regexp", "^(remote\\..*\\.url|core\\.(bare|worktree))$");
    CO_TRY(const auto done, co_await attempt(git, repo, args));
    if (done.exit_status > 1) co_return command_failed(words("git", "config", "remote.origin.url"), done);
    const auto settings = read_settings(done.out, dir);
    if (done.ok() && settings.values.empty()) co_return unexpected_output("git config", done.out);
    known_[repo].config.clear();
    known_[repo].remotes = settings.remotes;
    CO_TRY(check_checkout(repo, dir, settings));
    if (settings.own_origin && config) known_[repo].config = *config;
    co_return settings.values.contains("remote.origin.url");
}

Awaitable<Result<Repository>> KnownRepositories::inspect(Git& git, std::string repo) {
    CO_TRY(auto dir, co_await git_dir(git, repo));
    CO_TRY(const auto origin, co_await has_origin(git, repo));
    co_return Repository{std::move(repo), std::move(dir), origin};
}

Awaitable<std::string> KnownRepositories::unused_remote(Git& git, std::string repo, std::string branch) {
    const auto names = known_[repo].remotes;
    if (names.empty() || std::find(names.begin(), names.end(), "origin") != names.end()) co_return std::string();
    const auto followed = co_await attempt(git, repo, words("config", "--get", "branch." + branch + ".remote"));
    auto name = followed ? std::string(trim(followed->out)) : std::string();
    if (std::find(names.begin(), names.end(), name) == names.end()) name = names.front();
    co_return "no remote of the repository is called origin, so Orange neither fetches nor pushes. To use " +
        printable(name) + ":\n  git -C " + shell_word(repo) + " remote rename " + shell_word(name) + " origin";
}

bool has_checkout(const std::string& git_dir) {
    std::error_code error;
    return fs::exists(git_dir + "/index", error);
}

std::string root_of_bare(const std::string& git_dir) {
    constexpr std::string_view k_prefix = "gitdir: ";
    const auto parent = fs::path(git_dir).parent_path();
    if (fs::path(git_dir).filename() == ".git") return parent.string();
    const auto pointer = small_file_at(AT_FDCWD, (parent / ".git").string());
    if (!pointer || !pointer->starts_with(k_prefix)) return git_dir;
    const auto to = std::string(trim(std::string_view(*pointer).substr(k_prefix.size())));
    return real_path(parent / to) == real_path(git_dir) ? parent.string() : git_dir;
}

Awaitable<Result<std::string>> own_ssh_command(Git& git, std::string repo) {
    CO_TRY(const auto done,
           co_await attempt(git, std::move(repo), words("config", "--local", "--get", "core.sshCommand")));
    if (done.exit_status != 0) co_return std::string();
    const auto value = std::string(trim(done.out));
    co_return value.find('\n') == std::string::npos ? value : std::string();
}

}  // namespace orange::git
