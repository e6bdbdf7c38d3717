#include "tests/fakes/git/fake_git.hpp"

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

/// The contract of FakeGit: one script, played with the real git and with the fake, gives the same answers and leaves
/// the same repositories.
using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

std::string with_dir(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

/// A folder with a repository, a worktree and an origin, as one of the two gits has made them.
class Side {
  public:
    explicit Side(bool is_real)
        : fake(world.runner, tests::tools() + "/git"),
          git(is_real ? static_cast<ProcessRunner&>(world.runner) : fake, world.environment()) {}

    /// "DIR" in a word is this side's folder. In the worktree `tree` by what it is pinned to, elsewhere by its place.
    Completed ask(const std::string& where, const Words& words, const std::string& input = {},
                  const std::map<std::string, std::string>& env = {}) {
        GitCommand command;
        command.place = where == "tree" ? git::Place(world.at(world.path("tree"))) : git::Place(world.path(where));
        for (const auto& word : words) command.args.push_back(with_dir(word, "DIR", world.dir.path.string()));
        command.input = input;
        for (const char* who : {"AUTHOR", "COMMITTER"}) {
            command.env[std::string("GIT_") + who + "_DATE"] = "1700000000 +0000";
        }
        for (const auto& [name, value] : env) command.env[name] = with_dir(value, "DIR", world.dir.path.string());
        auto done = world.go(git.run(std::move(command)));
        if (!done) throw std::runtime_error(done.error().message);
        done->out = with_dir(done->out, world.dir.path.string(), "DIR");
        return std::move(*done);
    }

    /// All that git or anybody else can see of it, by the real git.
    std::string state() {
        std::string all;
        for (const char* repo : {"repo", "origin.git"}) {
            if (!fs::exists(world.dir / repo)) continue;
            all += world.plain(world.dir / repo, {"for-each-ref"}, true) + "\n";
            all += world.plain(world.dir / repo, {"symbolic-ref", "-q", "HEAD"}, true) + "\n";
            all += world.plain(world.dir / repo, {"fsck", "--no-dangling"}, true) + "\n";
            all += world.plain(world.dir / repo, {"worktree", "list", "--porcelain"}, true) + "\n";
        }
        for (const char* tree : {"repo", "tree"}) {
            if (!fs::exists(world.dir / tree / ".git")) continue;
            all += world.plain(world.dir / tree, {"status", "--porcelain=v2", "--branch", "-uall"}, true) + "\n";
            for (const auto& [path, text] : contents(world.dir / tree)) all += path + "=" + text + "\n";
        }
        return with_dir(all, world.dir.path.string(), "DIR");
    }

    GitFixture world;
    fakes::FakeGit fake;
    CliGit git;
};

class Both {
  public:
    /// Says the same on both sides and leaves the same; the answer.
    std::string same(const std::string& where, const Words& words, const std::string& input = {},
                     const std::map<std::string, std::string>& env = {}) {
        const auto wanted = real.ask(where, words, input, env);
        const auto got = fake.ask(where, words, input, env);
        INFO(where << "$ git " << join(words, " ") << "\n" << wanted.err);
        CHECK(got.exit_status == wanted.exit_status);
        CHECK(got.out == wanted.out);
        CHECK(fake.state() == real.state());
        return std::string(trim(wanted.out));
    }
    /// The same, and no process was needed.
    std::string quick(const std::string& where, const Words& words, const std::string& input = {},
                      const std::map<std::string, std::string>& env = {}) {
        const auto before = fake.fake.counts().answered;
        auto out = same(where, words, input, env);
        INFO(where << "$ git " << join(words, " "));
        CHECK(fake.fake.counts().answered == before + 1);
        return out;
    }
    /// The same, by the real git on both sides.
    std::string handed_on(const std::string& where, const Words& words, const std::string& input = {},
                          const std::map<std::string, std::string>& env = {}) {
        const auto before = fake.fake.counts().answered;
        auto out = same(where, words, input, env);
        INFO(where << "$ git " << join(words, " "));
        CHECK(fake.fake.counts().answered == before);
        return out;
    }

    void write(const std::string& file, const std::string& text) {
        for (auto* side : {&real, &fake}) write_file(side->world.dir / file, text);
    }
    void remove(const std::string& file) {
        for (auto* side : {&real, &fake}) fs::remove_all(side->world.dir / file);
    }
    std::string commit(const std::string& where, const std::string& file, const std::string& text) {
        write(where + "/" + file, text);
        handed_on(where, {"add", "--", file});
        handed_on(where, {"commit", "-qm", "change " + file});
        return quick(where, {"rev-parse", "--verify", "HEAD^{commit}"});
    }

    /// A repository with a commit, and a worktree of it.
    void begin() {
        for (auto* side : {&real, &fake}) fs::create_directory(side->world.dir / "repo");
        for (auto* side : {&real, &fake}) side->world.plain(side->world.dir / "repo", {"init", "-q"});
        first = commit("repo", "README", "one\n");
        quick("repo", {"worktree", "add", "--quiet", "--detach", "DIR/tree", first});
    }

    Side real{true};
    Side fake{false};
    std::string first;
};

const Words k_status = {"-c",
                        "core.untrackedCache=false",
                        "status",
                        "--porcelain=v2",
                        "--branch",
                        "--no-ahead-behind",
                        "-z",
                        "--untracked-files=all",
                        "--ignore-submodules=none",
                        "--no-renames"};
const Words k_status_of_checkout = {
    "status",       "--porcelain=v1",          "-z", "--untracked-files=all", "--ignored=matching",
    "--no-renames", "--ignore-submodules=none"};
const Words k_files = {"ls-files", "-v", "--stage", "-z", "--full-name"};

Words verify(const std::string& name) {
    return {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"};
}
Words refs(const Words& names) {
    Words words = {
        "for-each-ref",
        "--format=%(refname)%00%(objectname)%00%(upstream:remotename)%00%(upstream:track)%00%(worktreepath)%00"};
    words.insert(words.end(), names.begin(), names.end());
    return words;
}
const Words k_list = {"worktree", "list", "--porcelain", "-z"};
const Words k_facts = {"config", "--show-origin", "-z", "--get-regexp", "^(remote\\..*\\.url|core\\.(bare|worktree))$"};

}  // namespace

TEST_CASE("FakeGit answers as git does: settings and names", "[slow]") {
    Both both;
    both.begin();
    both.quick("repo", {"config", "--list", "--show-scope", "-z"});
    both.quick("tree", {"config", "--list", "--show-scope", "-z"});
    both.quick("repo", k_facts);
    both.quick("repo", {"config", "--get-all", "remote.origin.url"});
    both.quick("repo", {"config", "-z", "--get-regexp", "^user\\.(name|email)$"});
    both.quick("repo", {"config", "--get", "init.defaultBranch"});
    both.quick("repo", {"rev-parse", "--path-format=absolute", "--git-common-dir"});
    both.quick("repo", {"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"});
    both.quick("repo", {"rev-parse", "--git-dir"});
    both.quick("repo", {"symbolic-ref", "--quiet", "HEAD"});
    both.quick("tree", {"symbolic-ref", "--quiet", "HEAD"});
    both.quick("repo", {"symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"});
    both.quick("repo", {"check-ref-format", "refs/heads/orange-tasks/x"});
    for (const auto& name : Words{"HEAD", "refs/heads/main", "refs/heads/none", both.first}) {
        both.quick("repo", verify(name));
        both.quick("tree", verify(name));
    }
    both.quick("tree", {"rev-parse", "--verify", both.first + "^{tree}"});
    both.quick("repo", refs({"refs/heads/main", "refs/remotes/origin/main", "refs/stash"}));
    for (const auto& name : Words{"main~1", "@{-1}", "-x", "", "a..b", "HEAD^2", std::string(40, 'a')}) {
        both.handed_on("repo", verify(name));
    }
    for (const char* name : {"refs/heads/a..b", "refs/heads/x.lock", "refs/heads/a b"}) {
        both.handed_on("repo", {"check-ref-format", name});
    }
}

TEST_CASE("FakeGit answers as git does: worktrees, and what is changed in one", "[slow]") {
    Both both;
    both.begin();
    both.quick("repo", k_list);
    both.quick("repo", {"worktree", "lock", "--reason", "orange", "DIR/tree"});
    both.quick("repo", k_list);
    both.handed_on("repo", {"worktree", "lock", "--reason", "orange", "DIR/tree"});
    both.handed_on("repo", {"worktree", "add", "--quiet", "--detach", "DIR/tree", both.first});
    both.quick("tree", {"checkout", "--quiet", "--no-track", "-b", "work/it", both.first + "^0"});
    both.handed_on("repo", {"checkout", "--quiet", "--no-track", "-b", "work/it", both.first + "^0"});
    both.quick("tree", {"symbolic-ref", "--quiet", "HEAD"});
    both.quick("repo", k_list);
    both.quick("repo", refs({"refs/heads/main", "refs/heads/work/it", "refs/heads/work"}));
    for (const auto& words : {k_status, k_files, k_status_of_checkout}) both.quick("tree", words);
    both.commit("tree", "kept", "text\n");
    both.commit("tree", "below/deep", "text\n");
    both.write("tree/kept", "other\n");
    both.write("tree/new", "mine\n");
    both.write("tree/far/away/new", "mine\n");
    both.remove("tree/below/deep");
    for (const auto& words : {k_status, k_files, k_status_of_checkout}) both.quick("tree", words);
    both.handed_on("tree", {"add", "--", "kept", "new"});
    both.write("tree/kept", "a third\n");
    for (const auto& words : {k_status, k_files, k_status_of_checkout}) both.quick("tree", words);
    both.write("repo/.git/info/exclude", "ignored\n");
    both.write("tree/ignored", "x\n");
    both.quick("tree", k_status);
    both.quick("tree", k_status_of_checkout);
    both.quick("tree", {"checkout", "--force", "--quiet", "--detach", both.first + "^0"});
    both.quick("tree", k_status);
    both.quick("tree", {"clean", "--quiet", "-f", "-d"});
    both.quick("tree", k_status);
    both.quick("tree", {"symbolic-ref", "-m", "back", "HEAD", "refs/heads/work/it"});
    both.quick("tree", k_status);
    both.quick("tree", {"checkout", "--force", "--quiet", "--detach", both.first + "^0"});
    both.quick("repo", {"worktree", "remove", "--force", "--force", "DIR/tree"});
    both.quick("repo", k_list);
    both.handed_on("repo", {"worktree", "remove", "--force", "--force", "DIR/tree"});
}

TEST_CASE("FakeGit answers as git does: a checkout that meets something in its way", "[slow]") {
    Both both;
    both.begin();
    const auto second = both.commit("repo", "other", "two\n");
    both.write("tree/other", "mine\n");
    both.handed_on("tree", {"checkout", "--quiet", "--detach", second + "^0"});
    both.quick("tree", {"checkout", "--force", "--quiet", "--detach", second + "^0"});
    both.write("tree/README", "mine\n");
    both.quick("tree", {"checkout", "--quiet", "--detach", both.first + "^0"});
    both.write("tree/README", "one\n");
    both.quick("tree", k_status);
    both.remove("tree/README");
    both.quick("tree", k_status);
    both.quick("tree", {"checkout", "--quiet", "--detach", second + "^0"});
    both.quick("tree", k_status);
}

TEST_CASE("FakeGit answers as git does: a snapshot of the files", "[slow]") {
    Both both;
    both.begin();
    both.quick("tree", {"checkout", "--quiet", "--no-track", "-b", "it", both.first + "^0"});
    both.commit("tree", "gone", "text\n");
    const auto head = both.commit("tree", "kept", "text\n");
    both.write("tree/kept", "other\n");
    both.write("tree/far/new", "mine\n");
    both.remove("tree/gone");
    for (auto* side : {&both.real, &both.fake}) {
        fs::copy_file(side->world.dir / "repo/.git/worktrees/tree/index", side->world.dir / "index");
    }
    const std::map<std::string, std::string> own = {{"GIT_INDEX_FILE", "DIR/index"}};
    both.quick("tree", {"add", "--sparse", "--all", "--", ":(top)"}, "", own);
    const auto tree = both.quick("tree", {"write-tree"}, "", own);
    CHECK(tree != both.quick("tree", {"rev-parse", "--verify", head + "^{tree}"}));
    const auto wip = both.quick("tree", {"-c", "user.useConfigOnly=true", "commit-tree", tree, "-p", head, "-F", "-"},
                                "Uncommitted work\n");
    const std::string ref = "refs/orange/it/wip", none(40, '0');
    both.quick("tree", {"update-ref", "-m", "orange: snapshot", ref, wip, none});
    both.handed_on("tree", {"update-ref", "-m", "orange: snapshot", ref, head, none});
    both.quick("repo", refs({ref, "refs/heads/it"}));
    both.quick("repo", {"ls-tree", "-r", "-z", "--full-tree", wip});
    both.quick("tree", {"for-each-ref", "--count=1", "--format=%(refname)", "--contains", head, "refs/heads",
                        "refs/remotes", "refs/tags", "refs/orange"});
    both.quick("tree", {"checkout", "--force", "--quiet", "--detach", both.first + "^0"});
    both.quick("tree", {"clean", "--quiet", "-f", "-d"});
    both.quick("tree", k_status);
    both.quick("repo", {"update-ref", "-m", "away", "--stdin"},
               "update refs/orange/it/merged " + head + "\ndelete refs/heads/it " + head + "\n");
    both.handed_on("repo", {"update-ref", "-m", "away", "--stdin"},
                   "update refs/orange/it/more " + head + "\ndelete refs/heads/it " + head + "\n");
}

TEST_CASE("FakeGit answers as git does: merging", "[slow]") {
    Both both;
    both.begin();
    both.quick("tree", {"checkout", "--quiet", "--no-track", "-b", "it", both.first + "^0"});
    const auto tip = both.commit("tree", "feature", "it\n");
    const auto base = both.commit("repo", "elsewhere", "meanwhile\n");
    both.quick("repo", {"merge-base", base, tip});
    both.quick("repo", {"merge-base", "--is-ancestor", both.first, "refs/heads/it"});
    both.quick("repo", {"merge-base", "--is-ancestor", base, "refs/heads/it"});
    const Words merging = {"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"};
    auto merge = merging;
    merge.insert(merge.end(), {base, tip});
    const auto tree = both.quick("repo", merge).substr(0, 40);
    both.quick("repo", {"merge-tree", "--write-tree", base, tip});
    both.quick("repo", {"rev-parse", "--verify", "--quiet", "refs/heads/main"});
    both.quick("repo", {"rev-parse", "--verify", "--quiet", "it"});
    const auto commit =
        both.quick("repo", {"commit-tree", tree, "-F", "-", "-p", base, "-p", tip}, "Merge branch 'it'\n");
    both.quick("repo", {"merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                        "--no-verify-signatures", commit});
    both.quick("repo", {"rev-list", "--count", "--merges", "main"});
    both.quick("repo", {"rev-list", "--merges", "main"});
    both.quick("repo", {"rev-list", "--count", "refs/heads/main", "^" + base});
    both.quick("repo", {"rev-list", "--count", base + ".." + commit});
    both.handed_on("repo", {"merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                            "--no-verify-signatures", both.first});
    const auto here = both.commit("repo", "feature", "this\n"), there = both.commit("tree", "feature", "that\n");
    auto conflict = merging;
    conflict.insert(conflict.end(), {here, there});
    both.handed_on("repo", conflict);
    both.write("repo/in-the-way", "mine\n");
    const auto last = both.commit("tree", "in-the-way", "theirs\n");
    both.handed_on("repo", {"merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                            "--no-verify-signatures", last});
}

TEST_CASE("FakeGit answers as git does: an origin", "[slow]") {
    Both both;
    both.begin();
    for (auto* side : {&both.real, &both.fake}) (void)side->world.make_origin(side->world.path("repo"));
    both.quick("repo", k_facts);
    both.quick("repo", {"config", "--get-all", "remote.origin.url"});
    both.quick("repo", {"remote", "get-url", "origin"});
    const Words fetch = {"fetch",
                         "--quiet",
                         "--prune",
                         "--no-write-fetch-head",
                         "--no-recurse-submodules",
                         "--upload-pack=git-upload-pack",
                         "origin"};
    const auto listed = [](const std::string& name) {
        return Words{"ls-remote", "--upload-pack=git-upload-pack", "--heads", "origin", "refs/heads/" + name};
    };
    const auto push = [](const std::string& expected, const std::string& commit, const std::string& to) {
        return Words{"push",
                     "--porcelain",
                     "--no-verify",
                     "--no-follow-tags",
                     "--receive-pack=git-receive-pack",
                     "--force-with-lease=refs/heads/" + to + ":" + expected,
                     "origin",
                     commit + ":refs/heads/" + to};
    };
    both.quick("repo", fetch);
    both.quick("repo", listed("main"));
    both.quick("tree", {"checkout", "--quiet", "--no-track", "-b", "it", both.first + "^0"});
    const auto tip = both.commit("tree", "below/feature", "it\n");
    both.quick("repo", push("", tip, "it"));
    both.quick("repo", push(both.first, tip, "main"));
    both.quick("repo", push(tip, tip, "main"));
    both.quick("repo", listed("it"));
    both.quick("repo", listed("none"));
    both.handed_on("repo", push(both.first, tip, "main"));
    both.handed_on("repo", push(tip, both.first, "main"));
    const auto next = both.commit("tree", "below/feature", "more\n");
    both.quick("repo", {"push", "--quiet", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                        "--end-of-options", "origin", "refs/heads/it:refs/heads/it"});
    both.quick("repo", refs({"refs/heads/it", "refs/remotes/origin/it"}));
    for (auto* side : {&both.real, &both.fake}) {
        side->world.plain(side->world.dir / "origin.git", {"update-ref", "-d", "refs/heads/it"});
        side->world.plain(side->world.dir / "origin.git", {"update-ref", "refs/heads/new", next});
    }
    both.quick("repo", fetch);
    both.handed_on("repo", {"config", "branch.it.remote", "origin"});
    both.handed_on("repo", {"config", "branch.it.merge", "refs/heads/it"});
    both.quick("repo", refs({"refs/heads/it"}));
    both.handed_on("repo", {"config", "branch.it.merge", "refs/heads/main"});
    both.quick("repo", refs({"refs/heads/it"}));
    both.remove("origin.git");
    both.handed_on("repo", listed("main"));
}

TEST_CASE("FakeGit leaves to git what is not as usual", "[slow]") {
    Both both;
    both.begin();
    SECTION("a setting that it does not know") {
        both.handed_on("repo", {"config", "core.autocrlf", "true"});
        both.handed_on("tree", k_status);
    }
    SECTION("attributes") {
        both.write("tree/.gitattributes", "*.txt text\n");
        both.handed_on("tree", k_status);
    }
    SECTION("a repository inside") {
        for (auto* side : {&both.real, &both.fake}) {
            fs::create_directory(side->world.dir / "tree/inner");
            side->world.plain(side->world.dir / "tree/inner", {"init", "-q"});
        }
        both.handed_on("tree", k_status);
        both.handed_on("tree", {"clean", "--quiet", "-f", "-d"});
    }
    SECTION("marks in the index") {
        both.handed_on("tree", {"update-index", "--assume-unchanged", "README"});
        both.write("tree/README", "other\n");
        both.handed_on("tree", k_status);
        both.handed_on("tree", k_files);
    }
    SECTION("a HEAD that makes no sense") {
        both.write("repo/.git/worktrees/tree/HEAD", "nonsense\n");
        both.handed_on("repo", k_list);
    }
    SECTION("a merge under way") {
        both.write("repo/.git/worktrees/tree/MERGE_HEAD", both.first + "\n");
        both.handed_on("tree", k_status);
    }
    SECTION("a lock") {
        both.write("repo/.git/worktrees/tree/index.lock", "");
        both.handed_on("tree", {"checkout", "--quiet", "--detach", both.first + "^0"});
    }
    SECTION("a ref that is a lie") {
        both.write("repo/.git/refs/heads/lie", std::string(40, '1') + "\n");
        both.handed_on("repo", verify("refs/heads/lie"));
    }
}
