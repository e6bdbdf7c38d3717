#include "daemon/app/shells.hpp"

#include <asio/io_context.hpp>
#include <chrono>
#include <utility>

#include "daemon/async/async.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/posix_process_runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

// Together shorter than the time for which a client waits for a daemon to start.
constexpr std::chrono::milliseconds k_login_deadline = 5s;
constexpr std::chrono::milliseconds k_interactive_deadline = 3s;

Awaitable<void> ask_into(ProcessRunner& runner, Shells& into) {
    into = co_await ask_shells(runner);
}

}  // namespace

Awaitable<Shells> ask_shells(ProcessRunner& runner) {
    auto own = current_environment();
    for (const auto& variable : variables_of_job(own)) own.erase(variable.first);  // what a profile sets stays
    Shells shells;
    shells.login = co_await agents::resolve_login_environment(runner, k_login_deadline, own);
    auto login = shells.login;
    shells.paths = co_await agents::search_paths(runner, k_interactive_deadline, std::move(login), std::move(own));
    co_return shells;
}

Shells ask_shells_first() {
    asio::io_context io{1};
    PosixProcessRunner processes;
    Shells shells;
    async::spawn(io.get_executor(), "login shell", ask_into(processes, shells));
    io.run();
    return shells;
}

}  // namespace orange
