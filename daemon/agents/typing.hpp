#pragma once

#include "daemon/agents/harness.hpp"
#include "daemon/agents/prompt.hpp"

/// Decides when text may be typed into a program's window. A key that is pressed in a dialog or a menu answers it, and
/// Enter sends what a person writes. So nothing is typed, least of all Enter, unless the window shows an empty prompt.
namespace orange::agents {

enum class Typing {
    safe,     ///< the program reads typed text as a message
    later,    ///< it works, starts or shows a known dialog: this ends, or its human knows of it
    writing,  ///< somebody writes in the window, or did a moment ago
    covered,  ///< no prompt is in sight, perhaps because a menu is open: its human has to deliver the text
    never,    ///< the definition names no prompt
};

/// Facts about the run that its window does not show now.
struct RunFacts {
    bool reads_input = false;  ///< it has worked, or has shown its window for long enough
    bool keys_lately = false;  ///< a person has pressed keys in the window within `idle_after`
};

/// Decides by what is on the screen in this moment. What the program reports only holds text back: an event that says
/// "idle" does not tell that a person has opened a menu since. docs/harnesses.md has the table.
Typing typing_into(const Harness& harness, const Reading& reading, const Prompt& prompt, const RunFacts& standing);

/// Returns why nothing is typed, as the end of a sentence; empty for `safe`.
std::string_view reason_of(Typing typing);

/// Returns the part of the screen that does not change while a program only redraws it.
std::string resting_screen(std::string_view screen);

}  // namespace orange::agents
