#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/base/ids.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/rpc/call_scheduler.hpp"
#include "daemon/rpc/dispatcher.hpp"

/// The sockets: the server accepts, reads lines, hands them to the dispatcher, and writes the replies. A connection may
/// pipeline; its calls run side by side, up to a limit, and begin in turn with those of other connections. The server
/// begins no request of a client that does not read its replies, and drops a client that does not read its events.
namespace orange::rpc {

/// A peer as the kernel names it at the time of accept.
struct Peer {
    std::int64_t pid = 0;
    std::int64_t uid = 0;
    std::int64_t start_time = 0;  ///< of that pid, in clock ticks since boot: pids are reused
    TaskId task = {};             ///< with `run`: the run whose socket the peer used; empty: it used the daemon's
    RunId run = {};
};

/// The start time of a peer that had ended before the daemon looked: no process has it.
inline constexpr std::int64_t k_gone = -1;

/// Turns a peer into a caller.
using Identify = std::function<Awaitable<Caller>(Peer)>;

class Session;
class Stream;

/// The limits of a server.
struct Limits {
    std::size_t connections = 16'384;  ///< at once; more are refused with an error
    /// Calls at once, of all connections. A connection that has none may always begin one.
    std::size_t calls = 512;
    /// Bytes held for all connections: requests under way, and replies that are not read yet. From the first number on
    /// a connection begins a call only if nothing is held for it. Beyond the second number the server closes the
    /// connections that have read nothing for the longest time.
    std::size_t held = 32 << 20;
    std::size_t most_held = 128 << 20;
    /// A client that reads nothing for so long, though something waits for it, is dropped.
    std::chrono::milliseconds patience = std::chrono::minutes(10);

    /// Allows three quarters of the descriptors that this process may have, and never more than the above. The rest is
    /// for files and children.
    static Limits of_process();
};

class Server {
  public:
    /// Calls `identify` at the first call of a connection that is not open to everyone.
    Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, Identify identify, Limits limits = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds (mode 0600 from the first instant, paths of any length) and accepts from now on. Call it only under the
    /// home's lock: a socket file that is there is stale, and is replaced. The first socket is the daemon's. The others
    /// belong to runs: `task` and `run` become part of each peer that uses them. If the call fails, the socket that had
    /// this path before goes on.
    Result<void> listen(const Path& socket, const TaskId& task = {}, const RunId& run = {});
    /// Closes a run's socket and removes its file. Its connections go on.
    void unlisten(const Path& socket);
    /// Returns true if the file at that path is a socket of this server.
    bool listens_at(const Path& socket) const;
    /// Serves a client that is connected in another way than through a socket.
    void serve(std::unique_ptr<Stream> stream, Peer peer);
    /// Binds the daemon's socket again if its file was removed or replaced.
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

    Awaitable<void> accept_loop(std::shared_ptr<Listener> listener);
    /// Accepts a waiting client with the descriptor that is kept for this, and refuses it with a sentence.
    void refuse_waiting(Listener& listener);
    void refuse(int fd, const std::string& why);
    /// Returns true if the limits of all connections together allow another call.
    bool has_room() const { return busy_ < limits_.calls && held_ < limits_.held; }
    /// Something was answered or read.
    void tell_of_room();
    /// Closes the slowest readers, later, until no more is held than may be. The caller may be one of them.
    void make_room();
    Awaitable<void> close_the_slowest();

    asio::any_io_executor executor_;
    Dispatcher& dispatcher_;
    Identify identify_;
    Limits limits_;
    int reserve_ = -1;       ///< a descriptor with which a client is refused if there is no other
    bool refusing_ = false;  ///< the log has the refusal
    Path socket_;            ///< the daemon's
    std::map<Path, std::shared_ptr<Listener>> listeners_;
    std::set<std::shared_ptr<Session>> sessions_;
    std::string chunk_ = std::string(64 * 1024, '\0');  ///< sessions read into it, one at a time
    CallScheduler scheduler_;
    std::size_t busy_ = 0;
    std::size_t held_ = 0;
    std::set<std::shared_ptr<Session>> wait_for_room_;
    bool making_room_ = false;
    bool stopping_ = false;
};

}  // namespace orange::rpc
