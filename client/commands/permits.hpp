#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/task_queries.hpp"

/// `orange allow` and `orange deny`: the answers to requests of agents' programs (docs/permits.md).
namespace orange::commands {

/// A request as people name it.
struct PermitName {
    std::string task;
    std::optional<std::int64_t> number;
};
/// Splits `4f2a.2`: the number is what follows the last dot, if that is digits. Another word names a task alone.
PermitName permit_name(std::string_view word);

/// The answer that the human wants to give, and what is known about the human.
struct PermitWish {
    bool allows = false;
    bool yes = false;      ///< the human has seen it elsewhere
    bool may_ask = false;  ///< the human can be asked here
};
struct PermitChoice {
    std::int64_t number = 0;
    const rpc::PermitView* to_show = nullptr;  ///< to be shown whole and confirmed first; null: neither
};
/// Chooses the request to answer. A short one is answered at once if it is named; else it is shown whole and asked for.
/// needs_force where that is not possible; invalid_argument, with their numbers, if several are open and none is named;
/// not_found if there is none to allow; forbidden to allow what is not whole. A request that is not open any more can
/// be denied, so that the daemon says what became of it.
Result<PermitChoice> choose_permit(const rpc::TaskShow::Reply& reply, std::optional<std::int64_t> number,
                                   const PermitWish& wish);

struct PermitOptions {
    std::optional<std::string> request;  ///< `4f2a.2` or a task; unset: the task of this workspace
    std::vector<std::string> words;      ///< of a denial: what the agent is told
    bool yes = false;
};
Status task_allow(Context& context, const PermitOptions& options);
Status task_deny(Context& context, const PermitOptions& options);

}  // namespace orange::commands
