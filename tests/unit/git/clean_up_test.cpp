#include "daemon/git/clean_up.hpp"

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

TEST_CASE_METHOD(GitFixture,
                 "a repository is cleaned of what is merged, and keeps each commit that only Orange's refs have") {
    const auto repo = make_repo();
    make_origin(repo);
    const auto merged = commit(repo, "a", "merged\n");
    for (const char* branch : {"done", "mine", "follows", "out"}) plain(repo, {"branch", branch});
    plain(repo, {"branch", "--set-upstream-to=origin/main", "follows"});
    plain(repo, {"worktree", "add", "-q", path("tree"), "out"});
    plain(repo, {"checkout", "-qb", "open"});
    const auto open = commit(repo, "b", "only here\n");
    plain(repo, {"checkout", "-q", "main"});
    plain(repo, {"update-ref", "refs/orange/one/merged", merged});
    plain(repo, {"update-ref", "refs/orange/two/wip", open});
    KnownRepositories known;
    const auto inspected = go(known.inspect(git, repo)).value();
    const std::set<std::string> ours = {"done", "follows", "out", "open", "main", "gone"};

    const auto cleaned = go(clean_up(git, inspected, "main", ours)).value();
    CHECK(cleaned.refs == 1);
    CHECK(cleaned.branches == 1);
    CHECK(cleaned.kept_refs == 1);
    CHECK(cleaned.kept_branches == 3);
    CHECK(plain(repo, {"for-each-ref", "--format=%(refname)", "refs/heads", "refs/orange"}) ==
          "refs/heads/follows\nrefs/heads/main\nrefs/heads/mine\nrefs/heads/open\nrefs/heads/out\n"
          "refs/orange/two/wip");
    CHECK(go(clean_up(git, inspected, "trunk", ours)).error().code == ErrorCode::not_found);

    plain(repo, {"push", "-q", "origin", "open:main"});  // merged at origin alone
    plain(repo, {"fetch", "-q"});
    CHECK(go(clean_up(git, inspected, "main", ours)).value().branches == 1);
    CHECK(ref(repo, "refs/orange/two/wip").empty());
}
