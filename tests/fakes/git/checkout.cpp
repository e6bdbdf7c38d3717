#include <algorithm>

#include "tests/fakes/git/asked.hpp"

/// HEAD and the files move to another commit.
namespace orange::fakes::git {
namespace {

void detach(const Repository& repository, const git_oid& commit) {
    must(git_repository_set_head_detached(repository.raw(), &commit));
}

/// "checkout [--force] --quiet --detach <hash>^0"
Completed detached(const Asked& asked, unsigned strategy) {
    const Repository repository(asked);
    const auto commit = id_of(without_suffix(asked.last(), "^0"));
    (void)repository.commit_id("HEAD");
    check_out(repository, commit, strategy);
    detach(repository, commit);
    return printed({});
}

/// "checkout --quiet --no-track -b <branch> <hash>^0"
Completed on_new_branch(const Asked& asked) {
    const Repository repository(asked);
    const auto commit = id_of(without_suffix(asked.last(), "^0"));
    const auto ref = "refs/heads/" + asked.last(1);
    must_be(is_harmless(asked.last(1)) && !repository.ref(ref));
    must_be(repository.setting("branch." + asked.last(1) + ".remote").empty());
    (void)repository.commit_id("HEAD");
    git_reference* made = nullptr;
    must(git_reference_create(&made, repository.raw(), ref.c_str(), &commit, 0, "branch: Created"));
    const Reference held(made);
    try {
        check_out(repository, commit, GIT_CHECKOUT_SAFE);
    } catch (const Unusual&) {
        must(git_reference_delete(made));
        throw;
    }
    git_reference* head = nullptr;
    must(git_reference_symbolic_create(&head, repository.raw(), "HEAD", ref.c_str(), 1, "checkout"));
    const Reference now(head);
    return printed({});
}

/// The branch that is checked out moves forward together with its files.
Completed forwarded(const Asked& asked) {
    const Repository repository(asked);
    const auto to = repository.commit_id(asked.last()), from = repository.commit_id("HEAD");
    const auto branch = repository.head_ref();
    must_be(!branch.empty() && is_whole_hash(asked.last()));
    must_be(git_graph_descendant_of(repository.raw(), &to, &from) == 1);
    must_be(!std::filesystem::exists(repository.common() + "/" + branch + ".lock"));
    check_out(repository, to, GIT_CHECKOUT_SAFE | GIT_CHECKOUT_DONT_OVERWRITE_IGNORED);
    git_reference* moved = nullptr;
    must(git_reference_create(&moved, repository.raw(), branch.c_str(), &to, 1, "merge: Fast-forward"));
    const Reference held(moved);
    return printed({});
}

}  // namespace

void check_out(const Repository& repository, const git_oid& commit, unsigned strategy) {
    (void)repository.index();
    git_checkout_options options;
    must(git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION));
    options.checkout_strategy = strategy;
    git_object* object = nullptr;
    must(git_object_lookup(&object, repository.raw(), &commit, GIT_OBJECT_COMMIT));
    const Held<git_object, git_object_free> held(object);
    must(git_checkout_tree(repository.raw(), object, &options));
}

Answer ask_checkout(const Asked& asked) {
    if (asked.is({"checkout", "--force", "--quiet", "--detach"}, 1)) return detached(asked, GIT_CHECKOUT_FORCE);
    if (asked.is({"checkout", "--quiet", "--detach"}, 1)) return detached(asked, GIT_CHECKOUT_SAFE);
    if (asked.is({"checkout", "--quiet", "--no-track", "-b"}, 2)) return on_new_branch(asked);
    if (asked.is({"merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                  "--no-verify-signatures"},
                 1)) {
        return forwarded(asked);
    }
    return std::nullopt;
}

}  // namespace orange::fakes::git
