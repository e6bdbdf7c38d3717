#include "daemon/git/repository.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

/// A folder's time changes with every file in it; a file's says that somebody wrote another place into it.
std::string identity_of_folder(const std::string& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return {};
    return std::to_string(facts.st_dev) + " " + std::to_string(facts.st_ino);
}

}  // namespace

Awaitable<Result<std::string>> KnownRepositories::git_dir(Git& git, std::string repo) {
    const auto now = identity_of_folder(repo + "/.git");
    const auto known = known_.find(repo);
    if (known != known_.end() && !now.empty() && known->second.git == now) co_return known->second.dir;
    CO_TRY(auto dir, co_await common_dir(git, repo));
    known_[repo] = {now, dir, {}};
    co_return dir;
}

/// That there is one is remembered if the repository's own file says so: no other setting can take it back.
Awaitable<Result<bool>> KnownRepositories::has_origin(Git& git, std::string repo) {
    CO_TRY(const auto dir, co_await git_dir(git, repo));
    const auto config = settled_facts(dir + "/config");
    const auto known = known_[repo].config;
    if (config && !config->empty() && known == *config) co_return true;
    const auto args = words("config", "--show-origin", "-z", "--get-all", "remote.origin.url");
    CO_TRY(const auto done, co_await attempt(git, repo, args));
    if (done.exit_status > 1) co_return command_failed(words("git", "config", "remote.origin.url"), done);
    const auto said = pieces(done.out);  // a file, a value, a file, …
    bool own = false;
    for (std::size_t i = 0; i < said.size(); i += 2) {
        own = own || said[i] == "file:.git/config" || said[i] == "file:" + dir + "/config";
    }
    known_[repo].config = done.ok() && own && config ? *config : std::string();
    co_return done.ok();
}

Awaitable<Result<Repository>> KnownRepositories::look(Git& git, std::string repo) {
    CO_TRY(auto dir, co_await git_dir(git, repo));
    CO_TRY(const auto origin, co_await has_origin(git, repo));
    co_return Repository{std::move(repo), std::move(dir), origin};
}

}  // namespace orange::git
