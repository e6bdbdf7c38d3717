#include "daemon/git/branch_names.hpp"

#include "daemon/git/branches.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

TEST_CASE("a branch is named after a summary, in plain words and not longer than is good") {
    CHECK(branch_name_from("Fix the login redirect") == "fix-the-login-redirect");
    CHECK(branch_name_from("  --Don't panic!  (v2.0) ") == "dont-panic-v2-0");
    CHECK(branch_name_from("Don\u2019t panic") == "dont-panic");
    CHECK(branch_name_from("Größe für Ångström, déjà vu") == "grose-fur-angstrom-deja-vu");
    CHECK(branch_name_from("HEAD") == "head");
    CHECK(branch_name_from("a..b ~ c.lock @{1} $(id) #12") == "a-b-c-lock-1-id-12");
    const auto cut = branch_name_from("Make the very long sentence of this summary end between two of its words");
    CHECK(cut == "make-the-very-long-sentence-of-this-summary-end");
    CHECK(branch_name_from(std::string(300, 'x')) == std::string(48, 'x'));
}

TEST_CASE("a summary without a letter or digit that a name could be made of gives none") {
    CHECK(branch_name_from("").empty());
    CHECK(branch_name_from("...!?").empty());
    CHECK(branch_name_from("修复登录").empty());
    CHECK(branch_name_from("\xff\xc3").empty());
}

TEST_CASE_METHOD(GitFixture, "whatever a summary holds, git takes the name that is made of it") {
    for (const std::string summary :
         {"-x", "HEAD", "a..b", ".a", "x.lock", "../x", "a\x1b", "a//b", "/a", "a@{1}", "refs/heads/x", "`id`",
          "\u202e"
          "abc"}) {
        INFO(summary);
        CHECK(go(check_branch_name(git, branch_name_from(summary))));
    }
}

TEST_CASE_METHOD(GitFixture, "a branch's state says where it is, who has it, and what keeps it from being made") {
    const auto repo = make_repo();
    make_origin(repo);
    plain(repo, {"branch", "fix/total"});
    plain(repo, {"push", "-q", "origin", "main:theirs"});
    plain(repo, {"fetch", "-q"});
    const auto state = [&](const std::string& branch) { return go(branch_state(git, repo, branch)).value(); };
    CHECK((state("fix/total").local && !state("fix/total").remote));
    CHECK((!state("theirs").local && state("theirs").remote && state("theirs").exists()));
    CHECK_FALSE(state("none").exists());
    CHECK(state("fix").clash == "fix/total");
    CHECK(state("fix/total/more").clash == "fix/total");
    CHECK(state("fix/other").clash.empty());
    CHECK(state("main").checkout == repo);
    CHECK(state("fix/total").checkout.empty());
}

TEST_CASE_METHOD(GitFixture, "a base is a branch, one of origin, a tag or a commit, in this order") {
    const auto repo = make_repo();
    make_origin(repo);
    const auto first = ref(repo, "HEAD");
    plain(repo, {"branch", "both"});
    plain(repo, {"push", "-q", "origin", "main:theirs"});
    plain(repo, {"fetch", "-q"});
    commit(repo, "b", "2");
    plain(repo, {"tag", "both"});
    plain(repo, {"tag", "v1"});
    const auto base = [&](const std::string& name) { return go(resolve_base(git, repo, name)); };
    CHECK(base("both").value() == "refs/heads/both");
    CHECK(base("theirs").value() == "refs/remotes/origin/theirs");
    CHECK(base("origin/theirs").value() == "refs/remotes/origin/theirs");
    CHECK(base("v1").value() == "refs/tags/v1");
    CHECK(base(first).value() == first);
    CHECK(base(first.substr(0, 10)).value() == first);
    CHECK(base("HEAD").value() == ref(repo, "HEAD"));
    for (const std::string none : {"", "none", "-x", "--all", "a b", "main:README", "v1:README"}) {
        INFO(none);
        const auto refused = base(none);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::not_found);
    }
}
