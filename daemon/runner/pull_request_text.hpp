#pragma once

#include <string>
#include <string_view>

#include "daemon/runner/world.hpp"

namespace orange::pulls {

/// What a task's pull request says: the summary, TASK.md's `## Context`, and the repository's own template as it is on
/// the default branch. Cut where GitHub would not take more.
Awaitable<Result<std::string>> pull_request_body(World& world, const TaskRecord& record, Project project);

/// The three parts put together.
std::string joined_body(std::string_view summary, std::string_view background, std::string_view repository_text);

}  // namespace orange::pulls
