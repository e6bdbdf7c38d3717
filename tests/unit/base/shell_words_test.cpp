#include "common/base/shell_words.hpp"

#include "tests/catch.hpp"

using namespace orange;

using Words = std::vector<std::string>;

TEST_CASE("A command line is split into words as a shell would split it") {
    const auto words = [](const std::string& text) { return shell_words(text).value(); };
    CHECK(words("make test") == Words{"make", "test"});
    CHECK(words("  make\t test \n") == Words{"make", "test"});
    CHECK(words("").empty());
    CHECK(words("a 'b  c' \"d  e\" f\\ g ''") == Words{"a", "b  c", "d  e", "f g", ""});
    CHECK(words("x'y z'\"w\"") == Words{"xy zw"});
    CHECK(words(R"(a "\"q\" \\ \n")") == Words{"a", R"("q" \ \n)"});
    CHECK(words(R"(echo '$HOME & `x` \')") == Words{"echo", R"($HOME & `x` \)"});
    CHECK(words("sh -c 'make && make test | tee log'") == Words{"sh", "-c", "make && make test | tee log"});
    CHECK(words("cmd a=b --x=~/y a#b \\* \\$x") == Words{"cmd", "a=b", "--x=~/y", "a#b", "*", "$x"});
}

TEST_CASE("What only a shell can do is refused, with the words that ask for one") {
    for (const std::string text : {"make && make test", "a | b", "a; b", "a > b", "echo $HOME", "echo \"$HOME\"",
                                   "ls *.c", "ls ~/x", "a `b`", "a & ", "a # b", "x[1]", "(a)"}) {
        CAPTURE(text);
        const auto refused = shell_words(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Holds("sh -c '"));
    }
    CHECK_THAT(shell_words("make && make test").error().message, Tells("&&") && Holds("sh -c 'make && make test'"));
    CHECK_FALSE(shell_words("a 'b"));
    CHECK_FALSE(shell_words("a \"b"));
    CHECK_FALSE(check_without_shell({"make", "&&", "make"}));
    CHECK(check_without_shell({"grep", "a|b", "x && y"}));
}
