#include "common/model/clash.hpp"

#include "tests/catch.hpp"

using namespace orange;

namespace {

Clash with_task(std::vector<ClashFile> files, std::int64_t more = 0, bool maybe = false) {
    return {"7c1dAbCdEfGhIjKlMnOpQ", "7c1d", "", std::move(files), more, maybe};
}

}  // namespace

TEST_CASE("A clash names the other task or the branch, the first file and how many more there are") {
    CHECK(clash_text(with_task({{"cart.py", 2}})) == "with 7c1d in cart.py, 2 hunks");
    CHECK(clash_text(with_task({{"cart.py", 1}})) == "with 7c1d in cart.py, 1 hunk");
    CHECK(clash_text(with_task({{"logo.png", 0}})) == "with 7c1d in logo.png");
    CHECK(clash_text({"", "", "main", {{"b.c", 1}}}) == "with main in b.c, 1 hunk");
    CHECK(clash_files(with_task({{"a", 0}, {"b", 3}})) == "a and 1 more file");
    CHECK(clash_files(with_task({{"a", 0}, {"b", 3}}, 4)) == "a and 5 more files");
    CHECK(clash_files(with_task({}, 3)) == "3 files");
}

TEST_CASE("A clash with work that is not committed is only possible, and says why") {
    CHECK(clash_clause(with_task({{"cart.py", 2}})) == "clashes with 7c1d in cart.py, 2 hunks");
    CHECK(clash_clause(with_task({{"cart.py", 0}}, 0, true)) == "may clash with 7c1d in cart.py, not committed yet");
}

TEST_CASE("What a file or a branch is called does nothing to the terminal") {
    const auto text = clash_clause({"", "", "ma\x1b[31min", {{"a\nb \x1b[2J", 1}}});
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
    CHECK_THAT(text, Holds("a\\nb"));
}
