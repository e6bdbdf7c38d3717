#include "common/base/ids.hpp"

#include <map>
#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A task id is 21 letters and digits, never the same twice") {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const auto id = random_id(k_task_id_length);
        REQUIRE(is_task_id(id));
        REQUIRE(seen.insert(id).second);
    }
}

TEST_CASE("Every character of the alphabet is about equally likely in an id") {
    std::map<char, int> count;
    for (const char c : random_id(62 * 1000)) ++count[c];
    CHECK(count.size() == 62);
    for (const auto& [c, n] : count) {
        CAPTURE(c, n);
        CHECK(n > 800);
        CHECK(n < 1200);
    }
}

TEST_CASE("Anything but 21 letters and digits is no task id") {
    CHECK(is_task_id("4f2aBcDeFgHiJkLmNoPqR"));
    for (const char* text : {"", "4f2a", "4f2aBcDeFgHiJkLmNoPqRs", "4f2aBcDeFgHiJkLmNoPq-", "../aBcDeFgHiJkLmNoPqRs"}) {
        CAPTURE(text);
        CHECK_FALSE(is_task_id(text));
    }
}

TEST_CASE("A project name is safe in a path and in a tmux session name, or refused with the rule") {
    for (const char* name : {"shop", "a", "0", "my-shop_2"}) CHECK(check_project_name(name));
    for (const std::string name : {"", "-x", "_x", "My", "a--b", "a b", "a/b", "a.b", "a:b", "é", "#(id)"}) {
        CAPTURE(name);
        const auto checked = check_project_name(name);
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(checked.error().message, Tells("lower-case"));
    }
    CHECK(check_project_name(std::string(40, 'a')));
    CHECK_FALSE(check_project_name(std::string(41, 'a')));
}

TEST_CASE("A project name made from any folder's name is a valid one") {
    CHECK(project_name_from("My Shop.git") == "my-shop");
    CHECK(project_name_from("a---b") == "a-b");
    CHECK(project_name_from("...") == "project");
    for (const auto& folder :
         std::vector<std::string>{"", "--", "__x__", "Größe", "x-", std::string(39, 'a') + "-bcd", "#(touch x)"}) {
        CAPTURE(folder);
        CHECK(check_project_name(project_name_from(folder)));
    }
}
