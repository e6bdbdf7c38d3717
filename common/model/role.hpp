#pragma once

#include <optional>
#include <string_view>

#include "common/base/names.hpp"

namespace orange {

/// The role of a caller, or of the process in a window. The names go into workflows (`by`, `agent`), files and over the
/// wire.
enum class Role {
    worker,    ///< the agent that does the task
    reviewer,  ///< the agent that reviews it
    human,     ///< a person, or a person's script
    system,    ///< the daemon: the exit monitor, the pull-request sync, the merge command on behalf of a human
    unknown,   ///< a caller inside Orange's tmux that is no known agent: may only read
};

constexpr std::string_view name_of(Role role) {
    switch (role) {
        case Role::worker:
            return "worker";
        case Role::reviewer:
            return "reviewer";
        case Role::human:
            return "human";
        case Role::system:
            return "system";
        case Role::unknown:
            return "unknown";
    }
    return "unknown";
}

constexpr std::optional<Role> role_from(std::string_view name) {
    for (const Role role : {Role::worker, Role::reviewer, Role::human, Role::system, Role::unknown}) {
        if (name == name_of(role)) return role;
    }
    return std::nullopt;
}
constexpr std::optional<Role> from_name(std::string_view name, Role) {
    return role_from(name);
}

}  // namespace orange
