#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "client/dashboard/exchange.hpp"
#include "client/hosts/bridge.hpp"
#include "common/rpc/stdio_methods.hpp"

namespace orange::dashboard {

/// The connection to the daemon of another host: a bridge, which is restarted after a pause that grows while the host
/// is unreachable. No function blocks. No request is sent twice: when the bridge ends, a request without a reply gets
/// an error, because its effect is unknown.
class HostWire {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Greeted = std::function<void(const rpc::HelloNotification& hello)>;

    HostWire(hosts::Host host, Incoming incoming, Greeted greeted);
    HostWire(const HostWire&) = delete;
    HostWire& operator=(const HostWire&) = delete;

    /// Connects now, regardless of the pause, if there is no connection.
    void start();
    /// Called after another program had the terminal: handles messages that have arrived, and restarts a bridge that
    /// ended meanwhile at once.
    void come_back();
    void send(const Request& request);
    int descriptor() const { return exchange_.descriptor(); }
    bool has_unsent() const { return exchange_.has_unsent(); }
    void receive();
    /// Sends a ping, ends a silent bridge, or connects, if it is time.
    void retry();
    std::optional<Time> next_time() const;
    /// Returns true if the bridge has not answered for seconds. The bridge itself ends if its daemon hangs.
    bool is_silent() const;
    /// Returns when the host's last message came; nothing if there was none.
    std::optional<Time> heard() const { return heard_; }

  private:
    bool is_up() const { return exchange_.is_open() && greeted_; }
    void note_heard();
    void take_hello(const Json& params);
    void end(std::string why);
    /// Reports why the bridge ended, after ssh has ended.
    void find_reason();
    void lose(const std::string& why);

    const hosts::Host host_;
    Incoming incoming_;
    Greeted on_greeted_;
    Exchange exchange_;
    std::optional<hosts::Bridge> bridge_;
    bool greeted_ = false;
    std::string said_;  ///< the last error that the bridge sent
    Time began_{}, pinged_{}, ended_{}, retry_at_{};
    std::optional<Time> heard_;
    std::chrono::milliseconds pause_{0};
};

}  // namespace orange::dashboard
