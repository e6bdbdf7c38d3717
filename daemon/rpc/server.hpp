#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "daemon/files/file_system.hpp"
#include "daemon/rpc/dispatcher.hpp"

/// The socket: accepts, reads lines, hands them to the dispatcher, writes what comes back. A connection may pipeline;
/// its calls run side by side, and a slow reader is dropped rather than waited for.
namespace orange::rpc {

/// A peer as the kernel names it at the time of accept.
struct Peer {
    std::int64_t pid = 0;
    std::int64_t uid = 0;
    std::int64_t start_time = 0;  ///< of that pid, in clock ticks since boot: pids are reused
};

/// The start time of a peer that had ended before it was looked at: nobody has it.
inline constexpr std::int64_t k_gone = -1;

/// Turns a peer into a caller.
using Identify = std::function<Awaitable<Caller>(Peer)>;

class Session;

class Server {
  public:
    /// `identify` is asked at the first call of a connection that wants to know.
    Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, Identify identify);
    ~Server();

    /// Binds (mode 0600 from the first instant, paths of any length) and accepts from now on. Only under the home's
    /// lock: a socket file that is there is stale and replaced.
    Result<void> listen(const Path& socket);
    /// Binds anew where the socket's file was removed or replaced. Where that cannot be done the old one goes on.
    void check_socket();
    /// Accepts no more and closes what is idle; calls under way end first.
    void stop();
    /// Calls that have not been answered yet.
    std::size_t busy() const { return busy_; }
    std::size_t connections() const { return sessions_.size(); }

  private:
    friend class Session;
    struct Listener;

    /// The file at the socket's path is the one that was bound.
    bool is_ours() const;
    Awaitable<void> accept_loop(std::shared_ptr<Listener> listener);

    asio::any_io_executor executor_;
    Dispatcher& dispatcher_;
    Identify identify_;
    Path socket_;
    std::shared_ptr<Listener> listener_;
    std::set<std::shared_ptr<Session>> sessions_;
    std::string chunk_ = std::string(64 * 1024, '\0');  ///< what a session reads into, all in one step
    std::size_t busy_ = 0;
    bool stopping_ = false;
};

}  // namespace orange::rpc
