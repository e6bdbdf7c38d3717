#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::output {

/// Returns ✓, ! or ✗ and a sentence for each finding, with its file and the command that fixes it below.
std::string doctor_page(const std::vector<rpc::Finding>& findings, const Style& style);

/// Returns the number of errors.
std::size_t errors_in(const std::vector<rpc::Finding>& findings);

}  // namespace orange::output
