#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

/// Parameters of a method without parameters, or the result of a method without a result.
namespace orange::rpc {

struct Empty {
    void describe(auto&) {}
};

}  // namespace orange::rpc
