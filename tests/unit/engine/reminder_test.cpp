#include "daemon/engine/reminder.hpp"

#include "common/base/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;
using namespace std::chrono_literals;

namespace {

Timestamp at(std::chrono::milliseconds time) {
    return Timestamp{} + 1h + time;
}

}  // namespace

TEST_CASE("an agent whose section is written has forgotten exactly one command") {
    World world("working");
    world.section("Handoff", "DONE: x");
    CHECK(forgotten(world.definition, world.given()) ==
          "Your ## Handoff is written. Run: orange task update --status review");
    World review("review");
    review.section("Review", "Verdict: FAIL");
    CHECK(forgotten(review.definition, review.given()) ==
          "Your ## Review is written. Run: orange task update --status working");
    review.task.counters["review_round"] = 2;
    CHECK(forgotten(review.definition, review.given()) ==
          "Your ## Review is written. Run: orange task update --status stuck");
}

TEST_CASE("an agent whose section is missing is told what the gate needs, and every command behind it") {
    World world("working");
    const auto text = forgotten(world.definition, world.given());
    REQUIRE(text);
    CHECK_THAT(*text, Holds("## Handoff is missing") && Holds("DONE") && Holds("orange task update --status review."));
    world.section("Handoff", "DONE: x");
    world.entry["Handoff"] = orange::sha256("DONE: x");
    CHECK_THAT(*forgotten(world.definition, world.given()), Holds("has not changed"));
    World review("review");
    CHECK_THAT(*forgotten(review.definition, review.given()),
               Holds("--status reviewing (Verdict: PASS) or orange task update --status working (Verdict: FAIL)"));
}

TEST_CASE("nobody is reminded where no exit rule leads on or no agent works") {
    for (const char* status : {"pending", "reviewing", "stuck", "done", "nowhere"}) {
        INFO(status);
        World world(status);
        CHECK_FALSE(forgotten(world.definition, world.given()));
        CHECK_FALSE(decide_idle(world.definition, world.given()));
    }
}

TEST_CASE("an idle agent's section moves the task as its exit would, and a verdict is not attested") {
    World world("working");
    CHECK_FALSE(decide_idle(world.definition, world.given()));
    world.section("Handoff", "DONE: x");
    const auto decision = decide_idle(world.definition, world.given());
    REQUIRE(decision);
    CHECK(decision->to == "review");
    CHECK(decision->attested);
    CHECK_FALSE(decision->counters.contains("crash_count"));
    CHECK(decision->auto_reason == "worker is idle, ## Handoff is there");
    World review("review");
    review.section("Review", "Verdict: PASS");
    CHECK_FALSE(decide_idle(review.definition, review.given())->attested);
}

TEST_CASE("the same is said twice, a while apart, then its human is told, and something else begins anew") {
    const IdleTimes times{60s, 300s};
    const auto entered = at(0s);
    const auto step = [&](const std::optional<Reminder>& told, std::chrono::milliseconds idle,
                          std::optional<Timestamp> human = {}) {
        const auto next = idle_step("run it", told, entered, at(idle), human, times);
        return std::pair(next.kind, next.at);
    };
    using enum IdleStep::Kind;
    CHECK(step({}, 10s) == std::pair(remind, at(70s)));
    CHECK(step(Reminder{"run it", entered, 1, at(70s)}, 75s) == std::pair(remind, at(370s)));
    CHECK(step(Reminder{"run it", entered, 1, at(70s)}, 350s) == std::pair(remind, at(410s)));
    CHECK(step(Reminder{"run it", entered, 2, at(370s)}, 375s) == std::pair(give_up, at(670s)));
    CHECK(step(Reminder{"write it", entered, 2, at(370s)}, 375s) == std::pair(remind, at(435s)));
    CHECK(step(Reminder{"run it", at(-5s), 2, at(370s)}, 375s) == std::pair(remind, at(435s)));
    // A person who has just typed is left alone for as long.
    CHECK(step({}, 10s, at(50s)) == std::pair(remind, at(110s)));
    CHECK(step({}, 10s, at(-50s)) == std::pair(remind, at(70s)));
}
