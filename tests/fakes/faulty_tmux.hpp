#pragma once

#include <functional>
#include <string>
#include <utility>

#include "daemon/tmux/tmux.hpp"

namespace orange::fakes {

/// How a tmux goes wrong. After the second it has done what it was asked for, and nobody was told so.
enum class TmuxFault { does_not_answer, answers_too_late };

/// Which call of a daemon's goes wrong, and how many there were.
struct TmuxFaults {
    TmuxFault fault = TmuxFault::does_not_answer;
    int nth = 0;  ///< from now; 0: none
    int calls = 0;
    bool struck = false;

    void arm(TmuxFault how, int n) {
        fault = how;
        nth = n;
        calls = 0;
        struck = false;
    }
    void disarm() { arm(fault, 0); }
};

/// Another Tmux, of which the nth call goes wrong.
class FaultyTmux final : public Tmux {
  public:
    FaultyTmux(Tmux& real, TmuxFaults& faults) : real_(real), faults_(faults) {}

    Awaitable<Result<PaneRef>> open(WindowSpec spec) override {
        if (!is_due()) co_return co_await real_.open(std::move(spec));
        if (too_late()) (void)co_await real_.open(std::move(spec));
        co_return silent();
    }
    Awaitable<Result<TmuxState>> list() override {
        if (!is_due()) co_return co_await real_.list();
        co_return silent();
    }
    Awaitable<Result<LastLines>> last_lines(PaneRef pane, int lines) override {
        if (!is_due()) co_return co_await real_.last_lines(std::move(pane), lines);
        co_return silent();
    }
    Awaitable<Result<void>> kill(std::string id) override {
        if (!is_due()) co_return co_await real_.kill(std::move(id));
        if (too_late()) (void)co_await real_.kill(std::move(id));
        co_return silent();
    }
    Awaitable<Result<void>> rename_session(std::string session_id, std::string name) override {
        if (!is_due()) co_return co_await real_.rename_session(std::move(session_id), std::move(name));
        if (too_late()) (void)co_await real_.rename_session(std::move(session_id), std::move(name));
        co_return silent();
    }
    Awaitable<Result<void>> paste(std::string pane_id, std::string text) override {
        if (!is_due()) co_return co_await real_.paste(std::move(pane_id), std::move(text));
        if (too_late()) (void)co_await real_.paste(std::move(pane_id), std::move(text));
        co_return silent();
    }
    Awaitable<Result<Entered>> press_enter(std::string pane_id, std::function<bool(const PaneView&)> holds) override {
        if (!is_due()) co_return co_await real_.press_enter(std::move(pane_id), std::move(holds));
        if (too_late()) (void)co_await real_.press_enter(std::move(pane_id), std::move(holds));
        co_return silent();
    }
    Awaitable<Result<void>> press_escape(std::string pane_id) override {
        if (!is_due()) co_return co_await real_.press_escape(std::move(pane_id));
        co_return silent();
    }
    Awaitable<Result<std::string>> capture(std::string pane_id, int lines, bool colours) override {
        if (!is_due()) co_return co_await real_.capture(std::move(pane_id), lines, colours);
        co_return silent();
    }
    Awaitable<Result<PaneView>> view_pane(std::string pane_id) override {
        if (!is_due()) co_return co_await real_.view_pane(std::move(pane_id));
        co_return silent();
    }
    Awaitable<Result<std::vector<TmuxClient>>> clients() override {
        if (!is_due()) co_return co_await real_.clients();
        co_return silent();
    }
    Awaitable<Result<void>> display_message(std::string client, std::string text) override {
        if (!is_due()) co_return co_await real_.display_message(std::move(client), std::move(text));
        co_return silent();
    }

  private:
    bool is_due() {
        if (++faults_.calls != faults_.nth) return false;
        faults_.struck = true;
        return true;
    }
    bool too_late() const { return faults_.fault == TmuxFault::answers_too_late; }
    static Error silent() { return {ErrorCode::timeout, "`tmux` did not end within its time"}; }

    Tmux& real_;
    TmuxFaults& faults_;
};

}  // namespace orange::fakes
