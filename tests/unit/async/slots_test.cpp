#include "daemon/async/slots.hpp"

#include <asio/io_context.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace orange;

namespace {

struct Queue {
    asio::io_context io;
    async::Slots slots{io.get_executor(), 2};
    std::vector<async::Slots::Slot> held;
    std::string order;

    Awaitable<void> come(char name) {
        auto slot = co_await slots.take();
        order += name;
        held.push_back(std::move(slot));
    }
    void begin(const std::string& names) {
        for (const char name : names) async::spawn(io.get_executor(), "test", come(name));
        io.restart();
        io.poll();
    }
    void leave() {
        held.erase(held.begin());
        io.restart();
        io.poll();
    }
};

}  // namespace

TEST_CASE("so many have a slot at a time, and the others come in order") {
    Queue queue;
    queue.begin("abcde");
    CHECK(queue.order == "ab");
    queue.leave();
    CHECK(queue.order == "abc");
    queue.leave();
    queue.leave();
    CHECK(queue.order == "abcde");
    queue.leave();
    queue.leave();
    queue.begin("fgh");
    CHECK(queue.order == "abcdefg");
}

TEST_CASE("slots that are free together are all taken") {
    Queue queue;
    queue.begin("abcd");
    queue.held.clear();
    queue.io.restart();
    queue.io.poll();
    CHECK(queue.order == "abcd");
}

TEST_CASE("a slot may outlive the slots, and those who wait for one may never get it") {
    async::Slots::Slot slot;
    {
        Queue queue;
        queue.begin("abc");
        slot = queue.held[0];
    }
    slot.reset();  // AddressSanitizer would see it
    CHECK_FALSE(slot);
}
