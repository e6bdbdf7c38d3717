#include <functional>

#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

const std::string k_ref = "refs/orange/T/wip";

struct SnapshotFixture : GitFixture {
    SnapshotFixture() : repo(make_repo()), tree(path("tree")) {
        go(add_worktree(git, repo, tree, "refs/heads/main")).value();
        go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")).value();
    }
    std::string save() {
        auto saved = go(snapshot(git, at(tree), k_ref, "unfinished"));
        INFO((saved ? "" : saved.error().message));
        REQUIRE(saved);
        return *saved;
    }
    /// The worktree of an agent behind a wall.
    Pinned walled() {
        const auto here = at(tree);
        const auto admin = std::make_shared<const UniqueFd>(open_folder(here.git_dir()).value());
        return {here.path(), here.git_dir(), here.common_dir(), here.folder(), admin, true};
    }
    std::string show(const std::string& object) { return plain(repo, {"show", object}, true); }

    std::string repo, tree;
};

/// The real one, with something that happens before the nth `write-tree`.
class MeddledGit final : public Git {
  public:
    MeddledGit(Git& real, int nth, std::function<bool()> meddle)
        : real_(real), left_(nth), meddle_(std::move(meddle)) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        if (command.args.at(0) == "write-tree" && --left_ == 0 && !meddle_()) {
            Completed full;
            full.exit_status = 128;
            full.err = "fatal: unable to write new index file";
            co_return full;
        }
        co_return co_await real_.run(std::move(command));
    }

  private:
    Git& real_;
    int left_;
    std::function<bool()> meddle_;
};

/// The real one, with something that happens before its commands.
class SwappedGit final : public Git {
  public:
    SwappedGit(Git& real, std::function<void(const GitCommand&)> before) : real_(real), before_(std::move(before)) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        before_(command);
        co_return co_await real_.run(std::move(command));
    }

  private:
    Git& real_;
    std::function<void(const GitCommand&)> before_;
};

}  // namespace

TEST_CASE_METHOD(SnapshotFixture,
                 "large files are named to who only looks, and not read, and who keeps them reads them") {
    constexpr std::int64_t k_size = std::int64_t{33} << 20;
    write_file(tree + "/small", "x");
    for (const char* name : {"/large", "/README"}) {
        write_file(tree + name, "");
        std::filesystem::resize_file(tree + name, static_cast<std::uintmax_t>(k_size));
    }
    std::vector<LargeFile> large;
    const auto looked = go(tree_of_files(git, at(tree), &large)).value();
    REQUIRE(large.size() == 2);
    for (const auto& file : large) CHECK(file.bytes == k_size);
    CHECK(plain(tree, {"diff", "--name-only", "HEAD", looked}) == "small");
    const auto kept = go(tree_of_files(git, at(tree))).value();
    CHECK(plain(tree, {"diff", "--name-only", "HEAD", kept}) == "README\nlarge\nsmall");
}

TEST_CASE_METHOD(SnapshotFixture, "dirty is anything uncommitted: changed, staged, untracked, hidden from status") {
    CHECK_FALSE(go(is_dirty(git, at(tree))).value());
    SECTION("changed") {
        write_file(tree + "/README", "x");
    }
    SECTION("untracked") {
        plain(tree, {"config", "status.showUntrackedFiles", "no"});
        write_file(tree + "/new", "x");
    }
    SECTION("staged") {
        write_file(tree + "/new", "x");
        plain(tree, {"add", "new"});
        std::filesystem::remove(tree + "/new");
    }
    SECTION("deleted") {
        std::filesystem::remove(tree + "/README");
    }
    SECTION("assumed unchanged") {
        plain(tree, {"update-index", "--assume-unchanged", "README"});
        CHECK_FALSE(go(is_dirty(git, at(tree))).value());
        write_file(tree + "/README", "x");
    }
    CHECK(go(is_dirty(git, at(tree))).value());
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main")));
    CHECK_FALSE(go(is_dirty(git, at(tree))).value());
    CHECK(read_file(tree + "/README") == "one\n");
}

TEST_CASE_METHOD(SnapshotFixture, "a git that fails is never clean") {
    const auto worktree = at(tree);
    std::filesystem::remove(repo + "/.git/worktrees/tree/HEAD");
    CHECK_FALSE(go(is_dirty(git, worktree)));
}

TEST_CASE_METHOD(SnapshotFixture,
                 "a snapshot holds all that is uncommitted and touches neither index, files nor branch") {
    write_file(tree + "/README", "changed\n");
    write_file(tree + "/deep/er/untracked", "u\n");
    write_file(tree + "/staged", "s\n");
    plain(tree, {"add", "staged"});
    write_file(tree + "/a;b $(id)", "odd\n");
    write_file(tree + "/ignored.o", "i");
    REQUIRE(exclude(at(tree).common_dir(), {"*.o"}));
    const auto files = contents(tree);
    const auto index = read_file(repo + "/.git/worktrees/tree/index");
    const auto branch = ref(repo, "refs/heads/task");
    const auto saved = save();
    CHECK(ref(repo, k_ref) == saved);
    CHECK(ref(repo, saved + "^") == branch);
    CHECK(show(saved + ":README") == "changed");
    CHECK(show(saved + ":deep/er/untracked") == "u");
    CHECK(show(saved + ":staged") == "s");
    CHECK(show(saved + ":a;b $(id)") == "odd");
    CHECK(show(saved + ":ignored.o").empty());
    CHECK(plain(repo, {"log", "-1", "--format=%an %s", saved}) == "Ursula User unfinished");
    CHECK(contents(tree) == files);
    CHECK(read_file(repo + "/.git/worktrees/tree/index") == index);
    CHECK(ref(repo, "refs/heads/task") == branch);
    for (const auto& entry : std::filesystem::directory_iterator(repo + "/.git/worktrees/tree")) {
        CHECK_THAT(entry.path().filename().string(), !Holds("orange"));
    }
}

TEST_CASE_METHOD(SnapshotFixture, "nothing to save: no commit and no ref") {
    CHECK(save().empty());
    CHECK(ref(repo, k_ref).empty());
}

TEST_CASE_METHOD(SnapshotFixture, "what only the index holds and what an earlier snapshot held stay reachable") {
    write_file(tree + "/f", "staged only\n");
    plain(tree, {"add", "f"});
    write_file(tree + "/f", "later\n");
    const auto first = save();
    CHECK(show(first + ":f") == "later");
    CHECK(show(first + "^2:f") == "staged only");
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main")));
    write_file(tree + "/g", "second\n");
    const auto second = save();
    CHECK(ref(repo, second + "^2") == first);
}

TEST_CASE_METHOD(SnapshotFixture,
                 "what only the index holds is not passed over because it could not be read just then") {
    write_file(tree + "/f", "staged only\n");
    plain(tree, {"add", "f"});
    std::filesystem::remove(tree + "/f");
    const std::filesystem::path index = repo + "/.git/worktrees/tree/index";
    SECTION("its copy fails") {
        MeddledGit meddled(git, 1, [&] {
            std::filesystem::rename(index, index.string() + ".away");
            return std::filesystem::create_directory(index);
        });
        CHECK_FALSE(go(snapshot(meddled, at(tree), k_ref, "unfinished")));
        std::filesystem::remove(index);
        std::filesystem::rename(index.string() + ".away", index);
    }
    SECTION("no tree can be written") {
        MeddledGit full(git, 2, [] { return false; });
        const auto saved = go(snapshot(full, at(tree), k_ref, "unfinished"));
        REQUIRE_FALSE(saved);
        CHECK_THAT(saved.error().message, Holds("unable to write new index file"));
    }
    CHECK(show(save() + "^2:f") == "staged only");
}

TEST_CASE_METHOD(SnapshotFixture, "an index whose contents are lost keeps nothing else from being saved") {
    write_file(tree + "/f", "staged only\n");
    plain(tree, {"add", "f"});
    const auto content = plain(tree, {"rev-parse", ":f"});
    std::filesystem::remove(repo + "/.git/objects/" + content.substr(0, 2) + "/" + content.substr(2));
    std::filesystem::remove(tree + "/f");
    write_file(tree + "/g", "a file\n");
    CHECK(show(save() + ":g") == "a file");
}

TEST_CASE_METHOD(SnapshotFixture, "conflicts are saved with their marks") {
    commit(tree, "README", "task's\n");
    commit(repo, "README", "main's\n");
    plain(tree, {"merge", "main"}, true);
    CHECK_THAT(show(save() + ":README"), Tells("<<<<<<<"));
}

TEST_CASE_METHOD(SnapshotFixture, "repositories that an agent made inside do not stop a snapshot, and stay") {
    plain(tree, {"init", "-q", "nested"});
    plain(tree, {"init", "-q", "full"});
    commit(tree + "/full", "x", "x");
    write_file(tree + "/beside", "b\n");
    CHECK(show(save() + ":beside") == "b");
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main")));
    CHECK(read_file(tree + "/full/x") == "x");
    CHECK_FALSE(std::filesystem::exists(tree + "/beside"));
}

TEST_CASE_METHOD(SnapshotFixture, "without a configured user Orange signs what it commits itself") {
    write_file(dir / "home/.gitconfig", "[user]\n\tname = Only Name\n");
    write_file(tree + "/x", "x");
    CHECK(plain(repo, {"log", "-1", "--format=%an <%ae> %cn <%ce>", save()}) ==
          "Only Name <orange@localhost> Only Name <orange@localhost>");
}

TEST_CASE_METHOD(SnapshotFixture, "a tree of a walled worktree has files that are tracked although ignored") {
    REQUIRE(exclude(at(tree).common_dir(), {"*.o"}));
    write_file(tree + "/:(top)a b.o", "odd\n");
    plain(tree, {"--literal-pathspecs", "add", "-f", ":(top)a b.o"});
    const auto saved = go(tree_of_files(git, walled())).value();
    CHECK(show(saved + "::(top)a b.o") == "odd");
}

TEST_CASE_METHOD(SnapshotFixture, "no git runs in a repository that comes and goes in the place of an ignored file") {
    namespace fs = std::filesystem;
    const auto place = tree + "/x", file = path("file"), inner = make_repo("inner"), mark = path("mark");
    write_file(inner + "/.gitattributes", "* filter=evil\n");
    plain(inner, {"config", "filter.evil.clean", "touch '" + mark + "'; cat"});
    fs::last_write_time(inner + "/README", fs::file_time_type::clock::now() - std::chrono::hours(1));
    REQUIRE(exclude(at(tree).common_dir(), {"x"}));
    write_file(place, "file\n");
    plain(tree, {"add", "-f", "x"});
    plain(tree, {"commit", "-qm", "x"});
    const auto worktree = walled();
    fs::rename(place, file);
    fs::rename(inner, place);
    int swaps = 0;
    SwappedGit agent(git, [&](const GitCommand& command) {
        const bool lists = swaps == 0 && has_word(command, "--ignored");
        const bool adds = swaps == 1 && (has_word(command, "add") || has_word(command, "update-index"));
        if (!lists && !adds) return;
        ++swaps;
        fs::rename(place, lists ? inner : file);
        fs::rename(lists ? file : inner, place);
    });
    CHECK(go(tree_of_files(agent, worktree)));
    CHECK(swaps == 2);
    CHECK_FALSE(fs::exists(mark));
    plain(place, {"status"});  // git runs it in this repository
    CHECK(fs::exists(mark));
}

TEST_CASE("the files of a worktree become a commit that no ref has, and nothing else changes") {
    SnapshotFixture f;
    std::string where = f.tree;
    SECTION("of a linked worktree") {}
    SECTION("of the repository's own") {
        where = f.repo;
    }
    const auto head = f.ref(where, "HEAD");
    const auto worktree = f.go(pin_persons(f.git, where)).value();
    CHECK(std::filesystem::equivalent(worktree.path(), where));
    const auto take = [&] { return f.go(commit_of_files(f.git, worktree, "as it is")).value(); };
    CHECK(take() == head);
    write_file(std::filesystem::path(where) / ".gitignore", "*.log\n");
    write_file(std::filesystem::path(where) / "README", "changed\n");
    write_file(std::filesystem::path(where) / "staged", "1\n");
    f.plain(where, {"add", "staged"});
    write_file(std::filesystem::path(where) / "staged", "2\n");
    write_file(std::filesystem::path(where) / "new", "new\n");
    write_file(std::filesystem::path(where) / "run.log", "noise\n");
    const auto state = [&] {
        return f.plain(where, {"status", "--porcelain=v2", "--branch"}) + f.plain(where, {"ls-files", "--stage"}) +
               f.plain(where, {"for-each-ref"});
    };
    const auto before = state();
    const auto commit = take();
    CHECK(state() == before);
    CHECK(f.plain(where, {"log", "-1", "--format=%P %s", commit}) == head + " as it is");
    CHECK(f.show(commit + ":README") == "changed");
    CHECK(f.show(commit + ":staged") == "2");
    CHECK(f.show(commit + ":new") == "new");
    CHECK_THAT(f.plain(where, {"ls-tree", "--name-only", commit}), !Holds("run.log"));
    for (const auto& entry : std::filesystem::directory_iterator(worktree.git_dir())) {
        CHECK_FALSE(entry.path().filename().string().starts_with("orange-index"));
    }
}

TEST_CASE("a folder in no repository, and a branch without a commit, have no files to take") {
    SnapshotFixture f;
    const auto outside = f.path("outside");
    std::filesystem::create_directory(outside);
    const auto none = f.go(pin_persons(f.git, outside));
    REQUIRE_FALSE(none);
    CHECK_THAT(none.error().message, Tells(outside));
    f.plain(f.tree, {"checkout", "-q", "--orphan", "nothing"});
    const auto refused = f.go(commit_of_files(f.git, f.at(f.tree), "as it is"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(f.tree));
}
