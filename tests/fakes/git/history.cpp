#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// How commits stand to one another.
namespace orange::fakes::git {
namespace {

std::optional<git_oid> only_base(const Repository& repository, const git_oid& one, const git_oid& other) {
    git_oidarray bases{};
    const int error = git_merge_bases(&bases, repository.raw(), &one, &other);
    if (error == GIT_ENOTFOUND) return std::nullopt;
    must(error);
    const auto count = bases.count;
    const git_oid first = bases.ids[0];
    git_oidarray_dispose(&bases);
    must_be(count == 1);
    return first;
}

Completed is_ancestor(const Asked& asked) {
    const Repository repository(asked);
    const auto commit = repository.commit_id(asked.last(1)), of = repository.commit_id(asked.last());
    if (git_oid_equal(&commit, &of) == 1) return printed({});
    const int above = git_graph_descendant_of(repository.raw(), &of, &commit);
    must(above);
    return above == 1 ? printed({}) : failed(1);
}

/// "rev-list [--count] [--merges|--no-merges] <commits>": where git's order makes no difference.
Completed counted_commits(const Asked& asked) {
    const Repository repository(asked);
    git_revwalk* walk = nullptr;
    must(git_revwalk_new(&walk, repository.raw()));
    const Held<git_revwalk, git_revwalk_free> held(walk);
    bool count = false, merges = false, no_merges = false;
    for (std::size_t i = 1; i < asked.args.size(); ++i) {
        const auto& word = asked.args[i];
        const auto dots = word.find("..");
        if (word == "--count") {
            count = true;
        } else if (word == "--merges") {
            merges = true;
        } else if (word == "--no-merges") {
            no_merges = true;
        } else if (word.starts_with('^')) {
            const auto id = repository.commit_id(word.substr(1));
            must(git_revwalk_hide(walk, &id));
        } else if (dots != std::string::npos && word.compare(dots, 3, "...") != 0) {
            const auto from = repository.commit_id(word.substr(0, dots)),
                       to = repository.commit_id(word.substr(dots + 2));
            must(git_revwalk_push(walk, &to));
            must(git_revwalk_hide(walk, &from));
        } else {
            const auto id = repository.commit_id(word);
            must(git_revwalk_push(walk, &id));
        }
    }
    std::vector<std::string> found;
    git_oid id;
    int error = 0;
    while ((error = git_revwalk_next(&id, walk)) == 0) {
        const bool is_merge = git_commit_parentcount(repository.commit(id).get()) > 1;
        if ((merges && !is_merge) || (no_merges && is_merge)) continue;
        found.push_back(hex(id) + "\n");
    }
    must_be(error == GIT_ITEROVER);
    if (count) return printed(std::to_string(found.size()) + "\n");
    must_be(found.size() < 2);
    return printed(join(found, ""));
}

}  // namespace

Answer ask_history(const Asked& asked) {
    if (asked.is({"merge-base", "--is-ancestor"}, 2)) return is_ancestor(asked);
    if (asked.is({"merge-base"}, 2) && is_whole_hash(asked.last()) && is_whole_hash(asked.last(1))) {
        const Repository repository(asked);
        const auto base =
            only_base(repository, repository.commit_id(asked.last(1)), repository.commit_id(asked.last()));
        return base ? printed(hex(*base) + "\n") : failed(1);
    }
    if (asked.args.front() == "rev-list" && asked.args.size() > 1) return counted_commits(asked);
    return std::nullopt;
}

}  // namespace orange::fakes::git
