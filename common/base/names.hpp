#pragma once

#include <string>

namespace orange {

/// The name of an enumerator as a string, from the name_of() beside its enumeration.
template <class Enum>
std::string name_text(Enum value) {
    return std::string(name_of(value));
}

}  // namespace orange
