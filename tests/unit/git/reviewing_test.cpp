#include "daemon/git/reviewing.hpp"

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A worktree with a change of each kind, and a program that leaves a mark wherever git runs it.
struct ReviewingFixture : GitFixture {
    std::string repo = make_repo();
    std::string trap = path("trap");

    ReviewingFixture() {
        write_file(trap, "#!/bin/sh\n: >" + path("sprung") + "\necho TRAPPED\n");
        std::filesystem::permissions(trap, std::filesystem::perms::owner_all);
        commit(repo, "text", "one\n");
        commit(repo, "gone", "gone\n");
        commit(repo, "binary", std::string("a\0b\n", 4));
        write_file(repo + "/text", "two\n");
        write_file(repo + "/binary", std::string("a\0c\n", 4));
        write_file(repo + "/new", "new\n");
        std::filesystem::remove(repo + "/gone");
        plain(repo, {"add", "-A"});
    }

    /// The reviewer's own git, with what it is given on top of `env`.
    std::string reviewers(std::vector<std::string> args, Environment env = {}) {
        Command command;
        command.argv = std::move(args);
        command.argv.insert(command.argv.begin(), "git");
        command.cwd = repo;
        command.env = environment();
        command.env->merge(env);
        const auto more = go(git::reviewing_variables(git, repo, *command.env)).value();
        for (const auto& [name, value] : more) (*command.env)[name] = value;
        const auto done = go(runner.run(std::move(command))).value();
        INFO(done.err);
        CHECK(done.ok());
        return done.out;
    }
    bool sprung() { return std::filesystem::remove(path("sprung")); }
};

}  // namespace

TEST_CASE_METHOD(ReviewingFixture,
                 "what a repository makes git run does not run for a reviewer, who sees the difference all the same") {
    const auto untouched = reviewers({"diff", "HEAD"});
    struct Trap {
        std::string key;
        std::string attributes;
        std::vector<std::string> args;
    };
    const std::vector<Trap> traps = {
        {"diff.external", "", {"diff", "HEAD"}},
        {"diff.mine.command", "* diff=mine", {"diff", "HEAD"}},
        {"diff.mine.textconv", "* diff=mine", {"diff", "HEAD"}},
        {"diff.Mine.x.textconv", "* diff=Mine.x", {"diff", "HEAD"}},
        {"core.fsmonitor", "", {"status"}},
        {"core.pager", "", {"-p", "diff", "HEAD"}},
        {"pager.diff", "", {"-p", "diff", "HEAD"}},
    };
    for (const auto& set : traps) {
        INFO(set.key);
        write_file(repo + "/.git/info/attributes", set.attributes + "\n");
        plain(repo, {"config", set.key, trap});
        plain(repo, set.args, true);
        if (!set.key.ends_with("pager") && !set.key.starts_with("pager")) REQUIRE(sprung());  // those want a terminal
        const auto seen = reviewers(set.args);
        CHECK_FALSE(sprung());
        if (set.args.back() == "HEAD") {
            for (const auto* line : {"-one\n", "+two\n", "+new\n", "-gone\n", "diff --git a/text b/text\n"}) {
                CHECK_THAT(seen, Holds(line));
            }
            CHECK_THAT(seen, Holds("deleted file mode 100644") && Holds("new file mode 100644"));
            CHECK_THAT(seen, Holds("binary") && !Holds("TRAPPED"));
        }
        plain(repo, {"config", "--unset-all", set.key});
        write_file(repo + "/.git/info/attributes", "");
        CHECK(reviewers({"diff", "HEAD"}) == untouched);
    }
}

TEST_CASE_METHOD(ReviewingFixture, "hooks and replaced objects of the repository are none of a reviewer's") {
    write_file(repo + "/.git/hooks/post-index-change", read_file(trap));
    std::filesystem::permissions(repo + "/.git/hooks/post-index-change", std::filesystem::perms::owner_all);
    plain(repo, {"update-index", "--refresh", "--force-write-index"}, true);
    std::filesystem::remove(path("sprung"));
    plain(repo, {"reset", "-q"});
    REQUIRE(sprung());
    reviewers({"reset", "-q"});
    CHECK_FALSE(sprung());

    const auto real = plain(repo, {"rev-parse", "HEAD"});
    plain(repo, {"replace", real, "HEAD~1"});
    REQUIRE(plain(repo, {"log", "-1", "--format=%s", real}) != "change binary");
    CHECK(reviewers({"log", "-1", "--format=%s", real}) == "change binary\n");
}

TEST_CASE_METHOD(ReviewingFixture, "what the user has set for agents stays in force") {
    const Environment env = {{"GIT_CONFIG_COUNT", "1"},
                             {"GIT_CONFIG_KEY_0", "user.name"},
                             {"GIT_CONFIG_VALUE_0", "Somebody"},
                             {"GIT_EXTERNAL_DIFF", "echo MINE; true"}};
    CHECK(reviewers({"config", "user.name"}, env) == "Somebody\n");
    CHECK(reviewers({"config", "core.hooksPath"}, env) == "/dev/null\n");
    plain(repo, {"config", "diff.external", trap});
    CHECK_THAT(reviewers({"diff", "HEAD"}, env), Tells("MINE"));
    CHECK_FALSE(sprung());
}
