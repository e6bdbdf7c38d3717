#pragma once

#include <cerrno>

namespace orange::posix {

/// Repeats a system call that a signal interrupted. Returns its result.
template <class Call>
auto retried(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

}  // namespace orange::posix
