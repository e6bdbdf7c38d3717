#include "daemon/app/newcomers.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace orange;

namespace {

struct FakeNewcomer final : Newcomer {
    using Newcomer::Newcomer;
    bool is_silent() const override { return silent; }
    void close() override { closed = true; }
    bool silent = true, closed = false;
};

std::shared_ptr<FakeNewcomer> stranger(const std::string& from) {
    return std::make_shared<FakeNewcomer>(from);
}

/// Admits as many silent connections as may be open: of one address, or of as many addresses as it takes.
std::vector<std::shared_ptr<FakeNewcomer>> fill(Newcomers& newcomers, std::size_t count) {
    std::vector<std::shared_ptr<FakeNewcomer>> all;
    for (std::size_t n = 0; n < count; ++n) {
        all.push_back(stranger("10.0.0." + std::to_string(n / Newcomers::k_most_of_address)));
        REQUIRE(newcomers.admit(all.back()));
    }
    return all;
}

}  // namespace

TEST_CASE("for one more connection of an address, the oldest of that address is closed and no other") {
    Newcomers newcomers;
    const auto other = stranger("10.0.0.9");
    REQUIRE(newcomers.admit(other));
    const auto flood = fill(newcomers, Newcomers::k_most_of_address);
    REQUIRE(newcomers.admit(stranger("10.0.0.0")));
    CHECK_FALSE(other->closed);
    CHECK(flood[0]->closed);
    CHECK_FALSE(flood[1]->closed);
    CHECK(newcomers.size() == Newcomers::k_most_of_address + 1);
}

TEST_CASE("for one more connection of any address, the oldest of all is closed") {
    Newcomers newcomers;
    const auto flood = fill(newcomers, Newcomers::k_most);
    REQUIRE(newcomers.admit(stranger("10.0.0.9")));
    CHECK(flood[0]->closed);
    CHECK(newcomers.size() == Newcomers::k_most);
}

TEST_CASE("a connection that has sent something goes after silent ones, and one that is checked never") {
    Newcomers newcomers;
    const auto flood = fill(newcomers, Newcomers::k_most_of_address);
    flood[0]->is_checked = true;
    flood[1]->silent = false;
    for (std::size_t n = 0; n < Newcomers::k_most_of_address - 2; ++n) {
        const auto talker = stranger("10.0.0.0");
        talker->silent = false;
        REQUIRE(newcomers.admit(talker));
    }
    CHECK_FALSE(flood[0]->closed);
    CHECK_FALSE(flood[1]->closed);
    CHECK(flood[2]->closed);
    REQUIRE(newcomers.admit(stranger("10.0.0.0")));
    CHECK_FALSE(flood[0]->closed);
    CHECK(flood[1]->closed);
}

TEST_CASE("while the hellos of as many as may be open are checked, one more is not admitted") {
    Newcomers newcomers;
    const auto flood = fill(newcomers, Newcomers::k_most_of_address);
    for (const auto& each : flood) each->is_checked = true;
    CHECK_FALSE(newcomers.admit(stranger("10.0.0.0")));
    CHECK_FALSE(newcomers.close_oldest());
    CHECK(newcomers.admit(stranger("10.0.0.1")));  // another address is not concerned
    newcomers.remove(*flood[0]);
    CHECK(newcomers.admit(stranger("10.0.0.0")));
}
