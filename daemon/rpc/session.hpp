#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/async/async.hpp"
#include "daemon/rpc/server.hpp"
#include "daemon/rpc/stream.hpp"

namespace orange::rpc {

/// A connection over a stream: framing, flow control, turns, and a coroutine for each call. `peer` is the process at
/// the other end.
class Session : public EventSink, public std::enable_shared_from_this<Session> {
  public:
    Session(Server& server, std::unique_ptr<Stream> stream, Peer peer);

    void start();
    void close();
    /// Closes the connection as soon as all calls are answered and all replies are written.
    void finish();
    /// Drops a client to which nothing could be written for `patience`, because it does not read.
    void check_reader(std::chrono::milliseconds patience);
    bool has_unread() const { return outbox_bytes_ > 0; }
    /// Returns when the client last read, or when nothing waited for it.
    async::Moment read_at() const { return read_at_; }

    void notify(const std::string& method, Json params) override;
    void set_subscription(std::function<void()> end) override;
    int on_end(std::function<void()> end) override;
    void forget(int number) override { waiting_calls_.erase(number); }

  private:
    friend class Server;

    Awaitable<void> read_loop(std::shared_ptr<Session> self);
    Awaitable<void> write_loop(std::shared_ptr<Session> self);
    /// Runs the requests of a line and queues the reply. `weight`: the number of calls that the line counts as.
    Awaitable<void> answer(std::shared_ptr<Session> self, std::string line, std::size_t weight);
    /// Waits until another call may begin: until enough replies have been made and read.
    Awaitable<void> wait_for_room(std::size_t weight);
    bool has_room(std::size_t weight) const;
    /// Waits for the turn of a batch's next request. `held`: bytes of the batch's replies so far. Returns false if
    /// there is no room for more replies.
    Awaitable<bool> next_of_batch(std::size_t held, std::shared_ptr<std::size_t> counted);
    void queue(std::string text);
    void count(std::size_t bytes);
    void unqueue(std::size_t bytes);
    void hold(std::size_t bytes);
    void release(std::size_t bytes);
    Awaitable<void> watch_hangup(std::shared_ptr<Session> self);
    /// Ends the calls that wait for events, because the client will not read their replies.
    void end_waiting_calls();
    /// Discards everything queued for a client that does not read, and closes the connection after a time in which the
    /// client can read the reason.
    void drop(const std::string& why);
    /// Starts a call for each complete line, up to the limit of running calls, each in its turn with other connections.
    /// Only the last `fresh` bytes can contain a line end that was not seen before.
    Awaitable<void> take_lines(std::shared_ptr<Session> self, std::string& buffer, std::size_t fresh);
    void send(std::string text);
    Awaitable<Caller> caller(std::shared_ptr<Session> self);
    /// Returns the task of the peer's run behind a wall; empty: none. It stays what it is when the run has ended.
    const TaskId& wall();
    /// Returns true if no call runs and nothing is queued. outbox_bytes_ includes the text that is being written.
    bool idle() const { return in_flight_ == 0 && outbox_bytes_ == 0; }

    Server& server_;
    std::unique_ptr<Stream> stream_;
    Peer peer_;
    std::optional<Caller> caller_;
    TaskId wall_;
    std::deque<std::string> outbox_;
    std::string rest_{};         ///< of a text that is partly written, and comes before outbox_
    std::size_t under_way_ = 0;  ///< bytes of outbox_bytes_ that are being written, and no longer in outbox_
    std::size_t outbox_bytes_ = 0;
    async::Moment read_at_;  ///< the last time that nothing waited or something could be written
    async::Wakeup written_;  ///< there may be something to write
    async::Wakeup room_;     ///< there may be room for another call
    std::shared_ptr<CallScheduler::Line> line_ = std::make_shared<CallScheduler::Line>();
    std::function<void()> end_subscription_;
    std::map<int, std::function<void()>> waiting_calls_;
    int next_waiting_call_ = 1;
    std::size_t in_flight_ = 0;
    std::size_t held_ = 0;  ///< bytes of running requests and of replies that have not been read
    bool no_more_input_ = false;
    bool closed_ = false;
    bool dropped_ = false;  ///< only the reason is still written
};

}  // namespace orange::rpc
