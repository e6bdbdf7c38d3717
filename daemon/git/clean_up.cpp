#include "daemon/git/clean_up.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/checkout.hpp"
#include "daemon/git/refs.hpp"

namespace orange::git {
namespace {

constexpr std::string_view k_own = "refs/orange/", k_all_branches = "refs/heads/",
                           k_branches = "refs/heads/orange-tasks/";

struct Candidate {
    std::string commit;
    bool is_free = false;  ///< not checked out, and without a branch that it follows
};

/// Returns the branches and other refs that Orange made; with `merged_into`, those alone whose commits that ref has.
Awaitable<Result<std::map<std::string, Candidate>>> candidates(Git& git, std::string repo, std::string merged_into,
                                                               const std::set<std::string>& own) {
    constexpr std::size_t k_fields = 4;
    auto args = words("for-each-ref", "--format=%(refname)%00%(objectname)%00%(upstream)%00%(worktreepath)%00");
    if (!merged_into.empty()) args.push_back("--merged=" + merged_into);
    args.insert(args.end(), {std::string(k_all_branches), std::string(k_own)});
    CO_TRY(const auto listed, co_await ask(git, std::move(repo), std::move(args)));
    const auto fields = split(listed, '\0');
    if (fields.size() % k_fields != 1) co_return unexpected_output("git for-each-ref", listed);
    std::map<std::string, Candidate> found;
    for (std::size_t i = 0; i + k_fields < fields.size(); i += k_fields) {
        if (!is_hash(fields[i + 1])) co_return unexpected_output("git for-each-ref", fields[i + 1]);
        std::string name(trim(fields[i]));  // a line ends before it
        const bool is_own = name.starts_with(k_own) || name.starts_with(k_branches);
        if (!is_own && !own.contains(name.substr(k_all_branches.size()))) continue;
        const bool is_free = fields[i + 2].empty() && fields[i + 3].empty();
        found[std::move(name)] = {std::string(fields[i + 1]), is_free};
    }
    co_return found;
}

}  // namespace

Awaitable<Result<CleanedUp>> clean_up(Git& git, Repository repo, std::string target, std::set<std::string> own) {
    own.erase(target);
    CO_TRY(const auto bases, co_await refs(git, repo.path, refs_of_branch(target)));
    if (bases.empty()) co_return Error(ErrorCode::not_found, "there is no branch " + printable(target));
    CO_TRY(const auto all, co_await candidates(git, repo.path, {}, own));
    std::map<std::string, Candidate> merged;
    for (const auto& [base, ref] : bases) {
        CO_TRY(auto found, co_await candidates(git, repo.path, base, own));
        merged.merge(found);
    }
    CleanedUp cleaned;
    std::string input;
    for (const auto& [name, ref] : all) {
        const bool is_own = name.starts_with(k_own);
        const bool is_in_use = !is_own && is_operated_on(repo.git_dir, name.substr(k_heads.size()));
        const bool goes = merged.contains(name) && ref.is_free && !is_in_use;
        if (goes) input += "delete " + name + " " + ref.commit + "\n";
        ++(!goes ? cleaned.kept : is_own ? cleaned.refs : cleaned.branches);
    }
    if (!input.empty()) {
        CO_TRY(co_await ask_inside(git, repo.path, words("update-ref", "--no-deref", "--stdin"), input));
    }
    co_return cleaned;
}

}  // namespace orange::git
