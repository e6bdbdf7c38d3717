#pragma once

#include <string>
#include <vector>

#include "common/model/pull_request.hpp"
#include "daemon/forge/forge.hpp"

namespace orange::pulls {

/// What people and checks said about a pull request, as an agent gets it: fenced, and marked as text from outside.
/// `what`: the reason, one line.
std::string feedback_text(const std::string& what, const PullRequest& pull, const std::vector<PullRemark>& remarks);

}  // namespace orange::pulls
