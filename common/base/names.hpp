#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace orange {

/// Returns an enumerator's name as a string; name_of() is declared with its enumeration.
template <class Enum>
std::string name_text(Enum value) {
    return std::string(name_of(value));
}

/// A row of a table of names. Such a table has a row for each enumerator, in the order of the enumeration, which
/// has_row_for_each() checks.
template <class Enum>
struct NameRow {
    Enum kind;
    std::string_view name;
};

/// Returns true if the enumeration has an enumerator of this value. Compilers print one as "Need::help" in the name of
/// this function, and any other value as "(Need)7".
template <auto value>
constexpr bool is_enumerator() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const auto end = text.find_last_not_of("0123456789]");
    return end != text.npos && text[end] != ')';
}

/// Returns true if row i of the table is of enumerator i, and no enumerator is left. For the static_assert of a table
/// whose rows have `kind` and `name`: `static_assert(has_row_for_each<k_needs>())`.
template <const auto& rows>
constexpr bool has_row_for_each() {
    using Enum = std::remove_cvref_t<decltype(rows[0].kind)>;
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        if (static_cast<std::size_t>(rows[i].kind) != i) return false;
    }
    return !is_enumerator<static_cast<Enum>(std::size(rows))>();
}

/// Returns the enumerator that has the name in the table; nullopt if there is none.
template <class Row, std::size_t count>
constexpr auto kind_named(const Row (&rows)[count], std::string_view name) -> std::optional<decltype(Row::kind)> {
    for (const auto& row : rows) {
        if (row.name == name) return row.kind;
    }
    return std::nullopt;
}

}  // namespace orange
