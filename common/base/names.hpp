#pragma once

#include <string>

namespace orange {

/// Returns an enumerator's name as a string; name_of() is declared with its enumeration.
template <class Enum>
std::string name_text(Enum value) {
    return std::string(name_of(value));
}

}  // namespace orange
