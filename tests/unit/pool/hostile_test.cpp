// Agents that change the files of git in their worktree to reach files outside.
#include <sys/stat.h>

#include <functional>

#include "tests/catch.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace fs = std::filesystem;

namespace {

/// Somebody's folders beside the repository and the workspaces, a workspace with work that is not committed, and an
/// agent in it that means no good.
struct Hostile : PoolFixture {
    Hostile() {
        write_file(victim / "Cargo.lock", "precious\n");
        write_file(victim / "README", "the victim's\n");
        write_file(victim / "deep/er/index.lock", "precious\n");
        make_repo("other");
        commit(other, "theirs", "theirs\n");
        write_file(other / ".git/packed-refs.lock", "");
        write_file(other / "untracked", "untracked\n");
        plain(other, {"worktree", "add", "-q", "--detach", (dir / "theirs").string()});
        tree = taken(task("a"));
        write_file(tree / "draft", "unfinished\n");
    }

    /// Everything that is neither the worktree nor its repository.
    std::map<std::string, std::string> outside() const {
        auto all = everything(victim);
        all.merge(everything(other));
        all.merge(everything(dir / "theirs"));
        return all;
    }

    bool is_kept(const std::string& text) {
        for (const auto& entry : fs::recursive_directory_iterator(root)) {
            if (fs::is_regular_file(entry.symlink_status()) && entry.file_size() < 1000 &&
                read_file(entry.path()) == text) {
                return true;
            }
        }
        const auto refs = plain(project.path, {"for-each-ref", "--format=%(refname)", "refs/orange"});
        for (const auto ref : split_lines(refs)) {
            if (plain(project.path, {"show", std::string(ref) + ":draft"}, true) + "\n" == text) return true;
        }
        return false;
    }

    Path victim = dir / "victim", other = dir / "other", tree;
    Path admin = dir / "repo/.git/worktrees/shop--1";
};

struct Variant {
    const char* name;
    std::function<void(Hostile&)> attack;
    bool released = true;  ///< the task's workspace is given back all the same
};

void replace_with_link(const Path& path, const Path& target) {
    fs::remove_all(path);
    fs::create_symlink(target, path);
}

void replace_with_pipe(const Path& path) {
    fs::remove_all(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
}

/// A git folder in the worktree, of the agent's own making.
void point_at_own_folder(Hostile& at) {
    at.plain(at.tree, {"clone", "-q", "--bare", at.project.path, (at.tree / "mine").string()});
    at.plain(at.tree / "mine", {"config", "core.bare", "false"});
    at.plain(at.tree / "mine", {"config", "core.worktree", at.victim.string()});
    write_file(at.tree / ".git", "gitdir: " + (at.tree / "mine").string() + "\n");
}

/// A repository below the worktree, with something staged.
Path nest(Hostile& at) {
    const auto nested = at.tree / "nested";
    at.plain(at.tree, {"init", "-q", "nested"});
    at.commit(nested, "inner", "inner\n");
    write_file(nested / "staged", "staged\n");
    at.plain(nested, {"add", "staged"});
    return nested;
}

const std::vector<Variant> k_dot_git = {
    {".git names a plain folder", [](Hostile& at) { write_file(at.tree / ".git", "gitdir: " + at.victim.string()); }},
    {".git names another repository",
     [](Hostile& at) { write_file(at.tree / ".git", "gitdir: " + (at.other / ".git").string() + "\n"); }},
    {".git names another repository's worktree",
     [](Hostile& at) {
         write_file(at.tree / ".git", "gitdir: " + (at.other / ".git/worktrees/theirs").string() + "\n");
     }},
    {".git names a folder of the agent's own, with core.worktree", point_at_own_folder},
    {".git is missing", [](Hostile& at) { fs::remove(at.tree / ".git"); }},
    {".git is empty", [](Hostile& at) { write_file(at.tree / ".git", ""); }},
    {".git is a folder",
     [](Hostile& at) {
         fs::remove(at.tree / ".git");
         at.plain(at.tree, {"init", "-q"});
         at.plain(at.tree, {"config", "core.worktree", at.victim.string()});
     }},
    {".git is a link to a repository", [](Hostile& at) { replace_with_link(at.tree / ".git", at.other / ".git"); }},
    {".git is a link to a file",
     [](Hostile& at) {
         write_file(at.tree / "pointer", "gitdir: " + (at.other / ".git").string() + "\n");
         replace_with_link(at.tree / ".git", at.tree / "pointer");
     }},
    {".git is a folder, and what is moved aside is moved to a link",
     [](Hostile& at) {
         fs::remove(at.tree / ".git");
         at.plain(at.tree, {"init", "-q"});
         fs::create_directory_symlink(at.victim, at.root / ".found");
     },
     false},
    {".git is a pipe", [](Hostile& at) { replace_with_pipe(at.tree / ".git"); }},
    {".git has a gigabyte",
     [](Hostile& at) {
         fs::remove(at.tree / ".git");
         write_file(at.tree / ".git", "gitdir: ");
         fs::resize_file(at.tree / ".git", std::uintmax_t{1} << 30);
     }},
};

const std::vector<Variant> k_nested = {
    {"a repository below that is elsewhere",
     [](Hostile& at) { write_file(at.tree / "nested/.git", "gitdir: " + (at.other / ".git").string() + "\n"); }},
    {"a repository below that is a link",
     [](Hostile& at) {
         write_file(at.tree / "nested/file", "x\n");
         fs::create_symlink(at.other / ".git", at.tree / "nested/.git");
     }},
    {"a repository below with core.worktree",
     [](Hostile& at) {
         at.plain(nest(at), {"config", "core.worktree", at.victim.string()});
     }},
    {"a repository below with a commondir",
     [](Hostile& at) { write_file(nest(at) / ".git/commondir", (at.other / ".git").string() + "\n"); }},
    {"a repository below with its refs elsewhere",
     [](Hostile& at) { replace_with_link(nest(at) / ".git/refs", at.other / ".git/refs"); }, false},
    {"a repository below with its objects elsewhere",
     [](Hostile& at) { replace_with_link(nest(at) / ".git/objects", at.other / ".git/objects"); }, false},
};

const std::vector<Variant> k_admin = {
    {"HEAD names another branch", [](Hostile& at) { write_file(at.admin / "HEAD", "ref: refs/heads/none\n"); }},
    {"HEAD makes no sense", [](Hostile& at) { write_file(at.admin / "HEAD", "ref: ../../../victim\n"); }, false},
    {"HEAD is a link", [](Hostile& at) { replace_with_link(at.admin / "HEAD", at.victim / "Cargo.lock"); }, false},
    {"HEAD is a link to a repository's",
     [](Hostile& at) { replace_with_link(at.admin / "HEAD", at.other / ".git/HEAD"); }, false},
    {"HEAD is a pipe", [](Hostile& at) { replace_with_pipe(at.admin / "HEAD"); }, false},
    {"index is a pipe", [](Hostile& at) { replace_with_pipe(at.admin / "index"); }},
    {"gitdir is a pipe", [](Hostile& at) { replace_with_pipe(at.admin / "gitdir"); }},
    {"commondir names another repository",
     [](Hostile& at) { write_file(at.admin / "commondir", (at.other / ".git").string() + "\n"); }},
    {"commondir is a link",
     [](Hostile& at) {
         write_file(at.tree / "common", (at.other / ".git").string() + "\n");
         replace_with_link(at.admin / "commondir", at.tree / "common");
     }},
    {"commondir is a pipe", [](Hostile& at) { replace_with_pipe(at.admin / "commondir"); }},
    {"gitdir names another folder",
     [](Hostile& at) { write_file(at.admin / "gitdir", (at.victim / ".git").string() + "\n"); }},
    {"gitdir is a link",
     [](Hostile& at) { replace_with_link(at.admin / "gitdir", at.other / ".git/worktrees/theirs/gitdir"); }},
    {"config.worktree names another folder",
     [](Hostile& at) {
         at.plain(at.tree, {"config", "extensions.worktreeConfig", "true"});
         write_file(at.admin / "config.worktree", "[core]\n\tworktree = " + at.victim.string() + "\n");
     }},
    {"locked says that git has not ended", [](Hostile& at) { write_file(at.admin / "locked", "initializing"); }},
    {"the whole folder is a link",
     [](Hostile& at) {
         fs::rename(at.admin, at.tree / "admin");
         fs::create_symlink(at.other / ".git/worktrees/theirs", at.admin);
     },
     false},
};

void swap_in(Hostile& at, const std::function<void()>& put) {
    fs::rename(at.tree, at.root / "x");
    put();
}

const std::vector<Variant> k_folder = {
    {"a link in the worktree's place",
     [](Hostile& at) { swap_in(at, [&] { fs::create_directory_symlink(at.victim, at.tree); }); }, false},
    {"a link to a repository in its place",
     [](Hostile& at) { swap_in(at, [&] { fs::create_directory_symlink(at.other, at.tree); }); }, false},
    {"a link to a folder with the right .git in its place",
     [](Hostile& at) {
         swap_in(at, [&] {
             fs::copy_file(at.root / "x/.git", at.victim / ".git");
             fs::create_directory_symlink(at.victim, at.tree);
         });
     },
     false},
    {"a link that leads nowhere in its place",
     [](Hostile& at) { swap_in(at, [&] { fs::create_directory_symlink(at.dir / "nowhere", at.tree); }); }, false},
    {"another folder with the right .git in its place",
     [](Hostile& at) {
         swap_in(at, [&] {
             fs::rename(at.dir / "theirs", at.tree);
             fs::remove(at.tree / ".git");
             fs::copy_file(at.root / "x/.git", at.tree / ".git");
             fs::create_directory_symlink(at.tree, at.dir / "theirs");
         });
     },
     false},
    {"an empty folder in its place", [](Hostile& at) { swap_in(at, [&] { fs::create_directory(at.tree); }); }, false},
    {"a file in its place", [](Hostile& at) { swap_in(at, [&] { write_file(at.tree, "mine\n"); }); }, false},
};

const std::vector<Variant> k_leading = {
    {"a repository is behind a link",
     [](Hostile& at) {
         fs::create_directory_symlink(at.dir / ".", at.tree / "up");
         at.plain(at.tree,
                  {"update-index", "--add", "--cacheinfo", "160000," + at.ref(at.project.path, "HEAD") + ",up/other"});
     }},
};

/// All that the daemon does with a workspace whose task has ended. `is_walled`: its agent was behind a wall.
void check_nothing_outside_changes(const std::vector<Variant>& variants, bool is_walled) {
    for (const auto& variant : variants) {
        INFO(variant.name << (is_walled ? ", behind a wall" : ""));
        Hostile at;
        if (is_walled) REQUIRE(at.pool.note_walled("shop--1"));
        variant.attack(at);
        const auto before = at.outside();
        const auto dead = [](const TaskId&) { return false; };
        const auto released = at.go(at.pool.release(at.project, PoolFixture::task("a")));
        INFO((released ? "released" : released.error().message));
        CHECK((released.has_value() == variant.released || (is_walled && released)));
        CHECK(at.outside() == before);
        const bool refused_with_a_way_out = released ||
                                            released.error().message.find("orange workspace gc") != std::string::npos ||
                                            released.error().message.find("rm ") != std::string::npos;
        CHECK(refused_with_a_way_out);
        CHECK(at.go(at.pool.gc(at.project, dead)));
        CHECK(at.outside() == before);
        (void)at.acquire(PoolFixture::task("b"));
        at.project.pool_size = 1;
        (void)at.go(at.pool.gc(at.project, dead));
        (void)at.go(at.pool.remove_workspaces(at.project));
        CHECK(at.outside() == before);
        CHECK(at.is_kept("unfinished\n"));
    }
}

}  // namespace

TEST_CASE("whatever an agent makes of its .git, nothing outside is followed or changed, and its work is kept",
          "[slow]") {
    const bool is_walled = GENERATE(false, true);
    check_nothing_outside_changes(k_dot_git, is_walled);
}

TEST_CASE("whatever repository an agent makes inside, nothing outside is changed", "[slow]") {
    const bool is_walled = GENERATE(false, true);
    check_nothing_outside_changes(k_nested, is_walled);
}

TEST_CASE("whatever an agent writes into git's own folder for its worktree, nothing outside is changed", "[slow]") {
    check_nothing_outside_changes(k_admin, false);
}

TEST_CASE("wherever an agent behind a wall leads git, nothing outside is changed", "[slow]") {
    check_nothing_outside_changes(k_leading, true);
}

TEST_CASE("whatever an agent puts in its worktree's place, nothing is changed in it", "[slow]") {
    const bool is_walled = GENERATE(false, true);
    check_nothing_outside_changes(k_folder, is_walled);
}

TEST_CASE("of the locks in git's own folder for a worktree those that git makes are removed, and no other's") {
    Hostile at;
    write_file(at.admin / "index.lock", "");
    write_file(at.admin / "ORIG_HEAD.lock", "");
    write_file(at.admin / "Cargo.lock", "mine\n");
    CHECK(at.acquire(PoolFixture::task("a")));
    CHECK_FALSE(fs::exists(at.admin / "index.lock"));
    CHECK_FALSE(fs::exists(at.admin / "ORIG_HEAD.lock"));
    CHECK(read_file(at.admin / "Cargo.lock") == "mine\n");

    write_file(at.victim / "index.lock", "precious\n");
    write_file(at.admin / "index.lock", "");
    const auto before = at.outside();
    const auto is_after_opening = [](const GitCommand& command) { return has_word(command, "for-each-ref"); };
    at.watched.after(is_after_opening, [&] {
        fs::rename(at.admin, at.dir / "admin");
        fs::create_directory_symlink(at.victim, at.admin);
    });
    (void)at.acquire(PoolFixture::task("a"));
    CHECK(at.watched.has_acted());
    CHECK(at.outside() == before);
    CHECK_FALSE(fs::exists(at.dir / "admin/index.lock"));
}
