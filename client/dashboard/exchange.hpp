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

/// The functions that take the messages of a daemon.
struct Incoming {
    std::function<void(const Request& request, Result<Answer> reply)> reply;
    std::function<void(const rpc::EventNotification& event)> event;
    std::function<void(const std::string& task)> screen;
    std::function<void(Link::State state, std::string why)> link;
};

/// One connection to a daemon: sends requests without waiting, and hands over replies and events.
class Exchange {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Listener = std::function<void(const std::string& method, const Json& params)>;

    explicit Exchange(const Incoming& incoming) : incoming_(incoming) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void use(connection::Connection connection);
    /// For notifications that are not the daemon's own, and for errors that answer no request.
    void listen(Listener notification, std::function<void(const Error&)> error) {
        other_ = std::move(notification);
        error_ = std::move(error);
    }
    /// Skips lines that are no JSON, as the start-up files of a shell print them.
    void skip_noise() { skips_noise_ = true; }
    void close();
    bool is_open() const { return connection_.has_value(); }

    void send(const Request& request);
    /// Sends a request whose reply nobody needs.
    void send(const std::string& method);
    /// Hands over the messages that have come, and sends what waits. False: the connection has ended.
    bool receive();

    /// -1 if there is no connection.
    int descriptor() const { return connection_ ? connection_->descriptor() : -1; }
    bool has_unsent() const { return connection_ && connection_->has_unsent(); }
    /// The time of the last byte that came.
    Time read_at() const { return connection_ ? connection_->read_at() : Time{}; }
    /// The time from which on the daemon counts as silent, if it has to answer a request that takes no time. A change
    /// of a task may take minutes.
    std::optional<Time> silent_at() const;
    /// Takes the requests without a reply.
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
    Answer answer_;  ///< the tasks of the message that is read
    bool skips_noise_ = false;
};

}  // namespace orange::dashboard
