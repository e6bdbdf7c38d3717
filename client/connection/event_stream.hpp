#pragma once

#include <deque>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"
#include "common/rpc/event_methods.hpp"

namespace orange::connection {

/// Receives events as they happen, across restarts of the daemon: it has a subscription on its own connection, opens it
/// again if it breaks, and continues after the last event. No event is lost or delivered twice. If the daemon cannot
/// guarantee that, the stream reports `resync`, and the caller reads the state again.
///
///     EventStream stream(paths, filter);
///     TRY(stream.open());
///     for (;;) {
///         TRY(auto next, stream.next(1s));           // an error: the daemon refuses, and it will not get better
///         if (next.what == EventStream::What::event) …next.event…
///     }
class EventStream {
  public:
    enum class What {
        nothing,  ///< the time passed
        event,
        answer,  ///< the reply to ask()
        lost,    ///< the daemon has ended, and an open question with it; next() tries to reach the next daemon
        back,    ///< there is a daemon again; missed events follow
        resync,  ///< the new daemon does not know the missed events
    };
    struct Next {
        What what = What::nothing;
        rpc::EventNotification event;
        Json answer;  ///< with `answer`: the reply's result
    };

    /// `filter.since`: the cursor to start after; absent: now.
    EventStream(Paths paths, rpc::EventsSubscribe filter) : paths_(std::move(paths)), filter_(std::move(filter)) {}
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Subscribes, and starts a daemon if none answers. Returns true if `filter.since` could not be continued (resync).
    Result<bool> open();

    /// Waits at most `timeout`, or until a signal, for the next message. An Error only if the daemon refuses the
    /// subscription (the task does not exist) or the question, sends messages that cannot be parsed, or hangs
    /// (timeout).
    Result<Next> next(std::chrono::milliseconds timeout);

    /// Makes a call on the stream's own connection. Events before the reply are delivered by next(). `unavailable`
    /// while there is no daemon; next() reports that.
    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        if (!connection_) return Error(ErrorCode::unavailable, "the daemon has ended");
        return connection_->call(params);
    }

    /// Sends a call that may take long; next() delivers its reply in order with the events. Only one at a time.
    /// `unavailable` while there is no daemon.
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
    std::int64_t question_ = 0;  ///< the id of the open question; 0: none
    std::string cursor_;
    bool resync_ = false;
};

}  // namespace orange::connection
