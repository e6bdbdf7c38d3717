#include "daemon/async/shared_answer.hpp"

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <system_error>
#include <vector>

#include "tests/catch.hpp"

using namespace orange;

namespace {

/// Counts how often it is asked, and answers with the number when it is told to go on.
struct Oracle {
    asio::io_context io;
    async::Wakeup go_on{io.get_executor()};
    int asked = 0;
    std::vector<int> heard;
    async::SharedAnswer<int> answer{[this] { return find(); }};

    Awaitable<int> find() {
        const int number = ++asked;
        const bool told = co_await go_on.wait();
        co_return told ? number : 0;
    }
    Awaitable<void> ask() {
        const auto found = co_await answer.get();
        heard.push_back(*found);
    }
    void begin() {
        async::spawn(io.get_executor(), "test", ask());
        run();
    }
    void run() {
        io.restart();
        io.poll();
    }
    void tell() {
        go_on.notify();
        run();
    }
};

}  // namespace

TEST_CASE("one answer serves all who ask before somebody begins to find it") {
    Oracle oracle;
    for (int i = 0; i < 5; ++i) oracle.begin();
    CHECK(oracle.asked == 1);
    oracle.tell();
    CHECK(oracle.heard == std::vector{1});  // the others came after it was begun
    CHECK(oracle.asked == 2);
    oracle.tell();
    CHECK(oracle.heard == std::vector{1, 2, 2, 2, 2});
    CHECK(oracle.asked == 2);
}

TEST_CASE("all who ask in the same moment share an answer, although it is found without waiting") {
    asio::io_context io;
    int asked = 0, heard = 0;
    async::SharedAnswer<int> answer([&]() -> Awaitable<int> { co_return ++asked; });
    const auto ask = [&]() -> Awaitable<void> {
        const auto found = co_await answer.get();
        heard += *found;
    };
    for (int i = 0; i < 60; ++i) async::spawn(io.get_executor(), "test", ask());
    io.run();
    CHECK(asked == 1);
    CHECK(heard == 60);
}

TEST_CASE("whoever asks later gets a new answer") {
    Oracle oracle;
    oracle.begin();
    oracle.tell();
    oracle.begin();
    oracle.tell();
    CHECK(oracle.heard == std::vector{1, 2});
    CHECK(oracle.answer.begun() == 2);
}

TEST_CASE("an answer that fails is found again for the next") {
    asio::io_context io;
    int asked = 0, heard = 0, failed = 0;
    async::SharedAnswer<int> answer([&]() -> Awaitable<int> {
        co_await async::yield();
        if (++asked == 1) throw std::system_error(asio::error::operation_aborted);
        co_return asked;
    });
    const auto ask = [&]() -> Awaitable<void> {
        try {
            const auto found = co_await answer.get();
            heard += *found;
        } catch (const std::system_error&) {
            ++failed;
        }
    };
    for (int i = 0; i < 3; ++i) async::spawn(io.get_executor(), "test", ask());
    io.run();
    CHECK(failed == 1);
    CHECK(heard == 4);
    CHECK(asked == 2);
}
