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
};

class Session;

class Server {
  public:
    /// `identify` turns a peer into a caller: at the first call that asks for it.
    Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, std::function<Caller(const Peer&)> identify);
    ~Server();

    /// Binds (mode 0600 from the first instant, paths of any length) and accepts from now on. Only under the home's
    /// lock: a socket file that is there is stale and replaced.
    Result<void> listen(const Path& socket);
    /// Binds anew where the socket's file was removed or replaced.
    void check_socket();
    /// Accepts no more and closes what is idle; calls under way end first.
    void stop();
    /// Calls that have not been answered yet.
    std::size_t busy() const { return busy_; }
    std::size_t connections() const { return sessions_.size(); }

  private:
    friend class Session;
    struct Listener;

    Awaitable<void> accept_loop(std::shared_ptr<Listener> listener);

    asio::any_io_executor executor_;
    Dispatcher& dispatcher_;
    std::function<Caller(const Peer&)> identify_;
    Path socket_;
    std::shared_ptr<Listener> listener_;
    std::set<std::shared_ptr<Session>> sessions_;
    std::size_t busy_ = 0;
    bool stopping_ = false;
};

}  // namespace orange::rpc
