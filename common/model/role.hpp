#pragma once

#include <cstddef>
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

inline constexpr NameRow<Role> k_role_names[] = {
    {Role::worker, "worker"}, {Role::reviewer, "reviewer"}, {Role::human, "human"},
    {Role::system, "system"}, {Role::unknown, "unknown"},
};
static_assert(has_row_for_each<k_role_names>());
constexpr std::string_view name_of(Role role) {
    return k_role_names[static_cast<std::size_t>(role)].name;
}

constexpr std::optional<Role> role_from(std::string_view name) {
    return kind_named(k_role_names, name);
}
constexpr std::optional<Role> from_name(std::string_view name, Role) {
    return role_from(name);
}

}  // namespace orange
