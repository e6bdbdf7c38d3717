#include "common/base/shown_path.hpp"

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A path is shown as it is, or quoted so that it is one line and no other path") {
    for (const std::string plain : {"a", "src/total.ts", "a file", "Größe/😀", "it's", "a,b"}) {
        CHECK(shown_path(plain) == plain);
    }
    CHECK(shown_path("two\nlines") == R"("two\nlines")");
    CHECK(shown_path("two\\nlines") == R"("two\\nlines")");
    CHECK(shown_path("a\tb\r") == R"("a\tb\r")");
    CHECK(shown_path("\"a\"") == R"("\"a\"")");
    CHECK(shown_path(" a ") == R"(" a ")");
    CHECK(shown_path("\x1b[31m\x01") == R"("\033[31m\001")");
    CHECK(shown_path("é\xff\xc3") == "\"é\\377\\303\"");
    CHECK(shown_path("a\u202eb") == R"("a\342\200\256b")");
}
