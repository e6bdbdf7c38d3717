#include "daemon/git/repository.hpp"

#include <chrono>
#include <thread>

#include "daemon/git/small_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

struct CountingGit : Git {
    explicit CountingGit(Git& real) : git(real) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        ++asked;
        return git.run(std::move(command));
    }
    Git& git;
    int asked = 0;
};

/// Files that were changed just now are nothing to go by.
void let_settle(const std::string& file) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!settled_facts(file) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace

TEST_CASE_METHOD(GitFixture, "what is known of a repository is asked again only if it may have changed", "[slow]") {
    const auto repo = make_repo();
    CountingGit counting(git);
    KnownRepositories known;
    CHECK_FALSE(go(known.look(counting, repo)).value().has_origin);
    make_origin(repo);
    CHECK(go(known.look(counting, repo)).value().has_origin);  // that there is none is not remembered

    let_settle(repo + "/.git/config");
    const auto found = go(known.look(counting, repo)).value();
    CHECK(found.has_origin);
    CHECK(found.git_dir == repo + "/.git");
    counting.asked = 0;
    CHECK(go(known.look(counting, repo)).value().has_origin);
    CHECK(counting.asked == 0);

    SECTION("origin was removed") {
        plain(repo, {"remote", "remove", "origin"});
        CHECK_FALSE(go(known.look(counting, repo)).value().has_origin);
    }
    SECTION("another repository is there") {
        std::filesystem::rename(repo, repo + ".old");
        plain(dir.path, {"init", "-q", repo});
        CHECK_FALSE(go(known.look(counting, repo)).value().has_origin);
    }
}

TEST_CASE_METHOD(GitFixture, "an origin that a file beside the repository's own names is asked for each time",
                 "[slow]") {
    const auto repo = make_repo();
    write_file(repo + "/.git/more", "[remote \"origin\"]\n\turl = /elsewhere\n");
    plain(repo, {"config", "include.path", "more"});
    let_settle(repo + "/.git/config");
    CountingGit counting(git);
    KnownRepositories known;
    CHECK(go(known.look(counting, repo)).value().has_origin);
    write_file(repo + "/.git/more", "");
    CHECK_FALSE(go(known.look(counting, repo)).value().has_origin);
}
