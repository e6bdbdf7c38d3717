#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/engine/definition.hpp"

namespace orange::workflow {

/// No value satisfies it ("review_round < -9223372036854775808").
bool is_never(const engine::Condition& condition);

/// Values for which both hold, as "review_round = 2", or nothing where they exclude each other. An absent condition
/// always holds. Exact: conditions are sets of at most two intervals of 64-bit integers.
std::optional<std::string> both_hold(const std::optional<engine::Condition>& a,
                                     const std::optional<engine::Condition>& b);

/// Values for which none of `conditions` holds, as "review_round = 2", or nothing where they cover everything.
std::optional<std::string> none_holds(const std::vector<engine::Condition>& conditions);

}  // namespace orange::workflow
