#include "daemon/agents/typing.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "tests/catch.hpp"

/// When text may be typed: never where a dialog may stand.
using namespace orange;
using namespace orange::agents;

namespace {

const char* word_for(Typing typing) {
    switch (typing) {
        case Typing::safe: return "safe";
        case Typing::later: return "later";
        case Typing::writing: return "writing";
        case Typing::covered: return "covered";
        case Typing::never: return "never";
    }
    return "";
}

Harness with_prompt() {
    Harness made;
    made.prompt.empty = {"❯"};
    made.events.busy = made.events.idle = {"x"};
    made.screen.busy = {"works"};
    return made;
}

constexpr Prompt::State k_states[] = {Prompt::State::empty, Prompt::State::filled, Prompt::State::absent};

}  // namespace

// The whole rule: each row is what was found out, each column what the prompt shows in that moment. `*` stands for every
// value. An activity by an event is the same as one by the title or the screen: no source alone makes it safe.
TEST_CASE("text is typed only into an empty prompt, where no dialog is open and nobody was a moment ago") {
    struct Row {
        const char* activity;  ///< by any source
        const char* dialog;    ///< a source shows an open dialog
        const char* keys;      ///< a person pressed keys lately
        const char* reads;     ///< it has worked since its start or its last dialog
        const char* empty;
        const char* filled;
        const char* absent;
    };
    const Row table[] = {
        // activity dialog  keys   reads   empty      filled     absent
        {"waiting", "*", "*", "*", "later", "later", "later"},
        {"*", "yes", "*", "*", "later", "later", "later"},
        {"*", "no", "yes", "*", "writing", "writing", "writing"},
        {"busy", "no", "no", "*", "safe", "writing", "later"},
        {"*", "no", "no", "yes", "safe", "writing", "covered"},
        {"*", "no", "no", "no", "later", "writing", "covered"},
    };
    const auto fits = [](std::string_view wanted, bool is) {
        return wanted == "*" || wanted == (is ? "yes" : "no");
    };
    const Activity activities[] = {Activity::unknown, Activity::idle, Activity::busy, Activity::waiting,
                                   Activity::limited};
    int combinations = 0;
    for (const auto activity : activities) {
        for (const char* source : {"events", "file", "title", "screen"}) {
            for (int facts = 0; facts < 8; ++facts) {
                const bool dialog = facts & 1, keys = facts & 2, reads = facts & 4;
                const auto* row = std::find_if(std::begin(table), std::end(table), [&](const Row& each) {
                    const std::string_view wanted = each.activity;
                    return (wanted == "*" || wanted == orange::name_of(activity)) && fits(each.dialog, dialog) &&
                           fits(each.keys, keys) && fits(each.reads, reads);
                });
                REQUIRE(row != std::end(table));
                const char* expected[] = {row->empty, row->filled, row->absent};
                for (int i = 0; i < 3; ++i) {
                    Reading reading;
                    reading.activity = activity;
                    reading.source = source;
                    reading.dialog = dialog;
                    INFO(orange::name_of(activity) << " by " << source << ", dialog " << dialog << ", keys " << keys
                                                   << ", reads " << reads << ", prompt " << i);
                    const Prompt prompt{k_states[i]};
                    CHECK(std::string(word_for(typing_into(with_prompt(), reading, prompt, {reads, keys}))) ==
                          expected[i]);
                    CHECK(typing_into(Harness{}, reading, prompt, {reads, keys}) == Typing::never);
                    ++combinations;
                }
            }
        }
    }
    CHECK(combinations == 5 * 4 * 8 * 3);
}

TEST_CASE("each reason not to type is a sentence's end, and there is none for typing") {
    CHECK(reason_of(Typing::safe).empty());
    for (const auto typing : {Typing::later, Typing::writing, Typing::covered, Typing::never}) {
        CHECK_FALSE(reason_of(typing).empty());
    }
}

TEST_CASE("a screen that only a blank was added to still rests") {
    CHECK(resting_screen("a b\n  ❯ \n") == resting_screen("ab\n❯"));
    CHECK(resting_screen("a b\n❯") != resting_screen("a b\n❯ Yes"));
    CHECK(resting_screen("1 file") != resting_screen("2 files"));
}
