#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

/// What a method has that takes nothing, or answers nothing.
namespace orange::rpc {

struct Empty {
    template <class V>
    void describe(V&) {}
};

}  // namespace orange::rpc
