#pragma once

#include <asio/local/stream_protocol.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/async/async.hpp"
#include "daemon/rpc/server.hpp"

namespace orange::rpc {

/// One connection: a reader, a writer with a bounded queue, and a coroutine a call.
class Session : public EventSink, public std::enable_shared_from_this<Session> {
  public:
    Session(Server& server, asio::local::stream_protocol::socket socket, Peer peer);

    void start();
    void close();
    /// Ends the connection as soon as nothing is left to answer and to write.
    void finish();

    void notify(const std::string& method, Json params) override;
    void set_subscription(std::function<void()> end) override;

  private:
    Awaitable<void> read_loop(std::shared_ptr<Session> self);
    Awaitable<void> write_loop(std::shared_ptr<Session> self);
    Awaitable<void> answer(std::shared_ptr<Session> self, std::string line);
    void take_lines(std::string& buffer);
    void send(std::string text);
    const Caller& caller();
    bool idle() const { return in_flight_ == 0 && outbox_.empty(); }

    Server& server_;
    asio::local::stream_protocol::socket socket_;
    Peer peer_;
    std::optional<Caller> caller_;
    std::deque<std::string> outbox_;
    std::size_t outbox_bytes_ = 0;
    async::Notifier written_;   ///< something to write
    async::Notifier answered_;  ///< room for another call
    std::function<void()> end_subscription_;
    std::size_t in_flight_ = 0;
    bool no_more_input_ = false;
    bool closed_ = false;
};

}  // namespace orange::rpc
