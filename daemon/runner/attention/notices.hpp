#pragma once

#include <string>
#include <string_view>

#include "daemon/engine/notices.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

using engine::clear;

/// Raises a notice with the current time. `text` says what happened; its first line is a sentence of its own. `command`
/// is what to run; empty if that depends on the task's state (engine/needs.hpp). The caller saves the record.
void raise(const World& world, TaskRecord& record, NoticeKind kind, std::string text, std::string command = {},
           std::string cause = {});

/// Returns the command in the last line of a text ("\n  orange …"): to repeat what failed would fail again. Else
/// returns the other one.
std::string way_out_of(std::string_view text, std::string otherwise = {});

/// Returns the notices of a record and those that follow from its other fields: the changed programs and harnesses.
std::vector<Notice> all_notices(const TaskRecord& record);

}  // namespace orange
