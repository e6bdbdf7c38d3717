#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"

namespace orange {

/// The option of the call that a hook makes: `orange-agent --event FILE [WORD...]`. ORANGE_EVENT in an agent's
/// environment is this command line without the words.
inline constexpr std::string_view k_event_option = "--event";

/// The option of the hook with which a program asks its human (ask.hpp): `orange-agent --ask FILE`. ORANGE_ASK is this
/// command line.
inline constexpr std::string_view k_ask_option = "--ask";

}  // namespace orange

/// Passes events from the hooks of an agent's program to the daemon (agents/events.hpp).
namespace orange::shim {

/// Returns the words as one line. Without words, returns the texts of the JSON object: long ones are cut, except paths.
/// A list is replaced by the number of its items. An object is replaced by its member `command`, or by its JSON, and
/// NAME_hash is added: a hash of all of it, but for the `description` of a `command`, which is the same for the same
/// call. Other values are omitted. Empty if there is neither. A single word NAME=VALUE is a member that is added to the
/// object. The line is short enough to be written at once, so that the lines of two hooks do not mix.
std::string event_line(const std::vector<std::string>& words, std::string_view object);

/// Appends the line of `words`, or of the object on stdin, to the file; a file that has become too large is emptied
/// first. Always returns 0, and prints nothing: some programs treat the output of a hook as a message to the model.
int write_event(const char* file, const std::vector<std::string>& words);

// For ask.hpp:

/// Reads all of stdin, even if not all is kept: a program must never wait because its hook does not read.
std::string all_of_stdin();
/// Returns the object as one line of ASCII.
std::string line_of(const Json& object);
/// Appends the line, unless that cannot be done. `may_empty`: a file that has become too large is emptied first.
void append_line(const char* file, const std::string& line, bool may_empty);

}  // namespace orange::shim
