#include "client/commands/follow.hpp"

#include "client/commands/interrupts.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A signal may come just before the wait for an event begins.
constexpr milliseconds k_look_at_signals{500};
/// What asks for attention without an event of its own (a dialog in the agent's window) is found by looking.
constexpr auto k_look_again = std::chrono::seconds(15);
/// The event of the last step may come a moment after the state that it led to was seen.
constexpr milliseconds k_last_events{100};
constexpr auto k_daemon_patience = std::chrono::seconds(15);

bool can_be_merged(const rpc::TaskWhy::Reply& now) {
    for (const auto& edge : now.edges) {
        if (edge.to == "done" && edge.open && !edge.needs_force) return true;
    }
    return false;
}

/// What the human is needed for.
Followed ending_of(const rpc::TaskWhy::Reply& now) {
    const auto& task = now.task;
    const auto status = printable(task.fields.status);
    const auto attention = printable(task.fields.attention.value_or(""));
    const auto id = output::short_id(task.fields.id.value);
    if (status == "done") return Followed{true, "it is done", task};
    if (status == "cancelled") return Followed{false, "it was cancelled", task};
    if (!attention.empty()) return Followed{false, attention, task};
    const auto ready = "ready: look at it, then run: orange task merge " + id;
    if (can_be_merged(now)) return Followed{true, (task.alarm ? *task.alarm + "; " : "") + ready, task};
    if (status == "clarification") {
        return Followed{false, "the agent has questions; answer it in its terminal: orange task attach " + id, task};
    }
    if (status == "stuck") return Followed{false, "it is stuck; help it: orange task attach " + id, task};
    if (now.edges.empty()) return Followed{false, "it has ended as " + status, task};
    return Followed{false, "it is " + status + " and waits for you: orange task why " + id, task};
}

}  // namespace

Result<void> TaskFollower::open() {
    catch_interrupts();
    TRY(stream_.open());
    return {};
}

Result<bool> TaskFollower::news(const std::string& id, const OnEvent& on_event) {
    using What = connection::EventStream::What;
    TRY(auto next, stream_.next(k_look_at_signals));
    switch (next.what) {
        case What::event:
            if (next.event.task != id) return false;
            on_event(next.event.event);
            return true;
        case What::lost:
            lost_at_ = steady_clock::now();
            return false;
        case What::back:
        case What::resync:
            lost_at_.reset();
            if (auto back = context_.reconnect(); !back && back.error().code != ErrorCode::unavailable) {
                return back.error();
            }
            return true;
        case What::nothing:
            break;
    }
    if (lost_at_ && steady_clock::now() - *lost_at_ >= k_daemon_patience) {
        return Error(ErrorCode::unavailable, "the daemon has gone, and no other came; the task is where it was");
    }
    return false;
}

Result<std::optional<Followed>> TaskFollower::ended(const std::string& id, rpc::TaskView& task) {
    TRY(auto daemon, context_.daemon());
    rpc::TaskWait wait;  // the daemon knows which states of the workflow leave a task to a human
    wait.id = id;
    wait.timeout = 0;
    TRY(auto now, daemon->call(wait));
    task = now.task;
    if (!now.reached) return std::optional<Followed>{};
    rpc::TaskWhy why;
    why.id = id;
    TRY(auto edges, daemon->call(why));
    if (edges.task.in_progress) return std::optional<Followed>{};  // and what comes of it is an event
    return std::optional<Followed>{ending_of(edges)};
}

/// What led here has happened by now, and is on its way.
void TaskFollower::tell_rest(const std::string& id, const OnEvent& on_event) {
    for (auto next = stream_.next(k_last_events); next && next->what == connection::EventStream::What::event;
         next = stream_.next(k_last_events)) {
        if (next->event.task == id) on_event(next->event.event);
    }
}

Result<Followed> TaskFollower::follow(const std::string& id, OnEvent on_event) {
    Followed last;
    bool look = true;
    auto looked_at = steady_clock::now();
    while (!interrupted()) {
        if (!lost_at_ && (look || steady_clock::now() - looked_at >= k_look_again)) {
            auto over = ended(id, last.task);
            looked_at = steady_clock::now();
            if (!over && over.error().code == ErrorCode::not_found) {
                last.reason = "the task is gone";
                return last;
            }
            if (!over && over.error().code != ErrorCode::unavailable) return over.error();
            if (over && *over) {
                tell_rest(id, on_event);
                return std::move(**over);
            }
        }
        TRY(look, news(id, on_event));
    }
    return {ErrorCode::timeout, "no longer waiting; the task goes on. See: orange task show " + output::short_id(id)};
}

}  // namespace orange::commands
