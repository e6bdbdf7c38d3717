#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "client/dashboard/exchange.hpp"
#include "client/hosts/bridge.hpp"
#include "common/rpc/stdio_methods.hpp"

namespace orange::dashboard {

/// The connection to the daemon of another host: a bridge of its own, started again after a pause that grows while the
/// host cannot be reached. Nothing here waits. No request is sent twice: one without a reply gets an error when the
/// bridge ends, since nobody knows what became of it.
class HostWire {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Greeted = std::function<void(const rpc::HelloNotification& hello)>;

    HostWire(hosts::Host host, Incoming incoming, Greeted greeted);
    HostWire(const HostWire&) = delete;
    HostWire& operator=(const HostWire&) = delete;

    /// Connects now, however long the pause is, if there is no connection.
    void start();
    /// A program had the terminal for some time: what has come is taken, and a bridge that has ended meanwhile begins
    /// again at once.
    void come_back();
    void send(const Request& request);
    int descriptor() const { return exchange_.descriptor(); }
    bool has_unsent() const { return exchange_.has_unsent(); }
    void receive();
    /// Sends a ping, ends a silent bridge or connects, if it is time.
    void retry();
    std::optional<Time> next_time() const;
    /// The bridge has not answered for seconds. It ends by itself if the daemon behind it stands still.
    bool is_silent() const;
    /// The time at which the host was last heard of; nothing: not yet.
    std::optional<Time> heard() const { return heard_; }

  private:
    bool is_up() const { return exchange_.is_open() && greeted_; }
    void note_heard();
    void take_hello(const Json& params);
    void end(std::string why);
    /// Tells why the bridge ended, once ssh has.
    void find_reason();
    void lose(const std::string& why);

    const hosts::Host host_;
    Incoming incoming_;
    Greeted on_greeted_;
    Exchange exchange_;
    std::optional<hosts::Bridge> bridge_;
    bool greeted_ = false;
    std::string said_;  ///< the error that the bridge ended with
    Time began_{}, pinged_{}, ended_{}, retry_at_{};
    std::optional<Time> heard_;
    std::chrono::milliseconds pause_{0};
};

}  // namespace orange::dashboard
