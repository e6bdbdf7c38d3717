#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/rpc/search_methods.hpp"

namespace orange::output {

/// Returns where a hit stands: "## Review", "TASK.md", "review-2", "status.changed".
std::string place_of(const rpc::SearchHit& hit);

/// Returns a line for each hit, and one for its task in front of the first. `last` is the task of the hit before, and
/// is set to that of the last one.
std::string search_lines(const std::vector<rpc::SearchHit>& hits, std::string& last, Timestamp now, const Style& style);

}  // namespace orange::output
