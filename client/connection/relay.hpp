#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// The protocol of the socket over two other descriptors, for `orange rpc --stdio`: the lines of a client go to the
/// daemon, and those of the daemon to the client. The daemon sees this process as its client, with its ancestors and
/// its SSH_CONNECTION, so that it knows who calls, and each connection has the daemon's flow control.
class Relay {
  public:
    struct Options {
        int in = 0, out = 1;
        bool read_only = false;  ///< refuses what changes something
        /// A client that sent nothing for so long is pinged; after three times as long the relay ends.
        std::chrono::milliseconds ping = std::chrono::seconds(15);
    };

    Relay(Paths paths, Options options) : paths_(std::move(paths)), options_(options) {}
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    /// Relays until the client or the daemon ends. The client gets an error, too, as a line with the id null.
    Result<void> run();

  private:
    using Time = std::chrono::steady_clock::time_point;

    Result<void> begin();
    Result<void> learn_methods();
    Result<void> relay();
    /// Waits for the next thing to do, and does it.
    Result<void> turn();
    Result<void> read_client();
    Result<void> read_daemon();
    void write_client();
    Result<void> write_daemon();
    void take_line(std::string_view line);
    /// The reply to a message that this relay does not let pass; nothing: it passes.
    std::optional<Json> refusal(const Json& message) const;
    Result<void> look_at_silence(Time now);
    Time next_look() const;
    bool is_over() const;
    /// Puts a line of the relay's own between two lines of the daemon.
    void say(const Json& message);
    void write_last_lines();

    Paths paths_;
    Options options_;
    std::optional<Connection> daemon_;
    std::set<std::string> allowed_;  ///< with read_only: the methods that change nothing
    std::string line_;               ///< the beginning of a line of the client's
    std::string own_;                ///< lines that wait for the end of the daemon's line
    std::string to_client_, to_daemon_;
    bool inside_line_ = false;  ///< of the daemon's
    bool input_ended_ = false, told_end_ = false, daemon_ended_ = false, client_gone_ = false;
    bool asked_ = false;  ///< the client has sent a request since the daemon's last byte
    Time client_heard_{}, pinged_{}, daemon_heard_{};
};

}  // namespace orange::connection
