#include "client/dashboard/wire.hpp"

#include <utility>

#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Never ping the daemon from here: the screen must not block. The person sees whether the daemon answers.
constexpr connection::Patience k_no_questions{std::chrono::hours(24 * 365), milliseconds(0)};
constexpr milliseconds k_soon{200}, k_later{2000}, k_fresh{10'000};

}  // namespace

void Wire::start() {
    if (start_.is_running()) return;
    lost_at_ = steady_clock::now();
    retry_at_ = lost_at_;
    retry();
    if (exchange_.is_open()) return;
    // A daemon may take many seconds to start.
    const auto begun = start_.start([paths = paths_] {
        const auto started = connection::connect_or_start(paths);
        return started ? std::string() : started.error().message;
    });
    if (!begun) return lose(begun.error().message);
    incoming_.link(Link::State::starting, "");
}

/// Handles the result of a start, when there is one.
void Wire::take_start() {
    auto problem = start_.take();
    if (!problem || exchange_.is_open()) return;
    retry_at_ = {};
    retry();
    if (!exchange_.is_open()) lose(std::move(*problem));
}

void Wire::lose(std::string why) {
    exchange_.close();
    (void)exchange_.take_open();
    lost_at_ = steady_clock::now();
    retry_at_ = lost_at_ + k_soon;
    incoming_.link(Link::State::down, std::move(why));
}

void Wire::receive() {
    take_start();
    if (!exchange_.receive()) lose("");
}

void Wire::retry() {
    const auto now = steady_clock::now();
    if (exchange_.is_open() || now < retry_at_) return;
    auto opened = connection::open_daemon(paths_, milliseconds(0), k_no_questions);
    if (opened) {
        exchange_.use(std::move(*opened));
        return incoming_.link(Link::State::up, "");
    }
    retry_at_ = now + (now - lost_at_ < k_fresh ? k_soon : k_later);
}

bool Wire::is_silent() const {
    const auto at = exchange_.silent_at();
    return at && steady_clock::now() >= *at;
}

std::optional<steady_clock::time_point> Wire::next_time() const {
    if (!exchange_.is_open()) return retry_at_;
    const auto at = exchange_.silent_at();
    return at && steady_clock::now() < *at ? at : std::nullopt;
}

}  // namespace orange::dashboard
