#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "client/dashboard/answer.hpp"
#include "client/dashboard/state.hpp"
#include "common/rpc/event_methods.hpp"

namespace orange::dashboard {

/// The functions that receive the messages of a daemon.
struct Incoming {
    std::function<void(const Request& request, Result<Answer> reply)> reply;
    std::function<void(const rpc::EventNotification& event)> event;
    std::function<void(const std::string& task)> screen;
    std::function<void(Link::State state, std::string why)> link;
};

/// A connection to a daemon: it sends requests without waiting, and passes on replies and events.
class Exchange {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Listener = std::function<void(const std::string& method, const Json& params)>;

    explicit Exchange(const Incoming& incoming) : incoming_(incoming) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void use(connection::Connection connection);
    /// Sets the receivers of other notifications than the daemon's, and of errors that answer no request.
    void listen(Listener notification, std::function<void(const Error&)> error) {
        other_ = std::move(notification);
        error_ = std::move(error);
    }
    /// Skips lines that are no JSON, which a shell's start-up files may print.
    void skip_noise() { skips_noise_ = true; }
    void close();
    bool is_open() const { return connection_.has_value(); }

    void send(const Request& request);
    /// Sends a request whose reply is not needed.
    void send(const std::string& method);
    /// Passes on the messages that have arrived, and sends queued requests. Returns false if the connection has ended.
    bool receive();

    /// Returns the connection's descriptor; -1 if there is no connection.
    int descriptor() const { return connection_ ? connection_->descriptor() : -1; }
    bool has_unsent() const { return connection_ && connection_->has_unsent(); }
    /// Returns the time of the last byte from the daemon.
    Time read_at() const { return connection_ ? connection_->read_at() : Time{}; }
    /// Returns when the daemon will count as silent: it then owes a reply to a request that should be quick. Changes of
    /// tasks do not count, because they may take minutes.
    std::optional<Time> silent_at() const;
    /// Returns and forgets the requests without a reply.
    std::vector<Request> take_open();

  private:
    Result<Json> parse(std::string_view line);

    const Incoming& incoming_;
    Listener other_;
    std::function<void(const Error&)> error_;
    std::optional<connection::Connection> connection_;
    struct Open {
        Request request;
        Time sent;
    };
    std::map<std::int64_t, Open> open_;
    Answer answer_;  ///< the tasks of the message that is being read
    bool skips_noise_ = false;
};

}  // namespace orange::dashboard
