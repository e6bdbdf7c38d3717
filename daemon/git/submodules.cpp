#include "daemon/git/submodules.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

/// Returns true if the submodule has the commit that HEAD records for it. The commit is fetched from the worktree's
/// repository if the work of an earlier task was kept there.
Awaitable<Result<bool>> get_commit(Git& git, Pinned worktree, Nested nested) {
    const auto& own = *nested.repository;
    CO_TRY(const auto here, co_await commit_of(git, own, nested.recorded));
    if (!here.empty()) co_return true;
    CO_TRY(const auto kept, co_await commit_of(git, worktree, nested.recorded));
    if (kept.empty()) co_return false;
    CO_TRY(const auto fetched,
           co_await attempt(git, own,
                            words("-c", "protocol.file.allow=always", "fetch", "--quiet", "--no-tags",
                                  "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--",
                                  worktree.common_dir(), nested.recorded)));
    co_return fetched.ok();
}

/// Removes the submodule's own refs, whose commits are kept elsewhere, so that the next task starts without them.
Awaitable<Result<void>> drop_refs(Git& git, Pinned submodule) {
    CO_TRY(const auto refs, co_await ask_inside(git, submodule,
                                                words("for-each-ref", "--format=delete %(refname)", "refs/heads",
                                                      "refs/stash", "refs/orange")));
    if (trim(refs).empty()) co_return Result<void>{};
    CO_TRY(co_await ask_inside(git, submodule, words("update-ref", "--stdin"), refs));
    co_return Result<void>{};
}

/// Removes the submodule's files and its .git, as in a new worktree: an empty folder remains, or none.
Awaitable<Result<void>> remove_files(Git& git, Nested nested) {
    const auto& own = *nested.repository;
    const std::map<std::string, std::string> no_index = {
        {"GIT_INDEX_FILE", own.git_dir() + "/orange-none-" + random_id(12)}};
    CO_TRY(co_await ask_inside(git, own, words("clean", "--quiet", "-f", "-f", "-d", "-x"), "", no_index));
    CO_TRY(remove_git_of(git, nested));
    if (!nested.recorded.empty() || ::rmdir(nested.outer.path().c_str()) == 0) co_return Result<void>{};
    co_return io_error("removing " + nested.outer.path(), errno);
}

std::vector<SubmoduleChange> changes_in(const std::string& diff) {
    std::vector<SubmoduleChange> changes;
    const auto words_of = pieces(diff);  // ":<mode> <mode> <object> <object> <letter>", a path, …
    for (std::size_t i = 0; i + 1 < words_of.size(); i += 2) {
        const auto facts = split(words_of[i], ' ');
        if (facts.size() == 5 && facts[1] == "160000") changes.push_back({words_of[i + 1], std::string(facts[3])});
    }
    return changes;
}

void add_modules(const Pinned& repository, int levels, std::vector<Pinned>& all) {
    const auto modules = modules_of(repository);
    if (!modules || levels == 0) return;  // an unreadable module counts as without published commits
    for (const auto& module : *modules) {
        all.push_back(module.repository);
        add_modules(module.repository, levels - 1, all);
    }
}

Awaitable<Result<bool>> remotes_have(Git& git, Pinned submodule, std::string commit) {
    CO_TRY(const auto refs, co_await ask_inside(git, submodule,
                                                words("for-each-ref", "--count=1", "--format=%(refname)", "--contains",
                                                      commit, "refs/remotes", "refs/tags")));
    co_return !trim(refs).empty();
}

Awaitable<void> fetch_all(Git& git, Pinned submodule) {
    GitCommand fetch{std::move(submodule), words("fetch", "--quiet", "--all", "--no-recurse-submodules")};
    fetch.deadline = k_fetch_patience;
    (void)co_await git.run(std::move(fetch));  // a failure is ignored: the fetched branches count as far as they came
}

/// Returns true if a remote of one of the repositories has the commit. If no repository has the commit, all of them are
/// fetched: behind a wall, the repository that got the commit is not asked.
Awaitable<Result<bool>> is_published(Git& git, std::vector<Pinned> repositories, std::string commit, bool may_fetch) {
    bool is_here = false;
    for (const auto& each : repositories) {
        CO_TRY(const auto here, co_await commit_of(git, each, commit));
        if (here.empty()) continue;
        is_here = true;
        CO_TRY(auto has, co_await remotes_have(git, each, commit));
        if (!has && may_fetch) {
            co_await fetch_all(git, each);
            CO_TRY(has, co_await remotes_have(git, each, commit));
        }
        if (has) co_return true;
    }
    if (is_here || !may_fetch) co_return false;
    for (const auto& each : repositories) {
        co_await fetch_all(git, each);
        CO_TRY(const auto here, co_await commit_of(git, each, commit));
        if (here.empty()) continue;
        CO_TRY(const auto has, co_await remotes_have(git, each, commit));
        if (has) co_return true;
    }
    co_return false;
}

/// Returns the names of submodules by their paths, as .gitmodules of HEAD has them.
Awaitable<std::map<std::string, std::string>> submodule_names(Git& git, Pinned worktree) {
    std::map<std::string, std::string> names;
    const auto found = co_await attempt(
        git, worktree, words("config", "-z", "--blob", "HEAD:.gitmodules", "--get-regexp", "^submodule\\..*\\.path$"));
    if (!found || !found->ok()) co_return names;
    constexpr std::string_view k_before = "submodule.", k_behind = ".path";
    for (const auto& entry : pieces(found->out)) {  // "submodule.<name>.path\n<path>"
        const auto end = entry.find('\n');
        const auto key = std::string_view(entry).substr(0, end);
        if (end == std::string::npos || key.size() < k_before.size() + k_behind.size()) continue;
        names[entry.substr(end + 1)] = key.substr(k_before.size(), key.size() - k_before.size() - k_behind.size());
    }
    co_return names;
}

/// Returns the first of these git directories that has the commit; empty if none has it.
Awaitable<std::string> first_with(Git& git, std::vector<std::string> directories, std::string commit) {
    for (const auto& directory : directories) {
        if (!is_folder_at(AT_FDCWD, directory)) continue;
        GitCommand look{directory, words("cat-file", "-e", commit + "^{commit}")};
        look.env = {{"GIT_DIR", directory}, {"GIT_WORK_TREE", "."}};  // the folder of its files may be gone
        const auto looked = co_await git.run(std::move(look));
        if (looked && looked->ok()) co_return directory;
    }
    co_return std::string();
}

/// Does not use --init, which would write into the config file that the worktree shares with the user's repository.
Awaitable<Result<void>> check_out_submodule(Git& git, Pinned worktree, std::string path, std::string name,
                                            std::string source, std::shared_ptr<Stop> stop) {
    GitCommand update{worktree, words("-c", "protocol.file.allow=always", "-c", "submodule." + name + ".url=" + source,
                                      "-c", "submodule." + name + ".active=true", "submodule", "--quiet", "update",
                                      "--checkout", "--", path)};
    update.env = {{"GIT_LITERAL_PATHSPECS", "1"}};
    update.deadline = k_checkout_deadline;
    update.stop = std::move(stop);
    CO_TRY(co_await git_output(git, std::move(update)));
    co_return Result<void>{};
}

/// Gives the clone the address of the repository that it was made from, so that what runs there finds the usual remote.
Awaitable<void> set_usual_remote(Git& git, Pinned submodule, std::string source) {
    GitCommand ask_address{source, words("config", "--get", "remote.origin.url")};
    ask_address.env = {{"GIT_DIR", source}, {"GIT_WORK_TREE", "."}};
    const auto address = co_await git_output(git, std::move(ask_address));
    if (!address || trim(*address).empty() || address->starts_with('-')) co_return;
    (void)co_await attempt(git, std::move(submodule),
                           words("config", "remote.origin.url", std::string(trim(*address))));
}

Awaitable<void> check_out_below(Git& git, Pinned worktree, std::vector<std::string> from, int levels,
                                std::shared_ptr<Stop> stop, std::vector<std::string>& missed) {
    const std::map<std::string, std::string> own_index;
    const auto paths = co_await submodules_in_index(git, worktree, own_index);
    if (!paths || paths->empty() || levels == 0) co_return;
    const auto names = co_await submodule_names(git, worktree);
    for (const auto& path : *paths) {
        const auto shown = "submodule " + printable(worktree.path() + "/" + path);
        const auto named = names.find(path);
        const bool is_usable = named != names.end() && named->second.find('=') == std::string::npos &&
                               named->second.find("..") == std::string::npos;
        if (!is_usable) {
            missed.push_back(shown + " is not checked out: .gitmodules does not name it");
            continue;
        }
        const auto listed = co_await attempt(git, worktree, words("ls-tree", "-z", "--full-tree", "HEAD", "--", path));
        const auto entries = listed ? tree_entries(listed->out) : std::vector<TreeEntry>();
        if (entries.size() != 1) continue;
        const auto commit = entries.front().object;
        std::vector<std::string> sources;
        for (const auto& each : from) sources.push_back(each + "/modules/" + named->second);
        const auto source = co_await first_with(git, sources, commit);
        if (source.empty()) {
            missed.push_back(shown + " is not checked out: its commit " + commit.substr(0, 10) +
                             " is not on this machine. To get it, run in the project's repository:\n"
                             "  git submodule update --init --recursive");
            continue;
        }
        const auto done = co_await check_out_submodule(git, worktree, path, named->second, source, stop);
        const auto nested = done ? open_nested(worktree, {path, commit}) : Result<Nested>(done.error());
        if (!nested || !nested->repository || !nested->is_whole) {
            const auto why = nested ? std::string("its repository lies elsewhere") : nested.error().message;
            missed.push_back(shown + " is not checked out: " + why);
            continue;
        }
        const auto own = *nested->repository;
        co_await set_usual_remote(git, own, source);
        co_await check_out_below(git, own, std::move(sources), levels - 1, stop, missed);
    }
}

}  // namespace

Awaitable<std::vector<std::string>> check_out_submodules(Git& git, Pinned worktree, std::vector<std::string> from,
                                                         std::shared_ptr<Stop> stop) {
    constexpr int k_levels = 8;
    std::vector<std::string> missed;
    co_await check_out_below(git, std::move(worktree), std::move(from), k_levels, std::move(stop), missed);
    co_return missed;
}

Awaitable<Result<void>> reset_submodules(Git& git, Pinned worktree) {
    std::set<std::string> in_use;
    CO_TRY(const auto inside, co_await repositories_inside(git, worktree));
    for (const auto& each : inside) {
        CO_TRY(const auto nested, open_nested(worktree, each));
        if (!nested.is_submodule() || !nested.repository) continue;  // its repository lies elsewhere
        const auto own = *nested.repository;
        if (!nested.is_whole) {  // it could not be saved, so do not reset it
            in_use.insert(own.git_dir());
            continue;
        }
        bool stays = !nested.recorded.empty();
        if (stays) {
            CO_TRY(stays, co_await get_commit(git, worktree, nested));
        }
        if (!stays) {
            CO_TRY(co_await remove_files(git, nested));
            continue;
        }
        WorktreeStatus unknown;  // g++ 12 destroys a default argument of a co_await expression twice
        CO_TRY(co_await reset_detached(git, own, nested.recorded, std::move(unknown)));
        CO_TRY(co_await drop_refs(git, own));
        in_use.insert(own.git_dir());
    }
    CO_TRY(const auto modules, modules_of(worktree));
    for (const auto& module : modules) {
        if (!in_use.contains(module.repository.git_dir())) CO_TRY(remove_module(git, worktree, module));
    }
    co_return Result<void>{};
}

Awaitable<Result<std::vector<SubmoduleChange>>> unpublished_submodules(Git& git, std::string repo,
                                                                       std::optional<Pinned> worktree, std::string base,
                                                                       std::string tip, bool may_fetch) {
    std::vector<SubmoduleChange> unpublished;
    CO_TRY(const auto diff,
           co_await attempt(git, repo,
                            words("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff",
                                  "--ignore-submodules=none", base + "..." + tip, "--")));
    const auto changes = changes_in(diff.out);
    if (!diff.ok() || changes.empty()) co_return unpublished;  // without a common commit, the merge is refused later
    std::vector<Pinned> repositories;
    CO_TRY(const auto common, co_await common_dir(git, repo));
    CO_TRY(auto folder, open_folder(common));
    const auto held = Pinned::hold(std::move(folder));
    constexpr int k_levels = 8;
    add_modules(Pinned(common, common, common, held, held), k_levels, repositories);
    if (worktree && !worktree->is_walled()) add_modules(*worktree, k_levels, repositories);
    for (const auto& change : changes) {
        CO_TRY(const auto published, co_await is_published(git, repositories, change.commit, may_fetch));
        if (!published) unpublished.push_back(change);
    }
    co_return unpublished;
}

}  // namespace orange::git
