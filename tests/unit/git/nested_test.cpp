#include <fcntl.h>

#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace fs = std::filesystem;

namespace {

/// A worktree with a repository inside, somebody else's repository, and an agent that waits for the daemon's git.
struct WithNested : GitFixture {
    WithNested() {
        make_repo();
        make_repo("victim");
        write_file(victim / ".git/sequencer/todo", "the victim's\n");
        write_file(victim / "uncommitted", "precious\n");
        plain(repo, {"worktree", "add", "-q", "--detach", tree.string()});
        plain(tree, {"init", "-q", "deep/nested"});
        inner = commit(nested, "inner", "inner\n");
        write_file(nested / "staged", "staged\n");
        plain(nested, {"add", "staged"});
        worktree.emplace(at(tree.string()));
    }

    Result<std::vector<std::string>> keep() { return go(git::keep_commits(watched, *worktree, "refs/orange/t1")); }

    /// Once, after the daemon's first command of that name for the repository inside.
    void after(const std::string& step, std::function<void()> act) {
        const auto which = [step](const GitCommand& command) {
            const bool inside = command.place.path().ends_with("nested") || command.args.back().ends_with("nested");
            return has_word(command, step) && (inside || step == "fetch");
        };
        watched.after(which, std::move(act));
    }

    bool is_kept_in(const fs::path& repository) {
        return plain(repository, {"cat-file", "-t", inner}, true) == "commit";
    }

    fs::path repo = dir / "repo", victim = dir / "victim", tree = dir / "tree", nested = tree / "deep/nested";
    fs::path admin = repo / ".git/worktrees/tree";
    std::string inner;
    WatchedGit watched{git};
    std::optional<git::Pinned> worktree;
};

/// Commands of the daemon's in the order in which it runs them for a repository inside.
const std::vector<std::string> k_steps = {"rev-parse",   "read-tree",  "add",       "write-tree",
                                          "commit-tree", "update-ref", "ls-remote", "fetch"};

std::map<std::string, std::string> what_was_there(std::map<std::string, std::string> now,
                                                  const std::map<std::string, std::string>& before) {
    std::erase_if(now, [&](const auto& entry) { return !before.contains(entry.first); });
    return now;
}

void write_many(const fs::path& folder, std::size_t count) {
    fs::create_directories(folder);
    std::size_t made = 0;
    while (made < count &&
           UniqueFd(::open((folder / std::to_string(made)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))) {
        ++made;
    }
    REQUIRE(made == count);
}

}  // namespace

TEST_CASE("a repository inside becomes plain files, and its commits are kept") {
    WithNested at;
    CHECK(at.keep());
    CHECK(at.is_kept_in(at.repo));
    CHECK_FALSE(fs::exists(at.nested / ".git"));
    CHECK(read_file(at.nested / "staged") == "staged\n");
}

TEST_CASE("a link in the place of a repository inside leads the daemon nowhere, whenever it is put there", "[slow]") {
    for (const auto& step : k_steps) {
        for (const std::string folder : {"deep/nested", "deep"}) {
            INFO(step << ", " << folder);
            WithNested at;
            fs::create_directory(at.dir / "elsewhere");
            fs::create_directory_symlink(at.victim, at.dir / "elsewhere/nested");
            const auto before = everything(at.victim);
            at.after(step, [&] {
                fs::rename(at.tree / folder, at.tree / "moved");
                fs::create_directory_symlink(folder == "deep" ? at.dir / "elsewhere" : at.victim, at.tree / folder);
            });
            (void)at.keep();
            CHECK(at.watched.has_acted());
            CHECK(everything(at.victim) == before);
            const auto moved = folder == "deep" ? at.tree / "moved/nested" : at.tree / "moved";
            const bool kept = fs::exists(moved / ".git") ? at.is_kept_in(moved) : at.is_kept_in(at.repo);
            CHECK(kept);
        }
    }
}

TEST_CASE("a link in the place of the .git of a repository inside loses nothing of what it leads to", "[slow]") {
    for (const auto& step : k_steps) {
        INFO(step);
        WithNested at;
        const auto before = everything(at.victim);
        at.after(step, [&] {
            fs::rename(at.nested / ".git", at.nested / "mine");
            fs::create_directory_symlink(at.victim / ".git", at.nested / ".git");
        });
        const auto kept = at.keep();
        CHECK(at.watched.has_acted());
        CHECK_FALSE(kept);
        CHECK(what_was_there(everything(at.victim), before) == before);
        CHECK(at.is_kept_in(at.nested / "mine"));
    }
}

TEST_CASE("a link in the place of git's own folder for a worktree is not emptied") {
    WithNested at;
    fs::create_directories(at.admin / "sequencer");
    const auto is_first = [](const GitCommand& command) { return has_word(command, "rev-parse"); };
    at.watched.after(is_first, [&] {
        fs::rename(at.admin, at.dir / "admin");
        fs::create_directory_symlink(at.victim / ".git", at.admin);
    });
    (void)at.go(git::reset_detached(at.watched, *at.worktree, "HEAD"));
    CHECK(at.watched.has_acted());
    CHECK(fs::exists(at.victim / ".git/sequencer/todo"));
    CHECK_FALSE(fs::exists(at.dir / "admin/sequencer"));
}

TEST_CASE("a repository inside with more files than git makes is refused, and stays as it is", "[slow]") {
    WithNested at;
    write_many(at.nested / ".git/objects/00", 50'001);
    const auto refused = at.keep();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("orange workspace gc"));
    CHECK(at.is_kept_in(at.nested));
}

TEST_CASE("an index that is larger than any repository's is not copied") {
    WithNested at;
    constexpr std::uint32_t k_size = 300U << 20;
    std::string index("DIRC\0\0\0\2\0\0\0\0ZZZZ", 16);  // no entries, and something that git passes over
    for (const int shift : {24, 16, 8, 0}) index += static_cast<char>((k_size >> shift) & 0xff);
    write_file(at.admin / "index", index);
    fs::resize_file(at.admin / "index", index.size() + k_size + 20);
    const auto refused = at.go(git::snapshot(at.git, *at.worktree, "refs/orange/t1/wip", "wip"));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("index") && Tells("orange workspace gc"));
    CHECK(fs::file_size(at.admin / "index") > k_size);
}
