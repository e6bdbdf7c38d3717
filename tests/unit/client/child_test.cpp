#include "client/connection/child.hpp"

#include "tests/catch.hpp"

using namespace orange;
using connection::output_of;
using std::chrono::steady_clock;

TEST_CASE("A program's output is what it prints until it ends, closes it, or has printed enough") {
    CHECK(output_of({"sh", "-c", "echo a; exit 3"}) == "a\n");
    CHECK(output_of({"sh", "-c", "echo a; exec >&-; sleep 1000"}) == "a\n");
    CHECK(output_of({"yes"}, 1001).value_or("").size() == 1001);
    CHECK_FALSE(output_of({"/no/such/program"}));
}

TEST_CASE("A program that prints now and then is not waited for any longer, nor is what it has started") {
    const auto begin = steady_clock::now();
    const auto text = output_of({"sh", "-c", "sleep 1000 & while :; do echo x; sleep 0.05; done"}, 1 << 20,
                                std::chrono::milliseconds(300));
    CHECK(text.value_or("").starts_with("x\n"));
    CHECK(steady_clock::now() - begin < std::chrono::seconds(20));
}
