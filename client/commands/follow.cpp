#include "client/commands/follow.hpp"

#include "client/commands/interrupts.hpp"
#include "client/output/terminal.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using What = EventStream::What;

/// A signal may come just before the wait for an event begins, and a reader goes without a word.
constexpr milliseconds k_turn{500};
/// What asks for attention without an event of its own (a dialog in the agent's window) is found by looking.
constexpr auto k_look_again = std::chrono::seconds(2);
/// The event of the last step may come a moment after the state that it led to was seen.
constexpr milliseconds k_last_events{200};

void remark(What what) {
    if (what == What::lost)
        output::complain("orange: the daemon has ended; waiting for it (the next orange command starts it)\n");
    if (what == What::back) output::complain("orange: the daemon is back\n");
    if (what == What::resync)
        output::complain("orange: what happened meanwhile cannot be told; see orange task list\n");
}

}  // namespace

Result<bool> follow(EventStream& stream, Follower follower) {
    bool lost = false;
    auto lost_at = steady_clock::now();
    for (auto what = What::nothing;;) {
        TRY(const bool over, follower.enough(what));
        if (over) return true;
        const auto left = follower.until - steady_clock::now();
        if (interrupted() || left <= milliseconds(0)) return false;
        TRY(const auto next, stream.next(std::min(k_turn, std::chrono::ceil<milliseconds>(left))));
        what = next.what;
        remark(what);
        if (what == What::event) follower.event(next.event);
        if (what == What::lost) lost_at = steady_clock::now();
        if (what != What::nothing) lost = what == What::lost;
        if (lost && steady_clock::now() - lost_at >= follower.patience) {
            return Error(ErrorCode::unavailable, "the daemon has gone, and no other came; the task is where it was");
        }
    }
}

Result<bool> follow_task(EventStream& stream, rpc::TaskWait wait, Follower follower, rpc::TaskWait::Reply& answer) {
    wait.timeout = 0;
    bool look = true;
    auto looked_at = steady_clock::now();
    const auto hand_over = std::move(follower.event);
    const auto agrees = std::move(follower.enough);
    follower.event = [&](const rpc::EventNotification& event) {
        look = look || event.task == answer.task.fields.id.value;
        hand_over(event);
    };
    follower.enough = [&](What came) -> Result<bool> {
        look = look || came == What::back || came == What::resync || steady_clock::now() - looked_at >= k_look_again;
        if (!look) return false;
        auto now = stream.call(wait);
        if (!now && now.error().code == ErrorCode::unavailable) return false;
        if (!now) return now.error();
        look = false;
        looked_at = steady_clock::now();
        answer = std::move(*now);
        if (answer.timed_out) return false;
        return agrees ? agrees(came) : true;
    };
    return follow(stream, std::move(follower));
}

void take_rest(EventStream& stream, const Follower::OnEvent& event) {
    for (auto next = stream.next(k_last_events); next && next->what == What::event; next = stream.next(k_last_events)) {
        event(next->event);
    }
}

}  // namespace orange::commands
