#include "daemon/git/branches.hpp"

#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;
using namespace std::chrono_literals;

TEST_CASE_METHOD(GitFixture, "what git takes as a branch's name is accepted, what it could misread is not") {
    for (const std::string good : {"a;b", "$(id)", "#(touch${IFS}x)", "fix#12", "renovate/@types/x", "a'b",
                                   "refs/heads/x", "{last}", "ünicode"}) {
        INFO(good);
        CHECK(go(check_branch_name(git, good)));
    }
    for (const std::string bad : {"", "-x", "--upload-pack=x", "HEAD", "@", "a b", "a..b", ".a", "x.lock", "../x",
                                  "a\x1b", "a~1", "a:b", "a//b", "a/", "/a", "a@{1}"}) {
        INFO(bad);
        const auto checked = go(check_branch_name(git, bad));
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == ErrorCode::invalid_argument);
    }
    CHECK_FALSE(go(check_branch_name(git, std::string(250, 'a'))));
    CHECK_FALSE(go(check_branch_name(git, std::string("a\0b", 3))));
}

TEST_CASE_METHOD(GitFixture, "a ref's commit is found, a missing one is empty, a broken repository is an error") {
    const auto repo = make_repo();
    CHECK(go(commit_of(git, repo, "refs/heads/main")).value() == ref(repo, "HEAD"));
    CHECK(go(commit_of(git, repo, "refs/heads/none")).value().empty());
    CHECK(go(commit_of(git, repo, "--all")).value().empty());
    write_file(repo + "/.git/HEAD", "rubbish");
    CHECK_FALSE(go(commit_of(git, repo, "refs/heads/main")));
}

TEST_CASE_METHOD(GitFixture, "the main worktree is found from every directory of a repository") {
    const auto repo = make_repo();
    write_file(repo + "/sub/x", "x");
    plain(repo, {"worktree", "add", "-q", "--detach", path("linked")});
    CHECK(go(main_worktree(git, repo)).value() == repo);
    CHECK(go(main_worktree(git, repo + "/sub")).value() == repo);
    CHECK(go(main_worktree(git, path("linked"))).value() == repo);
    plain(dir.path, {"init", "-q", "--separate-git-dir", path("elsewhere.git"), path("separate")});
    commit(dir / "separate", "x", "x");
    CHECK(go(main_worktree(git, path("separate"))).value() == path("separate"));
}

TEST_CASE_METHOD(GitFixture, "a bare repository is called by the folder that leads to it, from each of its worktrees") {
    const auto origin = make_origin(make_repo());
    std::filesystem::create_directories(dir / "project");
    plain(dir.path, {"clone", "-q", "--bare", origin, path("project/.bare")});
    const auto refused = go(main_worktree(git, path("project/.bare")));
    REQUIRE_FALSE(refused);  // what it fetches would be nowhere
    CHECK_THAT(refused.error().message, Tells("remote.origin.fetch"));
    plain(dir / "project/.bare", {"config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"});
    CHECK(go(main_worktree(git, path("project/.bare"))).value() == path("project/.bare"));
    write_file(dir / "project/.git", "gitdir: ./.bare\n");
    plain(dir / "project", {"worktree", "add", "-q", "main", "main"});
    for (const std::string where : {"project", "project/.bare", "project/main"}) {
        INFO(where);
        CHECK(go(main_worktree(git, path(where))).value() == path("project"));
    }
}

TEST_CASE_METHOD(GitFixture, "settings that deny a working tree are named, with the command that sets them right") {
    const auto repo = make_repo();
    std::filesystem::create_directories(dir / "elsewhere");
    const std::string key = GENERATE("core.bare", "core.worktree");
    plain(repo, {"config", key, key == "core.bare" ? "true" : path("elsewhere")});
    const auto refused = go(main_worktree(git, repo));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Tells(key) && Tells("git -C " + repo + " config"));
}

TEST_CASE_METHOD(GitFixture, "no repository and an empty one are refused with the reason") {
    std::filesystem::create_directories(dir / "none");
    plain(dir.path, {"init", "-q", "--bare", path("bare")});
    plain(dir.path, {"init", "-q", path("empty")});
    for (const std::string name : {"none", "bare", "empty"}) {
        const auto found = go(main_worktree(git, path(name)));
        INFO(name);
        REQUIRE_FALSE(found);
        CHECK(found.error().code == ErrorCode::invalid_argument);
    }
    CHECK_THAT(go(main_worktree(git, path("empty"))).error().message, Tells(path("empty")));
}

TEST_CASE_METHOD(GitFixture, "the default branch is origin's, else a usual name, else the current one") {
    const auto repo = make_repo();
    CHECK(go(default_branch(git, repo)).value() == "main");
    plain(repo, {"branch", "-m", "trunk"});
    CHECK(go(default_branch(git, repo)).value() == "trunk");
    plain(repo, {"branch", "master"});
    CHECK(go(default_branch(git, repo)).value() == "master");
    plain(dir.path, {"clone", "-q", repo, path("clone")});
    CHECK(go(default_branch(git, path("clone"))).value() == "trunk");
    plain(repo, {"branch", "-D", "master"});
    plain(repo, {"checkout", "-q", "--detach"});
    CHECK_FALSE(go(default_branch(git, repo)));
}

TEST_CASE_METHOD(GitFixture, "a default branch that git's configuration calls refs/heads/x is the branch x") {
    const auto repo = make_repo();
    plain(repo, {"branch", "trunk"});
    plain(repo, {"config", "init.defaultBranch", "refs/heads/trunk"});
    CHECK(go(default_branch(git, repo)).value() == "trunk");
}

TEST_CASE_METHOD(GitFixture, "an origin whose HEAD is not known here is asked for it") {
    const auto repo = make_repo();
    const auto origin = make_origin(repo);
    plain(repo, {"checkout", "-q", "-b", "develop"});
    plain(repo, {"push", "-q", "origin", "develop"});
    plain(repo, {"remote", "set-head", "origin", "--delete"}, true);
    plain(origin, {"symbolic-ref", "HEAD", "refs/heads/develop"});
    const auto found = go(find_default_branch(git, repo)).value();
    CHECK(found.name == "develop");
    CHECK(found.is_known);
    std::filesystem::remove_all(origin);
    const auto guessed = go(find_default_branch(git, repo)).value();
    CHECK(guessed.name == "main");
    CHECK_FALSE(guessed.is_known);
}

TEST_CASE_METHOD(GitFixture, "the current branch, and none when detached") {
    const auto repo = make_repo();
    CHECK(go(current_branch(git, repo)).value() == "main");
    plain(repo, {"checkout", "-q", "--detach"});
    CHECK(go(current_branch(git, repo)).value().empty());
    std::filesystem::create_directories(dir / "none");
    CHECK_FALSE(go(current_branch(git, path("none"))));
}

TEST_CASE_METHOD(GitFixture, "new work begins at origin's default branch where there is one") {
    const auto repo = make_repo();
    CHECK(go(base_ref(git, repo, "main")).value() == "refs/heads/main");
    CHECK_FALSE(go(has_origin(git, repo)).value());
    make_origin(repo);
    CHECK(go(has_origin(git, repo)).value());
    CHECK(go(base_ref(git, repo, "main")).value() == "refs/remotes/origin/main");
    CHECK(go(base_ref(git, repo, "none")).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(GitFixture, "fetching brings new commits and forgets deleted branches") {
    const auto repo = make_repo();
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    plain(repo, {"push", "-q", "origin", "main:gone"});
    const auto commit_there = commit(dir / "other", "new", "new");
    plain(dir / "other", {"push", "-q", "origin", "main", ":gone"});
    REQUIRE(go(fetch(git, repo, 20s)));
    CHECK(ref(repo, "refs/remotes/origin/main") == commit_there);
    CHECK(ref(repo, "refs/remotes/origin/gone").empty());
    std::filesystem::remove_all(origin);
    CHECK(go(fetch(git, repo, 20s)).error().code == ErrorCode::external_failed);
}

TEST_CASE_METHOD(GitFixture, "a branch whose files lead elsewhere is recognized, and moving it moves no other branch") {
    const auto repo = make_repo();
    const auto common = repo + "/.git";
    const auto before = ref(repo, "refs/heads/main");
    const auto later = commit(repo, "later", "l\n");
    plain(repo, {"branch", "orange-tasks/x"});
    CHECK(check_branch_files(common, "orange-tasks/x"));
    CHECK(check_branch_files(common, "orange-tasks/none/at/all"));
    plain(repo, {"update-ref", "refs/heads/other", before});
    plain(repo, {"symbolic-ref", "refs/heads/orange-tasks/x", "refs/heads/other"});
    const auto symbolic = check_branch_files(common, "orange-tasks/x").error();
    CHECK(symbolic.code == ErrorCode::conflict);
    CHECK_THAT(symbolic.message, !Holds("rm "));  // the user may have made it
    REQUIRE(go(move_branch(git, repo, "orange-tasks/x", later, before)));
    CHECK(ref(repo, "refs/heads/other") == before);
    CHECK(ref(repo, "refs/heads/orange-tasks/x") == later);
    CHECK(check_branch_files(common, "orange-tasks/x"));

    std::filesystem::create_directory_symlink("..", common + "/refs/heads/orange-tasks/up");
    CHECK(check_branch_files(common, "orange-tasks/up/main").error().code == ErrorCode::conflict);
    const auto log = common + "/logs/refs/heads/orange-tasks/x";
    std::filesystem::remove(log);
    std::filesystem::create_symlink("/dev/null", log);
    CHECK(check_branch_files(common, "orange-tasks/x").error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(GitFixture, "a branch is renamed where it is checked out, never over another one") {
    const auto repo = make_repo();
    plain(repo, {"checkout", "-q", "-b", "a;b"});
    plain(repo, {"branch", "taken"});
    CHECK(go(rename_branch(git, at(repo), "a;b", "taken")).error().code == ErrorCode::conflict);
    CHECK(go(rename_branch(git, at(repo), "main", "x")).error().code == ErrorCode::conflict);
    CHECK(go(rename_branch(git, at(repo), "a;b", "-x")).error().code == ErrorCode::invalid_argument);
    REQUIRE(go(rename_branch(git, at(repo), "a;b", "$(id)")));
    CHECK(go(current_branch(git, repo)).value() == "$(id)");
    CHECK(ref(repo, "refs/heads/a;b").empty());
}

TEST_CASE_METHOD(GitFixture, "a rename waits for a lock that another git holds for a moment, and not for a stale one",
                 "[slow]") {
    /// Another git, which ends when the first rename has failed.
    struct Busy final : Git {
        Busy(Git& its_git, std::string its_lock) : git(its_git), lock(std::move(its_lock)) { write_file(lock, ""); }
        Awaitable<Result<Completed>> run(GitCommand command) override {
            const bool renames = command.args.front() == "branch";
            auto done = co_await git.run(std::move(command));
            if (renames && ends) std::filesystem::remove(lock);
            co_return done;
        }
        Git& git;
        std::string lock;
        bool ends = true;
    };
    const auto repo = make_repo();
    Busy busy(git, repo + "/.git/HEAD.lock");
    busy.ends = false;
    CHECK_FALSE(go(rename_branch(busy, at(repo), "main", "other")));
    CHECK(go(current_branch(git, repo)).value() == "main");
    busy.ends = true;
    CHECK(go(rename_branch(busy, at(repo), "main", "other")));
    CHECK(go(current_branch(git, repo)).value() == "other");
}

TEST_CASE_METHOD(GitFixture, "origin's branch is deleted only when what it has is merged") {
    const auto repo = make_repo();
    const auto origin = make_origin(repo);
    CHECK(go(delete_remote_branch(git, repo, "b", {"refs/heads/main"})));  // no such branch
    plain(repo, {"push", "-q", "origin", "main:b"});
    plain(dir.path, {"clone", "-q", "-b", "b", origin, path("other")});
    const auto foreign = commit(dir / "other", "new", "new");
    plain(dir / "other", {"push", "-q", "origin", "b"});
    CHECK(go(delete_remote_branch(git, repo, "b", {"refs/heads/main"})).error().code == ErrorCode::conflict);
    CHECK(ref(origin, "refs/heads/b") == foreign);
    plain(repo, {"fetch", "-q", "origin"});
    CHECK(go(delete_remote_branch(git, repo, "b", {"refs/heads/main"})).error().code == ErrorCode::conflict);
    plain(repo, {"merge", "-q", "--ff-only", "origin/b"});
    CHECK(go(delete_remote_branch(git, repo, "b", {"refs/heads/main"})));
    CHECK(ref(origin, "refs/heads/b").empty());
}

TEST_CASE_METHOD(GitFixture, "a pipe among the refs or their logs is named, and no file, folder or link is") {
    const auto repo = make_repo();
    plain(repo, {"branch", "feature/one"});
    std::filesystem::create_symlink("main", std::filesystem::path(repo) / ".git/refs/heads/link");
    CHECK(obstacles_among_refs(repo + "/.git").empty());
    const std::string pipe = repo + "/.git/refs/heads/feature/zpipe", log = repo + "/.git/logs/refs/heads/zlog";
    for (const auto& path : {pipe, log}) REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(obstacles_among_refs(repo + "/.git") == std::vector<std::string>{pipe, log});
}
