#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/pull_request.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/world.hpp"

namespace orange::pulls {

/// Returns the text of a task's pull request: the summary, `## Context` of TASK.md, and the repository's template as it
/// is on the default branch. Cut to what forges accept.
Awaitable<Result<std::string>> pull_request_body(World& world, const TaskRecord& record, Project project,
                                                 const ForgeRule* forge);

/// Joins the three parts.
std::string joined_body(std::string_view summary, std::string_view background, std::string_view repository_text);

/// Returns what people and checks said about a pull request, as an agent gets it: fenced, and marked as text from
/// outside. `what`: the reason, one line.
std::string feedback_text(const std::string& what, const PullRequest& pull, const std::vector<PullRemark>& remarks);

}  // namespace orange::pulls
