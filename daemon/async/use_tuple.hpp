#pragma once

#include <asio/use_awaitable.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 102400
#include <asio/as_tuple.hpp>
#else
#include <asio/experimental/as_tuple.hpp>
#endif

namespace orange {

/// Makes `co_await` of an Asio operation return the error code together with the result. Nothing is thrown.
#if ASIO_VERSION >= 102400
inline constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);
#else
inline constexpr auto use_tuple = asio::experimental::as_tuple(asio::use_awaitable);
#endif

}  // namespace orange
