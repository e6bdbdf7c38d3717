#include "daemon/agents/typing.hpp"

#include "tests/catch.hpp"

/// When text may be typed: never where a dialog may stand.
using namespace orange;
using namespace orange::agents;

namespace {

std::string word_for(Typing typing) {
    return typing == Typing::safe ? "safe" : typing == Typing::later ? "later" : "unknown";
}

Harness with_signs(bool composer, bool events) {
    Harness made;
    made.screen.busy = {"works"};
    if (composer) made.composer_empty = {"❯"};
    if (events) made.events.busy = made.events.idle = {"x"};
    return made;
}

}  // namespace

TEST_CASE("text is typed where the program said that it is idle, shows its prompt, or rests, and nowhere else") {
    struct Row {
        Activity activity;
        std::string source;
        bool shows_composer;
        bool dialog;
        bool reads_input;
        bool rests;
        const char* without_sign;  ///< of a definition that names neither a prompt nor events
        const char* with_composer;
        const char* with_events;  ///< and no prompt
        const char* with_both;
    };
    const Row rows[] = {
        // What the program said.
        {Activity::idle, "events", false, false, true, false, "safe", "safe", "safe", "safe"},
        {Activity::busy, "events", false, false, true, false, "later", "later", "later", "later"},
        {Activity::busy, "events", true, false, true, false, "later", "safe", "later", "safe"},
        {Activity::waiting, "events", false, false, true, false, "later", "later", "later", "later"},
        {Activity::limited, "events", false, false, true, false, "safe", "unknown", "safe", "unknown"},
        {Activity::limited, "events", true, false, true, false, "safe", "safe", "safe", "safe"},
        // A dialog that any source shows.
        {Activity::limited, "events", false, true, true, false, "later", "later", "later", "later"},
        {Activity::idle, "events", true, true, true, true, "later", "later", "later", "later"},
        {Activity::idle, "file", true, true, true, true, "later", "later", "later", "later"},
        {Activity::limited, "screen", true, true, true, true, "later", "later", "later", "later"},
        {Activity::waiting, "screen", true, false, true, true, "later", "later", "later", "later"},
        // A prompt.
        {Activity::idle, "screen", true, false, true, false, "unknown", "safe", "unknown", "safe"},
        {Activity::idle, "title", true, false, false, false, "unknown", "later", "unknown", "later"},
        {Activity::unknown, "", true, false, true, false, "unknown", "safe", "unknown", "safe"},
        {Activity::limited, "screen", true, false, true, false, "unknown", "safe", "unknown", "safe"},
        {Activity::busy, "screen", true, false, false, false, "later", "safe", "later", "safe"},
        // None: the end of a turn counts for programs that show none and say nothing.
        {Activity::idle, "screen", false, false, true, true, "safe", "unknown", "unknown", "unknown"},
        {Activity::idle, "title", false, false, true, true, "safe", "unknown", "unknown", "unknown"},
        {Activity::idle, "file", false, false, true, false, "unknown", "unknown", "unknown", "unknown"},
        {Activity::idle, "screen", false, false, true, false, "unknown", "unknown", "unknown", "unknown"},
        {Activity::busy, "screen", false, false, true, false, "later", "later", "later", "later"},
        {Activity::unknown, "", false, false, true, false, "unknown", "unknown", "unknown", "unknown"},
        {Activity::limited, "screen", false, false, true, false, "unknown", "unknown", "unknown", "unknown"},
    };
    for (const auto& row : rows) {
        Reading reading;
        reading.activity = row.activity;
        reading.source = row.source;
        reading.composer = row.shows_composer;
        reading.dialog = row.dialog;
        reading.ended = row.source == "events" && row.activity != Activity::busy && row.activity != Activity::waiting;
        Standing standing;
        standing.reads_input = row.reads_input;
        standing.rests = row.rests;
        INFO(orange::name_of(row.activity) << " by " << row.source << ", prompt " << row.shows_composer << ", dialog "
                                           << row.dialog << ", reads " << row.reads_input << ", rests " << row.rests);
        CHECK(word_for(typing_into(with_signs(false, false), reading, standing)) == row.without_sign);
        CHECK(word_for(typing_into(with_signs(true, false), reading, standing)) == row.with_composer);
        standing.said = true;
        CHECK(word_for(typing_into(with_signs(false, true), reading, standing)) == row.with_events);
        CHECK(word_for(typing_into(with_signs(true, true), reading, standing)) == row.with_both);
    }
}

TEST_CASE("a definition that names nothing that its program shows or says is never typed to") {
    CHECK_FALSE(can_be_typed_to(Harness{}));
    CHECK(can_be_typed_to(with_signs(false, false)));
    auto with_dialogs = Harness{};
    with_dialogs.screen.waiting = {"Really?"};
    with_dialogs.otherwise_idle = true;
    CHECK_FALSE(can_be_typed_to(with_dialogs));
}

TEST_CASE("a screen that only a blank was added to still rests") {
    CHECK(resting_screen("a b\n  ❯ \n") == resting_screen("ab\n❯"));
    CHECK(resting_screen("a b\n❯") != resting_screen("a b\n❯ Yes"));
    CHECK(resting_screen("1 file") != resting_screen("2 files"));
}
