#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/agents/harness.hpp"

/// Requests of agents' programs, for people, and the answers to them (docs/permits.md).
namespace orange::agents {

/// A request as people see it. All texts are an agent's, and printable.
struct Permit {
    std::string tool;
    std::string line;   ///< what it asks for, in one line of at most 200 columns
    std::string text;   ///< all of it, in lines; equal to `line` if that says everything
    bool whole = true;  ///< nothing of the request is missing in `text`

    /// True if `line` says all of it.
    bool is_short() const { return whole && line == text; }
};

/// Reads the object that a hook of the program got. `cut`: parts of it are missing. nullopt if it is none, if it
/// names no tool, or one that the definition does not ask for.
std::optional<Permit> permit_in(const Harness& harness, std::string_view object, bool cut);

/// Returns what the hook has to print.
std::string permit_answer(const Harness& harness, bool allowed, const std::string& message);

}  // namespace orange::agents
