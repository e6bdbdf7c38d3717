#include "common/base/names.hpp"

#include "common/base/error.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

enum class Fruit { apple, pear, plum };

constexpr NameRow<Fruit> k_fruits[] = {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}, {Fruit::plum, "plum"}};
constexpr NameRow<Fruit> k_without_last[] = {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}};
constexpr NameRow<Fruit> k_swapped[] = {{Fruit::pear, "pear"}, {Fruit::apple, "apple"}, {Fruit::plum, "plum"}};

std::string_view name_of(Fruit fruit) {
    return k_fruits[static_cast<std::size_t>(fruit)].name;
}

enum class Nameless { first, second };

}  // namespace

TEST_CASE("A table of names has a row for each enumerator, in their order") {
    STATIC_REQUIRE(has_row_for_each<k_fruits>());
    STATIC_REQUIRE_FALSE(has_row_for_each<k_without_last>());
    STATIC_REQUIRE_FALSE(has_row_for_each<k_swapped>());
    STATIC_REQUIRE(is_enumerator<ErrorCode::internal>());
    STATIC_REQUIRE_FALSE(is_enumerator<static_cast<ErrorCode>(1000)>());
    STATIC_REQUIRE(kind_named(k_fruits, "pear") == Fruit::pear);
    STATIC_REQUIRE_FALSE(kind_named(k_fruits, "stone").has_value());
}

TEST_CASE("A failed check shows an enumerator's name if it has one") {
    CHECK(Catch::StringMaker<ErrorCode>::convert(ErrorCode::gate_failed) == "gate_failed");
    CHECK(Catch::StringMaker<Fruit>::convert(Fruit::plum) == "plum");
    STATIC_REQUIRE_FALSE(tests::NamedEnum<Nameless>);
    STATIC_REQUIRE_FALSE(tests::NamedEnum<int>);
}
