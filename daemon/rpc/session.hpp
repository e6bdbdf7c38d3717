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

/// One connection over any stream: framing, flow control, turns, and a coroutine for each call. `peer` is the process
/// at the other end.
class Session : public EventSink, public std::enable_shared_from_this<Session> {
  public:
    Session(Server& server, std::unique_ptr<Stream> stream, Peer peer);

    void start();
    void close();
    /// Ends the connection as soon as nothing is left to answer and to write.
    void finish();
    /// Drops a client for which nothing could be written for `patience`, since it does not read what was.
    void check_reader(std::chrono::milliseconds patience);
    bool has_unread() const { return outbox_bytes_ > 0; }
    /// When it last read something, or nothing waited for it.
    async::Moment read_at() const { return read_at_; }

    void notify(const std::string& method, Json params) override;
    void set_subscription(std::function<void()> end) override;
    int on_end(std::function<void()> end) override;
    void forget(int number) override { waiting_calls_.erase(number); }

  private:
    friend class Server;

    Awaitable<void> read_loop(std::shared_ptr<Session> self);
    Awaitable<void> write_loop(std::shared_ptr<Session> self);
    /// `weight`: how many calls it counts as.
    Awaitable<void> answer(std::shared_ptr<Session> self, std::string line, std::size_t weight);
    /// Returns when another call may begin: not before enough replies have been given and read.
    Awaitable<void> wait_for_room(std::size_t weight);
    bool has_room(std::size_t weight) const;
    /// The turn of a batch's next request, for which so many bytes of replies are held. False: no more of them.
    Awaitable<bool> next_of_batch(std::size_t held, std::shared_ptr<std::size_t> counted);
    void queue(std::string text);
    void unqueue(std::size_t bytes);
    void hold(std::size_t bytes);
    void release(std::size_t bytes);
    Awaitable<void> watch_hangup(std::shared_ptr<Session> self);
    /// Nobody is going to read the replies that calls wait with.
    void end_waiting_calls();
    /// Throws away what waits for a client that does not read it, and closes when it has had time to read the reason.
    void drop(const std::string& why);
    /// Starts a call for each whole line, as many as may be under way at once, each in its turn with other connections.
    /// Only the last `fresh` bytes can hold a line's end that was not seen before.
    Awaitable<void> take_lines(std::shared_ptr<Session> self, std::string& buffer, std::size_t fresh);
    void send(std::string text);
    Awaitable<Caller> caller(std::shared_ptr<Session> self);
    /// Nothing asked, nothing to say: the text that is being written is in outbox_bytes_ alone.
    bool idle() const { return in_flight_ == 0 && outbox_bytes_ == 0; }

    Server& server_;
    std::unique_ptr<Stream> stream_;
    Peer peer_;
    std::optional<Caller> caller_;
    std::deque<std::string> outbox_;
    std::size_t outbox_bytes_ = 0;
    async::Moment read_at_;    ///< when nothing waited, or something could be written
    async::Notifier written_;  ///< something to write
    async::Notifier room_;     ///< perhaps there is room for another call
    std::shared_ptr<CallScheduler::Place> place_ = std::make_shared<CallScheduler::Place>();
    std::function<void()> end_subscription_;
    std::map<int, std::function<void()>> waiting_calls_;
    int next_waiting_call_ = 1;
    std::size_t in_flight_ = 0;
    std::size_t held_ = 0;  ///< bytes of requests under way and of replies not read
    bool no_more_input_ = false;
    bool closed_ = false;
    bool dropped_ = false;  ///< only the reason is still to be written
};

}  // namespace orange::rpc
