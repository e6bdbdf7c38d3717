#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/engine/definition.hpp"

namespace orange::workflow {

/// An error in a definition: its place, what is wrong, and what would be right.
struct Problem {
    int line = 1;
    int column = 1;
    std::string message;

    bool operator==(const Problem&) const = default;
};

/// A definition, or all its problems. `definition` may be used only if there are none.
struct Loaded {
    engine::Definition definition;
    std::vector<Problem> problems;
    std::vector<Problem> warnings;  ///< possible oversights of the author in a valid definition

    bool ok() const { return problems.empty(); }
};

/// Limits how long the reading of a file blocks all clients.
constexpr std::size_t k_largest_file = std::size_t{128} << 10;

/// Parses and validates a workflow in YAML. Checks everything that docs/workflow.md lists under "Validation".
/// `file_name` is only for syntax errors; `name` must equal `expected_name`, the
/// stem of the file, unless that is empty. A text longer than k_largest_file is rejected without parsing.
Loaded load(std::string_view text, std::string_view file_name, std::string_view expected_name);

/// Returns one line per problem: "default.yml:12:5: unknown action "spawn_agnt"; did you mean spawn_agent?"
std::string describe(const std::vector<Problem>& problems, std::string_view file_name);

/// Returns true for a name that a workflow, a state, a prompt or a message may have.
bool is_name(std::string_view text);

/// Parses "<field> <op> <integer>"; invalid_argument for any other text.
Result<engine::Condition> parse_condition(std::string_view text);

}  // namespace orange::workflow
