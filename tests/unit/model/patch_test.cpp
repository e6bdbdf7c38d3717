#include "common/model/patch.hpp"

#include "tests/catch.hpp"

using namespace orange;
using Kind = PatchRow::Kind;

namespace {

constexpr const char* k_two_files =
    "diff --git a/src/cart.py b/src/cart.py\n"
    "index 1..2 100644\n"
    "--- a/src/cart.py\n"
    "+++ b/src/cart.py\n"
    "@@ -10,3 +10,4 @@ def total():\n"
    " a\n"
    "-b\n"
    "+B\n"
    "+C\n"
    " d\r\n"
    "@@ -40 +41,0 @@\n"
    "--- it looked like a header\n"
    "\\ No newline at end of file\n"
    "diff --git a/old b/old\n"
    "deleted file mode 100644\n"
    "--- a/old\n"
    "+++ /dev/null\n"
    "@@ -1 +0,0 @@\n"
    "-gone\n";

const PatchRow& row(const Patch& patch, std::string_view text) {
    for (const auto& each : patch.rows) {
        if (each.text == text) return each;
    }
    FAIL("no row " << text);
    return patch.rows.front();
}

}  // namespace

TEST_CASE("each line of a patch has its numbers in both files") {
    const auto patch = parse_patch(k_two_files);
    REQUIRE(patch.files.size() == 2);
    CHECK(patch.files[0].path() == "src/cart.py");
    CHECK(patch.files[1].before == "old");
    CHECK(patch.files[1].now.empty());
    CHECK(row(patch, " a").before == 10);
    CHECK(row(patch, " a").now == 10);
    CHECK(row(patch, "-b").before == 11);
    CHECK(row(patch, "-b").now == 0);
    CHECK(row(patch, "+C").now == 12);
    CHECK(row(patch, "+C").before == 0);
    CHECK(row(patch, " d\r").line() == "d\r");
    CHECK(row(patch, " d\r").now == 13);
    CHECK(row(patch, "--- it looked like a header").kind == Kind::removed);
    CHECK(row(patch, "--- it looked like a header").before == 40);
    CHECK(row(patch, "\\ No newline at end of file").kind == Kind::other);
    CHECK(row(patch, "-gone").file == 1);
    CHECK(row(patch, "-gone").before == 1);
    CHECK(patch.rows.size() == 19);
}

TEST_CASE("unusual paths, renames, binary files and files without a hunk are known") {
    const auto patch = parse_patch(
        "diff --git a/a b.txt b/a b.txt\n"
        "old mode 100644\n"
        "new mode 100755\n"
        "diff --git \"a/t\\303\\244b\\tx\" \"b/t\\303\\244b\\tx\"\n"
        "new file mode 100644\n"
        "--- /dev/null\n"
        "+++ \"b/t\\303\\244b\\tx\"\n"
        "@@ -0,0 +1 @@\n"
        "+x\n"
        "diff --git a/a/from b/b/to\n"
        "similarity index 100%\n"
        "rename from a/from\n"
        "rename to b/to\n"
        "diff --git a/logo.png b/logo.png\n"
        "Binary files a/logo.png and b/logo.png differ\n"
        "diff --git a/with blank b/with blank\n"
        "--- a/with blank\t\n"
        "+++ b/with blank\t\n"
        "@@ -1 +1 @@\n"
        "-x\n"
        "+y\n");
    REQUIRE(patch.files.size() == 5);
    CHECK(patch.files[0].now == "a b.txt");
    CHECK(patch.files[1].now ==
          "t\xC3\xA4"
          "b\tx");
    CHECK(patch.files[1].before.empty());
    CHECK(patch.files[2].before == "a/from");
    CHECK(patch.files[2].now == "b/to");
    CHECK(patch.files[3].is_binary);
    CHECK(patch.files[3].now == "logo.png");
    CHECK(patch.files[4].now == "with blank");
}

TEST_CASE("any bytes are taken for a patch, and nothing is counted that is not there") {
    for (const char* text : {"", "\n", "@@ -1 +1 @@\n+x\n", "diff --git \n@@ -1,99999999999999999999 +1 @@\n+x",
                             "diff --git a/x b/x\n@@ -1,5 +1,5 @@\n x\ndiff --git a/y b/y\n@@ -1 +1 @@\n-y\n+z\n",
                             "diff --git \"a/x\\", "diff --git \"\\3\"", "+++ b/x\n--- a/x\n"}) {
        const auto patch = parse_patch(text);
        for (const auto& each : patch.rows)
            CHECK((patch.files.empty() ? each.file == 0 : each.file < patch.files.size()));
    }
    const auto cut = parse_patch("diff --git a/x b/x\n@@ -1,5 +1,5 @@\n x\ndiff --git a/y b/y\n@@ -1 +1 @@\n-y\n+z\n");
    REQUIRE(cut.files.size() == 2);
    CHECK(row(cut, "+z").now == 1);
    CHECK(row(cut, "+z").file == 1);
}

TEST_CASE("a line of the old file has its number in the new one, or none") {
    PatchFile file;
    file.hunks = {{3, 0, 4, 2}, {10, 2, 13, 1}};  // two lines added below 3; 10 and 11 became one
    CHECK(line_after(file, 1) == 1);
    CHECK(line_after(file, 3) == 3);
    CHECK(line_after(file, 4) == 6);
    CHECK(line_after(file, 9) == 11);
    CHECK(line_after(file, 10) == 0);
    CHECK(line_after(file, 11) == 0);
    CHECK(line_after(file, 12) == 13);
    file.hunks = {{0, 0, 1, 3}};  // added at the top
    CHECK(line_after(file, 1) == 4);
}
