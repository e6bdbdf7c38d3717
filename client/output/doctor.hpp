#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::output {

/// ✓, ! or ✗ and a sentence each, with the file at fault and the command that mends it below.
std::string doctor_page(const std::vector<rpc::Finding>& findings, const Style& style);

/// How many are errors.
std::size_t errors_in(const std::vector<rpc::Finding>& findings);

}  // namespace orange::output
