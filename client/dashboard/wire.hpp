#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "client/dashboard/answer.hpp"
#include "client/dashboard/state.hpp"
#include "common/config/paths.hpp"
#include "common/rpc/event_methods.hpp"

namespace orange::dashboard {

/// The one connection to the daemon: sends requests without waiting, hands over replies and events, and finds the next
/// daemon when this one ends.
class Wire {
  public:
    struct Handlers {
        std::function<void(Link::State state, std::string why)> link;
        std::function<void(const Request& request, Result<Answer> reply)> reply;
        std::function<void(const rpc::EventNotification& event)> event;
        std::function<void(const std::string& task)> screen;
    };

    Wire(Paths paths, Handlers handlers) : paths_(std::move(paths)), handlers_(std::move(handlers)) {}
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Connects; starts a daemon if none runs. Does not wait for it.
    void start();
    void send(const Request& request);
    /// Returns the descriptor to wait for; -1 if there is none.
    int descriptor() const { return connection_ ? connection_->descriptor() : start_descriptor_; }
    /// Hands over the messages that have come.
    void receive();
    /// Looks for the next daemon, if it is time.
    void retry();
    std::optional<std::chrono::steady_clock::time_point> next_time() const;
    /// The daemon has not answered for seconds what takes none. What changes a task may take minutes.
    bool is_silent() const;

  private:
    /// Another thread waits for a daemon, and leaves here what came of it.
    struct Start {
        std::atomic<bool> done = false;
        std::string problem;  ///< read when it is done; empty: it runs
    };
    void take_start();
    void use(connection::Connection connection);
    void lose(std::string why);
    std::optional<std::chrono::steady_clock::time_point> silent_at() const;

    Paths paths_;
    Handlers handlers_;
    std::optional<connection::Connection> connection_;
    std::shared_ptr<Start> starting_;
    int start_descriptor_ = -1;  ///< readable when it is done
    struct Open {
        Request request;
        std::chrono::steady_clock::time_point sent;
    };
    std::map<std::int64_t, Open> open_;
    Answer answer_;  ///< the tasks of the message that is read
    std::chrono::steady_clock::time_point retry_at_{}, lost_at_{};
};

}  // namespace orange::dashboard
