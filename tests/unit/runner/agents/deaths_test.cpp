#include "daemon/runner/agents/deaths.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

/// Ten agents, and a clock.
struct Agents {
    Deaths deaths;
    Deaths::Time now{};
    std::size_t runs = 10;
    std::vector<Deaths::Open> open;

    static RunId run(int number) { return RunId{"run" + std::to_string(number)}; }
    void end(int number) { open.push_back(deaths.begin(run(number), now)); }
    bool are_many(int number) { return deaths.are_many(run(number), runs, now); }
    std::size_t die(int number) {
        --runs;
        return deaths.has_died(run(number), now);
    }
};

}  // namespace

TEST_CASE("half of the agents are many, and all of them know it before the first is dealt with") {
    Agents agents;
    for (int n = 0; n < 4; ++n) agents.end(n);
    CHECK_FALSE(agents.are_many(0));
    agents.end(4);
    for (int n = 0; n < 5; ++n) {
        CHECK(agents.are_many(n));
        agents.die(n);
    }
}

TEST_CASE("ends come together while one follows the other") {
    Agents agents;
    for (int n = 0; n < 4; ++n) agents.end(n);
    CHECK_FALSE(agents.deaths.come_together(agents.now, 50ms));
    agents.end(4);
    CHECK(agents.deaths.come_together(agents.now, 50ms));
    agents.now += 40ms;
    agents.end(5);
    agents.now += 40ms;
    CHECK(agents.deaths.come_together(agents.now, 50ms));
    agents.now += 10ms;
    CHECK_FALSE(agents.deaths.come_together(agents.now, 50ms));
}

TEST_CASE("of four agents none is one of many") {
    Agents agents;
    agents.runs = 4;
    for (int n = 0; n < 4; ++n) agents.end(n);
    CHECK_FALSE(agents.are_many(0));
}

TEST_CASE("the last of many that are dealt with slowly is one of them, and a later death is not") {
    Agents agents;
    for (int n = 0; n < 5; ++n) agents.end(n);
    CHECK(agents.are_many(0));
    agents.die(0);
    agents.now += 60s;
    agents.end(7);
    for (int n = 1; n < 4; ++n) agents.deaths.has_not_died(Agents::run(n));
    CHECK(agents.are_many(4));
    agents.die(4);
    CHECK_FALSE(agents.are_many(7));
}

TEST_CASE("an end that is no death does not count, nor one that nobody deals with any more") {
    Agents agents;
    for (int n = 0; n < 6; ++n) agents.end(n);
    agents.deaths.has_not_died(Agents::run(5));
    agents.open.erase(agents.open.begin() + 4);
    CHECK_FALSE(agents.are_many(0));
}

TEST_CASE("an end that two deal with counts once, until the first of them is through") {
    Agents agents;
    for (int n = 0; n < 4; ++n) agents.end(n);
    auto second = agents.deaths.begin(Agents::run(0), agents.now);
    CHECK_FALSE(second);
    CHECK_FALSE(agents.are_many(0));
    second.reset();
    agents.end(4);
    CHECK(agents.are_many(4));
}

TEST_CASE("deaths one after the other count for ten seconds, and an agent that runs again is one agent") {
    Agents agents;
    for (int n = 0; n < 4; ++n) {
        agents.end(n);
        CHECK_FALSE(agents.are_many(n));
        const auto death = agents.die(n);
        ++agents.runs;
        agents.deaths.is_back(death);
        agents.deaths.is_back(death);
        agents.open.clear();
        agents.now += 2s;
    }
    SECTION("a fifth within that time is one of many") {
        agents.end(4);
        CHECK(agents.are_many(4));
    }
    SECTION("a fifth after the first is forgotten is not") {
        agents.now += 3s;
        agents.end(4);
        CHECK_FALSE(agents.are_many(4));
        agents.deaths.is_back(0);  // long forgotten
    }
}

TEST_CASE("a dead agent that nobody starts again is known as long as its death counts") {
    Agents agents;
    for (int n = 0; n < 4; ++n) {
        agents.end(n);
        agents.die(n);
    }
    agents.open.clear();
    agents.end(4);
    CHECK(agents.are_many(4));  // 5 of 10; without the four it would be 5 of 6
    agents.die(4);
    agents.open.clear();
    agents.now += 11s;
    agents.end(5);
    CHECK_FALSE(agents.are_many(5));
}

TEST_CASE("whoever deals with an end may outlive everything else") {
    Deaths::Open open;
    {
        Deaths deaths;
        open = deaths.begin(RunId{"run"}, {});
    }
    open.reset();  // AddressSanitizer would see it
    CHECK_FALSE(open);
}
