#include "daemon/git/refs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

constexpr std::size_t k_fields = 5;

/// Returns up to twenty branches that origin has, for the error message.
Awaitable<Result<std::vector<std::string>>> branches_of_origin(Git& git, std::string repo) {
    std::vector<std::string> branches;
    CO_TRY(const auto listed,
           co_await ask(git, repo,
                        words("for-each-ref", "--count=20", "--format=%(refname:lstrip=3)", "refs/remotes/origin/")));
    for (const auto line : split_lines(listed)) {
        if (line != "HEAD") branches.emplace_back(line);
    }
    co_return branches;
}

/// Returns what the ref's own file holds, empty if it has none; nothing if that is not a commit alone.
std::optional<std::string> own_file_of(const std::string& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? std::optional(std::string()) : std::nullopt;
    }
    auto text = small_file_at(AT_FDCWD, path);
    if (!text || !is_hash(trim(*text))) return std::nullopt;
    return text;
}

/// Returns the content or the facts of all files of the repository that refs() depends on. Empty if these are not all,
/// or if one was changed just now. The settings of the user are not among them: nobody names upstreams there.
std::string files_of_refs(const std::string& repo, const std::vector<std::string>& names) {
    const auto common = repo + "/.git";
    const auto trees = files_of_worktrees(repo);
    const auto packed = settled_facts(common + "/packed-refs"), config = settled_facts(common + "/config"),
               of_tree = settled_facts(common + "/config.worktree");
    if (!trees || !packed || !config || !of_tree) return {};
    auto all = *packed + *config + *of_tree;
    for (const auto& name : names) {
        const auto text = own_file_of(common + "/" + name);
        if (!text) return {};
        all += name + " " + *text + "\n";
    }
    for (const auto& tree : *trees) {
        if (!tree.branch.empty()) all += tree.path + " " + tree.branch + "\n";
    }
    return all;
}

/// Returns true if it depends on yet another ref whether an upstream branch still exists.
bool has_other_upstream(const Refs& found) {
    return std::any_of(found.begin(), found.end(), [&](const auto& each) {
        const auto& [name, ref] = each;
        return !ref.upstream.empty() && name.starts_with(k_heads) &&
               !found.contains(std::string(k_origin) + name.substr(k_heads.size()));
    });
}

}  // namespace

Awaitable<Result<Refs>> RefsView::now(Git& git) {
    auto files = files_of_refs(repo_, names_);
    if (!files_.empty() && files == files_) co_return known_;
    files_.clear();
    CO_TRY(known_, co_await refs(git, repo_, names_));
    if (!has_other_upstream(known_)) files_ = std::move(files);
    co_return known_;
}

Awaitable<Result<Refs>> refs(Git& git, Place repo, std::vector<std::string> names) {
    auto args = words("for-each-ref",
                      "--format=%(refname)%00%(objectname)%00%(upstream:remotename)%00%(upstream:track)%00"
                      "%(worktreepath)%00");
    args.insert(args.end(), names.begin(), names.end());
    CO_TRY(const auto listed, co_await ask(git, std::move(repo), std::move(args)));
    const auto fields = split(listed, '\0');
    Refs found;
    for (std::size_t i = 0; i + k_fields < fields.size(); i += k_fields) {
        const auto name = std::string(trim(fields[i]));  // from the second entry on, a line end precedes the name
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;  // a ref below that name
        if (!is_hash(fields[i + 1])) co_return unexpected_output("git for-each-ref", fields[i + 1]);
        found[name] = Ref{std::string(fields[i + 1]), std::string(fields[i + 2]), fields[i + 3] == "[gone]",
                          std::string(fields[i + 4])};
    }
    if (fields.size() % k_fields != 1) co_return unexpected_output("git for-each-ref", listed);
    co_return found;
}

std::vector<std::string> refs_of_branch(const std::string& branch) {
    return {std::string(k_heads) + branch, std::string(k_origin) + branch};
}

std::string shown_ref(const std::string& ref) {
    for (const std::string_view prefix : {std::string_view("refs/remotes/"), k_heads}) {
        if (ref.starts_with(prefix)) return ref.substr(prefix.size());
    }
    return ref;
}

Awaitable<Result<Base>> base_of(Git& git, std::string repo, std::string default_branch, const Refs& known,
                                MergesTo merges) {
    const auto remote = known.find(std::string(k_origin) + default_branch);
    const auto local = known.find(std::string(k_heads) + default_branch);
    if (remote != known.end()) {
        bool is_behind = true;
        if (merges == MergesTo::local && local != known.end()) {
            CO_TRY(is_behind, co_await contains(git, repo, remote->second.commit, local->second.commit));
        }
        const auto& base = is_behind ? *remote : *local;
        co_return Base{base.first, base.second.commit};
    }
    if (local == known.end()) {
        co_return Error(ErrorCode::not_found, "there is no branch " + printable(default_branch) + " in " +
                                                  printable(repo) + " or at its origin");
    }
    const Base base{local->first, local->second.commit};
    // If origin's branch was renamed, new work would start at the outdated branch and be merged into it. Only an
    // upstream that is gone tells such a branch from one that was never pushed.
    if (local->second.upstream != "origin" || !local->second.upstream_gone) co_return base;
    CO_TRY(const auto others, co_await branches_of_origin(git, repo));
    if (others.empty()) co_return base;
    co_return Error(ErrorCode::not_found,
                    "origin has no branch " + printable(default_branch) + " any more, but " +
                        printable(join(others, ", ")) +
                        ". If it was renamed, run: orange project update NAME --default-branch " +
                        (others.size() == 1 ? shell_word(others.front()) : std::string("BRANCH")));
}

}  // namespace orange::git
