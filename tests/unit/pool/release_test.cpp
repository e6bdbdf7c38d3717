// The release of a workspace. Everything that the worktree contained can be reached from a ref afterwards.
#include <sys/wait.h>
#include <unistd.h>
#include <ctime>

#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "tests/catch.hpp"
#include "tests/support/sitter.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

using Random = std::mt19937;

struct Agent : PoolFixture {
    Agent() {
        write_file(project.path + "/.gitignore", "*.log\nbuild/\n");
        for (const char* name : {"a.txt", "src/one.cpp", "src/two.cpp", "run.sh", "hidden", "skipped"}) {
            write_file(project.path + "/" + name, std::string("first ") + name + "\n");
        }
        plain(project.path, {"add", "-A"});
        plain(project.path, {"commit", "-qm", "files"});
        plain(project.path, {"branch", "other"});
    }

    std::string text(Random& random) {
        return "text " + std::to_string(random()) + "\n" + std::string(random() % 300, 'x');
    }
    bool maybe(Random& random) { return random() % 2 == 0; }

    void odd_files(const Path& tree, Random& random) {
        for (const char* name : {"new file", "-n", "a;b $(id)", "umlaut-ä", "line\nbreak", "\x80raw", "deep/er/x",
                                 "tab\t", "#(x)", ":(top)y", "*"}) {
            if (maybe(random)) write_file(tree / name, text(random));
        }
        write_file(tree / "noise.log", "ignored\n");
        write_file(tree / "build/out", "ignored\n");
        write_file(tree / "forced.log", text(random));
        plain(tree, {"add", "-f", "forced.log"});
        if (maybe(random)) write_file(tree / "forced.log", text(random));
        if (maybe(random)) fs::create_symlink("/nowhere/" + std::to_string(random()), tree / "dangling");
        if (maybe(random)) fs::create_directory_symlink("src", tree / "folder-link");
        if (maybe(random)) fs::permissions(tree / "run.sh", fs::perms::owner_all);
    }
    void changes(const Path& tree, Random& random) {
        if (maybe(random)) write_file(tree / "a.txt", text(random));
        if (maybe(random)) plain(tree, {"add", "a.txt"});
        if (maybe(random)) write_file(tree / "a.txt", text(random));
        if (maybe(random)) plain(tree, {"mv", "src/one.cpp", "src/moved.cpp"});
        if (maybe(random)) fs::remove(tree / "src/two.cpp");
        if (maybe(random)) {
            plain(tree, {"update-index", "--assume-unchanged", "hidden"});
            write_file(tree / "hidden", text(random));
        }
        if (maybe(random)) {
            plain(tree, {"update-index", "--skip-worktree", "skipped"});
            write_file(tree / "skipped", text(random));
        }
    }
    void nested(const Path& tree, Random& random) {
        if (maybe(random)) return;
        const auto inner = tree / (maybe(random) ? "inner" : "src/in ner");
        plain(tree, {"init", "-q", inner.string()});
        write_file(inner / "plain", text(random));
        if (maybe(random)) return;
        commit(inner, "kept", text(random));
        commit(inner, "gone", text(random));
        plain(inner, {"rm", "-q", "gone"});
        if (maybe(random)) plain(inner, {"checkout", "-q", "--detach"});
        if (maybe(random)) write_file(inner / "staged", text(random)), plain(inner, {"add", "staged"});
        if (maybe(random)) {
            plain(inner, {"init", "-q", "innermost"});
            commit(inner / "innermost", "deep", text(random));
        }
        if (maybe(random)) plain(tree, {"add", inner.lexically_relative(tree).string()}, true);
    }
    /// Where HEAD is, and what git is in the middle of.
    void condition(const Path& tree, Random& random) {
        switch (random() % 6) {
            case 0:
                break;
            case 1:
                plain(tree, {"checkout", "-q", "--detach"});
                commit(tree, "on-no-branch", text(random));
                break;
            case 2:
                plain(tree, {"checkout", "-q", "--orphan", "orphan"});
                break;
            case 3:
            case 4: {
                commit(tree, "a.txt", text(random));
                plain(tree, {"branch", "-f", "theirs", "main"});
                const auto scratch = dir / ("scratch" + std::to_string(random()));
                plain(project.path, {"worktree", "add", "-q", scratch.string(), "theirs"});
                commit(scratch, "a.txt", text(random));
                plain(project.path, {"worktree", "remove", "--force", scratch.string()});
                plain(tree, {maybe(random) ? "merge" : "rebase", "theirs"}, true);
                break;
            }
            default:
                commit(tree, "more", text(random));
        }
    }

    /// Hashes of everything in the worktree that is not ignored, by name.
    std::map<std::string, std::string> blobs(const Path& tree) {
        std::map<std::string, std::string> found;
        for (auto at = fs::recursive_directory_iterator(tree); at != fs::recursive_directory_iterator{}; ++at) {
            const auto name = at->path().filename().string();
            if (name == ".git" || name == "build") {
                at.disable_recursion_pending();
                continue;
            }
            if (name == "noise.log" || at->is_directory()) {
                if (!at->is_symlink()) continue;
                at.disable_recursion_pending();
            }
            const auto content = at->is_symlink() ? fs::read_symlink(at->path()).string() : read_file(at->path());
            write_file(dir / "blob", content);
            found[at->path().lexically_relative(tree).string()] =
                plain(dir.path, {"hash-object", "--no-filters", (dir / "blob").string()});
        }
        return found;
    }
    std::set<std::string> reachable() {
        std::set<std::string> all;
        const auto listed = plain(project.path, {"rev-list", "--objects", "--all"});
        for (const auto& line : split_lines(listed)) all.insert(std::string(line.substr(0, line.find(' '))));
        return all;
    }
};

}  // namespace

TEST_CASE_METHOD(Agent, "whatever a worktree held when it was released is reachable from a ref", "[slow]") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        INFO("seed " << seed);
        Random random(seed);
        const auto id = task("t" + std::to_string(seed));
        const auto tree = taken(id);
        condition(tree, random);
        changes(tree, random);
        odd_files(tree, random);
        nested(tree, random);
        const auto before = blobs(tree);
        const auto head = plain(tree, {"rev-parse", "--verify", "--quiet", "HEAD"}, true);
        const auto branch = ref(project.path, "refs/heads/" + id.branch);

        const auto released = go(pool.release(project, id));
        REQUIRE(released);
        const auto after = reachable();
        for (const auto& [name, hash] : before) {
            INFO(name);
            CHECK(after.contains(hash));
        }
        if (!head.empty()) CHECK(after.contains(head));
        CHECK(ref(project.path, "refs/heads/" + id.branch) == branch);
        CHECK(plain(tree, {"status", "--porcelain", "--untracked-files=all"}) == "");
        CHECK(plain(tree, {"rev-parse", "HEAD"}) == plain(project.path, {"rev-parse", "main"}));
        CHECK(holder(1) == "");
    }
}

TEST_CASE_METHOD(Agent, "a repository made inside leaves its commits, its staged and its changed files") {
    const auto tree = taken(task("a"));
    const auto inner = tree / "inner";
    plain(tree, {"init", "-q", inner.string()});
    const auto first = commit(inner, "x", "first\n");
    for (const char* text : {"stashed first\n", "stashed\n"}) {
        write_file(inner / "x", text);
        plain(inner, {"stash", "-q"});
    }
    const auto older = plain(inner, {"rev-parse", "stash@{1}"});
    plain(inner, {"checkout", "-q", "--detach"});
    const auto detached = commit(inner, "x", "second\n");
    write_file(inner / "staged", "only staged\n");
    plain(inner, {"add", "staged"});
    write_file(inner / "staged", "later\n");
    const auto released = go(pool.release(project, task("a"))).value();
    REQUIRE(released.commits.size() == 1);
    const auto& below = released.commits[0];
    CHECK(below.starts_with("refs/orange/a/nested-"));
    CHECK(ref(project.path, below + "/heads/main") == first);
    CHECK(ref(project.path, below + "/HEAD") == detached);
    CHECK(ref(project.path, below + "/orange/stash-" + older.substr(0, 12)) == older);
    CHECK(plain(project.path, {"show", below + "/orange/wip:staged"}) == "later");
    CHECK(plain(project.path, {"show", below + "/orange/wip^2:staged"}) == "only staged");
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:inner/x"}) == "second");
    CHECK_FALSE(fs::exists(inner));
}

TEST_CASE_METHOD(Agent, "a release is refused while a process works in the directory, and succeeds afterwards",
                 "[slow]") {
    const auto tree = taken(task("a"));
    write_file(tree / "work", "mine\n");
    Sitter sitter(tree);
    const auto refused = go(pool.release(project, task("a")));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(std::to_string(sitter.pid())));
    CHECK(read_file(tree / "work") == "mine\n");
    CHECK(holder(1) == "a");
    sitter.end();
    REQUIRE(go(pool.release(project, task("a"))));
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:work"}) == "mine");
    CHECK(holder(1) == "");
}

TEST_CASE_METHOD(Agent, "gc leaves alone what it would remove while a process works there", "[slow]") {
    const auto first = taken(task("a"));
    const auto tree = taken(task("b"));
    REQUIRE(go(pool.release(project, task("b"))));
    project.pool_size = 1;
    Sitter sitter(tree);
    const auto busy = go(pool.gc(project, [](const TaskId&) { return true; })).value();
    REQUIRE(busy.size() == 1);
    CHECK_THAT(busy[0], Tells(tree.string()));
    CHECK(fs::exists(tree));
    sitter.end();
    REQUIRE(go(pool.gc(project, [](const TaskId&) { return true; })));
    CHECK_FALSE(fs::exists(tree));
    CHECK(fs::exists(first));
}

TEST_CASE_METHOD(Agent, "locks that a killed git left keep no task from leaving its worktree") {
    const auto tree = taken(task("a"));
    write_file(tree / "work", "mine\n");
    const Path admin = plain(tree, {"rev-parse", "--absolute-git-dir"});
    for (const char* lock : {"index.lock", "HEAD.lock", "ORIG_HEAD.lock"}) write_file(admin / lock, "");
    REQUIRE(go(pool.release(project, task("a"))));
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:work"}) == "mine");
    CHECK_FALSE(fs::exists(tree / "work"));
    CHECK_FALSE(fs::exists(admin / "HEAD.lock"));
    CHECK(holder(1) == "");
}

TEST_CASE_METHOD(Agent, "locks of a git that was killed in a worktree are in nobody's way once nobody works there",
                 "[slow]") {
    const auto tree = taken(task("a"));
    write_file(tree / "work", "mine\n");
    const fs::path admin = plain(tree, {"rev-parse", "--absolute-git-dir"});
    const auto leave_locks = [&] {
        for (const char* name : {"index.lock", "HEAD.lock"}) write_file(admin / name, "");
    };
    leave_locks();
    REQUIRE_THROWS(plain(tree, {"add", "work"}));  // what the agent's own git would do about it
    {
        Sitter sitter(tree);
        CHECK_FALSE(go(pool.release(project, task("a"))));
        CHECK(fs::exists(admin / "index.lock"));
        CHECK(fs::exists(admin / "HEAD.lock"));
        sitter.end();
    }
    const auto released = go(pool.release(project, task("a")));
    INFO((released ? std::string() : released.error().message));
    REQUIRE(released);
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:work"}) == "mine");
    CHECK_FALSE(fs::exists(admin / "index.lock"));
    CHECK(holder(1) == "");

    // One that is left while nobody has the workspace: the next task takes it all the same.
    leave_locks();
    CHECK(taken(task("b")) == tree);
    CHECK(plain(tree, {"symbolic-ref", "--short", "HEAD"}) == "orange-tasks/b");
    leave_locks();
    REQUIRE(go(pool.gc(project, [](const TaskId&) { return false; })));
    CHECK(holder(1) == "");
}

TEST_CASE_METHOD(Agent, "an agent that tidies up the repository takes neither a workspace nor kept work with it") {
    const auto gone = taken(task("a"));
    write_file(gone / "work", "mine\n");
    REQUIRE(go(pool.release(project, task("a"))));
    const auto tree = taken(task("b"));
    const auto other = taken(task("c"));
    // One is out of sight for a moment: a disk that is not mounted, a folder that is moved about.
    fs::rename(other, dir / "out-of-sight");
    plain(tree, {"worktree", "prune", "--expire=now"});
    plain(tree, {"reflog", "expire", "--expire=now", "--all"});
    plain(tree, {"gc", "-q", "--prune=now"});
    plain(tree, {"branch", "-D", "orange-tasks/c"}, true);
    fs::rename(dir / "out-of-sight", other);
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:work"}) == "mine");
    CHECK(plain(other, {"symbolic-ref", "--short", "HEAD"}) == "orange-tasks/c");
    commit(other, "next", "more\n");
    REQUIRE(go(pool.release(project, task("c"))));
    CHECK(plain(project.path, {"show", "orange-tasks/c:next"}) == "more");
}

TEST_CASE_METHOD(Agent, "what an agent has stashed stays when it leaves, whoever clears the stash that all share") {
    const auto tree = taken(task("a"));
    write_file(project.path + "/a.txt", "the user's\n");
    plain(project.path, {"stash"});
    const auto stash = [&](const std::string& text, std::vector<std::string> how) {
        write_file(tree / "a.txt", text);
        write_file(tree / "untracked", text);
        plain(tree, std::move(how));
        return plain(tree, {"rev-parse", "stash@{0}"});
    };
    const auto first = stash("one\n", {"stash", "--include-untracked"});
    const auto second = stash("two\n", {"stash", "push", "--include-untracked", "-m", "later"});
    plain(tree, {"switch", "-q", "--detach"});
    const auto third = stash("three\n", {"stash", "--include-untracked"});
    plain(tree, {"switch", "-q", "orange-tasks/a"});
    const auto released = go(pool.release(project, task("a"))).value();
    CHECK(released.commits.size() == 2);
    plain(project.path, {"stash", "clear"});
    plain(project.path, {"reflog", "expire", "--expire=now", "--all"});
    plain(project.path, {"gc", "-q", "--prune=now"});
    CHECK(plain(project.path, {"show", "refs/orange/a/stash-" + first.substr(0, 12) + ":a.txt"}) == "one");
    CHECK(plain(project.path, {"show", "refs/orange/a/stash-" + second.substr(0, 12) + "^3:untracked"}) == "two");
    CHECK(ref(project.path, "refs/orange/a/stash-" + third.substr(0, 12)).empty());

    // Nobody's in particular: neither who leaves nor who comes takes it over.
    taken(task("b"));
    plain(tree, {"switch", "-q", "--detach"});
    stash("four\n", {"stash"});
    CHECK(go(pool.release(project, task("b"))).value().commits.empty());
    CHECK(go(pool.acquire(project, task("c"), {})).value().notes.empty());
    CHECK(plain(project.path, {"for-each-ref", "refs/orange/shop--1"}).empty());

    // One that cannot be read (the power was lost before it was synced) is in nobody's way.
    write_file(project.path + "/.git/refs/stash", std::string(40, '7') + "\n");
    CHECK(go(pool.release(project, task("c"))));
    taken(task("d"));
}

TEST_CASE_METHOD(Agent, "looking for what was stashed runs no program that the repository names") {
    const auto tree = taken(task("a"));
    const auto evil = (dir / "evil").string();
    write_file(evil, "#!/bin/sh\ntouch " + (dir / "ran").string() + "\n");
    fs::permissions(evil, fs::perms::owner_all);
    plain(tree, {"config", "log.showSignature", "true"});
    plain(tree, {"config", "gpg.program", evil});
    const auto commit = plain(tree, {"rev-parse", "HEAD"});
    auto text = plain(tree, {"cat-file", "commit", commit});
    text.insert(text.find("\n\n") + 1, "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n");
    write_file(dir / "signed", text + "\n");
    const auto signed_one = plain(tree, {"hash-object", "-t", "commit", "-w", (dir / "signed").string()});
    // `git stash store` of git 2.47 refuses a commit that is no stash.
    plain(tree, {"update-ref", "--create-reflog", "-m", "On orange-tasks/a: signed", "refs/stash", signed_one});
    plain(tree, {"log", "-1", signed_one});
    REQUIRE(fs::remove(dir / "ran"));  // what git does by itself
    CHECK(go(pool.release(project, task("a"))).value().commits.size() == 1);
    CHECK_FALSE(fs::exists(dir / "ran"));
}

TEST_CASE_METHOD(Agent, "what git's own view of a worktree passes over is reachable from a ref, too", "[slow]") {
    const auto racy = [&](const Path& tree) {  // as young as the index, and as long
        write_file(tree / "a.txt", "v2\n");
        plain(tree, {"commit", "-qam", "v2"});
        write_file(tree / "a.txt", "v3\n");
        // What is copied from now on is younger, by git's seconds.
        for (const auto then = std::time(nullptr); std::time(nullptr) == then;) std::this_thread::yield();
        return std::string("v3\n");
    };
    const auto sparse = [&](const Path& tree) {
        plain(tree, {"sparse-checkout", "set", "nothing"});
        write_file(tree / "src/one.cpp", "precious\n");
        return std::string("precious\n");
    };
    const auto elsewhere = [&](const Path& tree) {  // a commit that goes with the worktree
        plain(tree, {"symbolic-ref", "HEAD", "refs/worktree/x"});
        write_file(tree / "a.txt", "on no branch\n");
        plain(tree, {"add", "a.txt"});
        plain(tree, {"commit", "-qm", "on no branch"});
        return std::string("on no branch\n");
    };
    const auto forged = [&](const Path& tree) {
        plain(tree, {"config", "core.trustctime", "false"});
        plain(tree, {"config", "core.checkStat", "minimal"});
        const auto time = fs::last_write_time(tree / "hidden");
        write_file(tree / "hidden", "F1RST hidden\n");
        fs::last_write_time(tree / "hidden", time);
        return std::string("F1RST hidden\n");
    };
    const std::function<std::string(const Path&)> ways[] = {racy, sparse, elsewhere, forged};
    for (std::size_t i = 0; i < std::size(ways); ++i) {
        INFO("way " << i);
        const auto id = task("w" + std::to_string(i));
        const auto tree = taken(id);
        const auto text = ways[i](tree);
        write_file(dir / "blob", text);
        const auto blob = plain(dir.path, {"hash-object", "--no-filters", (dir / "blob").string()});
        REQUIRE(go(pool.release(project, id)));
        CHECK(reachable().contains(blob));
        project.pool_size = 4;
    }
}

TEST_CASE_METHOD(Agent, "nobody opens a worktree that is being removed: its .git would be back, and git could not") {
    const auto tree = taken(task("a"));
    pool.note_walled("shop--1").value();
    std::optional<ErrorCode> refused;
    const auto removal = [](const GitCommand& command) {
        return has_word(command, "worktree") && has_word(command, "remove");
    };
    watched.before(removal, [&]() -> Awaitable<void> {
        const auto opened = co_await pool.open(project, "shop--1");
        if (!opened) refused = opened.error().code;
    });
    go(pool.release(project, task("a"))).value();
    REQUIRE(watched.has_acted());
    CHECK(refused == ErrorCode::conflict);
    CHECK(plain(tree, {"status", "--porcelain"}).empty());
    CHECK(go(pool.open(project, "shop--1")));
}
