#pragma once

#include <optional>
#include <string_view>

#include "common/base/names.hpp"

namespace orange {

/// Who asks for something, or whose process runs in a window. Names go into workflows (`by`, `agent`), files and the
/// wire.
enum class Role {
    worker,    ///< the agent that does the task
    reviewer,  ///< the agent that reviews it
    human,     ///< a person, or a script of theirs
    system,    ///< the daemon: exit monitor, pull-request sync, the merge command acting for a human
    unknown,   ///< from inside Orange's tmux, but no agent that we know: may only read
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
