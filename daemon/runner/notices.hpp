#pragma once

#include <string>

#include "daemon/engine/notices.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

using engine::clear;

/// Raises a notice as of now. `text`: what happened, its first line a sentence of its own. `command`: what to run;
/// empty if that depends on the task's state (engine/needs.hpp). Saving the record is the caller's.
void raise(const World& world, TaskRecord& record, NoticeKind kind, std::string text, std::string command = {},
           std::string cause = {});

/// The notices of a record and those that follow from its other fields: the changed programs and harnesses.
std::vector<Notice> all_notices(const TaskRecord& record);

}  // namespace orange
