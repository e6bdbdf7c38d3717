#pragma once

#include "daemon/agents/harness.hpp"

/// Decides when text may be typed into a program's window. A key that is pressed in a dialog answers it, so nothing is
/// typed, least of all Enter, if a dialog may be open.
namespace orange::agents {

enum class Typing {
    safe,     ///< the program reads typed text as a message
    later,    ///< it works, starts or shows a known dialog: this ends, or its human knows of it
    unknown,  ///< no sign of a prompt in the window: its human has to deliver the text
};

/// Facts about the run that its window does not show now.
struct Standing {
    bool said = false;         ///< its program has sent an event
    bool reads_input = false;  ///< it has worked, or has shown its window for long enough
    bool rests = false;        ///< it was seen to change from busy to idle, and its screen has not changed since
};

/// Returns `safe` if the program reported that it is idle, or if it shows a known prompt. For definitions that name no
/// prompt: if the program reported that its turn ended in an error, or, without any report, if the run rests.
Typing typing_into(const Harness& harness, const Reading& reading, const Standing& standing);

/// False for a definition with which text is never typed.
bool can_be_typed_to(const Harness& harness);

/// Returns the part of the screen that a resting program must not change.
std::string resting_screen(std::string_view screen);

}  // namespace orange::agents
