#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "client/dashboard/exchange.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// The connection to the daemon of this machine: starts one if none runs, and finds the next one when it ends.
class Wire {
  public:
    Wire(Paths paths, Incoming incoming)
        : paths_(std::move(paths)), incoming_(std::move(incoming)), exchange_(incoming_) {}
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Connects; starts a daemon if none runs. Does not wait for it.
    void start();
    void send(const Request& request) { exchange_.send(request); }
    /// Returns the descriptor to wait for; -1 if there is none.
    int descriptor() const { return exchange_.is_open() ? exchange_.descriptor() : start_descriptor_; }
    bool has_unsent() const { return exchange_.has_unsent(); }
    /// Hands over the messages that have come.
    void receive();
    /// Looks for the next daemon, if it is time.
    void retry();
    std::optional<std::chrono::steady_clock::time_point> next_time() const;
    /// The daemon has not answered for seconds what takes none.
    bool is_silent() const;

  private:
    /// Another thread waits for a daemon, and leaves here what came of it.
    struct Start {
        std::atomic<bool> done = false;
        std::string problem;  ///< read when it is done; empty: it runs
    };
    void take_start();
    void lose(std::string why);

    Paths paths_;
    Incoming incoming_;
    Exchange exchange_;
    std::shared_ptr<Start> starting_;
    int start_descriptor_ = -1;  ///< readable when it is done
    std::chrono::steady_clock::time_point retry_at_{}, lost_at_{};
};

}  // namespace orange::dashboard
