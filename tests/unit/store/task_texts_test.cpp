#include "daemon/store/task_texts.hpp"

#include "tests/catch.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

TEST_CASE_METHOD(TaskWorld, "changes at different places are merged, and those at one place contradict each other") {
    const auto merged = [&](std::string current, std::string base, std::string other) {
        return *wait(merge_bodies(files, processes, home / "task", current, base, other));
    };
    const std::string base = "a\nb\nc\nd\ne\n";
    CHECK(merged("A\nb\nc\nd\ne\n", base, "a\nb\nc\nd\nE\n") == "A\nb\nc\nd\nE\n");
    CHECK(merged("a\nb\nc\nd\ne\nx\n", base, "b\nc\nd\ne\n") == "b\nc\nd\ne\nx\n");
    CHECK(merged("a\xff\nb\nc\nx\n", "a\xff\nb\nc\n", "y\na\xff\nb\nc\n") == "y\na\xff\nb\nc\nx\n");
    CHECK_FALSE(merged("x\n", base, "y\n"));
    CHECK_FALSE(merged(base + "x\n", base, base + "y\n"));
    CHECK(others().empty());
    const auto binary = wait(merge_bodies(files, processes, home / "task", std::string("\0a", 2), std::string("\0b", 2),
                                          std::string("\0c", 2)));
    CHECK(!binary);
}

TEST_CASE("a text is looked for line by line in another one") {
    CHECK(has_all_lines("a\nb\nd", "a\r\nb\n\nd\n"));
    CHECK_FALSE(has_all_lines("a\nb\nd", "a\nlost\n"));
    CHECK(has_all_lines("", " \n"));
}

TEST_CASE_METHOD(TaskWorld, "a merge that cannot write, or whose git fails, is an error and leaves no file") {
    const auto merge = [&] { return wait(merge_bodies(files, processes, home / "task", "a\nx\n", "a\n", "y\na\n")); };
    for (int n = 1; n <= 3; ++n) {
        files.fail_at(n);
        CHECK(merge().error().code == ErrorCode::io);
        CHECK(others().empty());
    }
    files.fail_at(0);
    CHECK(*merge() == "y\na\nx\n");
    struct NoGit final : ProcessRunner {
        Awaitable<Result<Completed>> run(Command) override {
            co_return Error(ErrorCode::io, "starting git: Resource temporarily unavailable");
        }
    } none;
    const auto refused = wait(merge_bodies(files, none, home / "task", "a\nx\n", "a\n", "a\ny\n"));
    CHECK_THAT(refused.error().message, Tells("git"));
    CHECK(others().empty());
}
