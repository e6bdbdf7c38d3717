#include "common/base/forges.hpp"

#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;

TEST_CASE("Every forge has its own words, and the texts about all of them name it") {
    for (const auto* forge : k_forges) {
        CHECK(forge_named(forge->id) == forge);
        CHECK_THAT(std::string(k_forge_names), Holds(forge->name));
        CHECK_THAT(std::string(k_forge_values), Holds(forge->id));
        CHECK_THAT(std::string(k_doc_of_place), Holds(forge->id));
        CHECK_THAT(std::string(k_doc_of_via), Holds(forge->name));
        CHECK(&forge_of_pull(std::string("https://example.org/acme/shop") + forge->page + "7") == forge);
    }
    for (const char* other : {"", "auto", "none", "other", "GitHub"}) CHECK(forge_named(other) == nullptr);
}

TEST_CASE("A pull request has the name that its forge gives it") {
    CHECK(pull_name("7", "https://github.com/acme/shop/pull/7") == "pull request #7");
    CHECK(pull_name("7", "") == "pull request #7");
}
