#include "daemon/rpc/session.hpp"

#include <asio/buffer.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "daemon/log/log.hpp"

namespace orange::rpc {
namespace {

constexpr auto use_tuple = asio::experimental::as_tuple(asio::use_awaitable);
constexpr std::size_t k_longest_line = 1 << 20;
constexpr std::size_t k_most_unread = 8 << 20;  ///< bytes queued for a reader that does not read
constexpr std::size_t k_most_in_flight = 64;

}  // namespace

Session::Session(Server& server, asio::local::stream_protocol::socket socket, Peer peer)
    : server_(server),
      socket_(std::move(socket)),
      peer_(peer),
      written_(socket_.get_executor()),
      answered_(socket_.get_executor()) {}

void Session::start() {
    async::spawn(socket_.get_executor(), "rpc reader", read_loop(shared_from_this()));
    async::spawn(socket_.get_executor(), "rpc writer", write_loop(shared_from_this()));
}

void Session::close() {
    if (closed_) return;
    closed_ = true;
    if (auto end = std::move(end_subscription_)) end();
    end_subscription_ = nullptr;
    asio::error_code ignored;
    socket_.close(ignored);
    written_.notify();
    answered_.notify();
    server_.sessions_.erase(shared_from_this());
}

void Session::finish() {
    no_more_input_ = true;
    if (idle()) close();
}

const Caller& Session::caller() {
    if (!caller_) caller_ = server_.identify_(peer_);
    return *caller_;
}

void Session::set_subscription(std::function<void()> end) {
    if (closed_) return end();  // nobody will ever end it
    if (auto old = std::exchange(end_subscription_, std::move(end))) old();
}

void Session::notify(const std::string& method, Json params) {
    send(dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

void Session::send(std::string text) {
    if (closed_) return;
    outbox_bytes_ += text.size() + 1;
    outbox_.push_back(std::move(text) + "\n");
    // A single reply may be larger than that: it is what comes on top of one that is not being read that counts.
    if (outbox_bytes_ - outbox_.front().size() > k_most_unread) {
        log::warn("rpc", "dropped a client that does not read", {{"pid", std::to_string(peer_.pid)}});
        close();
        return;
    }
    written_.notify();
}

Awaitable<void> Session::answer(std::shared_ptr<Session> self, std::string line) {
    const WhoIs who = [this] { return caller(); };
    auto reply = co_await server_.dispatcher_.handle(std::move(line), who, self.get());
    --in_flight_;
    --server_.busy_;
    if (reply) send(std::move(*reply));
    answered_.notify();
    if (no_more_input_ && idle()) close();
}

void Session::take_lines(std::string& buffer) {
    std::size_t begin = 0;
    for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n', begin)) {
        auto line = buffer.substr(begin, end - begin);
        begin = end + 1;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        ++in_flight_;
        ++server_.busy_;
        async::spawn(socket_.get_executor(), "rpc call", answer(shared_from_this(), std::move(line)));
    }
    buffer.erase(0, begin);
}

Awaitable<void> Session::read_loop([[maybe_unused]] std::shared_ptr<Session> self) {
    std::string buffer;
    std::string chunk(64 * 1024, '\0');
    while (!closed_ && !no_more_input_) {
        while (in_flight_ >= k_most_in_flight && !closed_) co_await answered_.wait();
        const auto room = asio::buffer(chunk);
        const auto [error, size] = co_await socket_.async_read_some(room, use_tuple);
        if (error) break;
        buffer.append(chunk, 0, size);
        take_lines(buffer);
        if (buffer.size() > k_longest_line) {
            send(dump(error_reply(nullptr, k_invalid_request, "a line of over 1 MiB; the connection is closed")));
            break;
        }
    }
    // The other end has nothing more to say; what it asked is still answered (`printf … | nc -U`).
    no_more_input_ = true;
    if (!end_subscription_ && idle()) close();
    if (end_subscription_ && in_flight_ == 0) close();
}

Awaitable<void> Session::write_loop([[maybe_unused]] std::shared_ptr<Session> self) {
    while (!closed_) {
        if (outbox_.empty()) {
            if (no_more_input_ && in_flight_ == 0) break;
            co_await written_.wait();
            continue;
        }
        const auto text = std::move(outbox_.front());
        outbox_.pop_front();
        const auto out = asio::buffer(text);
        const auto [error, size] = co_await asio::async_write(socket_, out, use_tuple);
        outbox_bytes_ -= std::min(outbox_bytes_, text.size());
        if (error) break;
    }
    close();
}

}  // namespace orange::rpc
