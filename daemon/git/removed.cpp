#include "daemon/git/removed.hpp"

#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"

namespace orange::git {
namespace {

/// The limit of reflog entries to read. Busy branches reach it in some weeks, and by then a lost commit has been merged
/// again or forgotten.
constexpr std::size_t k_most_moves = 200;

/// Returns the commits that the ref was at, by its reflog. A clone writes no entry, so its commit appears only as the
/// old value of the first entry.
Awaitable<Result<std::set<std::string>>> values_of(Git& git, std::string repo, std::string ref) {
    std::set<std::string> values;
    CO_TRY(const auto logged, co_await attempt(git, repo,
                                               words("log", "--walk-reflogs", "--no-show-signature", "--format=%H",
                                                     "-n", std::to_string(k_most_moves), ref, "--")));
    if (!logged.ok()) co_return values;  // there is no log
    const auto lines = split_lines(logged.out);
    for (const auto line : lines) {
        if (is_hash(line)) values.emplace(line);
    }
    if (lines.empty() || lines.size() == k_most_moves) co_return values;
    const auto oldest = ref + "@{" + std::to_string(lines.size()) + "}";
    CO_TRY(const auto before, co_await attempt(git, repo, words("rev-parse", "--verify", "--quiet", oldest)));
    if (is_hash(trim(before.out))) values.emplace(trim(before.out));
    co_return values;
}

}  // namespace

Awaitable<Result<std::vector<RemovedCommit>>> removed_commits(Git& git, std::string repo, std::string ref,
                                                              std::string tip) {
    std::vector<RemovedCommit> found;
    CO_TRY(const auto values, co_await values_of(git, repo, ref));
    if (values.size() < 2) co_return found;
    auto args = words("rev-list", "--ignore-missing");
    args.insert(args.end(), values.begin(), values.end());
    args.push_back("^" + ref);
    CO_TRY(const auto listed, co_await ask(git, repo, std::move(args)));
    std::set<std::string> removed;
    for (const auto line : split_lines(listed)) removed.emplace(line);
    if (removed.empty()) co_return found;
    CO_TRY(const auto brought, co_await ask(git, repo,
                                            words("log", "--no-show-signature", "--cherry-pick", "--right-only",
                                                  "--format=%H %h %s", ref + "..." + tip, "--")));
    for (const auto line : split_lines(brought)) {
        const auto end = line.find(' ');
        auto commit = std::string(line.substr(0, end));
        if (end == std::string_view::npos || !removed.contains(commit)) continue;
        found.push_back({std::move(commit), std::string(line.substr(end + 1))});
    }
    co_return found;
}

}  // namespace orange::git
