#include <sys/signalfd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/base/system.hpp"
#include "daemon/async/use_tuple.hpp"
#include "daemon/process/orphans.hpp"

namespace orange {

/// Uses a signalfd, because a handler would interrupt system calls in the whole daemon.
Result<void> Orphans::adopt(const async::Executor& executor, std::shared_ptr<Orphans> self) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) return io_error("watching for orphans", errno);
    ::signal(SIGCHLD, SIG_DFL);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    system::adopt_orphans();
    self->adopting_ = true;
    async::spawn(executor, "orphans", reap_always(std::move(self), signals));
    return {};
}

Awaitable<void> Orphans::reap_always(std::shared_ptr<Orphans> self, int signals) {
    asio::posix::stream_descriptor told(co_await asio::this_coro::executor, signals);
    for (;;) {
        self->reap();
        signalfd_siginfo signal;
        const auto [error, size] = co_await told.async_read_some(asio::buffer(&signal, sizeof signal), use_tuple);
        if (error) co_return;
    }
}

}  // namespace orange
