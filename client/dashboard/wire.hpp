#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/dashboard/background.hpp"
#include "client/dashboard/exchange.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// The connection to this machine's daemon. A Wire starts a daemon if none runs, and connects to the next one when a
/// daemon ends.
class Wire {
  public:
    Wire(Paths paths, Incoming incoming)
        : paths_(std::move(paths)), incoming_(std::move(incoming)), exchange_(incoming_) {}
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Connects, and starts a daemon if none runs, without waiting for it.
    void start();
    void send(const Request& request) { exchange_.send(request); }
    /// Returns the descriptor to poll; -1 if there is none.
    int descriptor() const { return exchange_.is_open() ? exchange_.descriptor() : start_.descriptor(); }
    bool has_unsent() const { return exchange_.has_unsent(); }
    /// Passes on the messages that have arrived.
    void receive();
    /// Tries to reach the next daemon, if it is time.
    void retry();
    std::optional<std::chrono::steady_clock::time_point> next_time() const;
    /// Returns true if the daemon has owed a quick reply for seconds.
    bool is_silent() const;

  private:
    void take_start();
    void lose(std::string why);

    Paths paths_;
    Incoming incoming_;
    Exchange exchange_;
    Background<std::string> start_;  ///< of a daemon; its result is the problem, empty: the daemon runs
    std::chrono::steady_clock::time_point retry_at_{}, lost_at_{};
};

}  // namespace orange::dashboard
