#pragma once

#include <string>
#include <utility>

#include "daemon/workflow/load.hpp"
#include "tests/catch.hpp"

namespace orange::test {

/// A workflow that has no problem.
inline engine::Definition loaded(const std::string& text, const std::string& name) {
    auto result = workflow::load(text, name + ".yml", name);
    INFO(workflow::describe(result.problems, name + ".yml"));
    REQUIRE(result.ok());
    return std::move(result.definition);
}

}  // namespace orange::test
