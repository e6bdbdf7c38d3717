#pragma once

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

namespace orange {

/// For Asio's operations: `co_await` gives the error code with the result, instead of throwing it.
inline constexpr auto use_tuple = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace orange
