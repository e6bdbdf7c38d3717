#include "daemon/async/both.hpp"

#include <asio/io_context.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

using namespace orange;

namespace {

struct Two {
    asio::io_context io;
    async::Wakeup first{io.get_executor()}, second{io.get_executor()};
    std::string order;
    std::string result;
    bool first_fails = false, second_fails = false;

    Awaitable<int> one() {
        order += "a";
        co_await first.wait();
        order += "A";
        if (first_fails) throw std::runtime_error("first");
        co_return 1;
    }
    Awaitable<std::unique_ptr<std::string>> other() {
        order += "b";
        co_await second.wait();
        order += "B";
        if (second_fails) throw std::runtime_error("second");
        co_return std::make_unique<std::string>("two");
    }
    Awaitable<void> run() {
        try {
            const auto results = co_await async::both(one(), other());
            result = std::to_string(results.first) + " " + *results.second;
        } catch (const std::runtime_error& error) {
            result = error.what();
        }
    }
    void go() {
        io.restart();
        io.poll();
    }
};

}  // namespace

TEST_CASE("two run side by side, and the results of both come when both have ended") {
    Two two;
    async::spawn(two.io.get_executor(), "test", two.run());
    two.go();
    CHECK((two.order == "ab" || two.order == "ba"));
    const bool first_ends_first = GENERATE(true, false);
    (first_ends_first ? two.first : two.second).notify();
    two.go();
    CHECK(two.result.empty());
    (first_ends_first ? two.second : two.first).notify();
    two.go();
    CHECK(two.result == "1 two");
}

TEST_CASE("an exception of one of two comes when the other has ended, too") {
    Two two;
    const bool is_first = GENERATE(true, false);
    (is_first ? two.first_fails : two.second_fails) = true;
    async::spawn(two.io.get_executor(), "test", two.run());
    (is_first ? two.first : two.second).notify();
    two.go();
    CHECK(two.result.empty());
    (is_first ? two.second : two.first).notify();
    two.go();
    CHECK(two.result == (is_first ? "first" : "second"));
    CHECK(two.order.size() == 4);
}
