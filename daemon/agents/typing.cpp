#include "daemon/agents/typing.hpp"

#include "common/base/names.hpp"

namespace orange::agents {

Typing typing_into(const Harness& harness, const Reading& reading, const Prompt& prompt, const RunFacts& standing) {
    const bool busy = reading.activity == Activity::busy;
    if (!names_prompt(harness)) return Typing::never;
    if (reading.dialog || reading.activity == Activity::waiting) return Typing::later;
    const bool is_own = prompt.text.starts_with("[orange]");  // an earlier message, on its way
    if (standing.keys_lately || (prompt.state == Prompt::State::filled && !is_own)) return Typing::writing;
    if (prompt.state == Prompt::State::filled) return Typing::later;
    if (prompt.state == Prompt::State::absent) return busy ? Typing::later : Typing::covered;
    return busy || standing.reads_input ? Typing::safe : Typing::later;
}

std::string_view reason_of(Typing typing) {
    static constexpr NameRow<Typing> k_reasons[] = {
        {Typing::safe, ""},
        {Typing::later, "it cannot take a message yet"},
        {Typing::writing, "somebody is writing in its window"},
        {Typing::covered, "its window does not show its prompt"},
        {Typing::never, "the definition of its program names no prompt"},
    };
    static_assert(has_row_for_each<k_reasons>());
    return k_reasons[static_cast<std::size_t>(typing)].name;
}

std::string resting_screen(std::string_view screen) {
    std::string out;
    for (const char c : screen) {
        if (static_cast<unsigned char>(c) > ' ') out += c;
    }
    return out;
}

}  // namespace orange::agents
