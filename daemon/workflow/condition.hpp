#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/engine/definition.hpp"

namespace orange::workflow {

/// Returns true if no value satisfies the condition ("review_round < -9223372036854775808").
bool is_never(const engine::Condition& condition);

/// Returns values for which both hold, for example "review_round = 2"; nullopt if they exclude each other. An absent
/// condition always holds. Exact: conditions are sets of at most two intervals of 64-bit integers.
std::optional<std::string> both_hold(const std::optional<engine::Condition>& a,
                                     const std::optional<engine::Condition>& b);

/// Returns values for which none of `conditions` holds, for example "review_round = 2"; nullopt if they cover
/// everything.
std::optional<std::string> none_holds(const std::vector<engine::Condition>& conditions);

}  // namespace orange::workflow
