#include "daemon/store/task_texts.hpp"

#include "tests/catch.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

TEST_CASE("a text is looked for line by line in another one") {
    CHECK(has_all_lines("a\nb\nd", "a\r\nb\n\nd\n"));
    CHECK_FALSE(has_all_lines("a\nb\nd", "a\nlost\n"));
    CHECK(has_all_lines("", " \n"));
}

TEST_CASE_METHOD(TaskWorld, "the body of a TASK.md is read only if it is a file that is not too large") {
    start("body\n");
    CHECK(*read_body(files, copies.own) == "body\n");
    std::filesystem::resize_file(copies.own, k_largest_text + 1);
    CHECK(read_body(files, copies.own).error().code == ErrorCode::io);
    std::filesystem::remove(copies.own);
    CHECK(read_body(files, copies.own).error().code == ErrorCode::not_found);
    std::filesystem::create_directory(copies.own);
    CHECK(read_body(files, copies.own).error().code == ErrorCode::io);
}

TEST_CASE_METHOD(TaskWorld, "files with lines that went are found by their names, also those of older versions") {
    start("body\n");
    write_text(home / "task/TASK.kept-20261120T104903.120Z.md", "line\n");
    write_text(home / "task/TASK.md.conflict-20250101", "line\n");
    CHECK(kept_texts(files, home / "task").size() == 2);
}
