#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "tests/catch_version.hpp"
#include "tests/facts.hpp"

namespace orange::tests {

/// An enumeration whose name_of() is found with it.
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
    { name_of(value) } -> std::convertible_to<std::string_view>;
};

}  // namespace orange::tests

namespace Catch {

/// A failed check shows the enumerator's name instead of its number.
template <orange::tests::NamedEnum Enum>
struct StringMaker<Enum> {
    static std::string convert(Enum value) { return std::string(name_of(value)); }
};

}  // namespace Catch
