#include "daemon/git/own.hpp"

#include <filesystem>
#include <optional>

#include "daemon/git/ask.hpp"
#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace fs = std::filesystem;

namespace {

/// A worktree on branch "work", and the repository of an agent in it. The wall is not there: upload-pack runs as it is.
class Own : public GitFixture {
  public:
    Own() : repo(dir / "repo"), tree(dir / "tree"), place{repo.string(), (dir / "own").string(), "refs/orange/t/own"} {
        fs::create_directories(repo);
        plain(repo, {"init", "-q"});
        first = commit(repo, "Makefile", "all:\n\techo good\n");
        REQUIRE(go(git::add_worktree(git, repo.string(), tree.string(), "main")));
        worktree.emplace(go(git::pin_new(git, repo.string(), tree.string())).value());
        REQUIRE(go(git::checkout_branch(git, repo.string(), *worktree, "work", "main")));
        make();
    }
    void make() { REQUIRE(go(git::make_own(git, place, *worktree, {"main"}))); }

    /// A command of the agent's git.
    std::string agent(std::vector<std::string> args) {
        args.insert(args.begin(), {"--git-dir=" + place.path, "--work-tree=" + tree.string()});
        return plain(tree, std::move(args));
    }
    std::string agent_commits(const std::string& file, const std::string& text) {
        write_file(tree / file, text);
        agent({"add", "--all", "--", file});
        agent({"commit", "-qm", "of the agent: " + file});
        return agent({"rev-parse", "HEAD"});
    }
    Result<void> take() { return go(git::take_over(git, place, *worktree, "git upload-pack")); }
    std::string at(const std::string& name) { return plain(repo, {"rev-parse", "--verify", "-q", name}, true); }
    std::string head() { return go(git::ask(git, *worktree, git::words("rev-parse", "HEAD"))).value(); }
    std::string branch() {
        return std::string(trim(go(git::ask(git, *worktree, git::words("symbolic-ref", "-q", "HEAD"))).value()));
    }
    std::string status() { return go(git::ask(git, *worktree, git::words("status", "--porcelain"))).value(); }
    /// Puts another text under the id of an object of the agent's repository.
    void swap(const std::string& id, const std::string& text) {
        write_file(dir / "text", text);
        const auto scratch = make_repo("scratch-" + id);
        const auto other = plain(scratch, {"hash-object", "-w", (dir / "text").string()});
        const auto file = fs::path(place.path) / "objects" / id.substr(0, 2) / id.substr(2);
        fs::create_directories(file.parent_path());
        fs::remove(file);
        fs::copy_file(fs::path(scratch) / ".git/objects" / other.substr(0, 2) / other.substr(2), file);
    }

    fs::path repo, tree;
    git::OwnPlace place;
    std::optional<git::Pinned> worktree;
    std::string first;
};

}  // namespace

TEST_CASE_METHOD(Own, "what the agent commits is taken over, and the worktree follows") {
    CHECK(agent({"status", "--porcelain"}).empty());
    CHECK(agent({"rev-parse", "main"}) == first);
    REQUIRE(take());
    const auto made = agent_commits("a", "a\n");
    write_file(tree / "unsaved", "x");
    CHECK(at("work") == first);
    REQUIRE(take());
    CHECK(at("work") == made);
    CHECK(status() == "?? unsaved\n");
    const auto amended = [&] {
        write_file(tree / "a", "b\n");
        agent({"commit", "-qam", "again", "--amend"});
        return agent({"rev-parse", "HEAD"});
    }();
    REQUIRE(take());
    CHECK(at("work") == amended);
    CHECK(agent({"fsck"}).find("missing") == std::string::npos);
    CHECK(plain(repo, {"fsck"}).find("missing") == std::string::npos);
    REQUIRE(go(git::remove_own(git, place)));
    CHECK_FALSE(fs::exists(place.path));
    CHECK(plain(repo, {"for-each-ref", "refs/orange"}).empty());
    CHECK(at("work") == amended);
}

TEST_CASE_METHOD(Own, "objects with another text than their id are refused, and change nothing of the project") {
    agent_commits("two", "two\n");
    const auto text = agent({"rev-parse", "HEAD:two"});
    swap(text, "evil\n");
    CHECK_FALSE(take());
    CHECK(at("work") == first);
    CHECK(plain(repo, {"cat-file", "-t", text}, true).empty());
    // One of main's, and one that was taken over before.
    const auto makefile = at("main:Makefile");
    swap(makefile, "all:\n\techo evil\n");
    CHECK_THAT(agent({"cat-file", "-p", makefile}), Holds("evil") || Holds("good"));
    CHECK_THAT(plain(repo, {"cat-file", "-p", makefile}), Holds("good"));
}

TEST_CASE_METHOD(Own, "an object that is swapped after it was taken over stays what it was") {
    agent_commits("two", "two\n");
    REQUIRE(take());
    const auto text = agent({"rev-parse", "HEAD:two"});
    swap(text, "evil\n");
    REQUIRE(take());
    CHECK(plain(repo, {"cat-file", "-p", text}) == "two");
    CHECK(plain(repo, {"show", "work:two"}) == "two");
}

TEST_CASE_METHOD(Own, "a branch that the agent renames or makes is followed, and one of the project is never moved") {
    agent({"branch", "-m", "better/name"});
    const auto made = agent_commits("a", "a\n");
    REQUIRE(take());
    CHECK(branch() == "refs/heads/better/name");
    CHECK(at("better/name") == made);
    CHECK(at("work").empty());
    agent({"checkout", "-q", "main"});
    const auto on_main = agent_commits("b", "b\n");
    REQUIRE(take());
    CHECK(at("main") == first);
    CHECK(std::string(trim(head())) == on_main);
    CHECK_FALSE(go(git::ask(git, *worktree, git::words("symbolic-ref", "-q", "HEAD"))));
    agent({"checkout", "-q", "better/name"});
    REQUIRE(take());
    CHECK(std::string(trim(head())) == made);
    CHECK(branch() == "refs/heads/better/name");  // it is on its branch again
    agent({"checkout", "-q", "--detach"});
    REQUIRE(take());
    agent({"checkout", "-q", "better/name"});
    const auto more = agent_commits("c", "c\n");
    REQUIRE(take());
    CHECK(branch() == "refs/heads/better/name");
    CHECK(at("better/name") == more);
    CHECK(status().empty());
    for (const char* bad : {"origin/main", "heads/x", "-x"}) {
        agent({"symbolic-ref", "HEAD", std::string("refs/heads/") + bad});
        REQUIRE(agent({"update-ref", "HEAD", more}).empty());
        REQUIRE(take());
        CHECK(at(std::string("refs/heads/") + bad).empty());
    }
    for (const char* odd : {"total", "a;b", "orange-tasks/x"}) {
        agent({"checkout", "-q", "-b", odd});
        REQUIRE(take());
        CHECK(branch() == std::string("refs/heads/") + odd);
    }
}

TEST_CASE_METHOD(Own, "a branch that others have moved is not moved back, and a script brings the agent there") {
    write_file(tree / "human", "h\n");
    go(git::ask(git, *worktree, git::words("add", "human"))).value();
    plain(tree, {"commit", "-qm", "of a human"});
    const auto of_human = at("work");
    REQUIRE(of_human != first);
    REQUIRE(take());
    CHECK(at("work") == of_human);
    const auto script = go(git::to_hand_over(git, place, *worktree, "git upload-pack", {"main"})).value();
    CHECK_THAT(script, Holds(of_human));
    REQUIRE(take());  // the script could not be run
    CHECK(at("work") == of_human);
    Command command;
    command.argv = {"sh", "-c", script};
    command.cwd = tree.string();
    command.env = environment();
    (*command.env)["GIT_DIR"] = place.path;
    (*command.env)["GIT_WORK_TREE"] = tree.string();
    REQUIRE(go(runner.run(std::move(command))).value().ok());
    CHECK(agent({"rev-parse", "HEAD"}) == of_human);
    REQUIRE(take());
    CHECK(at("refs/orange/t/own/branch") == of_human);
    CHECK(at("work") == of_human);
    CHECK(agent({"status", "--porcelain"}).empty());
    CHECK(go(git::to_hand_over(git, place, *worktree, "git upload-pack", {"main"})).value().empty());

    const auto more = agent_commits("a", "a\n");
    plain(tree, {"commit", "-q", "--allow-empty", "-m", "of a human again"});
    const auto again = at("work");
    CHECK_FALSE(take());
    CHECK_FALSE(take());  // as long as it is so
    CHECK(at("work") == again);
    CHECK(at("refs/orange/t/own-" + more.substr(0, 12)) == more);
}

TEST_CASE_METHOD(Own, "main may be rewritten and cleaned up, and the agent's repository stays whole") {
    plain(repo, {"checkout", "-q", "--orphan", "anew"});
    commit(repo, "other", "o\n");
    plain(repo, {"branch", "-f", "main", "anew"});
    plain(repo, {"reflog", "expire", "--expire=now", "--all"});
    REQUIRE(go(git::ask(git, *worktree, git::words("checkout", "-q", "--detach"))));
    plain(repo, {"branch", "-D", "work"}, true);
    plain(repo, {"gc", "-q", "--prune=now"});
    CHECK(agent({"rev-parse", "HEAD"}) == first);
    CHECK(agent({"fsck"}).find("missing") == std::string::npos);
    agent_commits("a", "a\n");
}

TEST_CASE_METHOD(Own, "other branches, stashes and what is staged are kept at the end") {
    agent({"checkout", "-q", "-b", "side"});
    const auto side = agent_commits("s", "s\n");
    agent({"checkout", "-q", "work"});
    write_file(tree / "Makefile", "stashed\n");
    agent({"stash", "-q"});
    write_file(tree / "Makefile", "older than the last\n");
    agent({"stash", "-q"});
    write_file(tree / "Makefile", "staged\n");
    agent({"add", "Makefile"});
    write_file(tree / "Makefile", "all:\n\techo good\n");
    Command command;
    command.argv = {"sh", "-c", git::k_keep_staged};
    command.cwd = tree.string();
    command.env = environment();
    (*command.env)["GIT_DIR"] = place.path;
    (*command.env)["GIT_WORK_TREE"] = tree.string();
    REQUIRE(go(runner.run(std::move(command))).value().ok());
    REQUIRE(take());
    const auto kept = go(git::keep_own(git, place, "git upload-pack", "refs/orange/t")).value();
    REQUIRE(kept.size() == 4);
    CHECK(at("refs/orange/t/head-" + side.substr(0, 12)) == side);
    std::string texts;
    for (const auto& ref : kept) texts += plain(repo, {"show", ref + ":Makefile"});
    CHECK_THAT(texts, Holds("stashed") && Holds("staged"));
}

TEST_CASE_METHOD(Own, "of the project's configuration only what names no place and no secret is carried over") {
    plain(repo, {"config", "user.signingkey", "mine"});
    plain(repo, {"config", "core.autocrlf", "input"});
    plain(repo, {"config", "core.fsmonitor", "/bin/evil"});
    plain(repo, {"config", "filter.x.clean", "sed \"s/a/b/\""});
    plain(repo, {"config", "url.https://token@example.org/.insteadOf", "gh:"});
    plain(repo, {"config", "credential.helper", "store --file=/secret"});
    plain(repo, {"config", "http.extraHeader", "Authorization: secret"});
    plain(repo, {"remote", "add", "origin", "https://me:secret@example.org/x.git"});
    make();
    const auto config = read_file(fs::path(place.path) / "config");
    CHECK_THAT(config,
               Holds("https://example.org/x.git") && !Holds("secret") && !Holds("token") && !Holds("fsmonitor"));
    CHECK(agent({"config", "core.autocrlf"}) == "input");
    CHECK(agent({"config", "filter.x.clean"}) == "sed \"s/a/b/\"");
    CHECK_THAT(agent({"config", "core.hooksPath"}), Holds("/hooks"));
}
