#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange {

/// The first word of the call that a hook makes: `orange-agent --event FILE [WORD...]`. ORANGE_EVENT of an agent's
/// environment is that command line without the words.
inline constexpr std::string_view k_event_option = "--event";

}  // namespace orange

/// Hands what hooks of an agent's program say to the daemon (agents/events.hpp).
namespace orange::shim {

/// The words as one line, or else the texts of the object of JSON: long ones are cut, other values are left out. Empty
/// for what is neither. Always shorter than a pipe takes at once, so that lines of two hooks do not mix.
std::string event_line(const std::vector<std::string>& words, std::string_view object);

/// Adds the line of `words`, or of the object on stdin, to the file. Always 0, and prints nothing: some programs take
/// what a hook prints for a message to the model. A file that has become too large begins again.
int write_event(const char* file, const std::vector<std::string>& words);

}  // namespace orange::shim
