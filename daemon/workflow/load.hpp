#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/engine/definition.hpp"

namespace orange::workflow {

/// One thing that is wrong with a definition: where, what, and what would be right.
struct Problem {
    int line = 1;
    int column = 1;
    std::string message;

    bool operator==(const Problem&) const = default;
};

/// A definition, or every problem of it at once (never both; `definition` is meaningful only without problems).
struct Loaded {
    engine::Definition definition;
    std::vector<Problem> problems;
    std::vector<Problem> warnings;  ///< of a valid definition: what its author may have forgotten

    bool ok() const { return problems.empty(); }
};

/// All clients wait while a file is read.
constexpr std::size_t k_largest_file = std::size_t{128} << 10;

/// YAML text → validated Definition. Checks everything that docs/workflow.md lists under "Validation": the nine of
/// seed 003 and ours. `file_name` is only for syntax errors; `expected_name` is the file's stem, which `name` must
/// equal. A text that is longer than k_largest_file is not looked at.
Loaded load(std::string_view text, std::string_view file_name, std::string_view expected_name);

/// "default.yml:12:5: unknown action "spawn_agnt"; did you mean spawn_agent?", a line each.
std::string describe(const std::vector<Problem>& problems, std::string_view file_name);

/// `text` as a Condition: "<field> <op> <integer>".
Result<engine::Condition> parse_condition(std::string_view text);

}  // namespace orange::workflow
