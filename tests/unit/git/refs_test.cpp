#include "daemon/git/refs.hpp"

#include <chrono>
#include <thread>

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

class CountedGit : public Git {
  public:
    explicit CountedGit(Git& git) : git_(git) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        ++count;
        co_return co_await git_.run(std::move(command));
    }
    int count = 0;

  private:
    Git& git_;
};

struct ViewFixture : GitFixture {
    ViewFixture() : repo(make_repo()) {
        make_origin(repo);
        plain(repo, {"fetch", "-q"});
        plain(repo, {"branch", "work"});
    }
    /// A file that was changed just now may change again without a trace in its times.
    void settle() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!settled_facts(repo + "/.git/config") || !settled_facts(repo + "/.git/packed-refs")) {
            if (std::chrono::steady_clock::now() > deadline) FAIL("the files do not settle");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    /// Checks that the view is what git says, and returns how often git was asked for it.
    int asked() {
        const auto before = counted.count;
        const auto seen = go(view.now(counted)).value();
        const auto times = counted.count - before;
        CHECK(seen == go(refs(git, repo, names)).value());
        return times;
    }

    std::string repo;
    std::vector<std::string> names = {"refs/heads/main", "refs/remotes/origin/main", "refs/heads/work",
                                      "refs/remotes/origin/work"};
    CountedGit counted{git};
    RefsView view{repo, names};
};

}  // namespace

TEST_CASE_METHOD(ViewFixture, "a view of refs asks git again only after a change, whoever made it", "[slow]") {
    settle();
    CHECK(asked() == 1);
    CHECK(asked() == 0);
    plain(repo, {"branch", "another"});
    CHECK(asked() == 0);
    SECTION("a commit") {
        commit(repo, "b", "two\n");
    }
    SECTION("a branch that is gone") {
        plain(repo, {"branch", "-D", "work"});
    }
    SECTION("a branch that has come") {
        plain(repo, {"update-ref", "refs/remotes/origin/work", "main"});
    }
    SECTION("a checkout") {
        plain(repo, {"checkout", "-q", "work"});
    }
    SECTION("a checkout elsewhere") {
        plain(repo, {"worktree", "add", "-q", path("tree"), "work"});
    }
    SECTION("an upstream") {
        plain(repo, {"branch", "-q", "--set-upstream-to=origin/main", "main"});
    }
    SECTION("packed refs") {
        plain(repo, {"pack-refs", "--all"});
    }
    CHECK(asked() == 1);
}

TEST_CASE_METHOD(ViewFixture, "a view of refs remembers nothing that files do not tell", "[slow]") {
    SECTION("an upstream of another name") {
        plain(repo, {"update-ref", "refs/remotes/origin/trunk", "main"});
        plain(repo, {"branch", "-q", "--set-upstream-to=origin/trunk", "work"});
        settle();
    }
    SECTION("a symbolic ref") {
        plain(repo, {"symbolic-ref", "refs/remotes/origin/work", "refs/heads/main"});
        settle();
    }
    SECTION("settings that were changed just now") {
        plain(repo, {"config", "x.y", "z"});
    }
    CHECK(asked() == 1);
    CHECK(asked() == 1);
}
