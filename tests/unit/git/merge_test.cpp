#include "daemon/git/merge.hpp"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

/// The real git, and what the test wants to know or do just before a command.
struct MeddlingGit : Git {
    explicit MeddlingGit(Git& real) : git(real) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        before(command.args.front());
        return git.run(std::move(command));
    }
    Git& git;
    std::function<void(const std::string& what)> before = [](const std::string&) {};
};

/// A repository whose user is on main, and a branch `task` with one commit, in a worktree.
struct Fixture : GitFixture {
    Fixture() : repo(make_repo()), tree(path("tree")) {
        commit(repo, "shared", "base\n");
        go(add_worktree(git, repo, tree, "refs/heads/main")).value();
        go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")).value();
        tip = commit(tree, "work", "work\n");
    }

    MergeRequest request(bool push = true) {
        MergeRequest request;
        request.repo = repo;
        request.scratch = path("scratch");
        request.branch = "task";
        request.target = "main";
        request.push = push;
        return request;
    }

    Repository whole() { return {repo, repo + "/.git", false}; }

    struct Done {
        std::string commit;
        bool pushed = false;
        bool elsewhere = false;
        std::string behind;  ///< why the local branch did not follow
    };

    /// All steps in a row, as the runner calls them, with one push.
    Result<Done> merge_task(MergeStrategy strategy = MergeStrategy::merge, std::optional<MergeRequest> wanted = {}) {
        return go(all_steps(git, wanted ? *wanted : request(), strategy));
    }

    static Awaitable<Result<Done>> all_steps(Git& git, MergeRequest request, MergeStrategy strategy) {
        Done done;
        const auto origin = co_await has_origin(git, request.repo);
        request.push = request.push && *origin;
        const std::chrono::milliseconds deadline = std::chrono::seconds(30);
        if (*origin) {
            if (auto fetched = co_await fetch(git, request.repo, deadline); !fetched) co_return fetched.error();
        }
        if (request.tip.empty()) {
            const auto tip = co_await branch_tip(git, request.repo, request.branch);
            if (!tip) co_return tip.error();
            request.tip = *tip;
        }
        const auto view = co_await inspect_merge(git, request);
        if (!view) co_return view.error();
        const auto target = request.push && !view->remote.empty() ? view->remote : view->base;
        const auto found = co_await find_elsewhere(git, request.repo, target, request.tip);
        if (!found) co_return found.error();
        done.elsewhere = !found->empty();
        done.commit = *found;
        if (done.elsewhere) co_return done;
        const auto contained = co_await has_commit(git, request.repo, view->base, request.tip);
        Result<std::string> made = view->base;
        std::string message = "Merge the task\n";
        if (!*contained) made = co_await build_merge(git, request, strategy, view->base, std::move(message));
        if (!made) co_return made.error();
        done.commit = *made;
        if (request.push) {
            const auto pushed = co_await push_merge(git, request, *made, view->remote);
            if (!pushed) co_return pushed.error();
            if (pushed->state == Pushed::raced) co_return Error(ErrorCode::conflict, pushed->why, {{"raced", "1"}});
            if (pushed->state == Pushed::unknown) co_return Error(ErrorCode::unavailable, pushed->why);
            done.pushed = true;
        }
        const auto followed = co_await follow(git, request, *made);
        if (!followed && !done.pushed) co_return followed.error();
        if (!followed) done.behind = followed.error().message;
        co_return done;
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

    Done merged(MergeStrategy strategy = MergeStrategy::merge) {
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

    MergeRequest with_tip() {
        auto wanted = request();
        wanted.tip = tip;
        return wanted;
    }

    /// While a coroutine of the product is being run by the fixture's own loop.
    std::string in_own_loop(const std::filesystem::path& where, std::vector<std::string> args) {
        asio::io_context own;
        Command command;
        command.argv = std::move(args);
        command.argv.insert(command.argv.begin(), "git");
        command.cwd = where.string();
        command.env = environment();
        const auto done = run(own, runner.run(std::move(command)));
        REQUIRE(done);
        REQUIRE(done->ok());
        return std::string(trim(done->out));
    }

    std::string repo, tree, tip;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a squash makes one commit with all changes of the branch, and is recognized as its merge") {
    commit(tree, "second", "2\n");
    tip = plain(tree, {"rev-parse", "HEAD"});
    commit(repo, "other", "other\n");
    const auto before = ref(repo, "main");
    const auto done = merged(MergeStrategy::squash);
    CHECK(done.commit == ref(repo, "refs/heads/main"));
    CHECK(plain(repo, {"log", "-1", "--format=%P", done.commit}) == before);
    CHECK(plain(repo, {"diff", "--name-only", before, done.commit}) ==
          plain(repo, {"diff", "--name-only", before + "..." + tip}));
    CHECK(go(find_elsewhere(git, repo, "refs/heads/main", tip)).value() == done.commit);
}

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
    CHECK_FALSE(done.elsewhere);
    CHECK(plain(repo, {"log", "-1", "--format=%s|%an"}) == "Merge the task|Ursula User");
    CHECK(read_file(repo + "/work") == "work\n");
    CHECK(read_file(repo + "/notes") == "mine");
    CHECK(read_file(repo + "/shared") == "mine too\n");
    CHECK(plain(repo, {"status", "--porcelain"}) == "M shared\nA  staged\n?? notes");
    const auto again = merged();
    CHECK(again.elsewhere);
    CHECK(again.commit == done.commit);
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
    CHECK_THAT(error.message, Tells("2"));
}

TEST_CASE_METHOD(Fixture, "each file in conflict is one line, whatever its name has") {
    const std::string odd = "two\nlines\tand \"quotes\" \xff";
    const std::string shown = R"("two\nlines\tand \"quotes\" \377")";
    commit(tree, odd, "task's\n");
    commit(tree, "shared", "task's\n");
    commit(repo, odd, "main's\n");
    commit(repo, "shared", "main's\n");
    const auto error = refused(ErrorCode::conflict);
    CHECK(error.details.at("files") == "shared\n" + shown);
    CHECK_THAT(error.message, Holds("\n  " + shown));
}

TEST_CASE_METHOD(Fixture, "the user's own files in the way are one line each, whatever their names have") {
    const std::string odd = "two\nlines \xff";
    commit(tree, odd, "task's\n");
    write_file(repo + "/" + odd, "mine\n");
    CHECK(refused(ErrorCode::conflict).details.at("files") == R"("two\nlines \377")");
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
    CHECK_THAT(refused(ErrorCode::conflict).message, Tells("work"));
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

TEST_CASE_METHOD(Fixture, "the user's own uncommitted files in the way are listed and kept", "[slow]") {
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

TEST_CASE_METHOD(Fixture, "an operation under way in the checkout is a conflict", "[slow]") {
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
    refused(ErrorCode::conflict);
}

TEST_CASE_METHOD(Fixture, "a lock of git's in the checkout is a conflict that names it and how to remove it",
                 "[slow]") {
    for (const auto* name : {"index.lock", "HEAD.lock"}) {
        const auto lock = repo + "/.git/" + name;
        write_file(lock, "");
        CHECK_THAT(refused(ErrorCode::conflict).message, Tells("rm " + lock));
        std::filesystem::remove(lock);
    }
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
    CHECK(merged().elsewhere);
}

TEST_CASE_METHOD(Fixture, "commits of the user's that are not pushed are left out, and stay theirs", "[slow]") {
    const auto origin = make_origin(repo);
    const auto mine = commit(repo, "mine", "m\n");
    SECTION("main is ahead") {}
    SECTION("main has diverged") {
        plain(dir.path, {"clone", "-q", origin, path("other")});
        commit(dir / "other", "foreign", "f\n");
        plain(dir / "other", {"push", "-q", "origin", "main"});
    }
    const auto base = ref(origin, "refs/heads/main");
    const auto done = merged();
    CHECK(ref(origin, "refs/heads/main") == done.commit);
    CHECK(ref(repo, done.commit + "^1") == base);
    CHECK(ref(repo, "refs/heads/main") == mine);
    CHECK_THAT(done.behind, Tells("main"));
    plain(repo, {"pull", "-q", "--rebase", "origin", "main"});
    CHECK(plain(repo, {"log", "--format=%s", "origin/main..main"}) == "change mine");
}

TEST_CASE_METHOD(Fixture, "commits that are not pushed go with the merge if that is asked for") {
    const auto origin = make_origin(repo);
    const auto mine = commit(repo, "mine", "m\n");
    auto with = request();
    with.include_unpushed = true;
    SECTION("main is ahead") {
        const auto done = merge_task(MergeStrategy::merge, with);
        REQUIRE(done);
        CHECK(ref(repo, done->commit + "^1") == mine);
        CHECK(ref(origin, "refs/heads/main") == done->commit);
        CHECK(ref(repo, "refs/heads/main") == done->commit);
    }
    SECTION("main has diverged") {
        plain(dir.path, {"clone", "-q", origin, path("other")});
        commit(dir / "other", "foreign", "f\n");
        plain(dir / "other", {"push", "-q", "origin", "main"});
        const auto refused = merge_task(MergeStrategy::merge, with);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
        CHECK_THAT(refused.error().message, Tells("--rebase"));
    }
}

TEST_CASE_METHOD(Fixture,
                 "a merge that Orange made and did not push goes with the next one, without the user's commits",
                 "[slow]") {
    const auto origin = make_origin(repo);
    const auto base = ref(origin, "refs/heads/main");
    const bool on_top_of_mine = GENERATE(false, true);
    const auto below = on_top_of_mine ? commit(repo, "below", "b\n") : base;
    const auto first = merge_task(MergeStrategy::merge, request(false));
    REQUIRE(first);
    CHECK_FALSE(first->pushed);
    CHECK(ref(repo, "refs/heads/main") == first->commit);
    CHECK(ref(repo, first->commit + "^1") == below);
    CHECK(ref(origin, "refs/heads/main") == base);
    plain(tree, {"checkout", "-q", "-b", "second", "main"});
    tip = commit(tree, "second", "2\n");
    auto next = request();
    next.branch = "second";
    next.unpushed = {{first->commit, below}};
    const bool mine_on_top = GENERATE(false, true);
    if (mine_on_top) commit(repo, "mine", "m\n");
    const auto done = merge_task(MergeStrategy::merge, next);
    REQUIRE(done);
    CHECK(done->pushed);
    CHECK(ref(repo, done->commit + "^1") == (on_top_of_mine ? base : first->commit));
}

TEST_CASE_METHOD(Fixture, "work that only looks as if it was there, or was taken back, is merged", "[slow]") {
    const auto lines = [](std::initializer_list<const char*> all) {
        std::string text;
        for (const auto* line : all) text += std::string(line) + "\n";
        return text;
    };
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    const auto other = dir / "other";
    const auto block = [&](const char* first, const char* second, const char* third) {
        std::string text;
        for (const auto& [name, value] : {std::pair("a", first), std::pair("b", second), std::pair("c", third)}) {
            text += name + lines({":", " p", " p", " p", " timeout", value, " p", " p", " p", " p"});
        }
        return text;
    };
    const auto how =
        GENERATE(as<std::string>(), "another place", "other whitespace", "squash reverted", "rebase reverted");
    INFO(how);
    commit(other, "blocks", block(" 1", " 1", " 1"));
    commit(other, "code", lines({"if a:", "    b()", "c()"}));
    plain(other, {"push", "-q", "origin", "main"});
    plain(tree, {"fetch", "-q", "origin"});
    plain(tree, {"reset", "-q", "--hard", "origin/main"});
    if (how == "another place") {
        tip = commit(tree, "blocks", block(" 1", " 2", " 1"));
        commit(other, "blocks", block(" 2", " 1", " 1"));
    } else if (how == "other whitespace") {
        tip = commit(tree, "code", lines({"if a:", "    b()", "    d()", "c()"}));
        commit(other, "code", lines({"if a:", "    b()", "d()", "c()"}));
    } else {
        commit(tree, "one", "1\n");
        tip = commit(tree, "two", "2\n");
        plain(tree, {"push", "-q", "origin", "task"});
        plain(other, {"fetch", "-q"});
        commit(other, "theirs", "t\n");
    }
    if (how == "squash reverted") {
        plain(other, {"merge", "-q", "--squash", "origin/task"});
        plain(other, {"commit", "-qm", "squashed"});
        plain(other, {"revert", "--no-edit", "HEAD"});
    }
    if (how == "rebase reverted") {
        plain(other, {"cherry-pick", "HEAD~1..origin/task"});
        plain(other, {"revert", "--no-edit", "HEAD"});
    }
    plain(other, {"push", "-q", "origin", "main"});
    const auto done = merge_task();
    if (how == "other whitespace") {
        REQUIRE_FALSE(done);
        CHECK(done.error().code == ErrorCode::conflict);
        return;
    }
    INFO((done ? std::string() : done.error().message));
    REQUIRE(done);
    CHECK_FALSE(done->elsewhere);
    CHECK(done->pushed);
    CHECK(ref(repo, done->commit + "^2") == tip);
}

TEST_CASE_METHOD(Fixture, "work that is there already is found, however it came", "[slow]") {
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    tip = commit(tree, "work", "work\nand more\n");
    plain(tree, {"push", "-q", "origin", "task"});
    const auto other = dir / "other";
    plain(other, {"fetch", "-q"});
    const auto how = GENERATE(as<std::string>(), "merged", "fast-forwarded", "rebased", "squashed");
    const bool changed_again = GENERATE(false, true);
    INFO(how << ", " << changed_again);
    if (how != "fast-forwarded") commit(other, "theirs", "t\n");
    if (how == "merged") plain(other, {"merge", "-q", "--no-ff", "-m", "theirs", "origin/task"});
    if (how == "fast-forwarded") plain(other, {"merge", "-q", "--ff-only", "origin/task"});
    if (how == "rebased") plain(other, {"cherry-pick", "HEAD~1..origin/task"});
    if (how == "squashed") {
        plain(other, {"merge", "-q", "--squash", "origin/task"});
        plain(other, {"commit", "-qm", "squashed"});
    }
    const auto brought = plain(other, {"rev-parse", "HEAD"});
    commit(other, "later", "l\n");
    if (changed_again) commit(other, "work", "work\nand more\nand something else\n");
    plain(other, {"push", "-q", "origin", "main"});
    const auto before = ref(origin, "refs/heads/main");
    const auto done = merged();
    CHECK(done.elsewhere);
    CHECK(done.commit == brought);
    CHECK(ref(origin, "refs/heads/main") == before);
}

TEST_CASE_METHOD(Fixture, "what only looks as if it were there is merged", "[slow]") {
    const auto origin = make_origin(repo);
    SECTION("one commit of two") {
        commit(tree, "more", "m\n");
        plain(repo, {"cherry-pick", tip});
    }
    SECTION("commits that change nothing, on both sides") {
        plain(tree, {"reset", "-q", "--hard", "main"});
        plain(tree, {"commit", "-q", "--allow-empty", "-m", "nothing"});
        plain(repo, {"commit", "-q", "--allow-empty", "-m", "nothing either"});
    }
    SECTION("all of it but for what a merge commit changed") {
        plain(repo, {"checkout", "-q", "-b", "side"});
        commit(repo, "side", "s\n");
        plain(repo, {"checkout", "-q", "main"});
        plain(tree, {"merge", "-q", "--no-commit", "--no-ff", "side"});
        write_file(tree + "/evil", "e\n");
        plain(tree, {"add", "evil"});
        plain(tree, {"commit", "-qm", "evil"});
        plain(repo, {"cherry-pick", tip});
        plain(repo, {"cherry-pick", "side"});
    }
    plain(repo, {"push", "-q", "origin", "main"});
    const auto done = merged();
    CHECK_FALSE(done.elsewhere);
    CHECK(done.pushed);
}

TEST_CASE_METHOD(Fixture, "a push that comes too late is told from one that is refused, and overwrites nothing") {
    const auto origin = make_origin(repo);
    plain(dir.path, {"clone", "-q", origin, path("other")});
    commit(dir / "other", "foreign", "f\n");
    MeddlingGit watched(git);
    bool once = true;
    std::string theirs;
    watched.before = [&](const std::string& what) {
        if (what != "push" || !std::exchange(once, false)) return;
        in_own_loop(dir / "other", {"push", "-q", "origin", "main"});
        theirs = in_own_loop(dir / "other", {"rev-parse", "HEAD"});
    };
    const auto late = go(all_steps(watched, request(), MergeStrategy::merge));
    REQUIRE_FALSE(late);
    CHECK(late.error().details.contains("raced"));
    CHECK(ref(origin, "refs/heads/main") == theirs);
    const auto done = merged();
    CHECK(ref(repo, done.commit + "^1") == theirs);
}

TEST_CASE_METHOD(Fixture, "attributes and merge drivers count as in a checkout, and leave nothing in the user's") {
    std::filesystem::create_directories(repo + "/sub");
    commit(repo, "sub/.gitattributes", "list merge=union\nlock -merge\n");
    commit(repo, "list", "a\nb\nc\n");
    commit(repo, "sub/list", "a\nb\nc\n");
    commit(repo, "sub/driven", "x\n");
    commit(repo, ".gitattributes", "driven merge=theirs\n");
    plain(repo, {"config", "merge.theirs.driver", "pwd >" + path("where") + "; cp %B %A"});
    plain(tree, {"merge", "-q", "main"});
    commit(tree, "sub/list", "a\nT\nc\n");
    tip = commit(tree, "sub/driven", "T\n");
    commit(repo, "sub/list", "a\nM\nc\n");
    commit(repo, "sub/driven", "M\n");
    // The user's own uncommitted attributes are not what is merged by.
    write_file(repo + "/sub/.gitattributes", "* -merge\n");
    const auto before = contents(repo);
    const auto done = go(build_merge(git, with_tip(), MergeStrategy::merge, ref(repo, "main"), ""));
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
    CHECK(plain(repo, {"show", *done + ":sub/list"}) == "a\nM\nT\nc");
    CHECK(plain(repo, {"show", *done + ":sub/driven"}) == "T");
    CHECK(trim(read_file(path("where"))) == path("scratch"));
    CHECK(contents(repo) == before);
    CHECK_FALSE(std::filesystem::exists(path("scratch")));
}

TEST_CASE_METHOD(Fixture, "a merge is the tree that git merge makes, and runs no filter") {
    commit(repo, "shared", "1\n2\n3\n4\n5\n6\n7\n8\n");
    commit(repo, ".gitattributes", "* filter=none\n");
    plain(tree, {"merge", "-q", "main"});
    plain(repo, {"config", "filter.none.smudge", "touch " + path("ran") + "; cat"});
    plain(repo, {"config", "filter.none.clean", "cat"});
    plain(tree, {"mv", "shared", "renamed"});
    plain(tree, {"commit", "-qm", "rename"});
    tip = commit(tree, "renamed", "1\n2\n3\n4\n5\n6\n7\nT\n");
    commit(repo, "shared", "M\n2\n3\n4\n5\n6\n7\n8\n");
    std::filesystem::remove(path("ran"));
    const auto done = go(build_merge(git, with_tip(), MergeStrategy::merge, ref(repo, "main"), ""));
    REQUIRE(done);
    CHECK_FALSE(std::filesystem::exists(path("ran")));
    plain(repo, {"merge", "-q", "-m", "by hand", "task"});
    CHECK(ref(repo, *done + "^{tree}") == ref(repo, "main^{tree}"));
}

TEST_CASE_METHOD(Fixture, "replaced commits and grafts are not what is merged") {
    const auto evil = commit(tree, "evil", "e\n");
    plain(tree, {"reset", "-q", "--hard", tip});
    SECTION("replaced") {
        plain(repo, {"replace", tip, evil});
    }
    SECTION("grafted") {
        write_file(repo + "/.git/info/grafts", tip + " " + evil + "\n");
    }
    merged();
    CHECK_FALSE(std::filesystem::exists(repo + "/evil"));
    CHECK(read_file(repo + "/work") == "work\n");
}

TEST_CASE_METHOD(Fixture,
                 "a merged branch goes, and what was merged stays; one that somebody is on, or that moved, stays") {
    const std::string kept = "refs/orange/x/merged";
    SECTION("free") {
        plain(tree, {"checkout", "-q", "--detach"});
        plain(repo, {"config", "branch.task.remote", "origin"});
        CHECK(go(retire_branch(git, whole(), "task", tip, kept)).value());
        CHECK(ref(repo, "refs/heads/task").empty());
        CHECK(plain(repo, {"config", "branch.task.remote"}, true).empty());
        CHECK(go(retire_branch(git, whole(), "task", tip, kept)).value());
    }
    SECTION("checked out") {
        CHECK_FALSE(go(retire_branch(git, whole(), "task", tip, kept)).value());
        CHECK(ref(repo, "refs/heads/task") == tip);
    }
    SECTION("checked out in a folder that is gone") {
        std::filesystem::remove_all(tree);
        CHECK(go(retire_branch(git, whole(), "task", tip, kept)).value());
        CHECK(ref(repo, "refs/heads/task").empty());
    }
    SECTION("a bisect began at it") {
        plain(tree, {"bisect", "start"});
        plain(tree, {"checkout", "-q", "--detach"});
        CHECK_FALSE(go(retire_branch(git, whole(), "task", tip, kept)).value());
        CHECK(ref(repo, "refs/heads/task") == tip);
    }
    SECTION("moved") {
        const auto later = commit(tree, "later", "l\n");
        plain(tree, {"checkout", "-q", "--detach"});
        CHECK_FALSE(go(retire_branch(git, whole(), "task", tip, kept)).value());
        CHECK(ref(repo, "refs/heads/task") == later);
    }
    CHECK(ref(repo, kept) == tip);
}

TEST_CASE_METHOD(Fixture,
                 "a symbolic ref in the place of a merged branch stays, and so does the branch that it names") {
    plain(tree, {"checkout", "-q", "--detach"});
    plain(repo, {"symbolic-ref", "refs/heads/orange-tasks/x", "refs/heads/task"});
    CHECK_FALSE(go(retire_branch(git, whole(), "orange-tasks/x", tip, "refs/orange/x/merged")).value());
    CHECK(ref(repo, "refs/heads/task") == tip);
}

TEST_CASE_METHOD(Fixture, "a checkout whose git directory is elsewhere follows a merge") {
    const auto separate = path("separate");
    plain(dir.path, {"clone", "-q", "--separate-git-dir", path("elsewhere.git"), make_origin(repo), separate});
    plain(separate, {"checkout", "-q", "-b", "other"});
    const auto later = commit(separate, "later", "l\n");
    plain(separate, {"checkout", "-q", "main"});
    MergeRequest wanted;
    wanted.repo = separate;
    wanted.target = "main";
    REQUIRE(go(follow(git, wanted, later)));
    CHECK(ref(separate, "refs/heads/main") == later);
    CHECK(read_file(separate + "/later") == "l\n");
    CHECK(go(worktrees(git, separate)).value().front().path == separate);
}

TEST_CASE_METHOD(Fixture, "a rejected push changes nothing and passes on what origin said") {
    const auto origin = make_origin(repo);
    hook_that_fails(origin);
    const auto before = ref(origin, "refs/heads/main");
    const auto error = refused(ErrorCode::external_failed);
    CHECK_THAT(error.message, Tells("main") && Holds("protected branch\n"));
    CHECK_THAT(error.message, Tells("git") && Holds("push -u origin task"));
    CHECK(ref(origin, "refs/heads/main") == before);
}

TEST_CASE_METHOD(Fixture, "a push that says it succeeded is no merge where origin's branch has not moved") {
    const auto origin = make_origin(repo);
    const auto before = ref(origin, "refs/heads/main");
    plain(dir.path, {"clone", "-q", "--bare", origin, path("elsewhere.git")});
    plain(repo, {"remote", "set-url", "--push", "origin", path("elsewhere.git")});
    const auto error = refused(ErrorCode::external_failed);
    CHECK_THAT(error.message, Tells("origin") && Tells("main"));
    CHECK(ref(origin, "refs/heads/main") == before);
    CHECK(ref(path("elsewhere.git"), "refs/heads/main") != before);  // it did succeed, there
}

TEST_CASE_METHOD(Fixture, "what the user does while the merge is pushed is seen", "[slow]") {
    const auto origin = make_origin(repo);
    MeddlingGit watched(git);
    const auto user = [&](std::vector<std::string> args) { return in_own_loop(repo, std::move(args)); };
    const auto merge_while = [&](const std::function<void()>& happens) {
        watched.before = [happens](const std::string& what) {
            if (what == "push") happens();
        };
        auto done = go(all_steps(watched, request(), MergeStrategy::merge));
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
        CHECK(done.behind.empty());
    }
    SECTION("who comes to it gets the files of the merge") {
        plain(repo, {"checkout", "-q", "-b", "other"});
        const auto done = merge_while([&] { user({"checkout", "-q", "main"}); });
        CHECK(ref(repo, "refs/heads/main") == done.commit);
        CHECK(read_file(repo + "/work") == "work\n");
        CHECK(plain(repo, {"status", "--porcelain"}).empty());
        CHECK(done.behind.empty());
    }
    SECTION("a commit of theirs stays, and is told") {
        std::string mine;
        const auto done = merge_while([&] {
            user({"commit", "-q", "--allow-empty", "-m", "mine"});
            mine = user({"rev-parse", "HEAD"});
        });
        CHECK(ref(repo, "refs/heads/main") == mine);
        CHECK_THAT(done.behind, Tells("main"));
    }
}

TEST_CASE_METHOD(Fixture,
                 "files in the way of the checkout do not keep a merge from origin, and are left as they are") {
    const auto origin = make_origin(repo);
    const auto before = ref(repo, "main");
    write_file(repo + "/work", "mine\n");
    const auto done = merged();
    CHECK(ref(origin, "refs/heads/main") == done.commit);
    CHECK(ref(repo, "refs/heads/main") == before);
    CHECK(read_file(repo + "/work") == "mine\n");
    CHECK_THAT(done.behind, Tells("work"));
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
    CHECK_FALSE(done.elsewhere);
    CHECK(done.pushed);
    CHECK(ref(origin, "refs/heads/main") == tip);
}

TEST_CASE_METHOD(Fixture, "a missing branch is not found, and an odd name is only a name") {
    auto wanted = request();
    wanted.branch = "none";
    CHECK(merge_task(MergeStrategy::merge, wanted).error().code == ErrorCode::not_found);
    wanted.branch = "--upload-pack=x";
    CHECK(merge_task(MergeStrategy::merge, wanted).error().code == ErrorCode::not_found);
    plain(repo, {"update-ref", "refs/heads/a;$(id)", tip});
    wanted.branch = "a;$(id)";
    CHECK(merge_task(MergeStrategy::merge, wanted));
}

TEST_CASE_METHOD(Fixture, "what a killed daemon left of a merge is no obstacle, and goes") {
    std::filesystem::create_directories(path("scratch/sub"));
    write_file(path("scratch/sub/.gitattributes"), "* -merge\n");
    merged();
}
