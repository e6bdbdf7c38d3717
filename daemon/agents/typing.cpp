#include "daemon/agents/typing.hpp"

namespace orange::agents {

Typing typing_into(const Harness& harness, const Reading& reading, const Standing& standing) {
    if (reading.dialog || reading.activity == Activity::waiting) return Typing::later;
    const bool busy = reading.activity == Activity::busy;
    if (reading.activity == Activity::idle && reading.source == "events") return Typing::safe;
    if (names_composer(harness)) {
        if (reading.composer) return busy || standing.reads_input ? Typing::safe : Typing::later;
        return busy ? Typing::later : Typing::unknown;
    }
    if (busy) return Typing::later;
    if (reading.ended) return Typing::safe;
    return standing.rests && !standing.said ? Typing::safe : Typing::unknown;
}

bool can_be_typed_to(const Harness& harness) {
    return harness.events.are_told() || names_composer(harness) || tells_busy(harness);
}

std::string resting_screen(std::string_view screen) {
    std::string out;
    for (const char c : screen) {
        if (static_cast<unsigned char>(c) > ' ') out += c;
    }
    return out;
}

}  // namespace orange::agents
