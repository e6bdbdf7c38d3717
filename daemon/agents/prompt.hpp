#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/agents/harness.hpp"

/// Reads the place on a screen in which a program takes text: its prompt (`prompt` of a definition). What stands there
/// decides whether Orange may type (typing.hpp), and whether it may press Enter afterwards: a line that a person writes
/// has the same bytes as one that Orange pasted.
namespace orange::agents {

/// The lowest prompt of a screen, and the text in it.
struct Prompt {
    enum class State {
        absent,  ///< the screen has no such block, or something else stands below it, such as a menu
        empty,   ///< nothing stands in it but a placeholder or a suggestion
        filled,  ///< text stands in it
    };
    State state = State::absent;
    std::string text = {};  ///< if filled: the text, without blanks and line ends
};

/// Reads the prompt. `styled` is a screen line by line, as the terminal broke it, with its SGR escapes: a suggestion
/// differs from typed text only by being dimmed. Dimmed text does not count as text in the prompt. `cursor` is the line
/// of the terminal's cursor, from 0: if it is known, a prompt without the cursor counts as absent.
Prompt prompt_on(const Harness& harness, std::string_view styled, std::optional<std::size_t> cursor = std::nullopt);

/// The place of a pasted text. A program's mark for a long paste is not that text: it may stand for a person's.
enum class Pasted {
    gone,    ///< not in the prompt
    alone,   ///< the prompt holds exactly that text, however it is wrapped
    beside,  ///< the prompt holds the text, or a part of it, together with other text or cut off
};
Pasted pasted_in(const Harness& harness, std::string_view styled, std::string_view text);

/// True if the definition names a prompt. Without one, nothing is typed.
bool names_prompt(const Harness& harness);

}  // namespace orange::agents
