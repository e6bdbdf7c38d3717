#pragma once

#include "daemon/agents/harness.hpp"

/// When text may be typed into a program's window. A key that is pressed in a dialog answers it, so nothing is typed,
/// least of all Enter, where a dialog may stand.
namespace orange::agents {

enum class Typing {
    safe,     ///< the program reads what is typed as a message
    later,    ///< it works, starts or shows a dialog that is known: this ends, or its human knows of it
    unknown,  ///< nothing says that the window shows a prompt: its human has to deliver the text
};

/// Facts of the run besides what it shows now.
struct Standing {
    bool said = false;         ///< its program has said something about itself
    bool reads_input = false;  ///< it has worked, or has shown its window for long enough
    bool rests = false;        ///< it was seen to go from busy to idle, and its screen has not changed since
};

/// `safe` if the program said that it is idle, or shows a prompt that is known. For definitions that name no prompt: if
/// the program said that its turn ended in an error, or, if it says nothing, if the run rests.
Typing typing_into(const Harness& harness, const Reading& reading, const Standing& standing);

/// False for a definition with which nothing is ever typed.
bool can_be_typed_to(const Harness& harness);

/// The screen as far as a program that rests must not change it.
std::string resting_screen(std::string_view screen);

}  // namespace orange::agents
