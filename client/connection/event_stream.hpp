#pragma once

#include <deque>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"
#include "common/rpc/event_methods.hpp"

namespace orange::connection {

/// What happens, as it happens, across restarts of the daemon: a subscription on a connection of its own that is opened
/// again if it breaks, and goes on after the last event that was taken. Nothing is lost or comes twice; if the daemon
/// cannot promise that, the stream says `resync`, and the caller reads the state again.
///
///     EventStream stream(paths, filter);
///     if (auto opened = stream.open(); !opened) return fail(…);
///     for (;;) {
///         auto next = stream.next(1s);
///         if (!next) return fail(…);                 // the daemon refuses: it will not get better
///         if (next->what == EventStream::What::event) …next->event…
///     }
class EventStream {
  public:
    enum class What {
        nothing,  ///< the time passed
        event,
        answer,  ///< the reply to ask()
        lost,    ///< the daemon has gone, and an unanswered question with it; next() tries to reach the next one
        back,    ///< a daemon is there again; what was missed comes next
        resync,  ///< and it cannot tell what was missed
    };
    struct Next {
        What what = What::nothing;
        rpc::EventNotification event;
        Json answer;  ///< with `answer`: the reply's result
    };

    /// `filter.since`: where to begin; absent: now.
    EventStream(Paths paths, rpc::EventsSubscribe filter) : paths_(std::move(paths)), filter_(std::move(filter)) {}
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Subscribes; a daemon is started if none answers. True if `filter.since` could not be continued (resync).
    Result<bool> open();

    /// The next thing to know, waiting at most that long (or until a signal comes). An Error only if the daemon refuses
    /// the subscription (a task that is gone) or the question, speaks another language, or hangs (`timeout`).
    Result<Next> next(std::chrono::milliseconds timeout);

    /// A call on the stream's own connection. What happened before the reply waits for next(). `unavailable` while no
    /// daemon is there, of which next() tells.
    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        if (!connection_) return Error(ErrorCode::unavailable, "the daemon has ended");
        return connection_->call(params);
    }

    /// Sends a call that may take long; next() hands over its reply in order with the events. One at a time. As with
    /// call(): `unavailable` while there is no daemon.
    template <class Method>
    Result<void> ask(const Method& params) {
        if (!connection_) return Error(ErrorCode::unavailable, "the daemon has ended");
        auto id = connection_->send_request(Method::k_name, written(params));
        if (!id) return id.error();
        question_ = *id;
        return {};
    }

  private:
    Result<bool> subscribe(Connection connection);
    Result<Next> reconnect(std::chrono::milliseconds timeout);

    Paths paths_;
    rpc::EventsSubscribe filter_;
    std::optional<Connection> connection_;
    std::deque<Result<Next>> waiting_;
    std::int64_t question_ = 0;  ///< the id of what was asked; 0: nothing
    std::string cursor_;
    bool resync_ = false;
};

}  // namespace orange::connection
