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
    for (const char* branch : {"orange-tasks/done", "mine", "orange-tasks/follows", "orange-tasks/out"}) {
        plain(repo, {"branch", branch});
    }
    plain(repo, {"branch", "--set-upstream-to=origin/main", "orange-tasks/follows"});
    plain(repo, {"worktree", "add", "-q", path("tree"), "orange-tasks/out"});
    plain(repo, {"checkout", "-qb", "orange-tasks/open"});
    const auto open = commit(repo, "b", "only here\n");
    plain(repo, {"checkout", "-q", "main"});
    plain(repo, {"update-ref", "refs/orange/one/merged", merged});
    plain(repo, {"update-ref", "refs/orange/two/wip", open});
    KnownRepositories known;
    const auto inspected = go(known.inspect(git, repo)).value();

    const auto cleaned = go(clean_up(git, inspected, "main")).value();
    CHECK(cleaned.refs == 1);
    CHECK(cleaned.branches == 1);
    CHECK(cleaned.kept == 4);
    CHECK(plain(repo, {"for-each-ref", "--format=%(refname)", "refs/heads", "refs/orange"}) ==
          "refs/heads/main\nrefs/heads/mine\nrefs/heads/orange-tasks/follows\nrefs/heads/orange-tasks/open\n"
          "refs/heads/orange-tasks/out\nrefs/orange/two/wip");
    CHECK(go(clean_up(git, inspected, "main", {"mine", "main"})).value().branches == 1);  // made for a task
    CHECK(ref(repo, "refs/heads/mine").empty());
    CHECK_FALSE(ref(repo, "refs/heads/main").empty());
    CHECK(go(clean_up(git, inspected, "trunk")).error().code == ErrorCode::not_found);

    plain(repo, {"push", "-q", "origin", "orange-tasks/open:main"});  // merged at origin alone
    plain(repo, {"fetch", "-q"});
    CHECK(go(clean_up(git, inspected, "main")).value().branches == 1);
    CHECK(ref(repo, "refs/orange/two/wip").empty());
}
