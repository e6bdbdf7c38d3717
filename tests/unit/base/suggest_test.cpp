#include "common/base/suggest.hpp"

#include "common/base/slug.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A word is guessed from one that is close to it, whatever its case") {
    const std::vector<std::string> known = {"list", "merge", "respawn", "spawn"};
    CHECK(nearest("mrege", known) == "merge");
    CHECK(nearest("SPAWM", known) == "spawn");
    CHECK(nearest("respwan", known) == "respawn");
    CHECK_FALSE(nearest("frobnicate", known));
    CHECK_FALSE(nearest("", known));
    CHECK_FALSE(nearest(std::string(1000, 'x'), known));
    CHECK_FALSE(nearest("ab", {"x", "yz"}));
    CHECK_FALSE(nearest("nope", {"pending", "working", "done"}));
    CHECK_FALSE(nearest("start", {"stuck"}));
    CHECK(suggestion("lst", known) == "; did you mean list?");
    CHECK_THAT(suggestion("frobnicate", known), Tells("list, merge, respawn, spawn"));
    CHECK(suggestion("x", {}).empty());
}

TEST_CASE("Two swapped letters are one mistake") {
    CHECK(edit_distance("merge", "mrege") == 1);
    CHECK(edit_distance("done", "odne") == 1);
    CHECK(edit_distance("abcd", "badc") == 2);
    CHECK(edit_distance("ab", "ca") == 2);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("Done", "dOnE") == 0);
    CHECK(nearest("odne", {"pending", "working", "done"}) == "done");
}

TEST_CASE("A word is replaced if it stands by itself") {
    const std::string id = "4f2aBcDeFgHiJkLmNoPqR";
    CHECK(with_word("see " + id + ", (" + id + ") and " + id + ".", id, "4f2a") == "see 4f2a, (4f2a) and 4f2a.");
    for (const auto& kept : {"/tasks/shop/" + id + "/logs", "orange-tasks/" + id, id + ".json", id + "-1", "x" + id}) {
        CHECK(with_word(kept, id, "4f2a") == kept);
    }
    CHECK(with_word(id, id, "4f2a") == "4f2a");
    CHECK(with_word("orange allow " + id + ".12, " + id + ".3", id, "4f2a") == "orange allow 4f2a.12, 4f2a.3");
    for (const auto& kept : {id + ".1.json", id + ".1x", id + ".x1", id + ".1-2"}) {
        CHECK(with_word(kept, id, "4f2a") == kept);
    }
    CHECK(with_word("a", "", "b") == "a");
}

TEST_CASE("A slug has the words of a summary in plain letters") {
    CHECK(slug_of("Fix the  Login-redirect!") == "fix-the-login-redirect");
    CHECK(slug_of("Größe don’t") == "grose-dont");
    CHECK(slug_of("--") == "");
}
