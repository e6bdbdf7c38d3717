#pragma once

#include <asio/ip/tcp.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/config/cluster_address.hpp"
#include "common/rpc/node_hello.hpp"
#include "daemon/app/newcomers.hpp"
#include "daemon/async/slots.hpp"
#include "daemon/rpc/server.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Answers agents on other machines (docs/executors.md, `socket: back`). While a run of such an executor lives, it
/// listens on TCP at `cluster_address`, and writes that address into the folder of each such run. A connection begins
/// with a credential of MUNGE (rpc::NodeHello), which the program unmunge checks. The daemon accepts its own user and
/// the token of a living run only, and then serves the connection as one on that run's socket. Others on the network
/// can open connections, too; Newcomers limits those that have proved nothing.
class ClusterSocket {
  public:
    ClusterSocket(World& world, rpc::Server& server)
        : world_(world), server_(server), decoders_(world.executor, k_decoders) {}
    ~ClusterSocket() { world_.tasks.unobserve(observer_); }
    ClusterSocket(const ClusterSocket&) = delete;
    ClusterSocket& operator=(const ClusterSocket&) = delete;

    /// Listens for the runs of all loaded tasks, and follows the store from then on.
    void start();
    /// Listens again if that has failed, or if the setting has changed.
    void check();
    /// Accepts no more connections.
    void stop();

    /// Fails with the reason if the run is on another machine and could not call the daemon from there.
    Result<void> serves(const RunId& run) const;
    /// Returns why such runs cannot call; empty if they can, or if there are none.
    const std::string& problem() const { return problem_; }

  private:
    using Socket = asio::ip::tcp::socket;
    using Acceptor = asio::ip::tcp::acceptor;
    struct Served {
        TaskId task;
        std::string told;  ///< the address in its file; empty: none yet
    };
    struct Greeted;

    void follow(const TaskId& id);
    void serve_all();
    Result<void> listen();
    Result<void> tell(const TaskId& task, const RunId& run, Served& served);
    void close();
    Awaitable<void> accept_loop(std::shared_ptr<Acceptor> acceptor);
    /// Makes room after a failed accept. Returns false if there is none to make.
    bool make_room(const Error& why);
    Awaitable<void> greet(std::shared_ptr<Greeted> greeted);
    /// Returns the first line that the peer sends; an error if the line is too long or does not come in time.
    Awaitable<Result<std::string>> read_hello(std::shared_ptr<Greeted> greeted);
    /// Returns the run that the peer has proved, and the nonce of its hello; the error `io` if it has gone.
    Awaitable<Result<std::pair<rpc::Peer, std::string>>> introduced(std::shared_ptr<Greeted> greeted);
    Awaitable<Result<rpc::NodeHello>> decoded(std::string line);
    /// Logs at most one refusal of a kind in a minute.
    void warn_of_refusal(const Error& error, const std::string& from);
    Result<rpc::Peer> peer_of(const rpc::NodeHello& hello) const;

    static constexpr std::size_t k_decoders = 4;

    World& world_;
    rpc::Server& server_;
    async::Slots decoders_;
    int observer_ = 0;
    std::map<RunId, Served> runs_;
    std::shared_ptr<Acceptor> acceptor_;
    std::string configured_, address_;  ///< the setting, and where the acceptor listens
    std::string problem_;
    Newcomers newcomers_;
    std::map<ErrorCode, async::Moment> quiet_until_;
    bool stopped_ = false;
};

}  // namespace orange
