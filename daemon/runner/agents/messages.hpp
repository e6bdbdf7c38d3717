#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Puts a message into the task's durable outbox and saves the record. Called in the task's turn. Outbox delivers the
/// message when the agent can take it. A message with the same `key` is queued once, so that an interrupted transition
/// can repeat the call; an empty key is never the same.
Result<void> queue_message(World& world, Turns& turns, TaskRecord& record, Role to, Role from, std::string text,
                           std::string key = {});

/// Adds a message to a record that the caller saves. `lasts`: if this run has ended, the message stays for the agent's
/// next run.
void add_message(World& world, TaskRecord& record, Role to, Role from, std::string text, bool lasts = false,
                 std::string key = {});

}  // namespace orange
