#pragma once

#include <string>
#include <vector>

#include "common/model/json.hpp"

namespace orange::output {

/// A history's events, each change of status before what followed from it, although it is written when all of that is
/// done.
std::vector<Json> causes_first(const Json& events);
/// When it happened, as the history has it: a change of status when it was committed.
std::string time_of(const Json& event);

/// A history event as one line for people ("planning → working, by the worker"); printable. An event that this version
/// does not know is its type and its fields.
std::string event_sentence(const Json& event);

/// A string member of `json`, printable; empty where there is none. Numbers and truth values as text.
std::string text_of(const Json& json, const char* key);

}  // namespace orange::output
