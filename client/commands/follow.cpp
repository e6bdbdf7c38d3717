#include "client/commands/follow.hpp"

#include "client/commands/interrupts.hpp"
#include "client/output/terminal.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using What = EventStream::What;

/// The longest wait for an event: a signal may come just before it begins, and a closed reader is not reported.
constexpr milliseconds k_turn{500};
/// The time in which the daemon's reply may come after its time limit.
constexpr milliseconds k_reply{1000};
/// The event of the last step may arrive a moment after the state that it leads to.
constexpr milliseconds k_last_events{200};

std::int64_t seconds_until(steady_clock::time_point time) {
    return std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::seconds>(time - steady_clock::now()).count());
}

void remark(What what) {
    if (what == What::lost)
        output::print_error(
            "orange: the daemon has stopped; waiting for it to start again (any orange command starts it)\n");
    if (what == What::back) output::print_error("orange: the daemon is running again\n");
    if (what == What::resync)
        output::print_error("orange: some events were missed. To see the current state: orange list\n");
}

}  // namespace

Result<bool> follow(EventStream& stream, Follower follower) {
    bool lost = false;
    auto lost_at = steady_clock::now();
    for (EventStream::Next next;;) {
        TRY(const bool over, follower.enough(next));
        if (over) return true;
        const auto left = follower.until - steady_clock::now();
        if (interrupted() || left <= milliseconds(0) || !follower.has_reader()) return false;
        TRY(next, stream.next(std::min(k_turn, std::chrono::ceil<milliseconds>(left))));
        remark(next.what);
        if (next.what == What::event) follower.event(next.event);
        if (next.what == What::lost) lost_at = steady_clock::now();
        if (next.what != What::nothing) lost = next.what == What::lost;
        if (lost && steady_clock::now() - lost_at >= follower.patience) {
            return Error(
                ErrorCode::unavailable,
                "the daemon has stopped and did not start again; the task is unchanged\n  orange daemon start");
        }
    }
}

Result<bool> follow_task(EventStream& stream, rpc::TaskWait wait, Follower follower, rpc::TaskWait::Reply& answer) {
    const auto agrees = std::move(follower.enough);
    bool asked = false;
    if (wait.timeout) follower.until = steady_clock::now() + std::chrono::seconds(*wait.timeout) + k_reply;
    follower.enough = [&](const EventStream::Next& came) -> Result<bool> {
        if (came.what == What::answer) {
            TRY(answer, connection::reply_as<rpc::TaskWait::Reply>(wait.k_name, came.answer));
            if (!agrees || answer.timed_out) return true;
            TRY(const bool enough, agrees(came));
            asked = enough;
            return enough;  // otherwise a change is under way: ask again after the next event
        }
        if (came.what == What::lost) asked = false;
        if (asked || came.what == What::lost) return false;
        if (wait.timeout) wait.timeout = seconds_until(follower.until - k_reply);
        const auto sent = stream.ask(wait);
        asked = sent.has_value();
        if (!sent && sent.error().code != ErrorCode::unavailable) return sent.error();
        return false;
    };
    return follow(stream, follower);
}

void take_rest(EventStream& stream, const Follower::OnEvent& event) {
    for (auto next = stream.next(k_last_events); next && next->what == What::event; next = stream.next(k_last_events)) {
        event(next->event);
    }
}

}  // namespace orange::commands
