#include <asio/io_context.hpp>
#include <memory>
#include <vector>

#include "daemon/async/keyed_mutex.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

Awaitable<void> note_after(std::chrono::milliseconds time, std::vector<std::chrono::milliseconds>& ended) {
    const bool slept = co_await async::sleep(time);
    if (slept) ended.push_back(time);
}

Awaitable<void> note_wait(async::Wakeup& notifier, std::vector<bool>& notified) {
    const std::chrono::milliseconds deadline = 1h;
    notified.push_back(co_await notifier.wait(deadline));
}

Awaitable<void> note_lock(async::KeyedMutex& mutexes, int number, std::vector<int>& held, async::Wakeup& go_on) {
    const auto lock = co_await mutexes.acquire("key");
    held.push_back(number);
    co_await go_on.wait();
}

}  // namespace

TEST_CASE("alarms end in the order of their moments, when the time has been advanced past them") {
    test::TestTime time;
    asio::io_context io;
    std::vector<std::chrono::milliseconds> ended;
    for (const auto& each : {2h, 1h, 3h}) async::spawn(io.get_executor(), "test", note_after(each, ended));
    io.poll();
    CHECK(ended.empty());
    const auto before = async::now();
    const auto wall = async::time().now();
    time.advance(2h + 1s);
    CHECK(async::now() - before >= 2h + 1s);
    CHECK(async::time().now() - wall >= 2h + 1s);
    while (ended.size() < 2) io.run_one();
    CHECK(ended == std::vector<std::chrono::milliseconds>{1h, 2h});
    time.advance(1h);
    io.run();
    CHECK(ended.back() == 3h);
}

TEST_CASE("a notifier tells a notification from a deadline that has passed") {
    test::TestTime time;
    asio::io_context io;
    async::Wakeup notifier(io.get_executor());
    std::vector<bool> notified;
    notifier.notify();
    async::spawn(io.get_executor(), "test", note_wait(notifier, notified));
    io.run();
    async::spawn(io.get_executor(), "test", note_wait(notifier, notified));
    notifier.notify();
    io.restart();
    io.run();
    async::spawn(io.get_executor(), "test", note_wait(notifier, notified));
    io.restart();
    io.poll();
    time.advance(2h);
    io.run();
    CHECK(notified == std::vector{true, true, false});
}

TEST_CASE("a lock passes from one to the next, and one that was cancelled meanwhile is left out") {
    asio::io_context io;
    async::KeyedMutex mutexes(io.get_executor());
    async::Wakeup first(io.get_executor()), second(io.get_executor()), third(io.get_executor());
    std::vector<int> held;
    async::spawn(io.get_executor(), "first", note_lock(mutexes, 1, held, first));
    auto stopper = async::spawn_stoppable(io.get_executor(), "second", note_lock(mutexes, 2, held, second));
    async::spawn(io.get_executor(), "third", note_lock(mutexes, 3, held, third));
    io.poll();
    CHECK(held == std::vector{1});
    stopper.stop();
    io.poll();
    first.notify();
    io.poll();
    CHECK(held == std::vector{1, 3});
    third.notify();
    io.run();
    CHECK(mutexes.idle());
}
