#include "daemon/git/merge.hpp"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <set>

#include "daemon/async/keyed_mutex.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

/// A repository whose user is on main, and a branch `task` with one commit, in a worktree.
struct Fixture : GitFixture {
    Fixture() : repo(make_repo()), tree(path("tree")) {
        commit(repo, "shared", "base\n");
        go(add_worktree(git, repo, tree, "refs/heads/main")).value();
        go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")).value();
        tip = commit(tree, "work", "work\n");
    }

    Result<Merged> merge_task(MergeStrategy strategy = MergeStrategy::merge) {
        MergeRequest request;
        request.repo = repo;
        request.scratch = path("scratch");
        request.branch = "task";
        request.default_branch = "main";
        request.strategy = strategy;
        request.message = "Merge the task";
        return go(git::merge(git, std::move(request)));
    }

    /// Everything that a refused merge must leave alone.
    struct State {
        std::map<std::string, std::string> files;
        std::string refs, status, index;
        bool operator==(const State&) const = default;
    };
    State state() {
        return {contents(repo), plain(repo, {"for-each-ref"}), plain(repo, {"status", "--porcelain"}),
                plain(repo, {"ls-files", "-s"})};
    }

    /// The merge is refused with that code; checkout, refs and origin are as before.
    Error refused(ErrorCode code, MergeStrategy strategy = MergeStrategy::merge) {
        const auto before = state();
        const auto merged = merge_task(strategy);
        REQUIRE_FALSE(merged);
        INFO(merged.error().message);
        CHECK(merged.error().code == code);
        CHECK(state() == before);
        CHECK_FALSE(std::filesystem::exists(path("scratch")));
        CHECK(go(worktrees(git, repo)).value().size() == 2);
        return merged.error();
    }

    Merged merged(MergeStrategy strategy = MergeStrategy::merge) {
        auto done = merge_task(strategy);
        INFO((done ? "" : done.error().message));
        REQUIRE(done);
        CHECK_FALSE(std::filesystem::exists(path("scratch")));
        return *done;
    }

    void hook_that_fails(const std::string& origin) {
        write_file(origin + "/hooks/pre-receive", "#!/bin/sh\necho protected branch >&2\nexit 1\n");
        ::chmod((origin + "/hooks/pre-receive").c_str(), 0755);
    }

    std::string repo, tree, tip;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a merge makes a merge commit and brings the user's checkout along") {
    commit(repo, "other", "other\n");
    write_file(repo + "/notes", "mine");
    write_file(repo + "/shared", "mine too\n");
    write_file(repo + "/staged", "s");
    plain(repo, {"add", "staged"});
    const auto before = ref(repo, "main");
    const auto done = merged();
    CHECK(done.commit == ref(repo, "refs/heads/main"));
    CHECK(ref(repo, done.commit + "^1") == before);
    CHECK(ref(repo, done.commit + "^2") == tip);
    CHECK_FALSE(done.pushed);
    CHECK_FALSE(done.already);
    CHECK(plain(repo, {"log", "-1", "--format=%s|%an"}) == "Merge the task|Ursula User");
    CHECK(read_file(repo + "/work") == "work\n");
    CHECK(read_file(repo + "/notes") == "mine");
    CHECK(read_file(repo + "/shared") == "mine too\n");
    CHECK(plain(repo, {"status", "--porcelain"}) == "M shared\nA  staged\n?? notes");
    const auto again = merged();
    CHECK(again.already);
    CHECK(again.commit == done.commit);
}

TEST_CASE_METHOD(Fixture, "a branch that is not at the commit that was asked for is not merged") {
    const auto seen = tip;
    tip = commit(tree, "late", "after it was seen\n");
    MergeRequest request;
    request.repo = repo;
    request.scratch = path("scratch");
    request.branch = "task";
    request.tip = seen;
    request.default_branch = "main";
    const auto before = state();
    const auto refused = go(git::merge(git, request));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(refused.error().message ==
          "task has moved from " + seen.substr(0, 12) + " to " + tip.substr(0, 12) + " meanwhile; try again");
    CHECK(state() == before);
    request.tip = tip;
    CHECK(go(git::merge(git, request)));
}

TEST_CASE_METHOD(Fixture, "ff takes the branch's own commit, or says that it cannot") {
    SECTION("possible") {
        CHECK(merged(MergeStrategy::ff).commit == tip);
        CHECK(ref(repo, "main") == tip);
    }
    SECTION("not possible") {
        commit(repo, "other", "other\n");
        refused(ErrorCode::conflict, MergeStrategy::ff);
    }
}

TEST_CASE_METHOD(Fixture, "conflicts are listed by file and everything stays") {
    commit(tree, "shared", "task's\n");
    commit(tree, "README", "task's\n");
    commit(repo, "shared", "main's\n");
    commit(repo, "README", "main's\n");
    write_file(repo + "/notes", "mine");
    const auto error = refused(ErrorCode::conflict);
    CHECK(error.details.at("files") == "README\nshared");
    CHECK(error.message.find("2 files") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "programs that the repository names for signing and for diffs do not run") {
    const auto mark = path("ran");
    write_file(dir / "evil", "#!/bin/sh\ntouch " + mark + "\nexit 1\n");
    ::chmod(path("evil").c_str(), 0755);
    write_file(repo + "/.git/info/attributes", "* diff=evil\n");
    for (const auto* key : {"gpg.program", "diff.external", "diff.evil.command", "diff.evil.textconv"}) {
        plain(repo, {"config", key, path("evil")});
    }
    for (const auto* key : {"commit.gpgSign", "merge.verifySignatures", "log.showSignature", "push.gpgSign"}) {
        plain(repo, {"config", key, "true"});
    }
    // With a conflict, whose files are listed by a diff, and without.
    const auto before = ref(repo, "refs/heads/main");
    write_file(repo + "/work", "mine\n");
    plain(repo, {"add", "work"});
    plain(repo, {"commit", "-qm", "in the way", "--no-gpg-sign"});
    CHECK(refused(ErrorCode::conflict).message.find("work") != std::string::npos);
    plain(repo, {"reset", "-q", "--hard", before});
    merged();
    write_file(repo + "/shared", "changed\n");
    CHECK_FALSE(go(snapshot(git, at(repo), "refs/orange/x/wip", "kept")).value().empty());
    CHECK_FALSE(std::filesystem::exists(mark));
    plain(repo, {"diff"}, true);
    CHECK(std::filesystem::exists(mark));  // the user's own does
    std::filesystem::remove(mark);
    plain(repo, {"commit", "-qam", "signed"}, true);
    CHECK(std::filesystem::exists(mark));
}

TEST_CASE_METHOD(Fixture, "the user's own uncommitted files in the way are listed and kept") {
    commit(tree, "shared", "task's\n");
    std::string expected;
    SECTION("changed") {
        write_file(repo + "/shared", "mine\n");
        expected = "shared";
    }
    SECTION("untracked") {
        write_file(repo + "/work", "mine\n");
        expected = "work";
    }
    SECTION("ignored") {
        write_file(repo + "/.git/info/exclude", "work\n");
        write_file(repo + "/work", "mine\n");
        expected = "work";
    }
    SECTION("a folder where a file will be") {
        write_file(repo + "/work/notes", "mine\n");
        expected = "work/notes";
    }
    SECTION("a file where a folder will be") {
        commit(tree, "new/file", "x");
        write_file(repo + "/new", "mine\n");
        expected = "new";
    }
    SECTION("hidden from status") {
        plain(repo, {"update-index", "--assume-unchanged", "shared"});
        write_file(repo + "/shared", "mine\n");
        expected = "shared";
    }
    CHECK(refused(ErrorCode::conflict).details.at("files") == expected);
}

TEST_CASE_METHOD(Fixture, "an ignored folder is in the way only where the very file exists") {
    commit(tree, "build/keep", "x\n");
    write_file(repo + "/.git/info/exclude", "build/\n");
    write_file(repo + "/build/out.o", "o");
    merged();
    CHECK(read_file(repo + "/build/keep") == "x\n");
    CHECK(read_file(repo + "/build/out.o") == "o");
}

TEST_CASE_METHOD(Fixture, "an operation under way in the checkout is a conflict") {
    SECTION("merge") {
        plain(repo, {"checkout", "-q", "-b", "x"});
        commit(repo, "x", "x");
        plain(repo, {"checkout", "-q", "main"});
        plain(repo, {"merge", "--no-ff", "--no-commit", "x"});
    }
    SECTION("rebase of the default branch") {
        commit(repo, "shared", "mine\n");
        plain(repo, {"checkout", "-q", "-b", "x", "HEAD~1"});
        commit(repo, "shared", "x's\n");
        plain(repo, {"checkout", "-q", "main"});
        plain(repo, {"rebase", "x"}, true);
    }
    SECTION("another git") {
        write_file(repo + "/.git/index.lock", "");
    }
    refused(ErrorCode::conflict);
}

TEST_CASE_METHOD(Fixture, "a default branch that is checked out nowhere is moved alone") {
    plain(repo, {"checkout", "-q", "-b", "elsewhere"});
    const auto before = contents(repo);
    const auto done = merged();
    CHECK(ref(repo, "refs/heads/main") == done.commit);
    CHECK(contents(repo) == before);
    CHECK(go(current_branch(git, repo)).value() == "elsewhere");
}

TEST_CASE_METHOD(Fixture, "with an origin the merge is pushed, and origin's newer commits are its base") {
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    const auto foreign = commit(dir / "other", "foreign", "f\n");
    plain(dir / "other", {"push", "-q", "origin", "main"});
    const auto done = merged();
    CHECK(done.pushed);
    CHECK(ref(origin, "refs/heads/main") == done.commit);
    CHECK(ref(repo, "refs/heads/main") == done.commit);
    CHECK(ref(repo, done.commit + "^1") == foreign);
    CHECK(read_file(repo + "/foreign") == "f\n");
    CHECK(merged().already);
}

TEST_CASE_METHOD(Fixture, "a local default branch that is ahead goes with it, and the note says so") {
    const auto origin = make_origin(repo);
    const auto mine = commit(repo, "mine", "m\n");
    const auto done = merged();
    CHECK(ref(repo, done.commit + "^1") == mine);
    CHECK(ref(origin, "refs/heads/main") == done.commit);
    CHECK(done.note.find("pushed with it") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "diverged default branches are a conflict") {
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    commit(dir / "other", "foreign", "f\n");
    plain(dir / "other", {"push", "-q", "origin", "main"});
    plain(repo, {"fetch", "-q", "origin"});
    commit(repo, "mine", "m\n");
    CHECK(refused(ErrorCode::conflict).message.find("diverged") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a rejected push changes nothing and passes on what origin said") {
    const auto origin = make_origin(repo);
    hook_that_fails(origin);
    const auto before = ref(origin, "refs/heads/main");
    const auto error = refused(ErrorCode::external_failed);
    CHECK(error.message.find("protected branch") != std::string::npos);
    CHECK(ref(origin, "refs/heads/main") == before);
}

TEST_CASE_METHOD(Fixture, "a push that says it succeeded is no merge where origin's branch has not moved") {
    const auto origin = make_origin(repo);
    const auto before = ref(origin, "refs/heads/main");
    plain(dir.path, {"clone", "-q", "--bare", origin, path("elsewhere.git")});
    plain(repo, {"remote", "set-url", "--push", "origin", path("elsewhere.git")});
    const auto error = refused(ErrorCode::external_failed);
    CHECK(error.message.find("origin accepted the push, but its main is not at the merge") != std::string::npos);
    CHECK(ref(origin, "refs/heads/main") == before);
    CHECK(ref(path("elsewhere.git"), "refs/heads/main") != before);  // it did succeed, there
}

namespace {

/// The real git, and what the test wants to know or do just before a command.
struct WatchedGit : Git {
    explicit WatchedGit(Git& real) : git(real) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        before(command.args.front());
        return git.run(std::move(command));
    }
    Git& git;
    std::function<void(const std::string& what)> before = [](const std::string&) {};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the repository is locked for what is done to it, not while origin is asked") {
    make_origin(repo);
    commit(tree, "more", "work\n");
    async::KeyedMutex locks(io.get_executor());
    WatchedGit watched(git);
    std::map<std::string, std::set<bool>> locked;
    watched.before = [&](const std::string& what) { locked[what].insert(locks.busy(repo)); };
    MergeRequest request;
    request.repo = repo;
    request.scratch = path("scratch");
    request.branch = "task";
    request.default_branch = "main";
    const auto done = go(git::merge(watched, request, [&] { return locks.acquire(repo); }));
    REQUIRE(done);
    CHECK(done->pushed);
    for (const auto* what : {"fetch", "push", "ls-remote"}) {
        INFO(what);
        CHECK(locked[what] == std::set<bool>{false});
    }
    for (const auto* what : {"worktree", "merge", "rev-parse"}) {
        INFO(what);
        CHECK(locked[what] == std::set<bool>{true});
    }
    CHECK_FALSE(locks.busy(repo));
}

TEST_CASE_METHOD(Fixture, "what the user does while the merge is pushed is seen") {
    const auto origin = make_origin(repo);
    WatchedGit watched(git);
    MergeRequest request;
    request.repo = repo;
    request.scratch = path("scratch");
    request.branch = "task";
    request.default_branch = "main";
    // In a loop of its own: the merge is being run by the fixture's.
    const auto user = [&](std::vector<std::string> args) {
        asio::io_context own;
        Command command;
        command.argv = std::move(args);
        command.argv.insert(command.argv.begin(), "git");
        command.cwd = repo;
        command.env = environment();
        const auto done = run(own, runner.run(std::move(command)));
        REQUIRE(done);
        REQUIRE(done->ok());
        return std::string(trim(done->out));
    };
    const auto merge_while = [&](const std::function<void()>& happens) {
        watched.before = [happens](const std::string& what) {
            if (what == "push") happens();
        };
        auto done = go(git::merge(watched, request));
        REQUIRE(done);
        CHECK(done->pushed);
        CHECK(ref(origin, "refs/heads/main") == done->commit);
        return *done;
    };
    SECTION("who leaves the default branch keeps the files of the other") {
        const auto done = merge_while([&] { user({"checkout", "-q", "-b", "other"}); });
        CHECK(ref(repo, "refs/heads/main") == done.commit);
        CHECK_FALSE(std::filesystem::exists(repo + "/work"));
        CHECK(plain(repo, {"status", "--porcelain"}).empty());
        CHECK(done.note.empty());
    }
    SECTION("who comes to it gets the files of the merge") {
        plain(repo, {"checkout", "-q", "-b", "other"});
        const auto done = merge_while([&] { user({"checkout", "-q", "main"}); });
        CHECK(ref(repo, "refs/heads/main") == done.commit);
        CHECK(read_file(repo + "/work") == "work\n");
        CHECK(plain(repo, {"status", "--porcelain"}).empty());
        CHECK(done.note.empty());
    }
    SECTION("a commit of theirs stays, and is told") {
        std::string mine;
        const auto done = merge_while([&] {
            user({"commit", "-q", "--allow-empty", "-m", "mine"});
            mine = user({"rev-parse", "HEAD"});
        });
        CHECK(ref(repo, "refs/heads/main") == mine);
        CHECK(done.note.find("could not follow") != std::string::npos);
    }
}

TEST_CASE_METHOD(Fixture, "files in the way are found before anything is pushed") {
    const auto origin = make_origin(repo);
    const auto before = ref(origin, "refs/heads/main");
    write_file(repo + "/work", "mine\n");
    refused(ErrorCode::conflict);
    CHECK(ref(origin, "refs/heads/main") == before);
}

TEST_CASE_METHOD(Fixture, "an origin that does not answer is an error: nobody knows where it is") {
    const auto origin = make_origin(repo);
    std::filesystem::rename(origin, path("moved"));
    refused(ErrorCode::external_failed);
}

TEST_CASE_METHOD(Fixture, "merged by hand here but not pushed: it is pushed now") {
    const auto origin = make_origin(repo);
    plain(repo, {"merge", "-q", "task"});
    const auto done = merged();
    CHECK(done.already);
    CHECK(done.pushed);
    CHECK(ref(origin, "refs/heads/main") == tip);
}

TEST_CASE_METHOD(Fixture, "a missing branch is not found, a hostile one refused") {
    MergeRequest request;
    request.repo = repo;
    request.scratch = path("scratch");
    request.default_branch = "main";
    request.branch = "none";
    CHECK(go(git::merge(git, request)).error().code == ErrorCode::not_found);
    request.branch = "--upload-pack=x";
    CHECK(go(git::merge(git, request)).error().code == ErrorCode::invalid_argument);
    plain(repo, {"update-ref", "refs/heads/a;$(id)", tip});
    request.branch = "a;$(id)";
    CHECK(go(git::merge(git, request)));
}

TEST_CASE_METHOD(Fixture, "a scratch worktree left by a killed daemon is no obstacle") {
    REQUIRE(go(add_worktree(git, repo, path("scratch"), "refs/heads/main")));
    merged();
}
