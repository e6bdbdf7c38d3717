#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Relays the socket's protocol over two other descriptors, for `orange rpc --stdio`: a client's lines to the daemon,
/// and the daemon's lines to the client. To the daemon this process is the client, with its ancestors and its
/// SSH_CONNECTION, so that the daemon can identify the caller. Each connection has the daemon's flow control.
class Relay {
  public:
    struct Options {
        int in = 0, out = 1;
        bool read_only = false;  ///< refuses methods that change something
        /// A client that has sent nothing for this time is pinged; after three times as long the relay ends.
        std::chrono::milliseconds ping = std::chrono::seconds(15);
    };

    Relay(Paths paths, Options options) : paths_(std::move(paths)), options_(options) {}
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    /// Relays until the client or the daemon ends. An error is also sent to the client, as a line with the id null.
    Result<void> run();

  private:
    using Time = std::chrono::steady_clock::time_point;

    Result<void> begin();
    Result<void> learn_methods();
    Result<void> relay();
    /// Waits for the next input or output, and handles it.
    Result<void> turn();
    Result<void> read_client();
    Result<void> read_daemon();
    void write_client();
    Result<void> write_daemon();
    void take_line(std::string_view line);
    /// Returns the reply to a message that must not pass; nothing if it passes.
    std::optional<Json> refusal(const Json& message) const;
    Result<void> look_at_silence(Time now);
    Time next_look() const;
    bool is_over() const;
    /// Sends a line of the relay itself, between two lines of the daemon.
    void say(const Json& message);
    void write_last_lines();

    Paths paths_;
    Options options_;
    std::optional<Connection> daemon_;
    std::set<std::string> allowed_;  ///< with read_only: the methods that only read
    std::string line_;               ///< the beginning of a line of the client
    std::string own_;                ///< the relay's lines that wait for the end of the daemon's line
    std::string to_client_, to_daemon_;
    bool inside_line_ = false;  ///< the daemon's line is incomplete
    bool input_ended_ = false, told_end_ = false, daemon_ended_ = false, client_gone_ = false;
    bool asked_ = false;  ///< the client has sent a request since the daemon's last byte
    Time client_heard_{}, pinged_{}, daemon_heard_{};
};

}  // namespace orange::connection
