#include "daemon/git/branch_names.hpp"

#include <filesystem>

#include "common/base/slug.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

constexpr std::size_t k_longest_slug = 48;

}  // namespace

std::string branch_name_from(const std::string& summary) {
    const auto slug = slug_of(summary);
    std::string name;
    for (const auto word : split(slug, '-')) {
        if (name.empty()) {
            name = word.substr(0, k_longest_slug);
        } else if (name.size() + 1 + word.size() <= k_longest_slug) {
            name += "-" + std::string(word);
        } else {
            break;
        }
    }
    return name;
}

Awaitable<Result<BranchState>> branch_state(Git& git, std::string repo, std::string branch) {
    const auto head = std::string(k_heads) + branch, remote = std::string(k_origin) + branch;
    auto args = words("for-each-ref", "--format=%(refname)", head, remote);
    std::vector<std::string> parents;
    for (auto slash = branch.find('/'); slash != std::string::npos; slash = branch.find('/', slash + 1)) {
        parents.push_back(std::string(k_heads) + branch.substr(0, slash));
        args.push_back(parents.back());
    }
    CO_TRY(const auto listed, co_await ask(git, repo, args));
    BranchState state;
    for (const auto line : split_lines(listed)) {
        const std::string ref(line);
        state.local = state.local || ref == head;
        state.remote = state.remote || ref == remote;
        bool in_the_way = ref.starts_with(head + "/");
        for (const auto& parent : parents) in_the_way = in_the_way || ref == parent;
        if (in_the_way) state.clash = ref.substr(k_heads.size());
    }
    CO_TRY(const auto all, co_await listed_worktrees(git, repo));
    for (const auto& worktree : all) {
        if (worktree.branch != branch) continue;
        std::error_code error;
        state.checkout = worktree.path;
        state.is_locked = worktree.is_locked;
        state.is_gone = !worktree.bare && !std::filesystem::exists(worktree.path + "/.git", error);
    }
    co_return state;
}

Awaitable<Result<std::string>> resolve_base(Git& git, std::string repo, std::string base) {
    const auto unknown = [&base] {
        return Error(ErrorCode::not_found, "there is no branch, tag or commit \"" + printable(base) + "\"");
    };
    if (base.empty() || base.find('\0') != std::string::npos) co_return unknown();
    for (const std::string_view prefix :
         {k_heads, k_origin, std::string_view("refs/tags/"), std::string_view("refs/remotes/"), std::string_view()}) {
        auto ref = std::string(prefix) + base;
        const auto commit = co_await commit_of(git, repo, ref);
        if (!commit && commit.error().code != ErrorCode::external_failed) co_return commit.error();
        if (!commit || commit->empty()) continue;
        const bool is_ref = !prefix.empty() || base.starts_with("refs/");
        co_return is_ref ? ref : *commit;
    }
    co_return unknown();
}

}  // namespace orange::git
