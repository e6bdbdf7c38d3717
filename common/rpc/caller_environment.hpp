#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

namespace orange::rpc {

/// Facts of the environment in which a client was called: its PATH, and the names of its variables. The values of
/// variables stay with the client.
struct CallerEnvironment {
    std::optional<std::string> path;
    std::vector<std::string> variables;
    void describe(auto& v) {
        v.optional("path", path, "the caller's PATH: agents' programs that no shell's PATH has are looked up there");
        v.optional("variables", variables, "names of the variables that the caller has; no values");
    }
};

}  // namespace orange::rpc
