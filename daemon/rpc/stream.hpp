#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/error_code.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstddef>
#include <memory>
#include <tuple>

#include "daemon/async/async.hpp"

namespace orange::rpc {

/// A stream of bytes in both directions between a client and its session. The stream owns its descriptors.
class Stream {
  public:
    virtual ~Stream() = default;

    virtual asio::any_io_executor executor() = 0;
    /// Waits until there is data to read; an error if the stream was closed.
    virtual Awaitable<std::tuple<asio::error_code>> readable() = 0;
    /// Reads available data without waiting. The error is `would_block` if there is none, and `eof` at the end.
    virtual std::size_t read_some(asio::mutable_buffer into, asio::error_code& error) = 0;
    /// Writes what can be written without waiting, and returns its size; 0 after an error, which write_some() returns.
    virtual std::size_t write_now(asio::const_buffer from) = 0;
    /// Waits until a part of `from` was written, and returns the size of that part.
    virtual Awaitable<std::tuple<asio::error_code, std::size_t>> write_some(asio::const_buffer from) = 0;
    /// Returns true if the client can no longer read. A client that has only closed its sending side still reads.
    virtual bool is_hung_up() = 0;
    virtual void close() = 0;
};

std::unique_ptr<Stream> stream_over(asio::local::stream_protocol::socket socket);
std::unique_ptr<Stream> stream_over(asio::ip::tcp::socket socket);

/// Makes a stream of two pipes: the session reads from `in` and writes to `out`.
std::unique_ptr<Stream> stream_over(const asio::any_io_executor& executor, int in, int out);

}  // namespace orange::rpc
