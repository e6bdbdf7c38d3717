#include "daemon/git/programs.hpp"

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

struct ProgramsFixture : GitFixture {
    std::string repo = make_repo();
    std::string tree = path("tree");
    git::Programs before;

    ProgramsFixture() {
        plain(repo, {"worktree", "add", "-q", "--detach", tree});
        before = now();
    }
    git::Programs now() { return go(git::programs_of(git, at(tree))).value(); }
    /// As they are recorded, now or, `earlier`, by an older version.
    static std::map<std::string, std::string> recorded(const git::Programs& programs, bool earlier = false) {
        std::map<std::string, std::string> hashes;
        for (const auto& [name, program] : programs) hashes[name] = earlier ? program.earlier : program.hash;
        return hashes;
    }
    std::vector<std::string> changed() { return git::changed_programs(recorded(before), now()); }
    void hook(const std::string& name, const std::string& text) {
        write_file(repo + "/.git/hooks/" + name, text);
        std::filesystem::permissions(repo + "/.git/hooks/" + name, std::filesystem::perms::owner_all);
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(ProgramsFixture,
                 "what git is made to run, or sends to, is told by name, whichever worktree it is set in") {
    CHECK(before.empty());
    for (const std::string key :
         {"filter.evil.clean", "core.sshCommand", "core.hooksPath", "diff.x.textconv", "merge.x.driver",
          "credential.https://example.org.helper", "url.ssh://evil/.pushInsteadOf", "gpg.ssh.program",
          "remote.other.uploadpack", "remote.origin.url", "include.path", "alias.st", "lfs.customtransfer.x.path",
          "remote.pushDefault", "submodule.x.update", "http.https://example.org.sslVerify"}) {
        plain(tree, {"config", key, "elsewhere"});
        INFO(key);
        REQUIRE(changed().size() == 1);
        CHECK(to_lower(changed()[0]) == to_lower(key));
        plain(tree, {"config", "--unset", key});
        CHECK(changed().empty());
    }
    plain(tree, {"config", "extensions.worktreeConfig", "true"});
    plain(tree, {"config", "--worktree", "filter.mine.smudge", "sh"});
    CHECK(changed() == Names{"filter.mine.smudge"});
    before = now();
    // The main worktree's own is seen from no other, and is what the user's git, and merges, go by.
    plain(repo, {"config", "--worktree", "core.sshCommand", "evil"});
    CHECK(changed() == Names{"config.worktree"});
}

TEST_CASE_METHOD(ProgramsFixture,
                 "another value with the same fast hash is a change; what an older version recorded is none") {
    // Found with a program in two seconds.
    const std::string original = "git-lfs clean -- %f";
    const std::string other =
        "sh -c evil #524y\x1a\x1c"
        "4\x01\xfc\x11\x16\x18\x05"
        "1\x07\x0e\x1d";
    REQUIRE(fast_hash("\nfilter.lfs.clean\n" + other) == fast_hash("\nfilter.lfs.clean\n" + original));
    plain(repo, {"config", "filter.lfs.clean", original});
    before = now();
    CHECK(before.at("filter.lfs.clean").earlier == fast_hash("\nfilter.lfs.clean\n" + original));
    CHECK(git::changed_programs(recorded(before, true), now()).empty());
    plain(repo, {"config", "filter.lfs.clean", other});
    CHECK(changed() == Names{"filter.lfs.clean"});
    plain(repo, {"config", "filter.lfs.clean", "sh"});
    CHECK(git::changed_programs(recorded(before, true), now()) == Names{"filter.lfs.clean"});
}

TEST_CASE_METHOD(ProgramsFixture, "a password in an address is not part of the name that is told") {
    plain(repo, {"config", "url.https://x:TOKEN@example.org/a@b/.insteadOf", "https://example.org/"});
    plain(repo, {"config", "credential.https://example.org/a@b.helper", "store"});
    plain(repo, {"config", "url.https://mirror.org/https://me:TOKEN@example.org/.insteadOf", "https://example.org/"});
    CHECK(changed() == Names{"credential.https://example.org/a@b.helper", "url.https://example.org/a@b/.insteadof",
                             "url.https://mirror.org/https://example.org/.insteadof"});
}

TEST_CASE_METHOD(ProgramsFixture,
                 "a value that is another, a second one, and one that is gone are changes; the user's own are none") {
    plain(repo, {"config", "filter.lfs.clean", "git-lfs clean"});
    before = now();
    plain(tree, {"config", "--add", "filter.lfs.clean", "sh"});
    CHECK(changed() == Names{"filter.lfs.clean"});
    before = now();
    plain(tree, {"config", "--unset-all", "filter.lfs.clean"});
    CHECK(changed() == Names{"filter.lfs.clean"});
    before = now();
    // What agents do all day, and what is the user's.
    plain(tree, {"config", "user.name", "Agent"});
    plain(tree, {"switch", "-qc", "topic"});
    plain(tree, {"config", "branch.topic.remote", "origin"});
    plain(tree, {"config", "remote.fork.url", "https://example.org/fork"});
    write_file(dir / "home/.gitconfig", read_file(dir / "home/.gitconfig") + "[filter \"mine\"]\n\tclean = cat\n");
    CHECK(changed().empty());
}

TEST_CASE_METHOD(ProgramsFixture, "hooks that run and attributes are told of, samples and what cannot run are not") {
    hook("pre-commit.sample", "#!/bin/sh\n");
    write_file(repo + "/.git/hooks/notes", "no program\n");
    std::filesystem::create_directory(repo + "/.git/hooks/folder");
    CHECK(changed().empty());
    hook("pre-commit", "#!/bin/sh\nexit 0\n");
    CHECK(changed() == Names{"hooks/pre-commit"});
    before = now();
    hook("pre-commit", "#!/bin/sh\nexit 1\n");
    CHECK(changed() == Names{"hooks/pre-commit"});
    before = now();
    std::filesystem::permissions(repo + "/.git/hooks/pre-commit", std::filesystem::perms::owner_exec);
    CHECK(now().contains("hooks/pre-commit"));  // it runs; who is not root cannot read it
    before = now();
    write_file(repo + "/.git/info/attributes", "* filter=evil\n");
    CHECK(changed() == Names{"info/attributes"});
}

TEST_CASE_METHOD(ProgramsFixture,
                 "a hook that is too large to be read at every look is told by its facts, and hides nothing") {
    hook("pre-push", "#!/bin/sh\n");
    std::filesystem::resize_file(repo + "/.git/hooks/pre-push", std::uintmax_t{1} << 40);
    plain(repo, {"config", "filter.evil.clean", "sh"});
    CHECK(changed() == Names{"filter.evil.clean", "hooks/pre-push"});
    before = now();
    CHECK(changed().empty());
    std::filesystem::resize_file(repo + "/.git/hooks/pre-push", std::uintmax_t{1} << 41);
    CHECK(changed() == Names{"hooks/pre-push"});
}

TEST_CASE_METHOD(ProgramsFixture, "names that are no text are told as text, and are the same at every look") {
    plain(repo, {"config", "url.file:///home/m\xfcller/.insteadOf", "x:"});
    hook("pre-\xfc", "#!/bin/sh\n");
    const auto names = changed();
    REQUIRE(names.size() == 2);
    for (const auto& name : names) CHECK(is_valid_utf8(name));
}

TEST_CASE_METHOD(ProgramsFixture, "what git runs in a repository that it cannot read is an error, not nothing") {
    const auto worktree = at(tree);
    write_file(repo + "/.git/config", "[core\n");
    CHECK_FALSE(go(git::programs_of(git, worktree)));
}
