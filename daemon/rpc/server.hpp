#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "daemon/files/file_system.hpp"
#include "daemon/rpc/call_scheduler.hpp"
#include "daemon/rpc/dispatcher.hpp"

/// The socket: accepts, reads lines, hands them to the dispatcher, writes what comes back. A connection may pipeline;
/// its calls run side by side, up to a limit, and begin in turn with those of other connections. Requests of a client
/// that does not read its replies are not begun; one that does not read its events is dropped rather than waited for.
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

/// What the socket takes on.
struct Limits {
    std::size_t connections = 16'384;  ///< at once; more are refused with an error
    /// Calls at once, of all connections. A connection that has none may always begin one.
    std::size_t calls = 512;
    /// Bytes held for all connections, requests under way and replies that are not read yet. From the first number on a
    /// connection begins a call only if nothing is held for it; beyond the second the ones that have read nothing for
    /// the longest time are closed.
    std::size_t held = 32 << 20;
    std::size_t most_held = 128 << 20;
    /// How long a client may take to make room for more of what waits for it, before it is dropped.
    std::chrono::milliseconds patience = std::chrono::minutes(10);

    /// Three quarters of the descriptors that this process may have, the rest being for files and children; never more
    /// than the above.
    static Limits of_process();
};

class Server {
  public:
    /// `identify` is asked at the first call of a connection that wants to know.
    Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, Identify identify, Limits limits = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds (mode 0600 from the first instant, paths of any length) and accepts from now on. Only under the home's
    /// lock: a socket file that is there is stale and replaced.
    Result<void> listen(const Path& socket);
    /// Binds anew where the socket's file was removed or replaced. Where that cannot be done the old one goes on.
    void check_socket();
    /// Drops clients that have not read for too long, though more waits for them than a socket holds.
    void check_clients();
    /// Accepts no more and closes what is idle; calls under way end first.
    void stop();
    /// Calls that have not been answered yet.
    std::size_t busy() const { return busy_; }
    std::size_t connections() const { return sessions_.size(); }
    /// Bytes of requests under way and of replies that have not been read.
    std::size_t held() const { return held_; }

  private:
    friend class Session;
    struct Listener;

    /// The file at the socket's path is the one that was bound.
    bool is_ours() const;
    Awaitable<void> accept_loop(std::shared_ptr<Listener> listener);
    /// Takes one that waits, with the descriptor that is kept for this, and tells it to come again.
    void refuse_waiting(Listener& listener);
    void refuse(int fd, const std::string& why);
    /// Whether a connection that has calls or replies under way may begin another, as far as all together go.
    bool has_room() const { return busy_ < limits_.calls && held_ < limits_.held; }
    /// Something was answered or read.
    void tell_of_room();
    /// Closes the slowest readers until no more is held than may be; later, since its caller may be any of them.
    void make_room();
    Awaitable<void> close_the_slowest();

    asio::any_io_executor executor_;
    Dispatcher& dispatcher_;
    Identify identify_;
    Limits limits_;
    int reserve_ = -1;       ///< a descriptor to take and refuse somebody with when there is none left
    bool refusing_ = false;  ///< told in the log
    Path socket_;
    std::shared_ptr<Listener> listener_;
    std::set<std::shared_ptr<Session>> sessions_;
    std::string chunk_ = std::string(64 * 1024, '\0');  ///< what a session reads into, all in one step
    CallScheduler scheduler_;
    std::size_t busy_ = 0;
    std::size_t held_ = 0;
    std::set<std::shared_ptr<Session>> wait_for_room_;
    bool making_room_ = false;
    bool stopping_ = false;
};

}  // namespace orange::rpc
