#pragma once

#include <asio/awaitable.hpp>

namespace orange {

/// What every operation that may take time returns. Interfaces include this and nothing else of Asio.
template <class T>
using Awaitable = asio::awaitable<T>;

}  // namespace orange
