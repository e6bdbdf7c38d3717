#pragma once

#include <string>
#include <vector>

#include "common/model/json.hpp"

namespace orange::output {

/// Returns a history's events with each change of status before its consequences, although the history has it after
/// them.
std::vector<Json> causes_first(const Json& events);
/// Returns the time of an event; for a change of status, when it was committed.
std::string time_of(const Json& event);

/// Returns a history event as one printable line ("planning → working, by the worker"). An unknown event is shown with
/// its type and its fields.
std::string event_sentence(const Json& event);

/// Returns a member of `json` as printable text, also a number or a truth value; empty if there is none.
std::string text_of(const Json& json, const char* key);

}  // namespace orange::output
