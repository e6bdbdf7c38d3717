#pragma once

#include <deque>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"
#include "common/rpc/event_methods.hpp"

namespace orange::connection {

/// What happens, as it happens, across restarts of the daemon: a subscription on a connection of its own that is opened
/// again where it breaks, and goes on after the last event that was taken. Nothing is lost or comes twice; where the
/// daemon cannot promise that, the stream says `resync`, and the caller reads the state anew.
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
        lost,    ///< the daemon has gone; next() tries to reach the next one
        back,    ///< a daemon is there again; what was missed comes next
        resync,  ///< and it cannot tell what was missed
    };
    struct Next {
        What what = What::nothing;
        rpc::EventNotification event;
    };

    /// `filter.since`: where to begin; absent: now.
    EventStream(Paths paths, rpc::EventsSubscribe filter) : paths_(std::move(paths)), filter_(std::move(filter)) {}
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Subscribes; a daemon is started where none answers. True where `filter.since` could not be continued (resync).
    Result<bool> open();

    /// The next thing to know, waiting at most that long (or until a signal comes). An Error only where the daemon
    /// refuses the subscription (a task that is gone), speaks another language, or stands still (`timeout`).
    Result<Next> next(std::chrono::milliseconds timeout);

    /// A call on the stream's own connection. What happened before the reply waits for next(). `unavailable` while no
    /// daemon is there, of which next() tells.
    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        if (!connection_) return Error(ErrorCode::unavailable, "the daemon has ended");
        return connection_->call(params);
    }

  private:
    Result<bool> subscribe(Connection connection);
    Result<Next> reconnect(std::chrono::milliseconds timeout);

    Paths paths_;
    rpc::EventsSubscribe filter_;
    std::optional<Connection> connection_;
    std::deque<rpc::EventNotification> waiting_;
    std::string cursor_;
    bool resync_ = false;
};

}  // namespace orange::connection
