#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/turns.hpp"

namespace orange {

/// In a turn of the task's: puts a message into its durable outbox, for Outbox to deliver when the agent can take it.
/// `key` names what must not be queued twice (the action of an interrupted transition); empty: no such thing.
Result<void> queue_message(World& world, Turns& turns, TaskRecord& record, Role to, Role from, std::string text,
                           std::string key = {});

/// The same for a record that the caller saves. `lasts`: for the agent's next run, if this one has ended.
void add_message(World& world, TaskRecord& record, Role to, Role from, std::string text, bool lasts = false,
                 std::string key = {});

}  // namespace orange
