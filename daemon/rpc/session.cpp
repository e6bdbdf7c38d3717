#include "daemon/rpc/session.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <utility>

#include "common/rpc/event_methods.hpp"
#include "daemon/log/log.hpp"

namespace orange::rpc {
namespace {

constexpr std::size_t k_longest_line = 1 << 20;
constexpr std::size_t k_most_unread = 8 << 20;  ///< bytes queued for a client that does not read
constexpr std::size_t k_most_in_flight = 64;
constexpr std::size_t k_batch_weight = 16;
constexpr std::size_t k_most_held = 256 << 10;      ///< bytes; above this, a connection begins no further call
constexpr std::size_t k_most_of_a_batch = 4 << 20;  ///< bytes of all replies of a batch
/// The time that a dropped client has to read the reason.
constexpr std::chrono::milliseconds k_drop_patience{10'000};
constexpr std::chrono::milliseconds k_hangup_look{1000};

}  // namespace

Session::Session(Server& server, std::unique_ptr<Stream> stream, Peer peer)
    : server_(server),
      stream_(std::move(stream)),
      peer_(peer),
      written_(stream_->executor()),
      room_(stream_->executor()) {}

void Session::start() {
    (void)wall();
    async::spawn(stream_->executor(), "rpc reader", read_loop(shared_from_this()));
    async::spawn(stream_->executor(), "rpc writer", write_loop(shared_from_this()));
}

void Session::close() {
    if (closed_) return;
    closed_ = true;
    outbox_.clear();
    rest_.clear();
    release(std::exchange(outbox_bytes_, 0));
    if (auto end = std::move(end_subscription_)) end();
    end_subscription_ = nullptr;
    end_waiting_calls();
    stream_->close();
    written_.notify();
    room_.notify();
    server_.sessions_.erase(shared_from_this());
}

void Session::finish() {
    no_more_input_ = true;
    end_waiting_calls();
    if (idle()) close();
}

void Session::end_waiting_calls() {
    for (auto& [number, end] : std::exchange(waiting_calls_, {})) end();
}

int Session::on_end(std::function<void()> end) {
    if (closed_ || server_.stopping_) {
        end();
        return 0;
    }
    waiting_calls_[next_waiting_call_] = std::move(end);
    return next_waiting_call_++;
}

/// Closes the connection when the client has gone away, which ends its waiting calls. A client that has only closed its
/// sending side still gets its replies. The kernel distinguishes the two, but reports it only to a reader, so this
/// polls.
Awaitable<void> Session::watch_hangup([[maybe_unused]] std::shared_ptr<Session> self) {
    while (!closed_) {
        if (stream_->is_hung_up()) {
            close();
            break;
        }
        const auto pause = k_hangup_look;
        const bool slept = co_await async::sleep(pause);
        if (!slept) break;
    }
}

Awaitable<Caller> Session::caller([[maybe_unused]] std::shared_ptr<Session> self) {
    if (!caller_) {
        auto found = co_await server_.identify_(peer_);
        caller_ = std::move(found);
    }
    co_return *caller_;
}

void Session::set_subscription(std::function<void()> end) {
    if (closed_) return end();  // nothing else would end it
    if (auto old = std::exchange(end_subscription_, std::move(end))) old();
}

void Session::notify(const std::string& method, Json params) {
    send(dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

void Session::send(std::string text) {
    if (closed_ || dropped_) return;
    text += '\n';
    if (outbox_bytes_ == 0) {
        // The caller may go on for a while before the writer has its turn.
        read_at_ = async::now();
        text.erase(0, stream_->write_now(asio::buffer(text)));
        if (!text.empty()) {
            count(text.size());
            under_way_ = text.size();
            rest_ = std::move(text);
            server_.make_room();
        }
        written_.notify();
        return;
    }
    queue(std::move(text));
    // A single reply may exceed the limit. Only what is queued behind the next text counts.
    if (outbox_bytes_ - under_way_ - outbox_.front().size() > k_most_unread) {
        drop("over 8 MiB were waiting to be read");
        return;
    }
    written_.notify();
    server_.make_room();
}

void Session::queue(std::string text) {
    count(text.size());
    outbox_.push_back(std::move(text));
}

void Session::count(std::size_t bytes) {
    outbox_bytes_ += bytes;
    hold(bytes);
}

void Session::unqueue(std::size_t bytes) {
    const auto left = std::min(outbox_bytes_, bytes);  // 0 if the session was closed meanwhile
    outbox_bytes_ -= left;
    release(left);
}

void Session::hold(std::size_t bytes) {
    held_ += bytes;
    server_.held_ += bytes;
}

void Session::release(std::size_t bytes) {
    held_ -= bytes;
    server_.held_ -= bytes;
    server_.tell_of_room();
}

bool Session::has_room(std::size_t weight) const {
    if (in_flight_ > 0 && in_flight_ + weight > k_most_in_flight) return false;
    const bool only_waits = in_flight_ <= waiting_calls_.size() && outbox_bytes_ == 0;
    return only_waits || (held_ < k_most_held && server_.has_room());
}

Awaitable<void> Session::wait_for_room(std::size_t weight) {
    while (!closed_ && !has_room(weight)) {
        server_.wait_for_room_.insert(shared_from_this());
        co_await room_.wait();
    }
    server_.wait_for_room_.erase(shared_from_this());
}

void Session::check_reader(std::chrono::milliseconds patience) {
    if (closed_ || dropped_ || outbox_bytes_ == 0) return;
    const auto unread = async::now() - read_at_;
    if (unread < patience) return;
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(unread).count();
    drop("nothing was read for " + std::to_string(minutes) + " minutes");
}

/// Text that is being written cannot be taken back. The reason comes after it, for a client that reads again.
void Session::drop(const std::string& why) {
    log::warn("rpc", "dropped a client that does not read", {{"pid", std::to_string(peer_.pid)}});
    if (auto end = std::move(end_subscription_)) end();
    end_subscription_ = nullptr;
    DroppedNotification notification;
    notification.reason = why +
                          ", so this connection is closed; connect again, pass the last cursor as `since`, and read "
                          "faster or ask for less";
    for (const auto& text : std::exchange(outbox_, {})) unqueue(text.size());
    queue(dump({{"jsonrpc", "2.0"}, {"method", DroppedNotification::k_name}, {"params", written(notification)}}) +
          "\n");
    dropped_ = no_more_input_ = true;
    const auto executor = stream_->executor();
    const auto close_later = [](std::shared_ptr<Session> self) -> Awaitable<void> {
        const auto patience = k_drop_patience;
        co_await async::sleep(patience);
        self->close();
    };
    async::spawn(executor, "rpc drop", close_later(shared_from_this()));
    end_waiting_calls();
    written_.notify();
}

Awaitable<bool> Session::next_of_batch(std::size_t held, std::shared_ptr<std::size_t> counted) {
    hold(held - std::exchange(*counted, held));
    const auto own_line = line_;
    co_await server_.scheduler_.wait_for_turn(own_line);
    const bool has_room = held < k_most_of_a_batch && server_.held_ < server_.limits_.most_held;
    co_return has_room;
}

const TaskId& Session::wall() {
    if (wall_.empty() && server_.wall_of_) wall_ = server_.wall_of_(peer_);
    return wall_;
}

Awaitable<void> Session::answer(std::shared_ptr<Session> self, std::string line, std::size_t weight) {
    const Ends ends([this] { return caller(shared_from_this()); }, [this] { return wall(); });
    const auto size = line.size();
    const auto counted = std::make_shared<std::size_t>(size);
    hold(size);
    const NextOfBatch next = [this, counted, size](std::size_t replies) {
        return next_of_batch(size + replies, counted);
    };
    auto reply = co_await server_.dispatcher_.handle(std::move(line), ends, self.get(), next);
    in_flight_ -= weight;
    server_.busy_ -= weight;
    release(*counted);
    if (reply) send(std::move(*reply));
    room_.notify();
    if (no_more_input_ && idle()) close();
}

Awaitable<void> Session::take_lines(std::shared_ptr<Session> self, std::string& buffer, std::size_t fresh) {
    std::size_t begin = 0;
    for (auto end = buffer.find('\n', buffer.size() - fresh); end != std::string::npos;
         end = buffer.find('\n', begin)) {
        auto line = buffer.substr(begin, end - begin);
        begin = end + 1;
        const auto first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos) continue;
        const std::size_t weight = line[first] == '[' ? k_batch_weight : 1;
        co_await wait_for_room(weight);
        const auto own_line = line_;
        if (!closed_) co_await server_.scheduler_.wait_for_turn(own_line);
        if (closed_) co_return;
        in_flight_ += weight;
        server_.busy_ += weight;
        async::spawn(stream_->executor(), "rpc call", answer(self, std::move(line), weight));
    }
    buffer.erase(0, begin);
}

Awaitable<void> Session::read_loop(std::shared_ptr<Session> self) {
    std::string buffer;
    asio::error_code error;
    while (!error && !closed_ && !no_more_input_) {
        // All sessions share one buffer, because thousands of silent connections may be open.
        const auto [failed] = co_await stream_->readable();
        if (failed || closed_) break;
        auto& chunk = server_.chunk_;
        const auto size = stream_->read_some(asio::buffer(chunk), error);
        if (error == asio::error::would_block || error == asio::error::interrupted) {
            error.clear();
            continue;
        }
        if (error) break;
        buffer.append(chunk, 0, size);
        co_await take_lines(self, buffer, size);
        if (buffer.size() > k_longest_line) {
            send(dump(error_reply(nullptr, k_invalid_request, "a line of over 1 MiB; the connection is closed")));
            break;
        }
    }
    // The client sends nothing more, but its requests are still answered (`printf … | nc -U`).
    no_more_input_ = true;
    // The writer closes the connection after the last reply. The client can no longer end its subscription, so end it
    // here.
    if (auto end = std::exchange(end_subscription_, nullptr)) end();
    if (idle()) close();
    if (!closed_ && !dropped_ && !waiting_calls_.empty()) co_await watch_hangup(self);
}

Awaitable<void> Session::write_loop([[maybe_unused]] std::shared_ptr<Session> self) {
    while (!closed_) {
        auto text = std::exchange(rest_, {});
        if (text.empty() && outbox_.empty()) {
            if (dropped_ || (no_more_input_ && in_flight_ == 0)) break;
            co_await written_.wait();
            continue;
        }
        if (text.empty()) {
            text = std::move(outbox_.front());
            outbox_.pop_front();
            under_way_ = text.size();
        }
        asio::error_code failed;
        for (std::size_t written = 0; written < text.size() && !failed;) {
            const auto out = asio::buffer(text) + written;
            const auto [error, size] = co_await stream_->write_some(out);
            failed = error;
            written += size;
            read_at_ = async::now();
        }
        under_way_ = 0;
        unqueue(text.size());
        room_.notify();
        if (failed) break;
    }
    close();
}

}  // namespace orange::rpc
