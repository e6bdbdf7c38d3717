#pragma once

#include <signal.h>

#include <functional>
#include <utility>

#include "daemon/process/proc_info.hpp"
#include "daemon/tmux/cli_tmux.hpp"
#include "tests/support/os_fixture.hpp"

namespace orange::test {

/// Pastes the text, and presses Enter although the pane may not show it.
inline Awaitable<Result<void>> type(Tmux& tmux, std::string pane_id, std::string text) {
    const auto pasted = co_await tmux.paste(pane_id, std::move(text));
    if (!pasted) co_return pasted;
    bool first = true;
    std::function<bool(const PaneView&)> once = [&first](const PaneView&) { return std::exchange(first, false); };
    const auto entered = co_await tmux.press_enter(pane_id, std::move(once));
    if (!entered) co_return entered.error();
    co_return Result<void>{};
}

/// A tmux server of the test's own, in a temporary folder; ended by its pid.
class TmuxFixture {
  public:
    TmuxFixture() : tmux(runner, dir / "tmux.sock", scrubbed_environment()) {}
    ~TmuxFixture() {
        const auto state = go(tmux.list());
        const auto pid = state ? state->server_pid : 0;
        if (pid > 0) end_server(pid);
    }
    TmuxFixture(const TmuxFixture&) = delete;
    TmuxFixture& operator=(const TmuxFixture&) = delete;

    template <class T>
    T go(Awaitable<T> coroutine) {
        return run(io, std::move(coroutine));
    }

    void end_server(std::int64_t pid, int signal = SIGTERM) {
        ::kill(static_cast<pid_t>(pid), signal);
        eventually([&] { return !process::start_time(pid); });
    }

    /// A window that runs a script of the test's (the product only ever runs its shim there).
    WindowSpec window(const std::string& session, const std::string& name,
                      const std::string& script = "exec sleep 600") {
        WindowSpec spec;
        spec.session = session;
        spec.window = name;
        spec.argv = {"sh", "-c", script};
        return spec;
    }
    PaneRef opened(WindowSpec spec) {
        auto pane = go(tmux.open(std::move(spec)));
        if (!pane) throw std::runtime_error(pane.error().message);
        return *pane;
    }
    TmuxState state() { return go(tmux.list()).value(); }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& pane : state().panes) all.push_back(pane.session_name + ":" + pane.window_name);
        return all;
    }
    /// tmux itself, as a human would use it.
    std::string plain(std::vector<std::string> args) {
        Command command;
        command.argv = {"tmux", "-S", (dir / "tmux.sock").string()};
        command.argv.insert(command.argv.end(), args.begin(), args.end());
        return go(runner.run(std::move(command))).value().out;
    }

    asio::io_context io;
    PosixProcessRunner runner;
    TempDir dir;
    CliTmux tmux;
};

}  // namespace orange::test
