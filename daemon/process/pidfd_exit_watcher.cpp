#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <cerrno>
#include <system_error>

#include "daemon/async/use_tuple.hpp"
#include "daemon/process/child.hpp"
#include "daemon/process/pidfd_exit_watcher.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange {

Awaitable<Result<void>> PidfdExitWatcher::wait(std::int64_t pid, std::int64_t start_time) {
    int error = 0;
    auto pidfd = open_pidfd(static_cast<pid_t>(pid), error);
    if (!pidfd) {
        if (error == ESRCH) co_return Result<void>{};
        co_return io_error("watching process " + std::to_string(pid), error);
    }
    // Compare the start time after opening: from now on the pidfd means this process, even if its number is reused.
    const auto started = process::look_up_start_time(pid);
    if (!started && started.error().code != ErrorCode::not_found) co_return started.error();
    if (!started || *started != start_time) co_return Result<void>{};
    asio::posix::stream_descriptor exited(co_await asio::this_coro::executor, pidfd.release());
    do {
        const auto [failed] = co_await exited.async_wait(asio::posix::descriptor_base::wait_read, use_tuple);
        if (failed) throw std::system_error(failed);
    } while (!is_readable(exited.native_handle()));
    co_return Result<void>{};
}

Result<std::int64_t> PidfdExitWatcher::start_time(std::int64_t pid) {
    return process::look_up_start_time(pid);
}

}  // namespace orange
