#include "daemon/store/body_merge.hpp"

#include "tests/catch.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

TEST_CASE_METHOD(TaskWorld, "lines that both added are both there, and deleted ones stay deleted") {
    const auto merged = [&](std::string current, std::string base, std::string other) {
        return *wait(merge_bodies(files, processes, home / "task", current, base, other));
    };
    CHECK(merged("a\nb\nx\n", "a\nb\n", "a\nb\ny\n") == "a\nb\nx\ny\n");
    CHECK(merged("a\nx", "a", "a\ny") == "a\nx\ny");
    CHECK(merged("a\nb\nc\nx\n", "a\nb\nc\n", "b\nc\n") == "b\nc\nx\n");
    CHECK(merged("same", "base", "same") == "same");
    CHECK(merged("base", "base", "other") == "other");
    CHECK(merged("a\xff\nx\n", "a\xff\n", "y\na\xff\n") == "y\na\xff\nx\n");
    CHECK(others().empty());
    const auto binary = wait(merge_bodies(files, processes, home / "task", std::string("\0a", 2), std::string("\0b", 2),
                                          std::string("\0c", 2)));
    CHECK(!binary);
}

TEST_CASE("what was made from an older text is seen to be") {
    const std::string old = "a\nb\n", now = "a\nb\nnew\n";
    const std::vector<const std::string*> shown = {&old, &now};
    CHECK(&likely_base(shown, "a\nb\nmine\n") == &old);
    CHECK(&likely_base(shown, "a\nb\nnew\nmine\n") == &now);
    CHECK(&likely_base(shown, "b\nnew\n") == &now);
    CHECK(&likely_base(shown, "A\nb\nmine\n") == &old);
}

TEST_CASE("Who rewrites a section has seen it, although none of its words stay") {
    const std::string before = "## Plan\n\np\n";
    const std::string after = before + "## Review\n\nVerdict: FAIL\nRound 1.\n";
    const std::vector<const std::string*> shown = {&before, &after};
    CHECK(&likely_base(shown, before + "## Review\n\nVerdict: PASS\nRound 2.\n") == &after);
    CHECK(&likely_base(shown, before + "more\n") == &before);
}

TEST_CASE("a base is found for a text of unknown origin") {
    CHECK(without_lines_missing_in("a\nb\nd", "a\r\nb\nlost\nd\n") == "a\r\nb\nd\n");
    CHECK(without_lines_missing_in("", "x").empty());
}

TEST_CASE_METHOD(TaskWorld, "a merge that cannot write, or whose git fails, is an error and leaves no file") {
    const auto merge = [&] { return wait(merge_bodies(files, processes, home / "task", "a\nx\n", "a\n", "a\ny\n")); };
    for (int n = 1; n <= 3; ++n) {
        files.fail_at(n);
        CHECK(merge().error().code == ErrorCode::io);
        CHECK(others().empty());
    }
    files.fail_at(0);
    CHECK(*merge() == "a\nx\ny\n");
    struct NoGit final : ProcessRunner {
        Awaitable<Result<Completed>> run(Command) override {
            co_return Error(ErrorCode::io, "starting git: Resource temporarily unavailable");
        }
    } none;
    const auto refused = wait(merge_bodies(files, none, home / "task", "a\nx\n", "a\n", "a\ny\n"));
    CHECK_THAT(refused.error().message, Tells("git"));
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "the end of a merged text is that of those who wrote it") {
    const auto merged = [&](std::string current, std::string base, std::string other) {
        return *wait(merge_bodies(files, processes, home / "task", current, base, other));
    };
    CHECK(merged("a\nx\n", "a", "a\ny") == "a\nx\ny\n");
    CHECK(merged("a\nx", "a\n", "a\ny\n") == "a\nx\ny\n");
    CHECK(merged("x", "", "y") == "x\ny");
    CHECK_THAT(merged("", "a\nb\n", "a\nc\n"), !Holds("b"));
}
