// Stopper of daemon/async/async.hpp.
#include <asio/io_context.hpp>
#include <chrono>

#include "daemon/async/async.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

Awaitable<void> wait_for_ever(bool& went_on) {
    const std::chrono::milliseconds long_time = std::chrono::hours(1);
    co_await async::sleep(long_time);
    went_on = true;
}

}  // namespace

TEST_CASE("a stopper stops what it was made for, once") {
    asio::io_context io;
    bool went_on = false;
    auto stopper = async::spawn_stoppable(io.get_executor(), "test", wait_for_ever(went_on));
    io.poll();
    CHECK_FALSE(io.stopped());
    stopper.stop();
    stopper.stop();
    io.run();
    CHECK(io.stopped());
}

TEST_CASE("a stopper may outlive the context of what it would stop") {
    async::Stopper stopper;
    bool went_on = false;
    {
        asio::io_context io;
        stopper = async::spawn_stoppable(io.get_executor(), "test", wait_for_ever(went_on));
        io.poll();
    }
    stopper.stop();  // nothing is there to be told; AddressSanitizer would see it
    CHECK_FALSE(went_on);
}
