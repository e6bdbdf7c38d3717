#include "daemon/git/removed.hpp"

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

/// A clone, and the repository from which it was cloned, in which somebody rewrites main.
struct Clone : GitFixture {
    Clone() {
        commit(origin, "kept", "1\n");
        commit(origin, "gone", "2\n");
        plain(dir.path, {"clone", "-q", origin, here});
        plain(here, {"switch", "-qc", "work"});
        commit(here, "own", "3\n");
    }
    void rewrite(std::vector<std::string> how) {
        plain(origin, std::move(how));
        plain(here, {"fetch", "-q", "origin"});
    }
    std::vector<std::string> removed() {
        std::vector<std::string> lines;
        const auto found = go(removed_commits(git, here, "refs/remotes/origin/main", ref(here, "work"))).value();
        for (const auto& each : found) {
            CHECK(ref(here, each.commit) == each.commit);
            lines.push_back(each.line.substr(each.line.find(' ') + 1));
        }
        return lines;
    }
    std::string origin = make_repo("origin");
    std::string here = path("here");
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Clone, "commits that the branch at origin has not any more are found, also of the time of the clone") {
    CHECK(removed().empty());
    SECTION("one") {
        rewrite({"reset", "-q", "--hard", "HEAD~1"});
        CHECK(removed() == Lines{"change gone"});
    }
    SECTION("two, newest first, although main went on") {
        rewrite({"reset", "-q", "--hard", "HEAD~2"});
        commit(origin, "other", "4\n");
        plain(here, {"fetch", "-q", "origin"});
        CHECK(removed() == Lines{"change gone", "change kept"});
    }
    SECTION("none that came back") {
        const auto before = ref(origin, "main");
        rewrite({"reset", "-q", "--hard", "HEAD~1"});
        rewrite({"reset", "-q", "--hard", before});
        CHECK(removed().empty());
    }
    SECTION("none whose change is in another commit") {
        rewrite({"commit", "-q", "--amend", "-m", "another message"});
        CHECK(removed().empty());
    }
    SECTION("none after a usual fetch") {
        commit(origin, "more", "4\n");
        plain(here, {"fetch", "-q", "origin"});
        CHECK(removed().empty());
    }
    SECTION("none that is not in the branch") {
        commit(origin, "more", "4\n");
        plain(here, {"fetch", "-q", "origin"});
        rewrite({"reset", "-q", "--hard", "HEAD~1"});
        CHECK(removed().empty());
    }
}
