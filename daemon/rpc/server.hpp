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

/// The RPC server: it accepts connections, reads requests by line, passes them to the dispatcher, and writes the
/// replies. The app starts it, and every client talks to it. A connection may pipeline: its calls run concurrently, up
/// to a limit, and begin in turn with those of other connections. The server starts no further request of a client that
/// does not read its replies, and closes the connection of a client that does not read its events. A bad request gets
/// an error reply and never ends the daemon.
///
/// Files: method_table.hpp has all methods, methods/ their handlers, dispatcher.hpp JSON-RPC, session.hpp one
/// connection.
namespace orange::rpc {

/// The process at the other end of a connection, as the kernel named it at accept.
struct Peer {
    std::int64_t pid = 0;
    std::int64_t uid = 0;
    std::int64_t start_time = 0;  ///< of the process, in clock ticks since boot: the kernel reuses pids
    TaskId task = {};  ///< with `run`: the run through whose socket the peer connected; empty: through the daemon's
    RunId run = {};
    std::string from = {};  ///< the address of another machine, where the run proved itself; there is no process then
};

/// The start time for a peer that had exited before the daemon could read it. No process has this start time.
inline constexpr std::int64_t k_gone = -1;

/// Finds out which caller (human or agent) a peer is.
using Identify = std::function<Awaitable<Caller>(Peer)>;
/// Returns the task of the peer's run if that is behind a wall; empty otherwise.
using WallOf = std::function<TaskId(const Peer&)>;

class Session;
class Stream;

/// The limits of a server.
struct Limits {
    std::size_t connections = 16'384;  ///< at the same time; more are refused with an error
    /// Running calls of all connections. A connection without a running call, or whose calls only wait for events, may
    /// begin one all the same, but no more than 64 in all.
    std::size_t calls = 512;
    /// Bytes held for all connections: running requests, and replies that have not been read. Above `held`, a
    /// connection begins a call only if nothing is held for it. Above `most_held`, the server closes the connections
    /// that have read nothing for the longest time.
    std::size_t held = 32 << 20;
    std::size_t most_held = 128 << 20;
    /// A client that reads nothing for this time, although data waits for it, is dropped.
    std::chrono::milliseconds patience = std::chrono::minutes(10);

    /// Returns the default limits, with at most three quarters of this process's file descriptors for connections. The
    /// rest is for files and children.
    static Limits of_process();
};

class Server {
  public:
    /// `identify` is called at a connection's first call of a method that is not open to everybody.
    Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, Identify identify, Limits limits = {},
           WallOf wall_of = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds a socket (mode 0600 from the start, paths of any length) and accepts connections on it. Call it only while
    /// holding the home's lock: an existing socket file is then stale, and is replaced. The first socket is the
    /// daemon's. Each further one belongs to a run: `task` and `run` become part of each peer that uses it. If the call
    /// fails, an earlier socket with this path stays in use.
    Result<void> listen(const Path& socket, const TaskId& task = {}, const RunId& run = {});
    /// Closes a run's socket and removes its file. Its existing connections stay open.
    void unlisten(const Path& socket);
    /// Returns true if the file at that path is a socket of this server.
    bool listens_at(const Path& socket) const;
    /// Returns true if another connection may be served.
    bool has_place() const { return !stopping_ && sessions_.size() < limits_.connections; }
    /// Serves a client over another stream than a socket's.
    void serve(std::unique_ptr<Stream> stream, Peer peer);
    /// Binds the daemon's socket again if its file was removed or replaced.
    void check_socket();
    /// Drops clients that have not read for `patience`, although more data waits for them than a socket buffers.
    void check_clients();
    /// Stops accepting, and closes idle connections; a busy one closes when its calls have ended.
    void stop();
    /// Returns the number of calls without a reply yet.
    std::size_t busy() const { return busy_; }
    std::size_t connections() const { return sessions_.size(); }
    /// Returns the bytes of running requests and of replies that have not been read.
    std::size_t held() const { return held_; }

  private:
    friend class Session;
    struct Listener;

    Awaitable<void> accept_loop(std::shared_ptr<Listener> listener);
    /// Accepts a waiting client with the reserved descriptor, and refuses it with an error.
    void refuse_waiting(Listener& listener);
    void refuse(int fd, const std::string& why);
    /// Returns true if the limits of all connections together allow another call.
    bool has_room() const { return busy_ < limits_.calls && held_ < limits_.held; }
    /// Wakes the sessions that wait for room, after a reply was given or read.
    void tell_of_room();
    /// Starts closing the slowest readers until at most `most_held` is held. The connections are closed later, because
    /// the caller may be one of them.
    void make_room();
    Awaitable<void> close_the_slowest();

    asio::any_io_executor executor_;
    Dispatcher& dispatcher_;
    Identify identify_;
    WallOf wall_of_;
    Limits limits_;
    int reserve_ = -1;       ///< a descriptor that is freed to accept and refuse a client if there is no other left
    bool refusing_ = false;  ///< the refusal has been logged; reset by the next accepted connection
    Path socket_;            ///< the daemon's own socket
    std::map<Path, std::shared_ptr<Listener>> listeners_;
    std::set<std::shared_ptr<Session>> sessions_;
    std::string chunk_ = std::string(64 * 1024, '\0');  ///< read buffer of all sessions, which use it one at a time
    CallScheduler scheduler_;
    std::size_t busy_ = 0;
    std::size_t held_ = 0;
    std::set<std::shared_ptr<Session>> wait_for_room_;
    bool making_room_ = false;
    bool stopping_ = false;
};

}  // namespace orange::rpc
