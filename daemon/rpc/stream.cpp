#include "daemon/rpc/stream.hpp"

#include <poll.h>

#include <asio/posix/stream_descriptor.hpp>
#include <utility>

#include "daemon/async/use_tuple.hpp"

namespace orange::rpc {
namespace {

/// `Out` is a reference to `In` if one socket has both directions.
template <class In, class Out>
class TwoWayStream : public Stream {
  public:
    explicit TwoWayStream(In in) : in_(std::move(in)), out_(in_) { not_to_wait(); }
    TwoWayStream(In in, Out out) : in_(std::move(in)), out_(std::move(out)) { not_to_wait(); }

    asio::any_io_executor executor() override { return in_.get_executor(); }
    Awaitable<std::tuple<asio::error_code>> readable() override { return in_.async_wait(In::wait_read, use_tuple); }
    std::size_t read_some(asio::mutable_buffer into, asio::error_code& error) override {
        return in_.read_some(into, error);
    }
    std::size_t write_now(asio::const_buffer from) override {
        asio::error_code error;
        const auto size = out_.write_some(from, error);
        return error ? 0 : size;
    }
    Awaitable<std::tuple<asio::error_code, std::size_t>> write_some(asio::const_buffer from) override {
        return out_.async_write_some(from, use_tuple);
    }
    bool is_hung_up() override {
        if (!out_.is_open()) return true;
        pollfd look{out_.native_handle(), 0, 0};
        return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR)) != 0;
    }
    void close() override {
        asio::error_code ignored;
        in_.close(ignored);
        out_.close(ignored);
    }

  private:
    void not_to_wait() {
        asio::error_code ignored;
        in_.non_blocking(true, ignored);
        out_.non_blocking(true, ignored);
    }

    In in_;
    Out out_;
};

}  // namespace

std::unique_ptr<Stream> stream_over(asio::local::stream_protocol::socket socket) {
    using Socket = asio::local::stream_protocol::socket;
    return std::make_unique<TwoWayStream<Socket, Socket&>>(std::move(socket));
}

std::unique_ptr<Stream> stream_over(asio::ip::tcp::socket socket) {
    using Socket = asio::ip::tcp::socket;
    return std::make_unique<TwoWayStream<Socket, Socket&>>(std::move(socket));
}

std::unique_ptr<Stream> stream_over(const asio::any_io_executor& executor, int in, int out) {
    using Pipe = asio::posix::stream_descriptor;
    return std::make_unique<TwoWayStream<Pipe, Pipe>>(Pipe(executor, in), Pipe(executor, out));
}

}  // namespace orange::rpc
