#pragma once

#include <asio/awaitable.hpp>

namespace orange {

/// The result of every operation that may take time. Interfaces include only this header of Asio.
template <class T>
using Awaitable = asio::awaitable<T>;

}  // namespace orange
