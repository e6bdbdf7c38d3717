#include "common/config/versions.hpp"

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("versions are compared by their numbers, letters passed over") {
    CHECK(is_older("2.9.5", "2.36"));
    CHECK(is_older("2.35.1", "2.36"));
    CHECK_FALSE(is_older("2.36", "2.36"));
    CHECK_FALSE(is_older("2.39.5", "2.36"));
    CHECK_FALSE(is_older("3.0", "2.36"));
    CHECK(is_older("3.1c", "3.2"));
    CHECK_FALSE(is_older("3.3a", "3.2"));
}

TEST_CASE("the version is found in what the programs print") {
    CHECK(version_word("git version 2.39.5\n") == "2.39.5");
    CHECK(version_word("tmux 3.3a\n") == "3.3a");
    CHECK(version_word("tmux next-3.5\n") == "3.5");
    CHECK(version_word("gh version 2.23.0 (2023-02-27)\nhttps://x/v1\n") == "2.23.0");
    CHECK(version_word("no number") == "");
    CHECK(version_word("") == "");
}
