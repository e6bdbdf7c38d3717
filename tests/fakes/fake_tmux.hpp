#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/process/exit_watcher.hpp"
#include "daemon/tmux/tmux.hpp"

namespace orange::fakes {

/// Processes that are only told of. Their pids are above what the kernel gives, so that nobody real is ever meant.
struct FakeProcesses {
    struct Process {
        std::int64_t start_time = 0;
        std::vector<std::string> argv;
    };
    std::map<std::int64_t, Process> alive;
    std::int64_t next = 10'000'001;

    std::int64_t start(std::vector<std::string> argv) {
        const auto pid = next++;
        alive[pid] = Process{pid * 10, std::move(argv)};
        return pid;
    }
    std::vector<std::string> argv_of(std::int64_t pid) const {
        const auto found = alive.find(pid);
        return found == alive.end() ? std::vector<std::string>{} : found->second.argv;
    }
};

class FakeExitWatcher final : public ExitWatcher {
  public:
    explicit FakeExitWatcher(const FakeProcesses& processes) : processes_(processes) {}

    Awaitable<Result<void>> wait(std::int64_t pid, std::int64_t) override {
        if (!processes_.alive.contains(pid)) co_return Result<void>{};
        co_return Error(ErrorCode::unavailable, "this watcher does not wait");
    }
    Result<std::int64_t> start_time(std::int64_t pid) override {
        ++looks;
        if (look_fails) return *look_fails;
        const auto found = processes_.alive.find(pid);
        if (found != processes_.alive.end()) return found->second.start_time;
        return Error(ErrorCode::not_found, "there is no such process");
    }

    std::optional<Error> look_fails;  ///< no process can be looked at
    int looks = 0;                    ///< how often it was asked for a start time

  private:
    const FakeProcesses& processes_;
};

/// A tmux server in memory, with a fake process in each pane; what it was asked for is kept.
class FakeTmux final : public Tmux {
  public:
    explicit FakeTmux(FakeProcesses& processes) : processes_(processes) {}

    /// What a server is: copied and put back by tests that go back in time.
    struct State {
        std::int64_t server_pid = 9'999'999;
        std::int64_t server_start = 5;
        std::vector<PaneInfo> panes;
        int next_id = 1;
        std::vector<WindowSpec> opened;
        std::vector<std::string> killed;
        std::map<std::string, std::string> pasted;              ///< pane → what was pasted last
        std::vector<std::pair<std::string, std::string>> sent;  ///< pane, text: pasted, with Enter
        std::vector<TmuxClient> clients;
        std::vector<std::pair<std::string, std::string>> told;  ///< client, text
    };
    State state;
    std::map<std::string, std::string> screens;  ///< pane → what it shows
    std::string first_screen;                    ///< and if the test has not said what it shows
    std::vector<std::string> escaped;            ///< panes in which Escape was pressed
    std::function<void()> before = [] {};        ///< called first by everything that changes something
    std::function<void()> looked = [] {};        ///< called by list() and last_lines(), after they have looked
    std::optional<Error> open_fails;
    std::optional<Error> list_fails;
    std::optional<Error> kill_fails;
    bool kill_ends_processes = true;
    std::vector<std::string> taken_names;  ///< by sessions that are nobody's here

    Awaitable<Result<PaneRef>> open(WindowSpec spec) override {
        before();
        state.opened.push_back(spec);
        if (open_fails) co_return *open_fails;
        PaneInfo pane;
        pane.ref.session_id = spec.in_session.empty() ? "$" + std::to_string(state.next_id++) : spec.in_session;
        pane.session_name = spec.in_session.empty() ? spec.session : name_of(spec.in_session);
        if (spec.in_session.empty() && has_session(spec.session)) {
            co_return Error(ErrorCode::conflict, "duplicate session: " + spec.session);
        }
        pane.ref.server_pid = state.server_pid;
        pane.ref.server_start = state.server_start;
        pane.ref.window_id = "@" + std::to_string(state.next_id);
        pane.ref.pane_id = "%" + std::to_string(state.next_id++);
        pane.ref.pid = processes_.start(spec.argv);
        pane.window_name = spec.window;
        for (const auto& word : spec.argv) pane.command += (pane.command.empty() ? "" : "-") + word;
        state.panes.push_back(pane);
        co_return pane.ref;
    }
    Awaitable<Result<LastLines>> last_lines(PaneRef pane, int) override {
        ++asked_for_lines;
        const auto now = look();
        if (!now) co_return now.error();
        LastLines answer{now->server_pid, now->server_start};
        const bool there = pane.server_pid == now->server_pid &&
                           std::any_of(now->panes.begin(), now->panes.end(),
                                       [&](const PaneInfo& each) { return each.ref.pane_id == pane.pane_id; });
        if (there) answer.text = shown_in(pane.pane_id);
        co_return answer;
    }
    Awaitable<Result<TmuxState>> list() override {
        ++asked_for_panes;
        co_return look();
    }
    int asked_for_lines = 0, asked_for_panes = 0;
    Awaitable<Result<void>> kill(std::string id) override {
        before();
        state.killed.push_back(id);
        if (kill_fails) co_return *kill_fails;
        for (const auto& pane : state.panes) {
            if (is_in(pane, id) && kill_ends_processes) processes_.alive.erase(pane.ref.pid);
        }
        std::erase_if(state.panes, [&](const PaneInfo& pane) { return is_in(pane, id); });
        co_return Result<void>{};
    }
    Awaitable<Result<void>> rename_session(std::string session_id, std::string name) override {
        before();
        if (std::find(taken_names.begin(), taken_names.end(), name) != taken_names.end()) {
            co_return Error(ErrorCode::conflict, "duplicate session: " + name);
        }
        for (auto& pane : state.panes) {
            if (pane.ref.session_id == session_id) pane.session_name = name;
        }
        co_return Result<void>{};
    }
    Awaitable<Result<void>> press_escape(std::string pane_id) override {
        before();
        escaped.push_back(std::move(pane_id));
        co_return Result<void>{};
    }
    Awaitable<Result<void>> paste(std::string pane_id, std::string text) override {
        before();
        state.pasted[pane_id] = std::move(text);
        co_return Result<void>{};
    }
    /// A program that takes each line. `entered` says otherwise.
    Awaitable<Result<Entered>> press_enter(std::string pane_id, std::function<bool(const PaneView&)> holds) override {
        before();
        if (views_hold && !holds(PaneView{{}, shown_in(pane_id), shown_in(pane_id)})) co_return Entered::no;
        ++enters;
        if (entered != Entered::no) state.sent.emplace_back(pane_id, state.pasted[pane_id]);
        co_return entered;
    }
    Entered entered = Entered::taken;
    bool views_hold = false;  ///< Enter is pressed only if the screen shows that the prompt holds the text
    int enters = 0;
    Awaitable<Result<std::string>> capture(std::string pane_id, int, bool) override {
        const bool there = std::any_of(state.panes.begin(), state.panes.end(),
                                       [&](const PaneInfo& pane) { return pane.ref.pane_id == pane_id; });
        if (!there) co_return Error(ErrorCode::not_found, "can't find pane: " + pane_id);
        co_return shown_in(pane_id);
    }

    Awaitable<Result<PaneView>> view_pane(std::string pane_id) override {
        ++looks;
        for (const auto& pane : state.panes) {
            if (pane.ref.pane_id != pane_id) continue;
            PaneView view{pane.title, shown_in(pane_id), shown_in(pane_id)};
            for (const auto& client : state.clients) {
                if (client.session_name != pane.session_name) continue;
                view.touched_at = std::max(view.touched_at.value_or(client.typed_at), client.typed_at);
            }
            co_return view;
        }
        co_return Error(ErrorCode::not_found, "can't find pane: " + pane_id);
    }
    int looks = 0;
    Awaitable<Result<std::vector<TmuxClient>>> clients() override {
        ++asked_for_clients;
        if (list_fails) co_return *list_fails;
        co_return state.clients;
    }
    Awaitable<Result<void>> display_message(std::string client, std::string text) override {
        state.told.emplace_back(std::move(client), std::move(text));
        co_return Result<void>{};
    }
    int asked_for_clients = 0;

    std::size_t windows_named(const std::string& name) const {
        return static_cast<std::size_t>(std::count_if(state.opened.begin(), state.opened.end(),
                                                      [&](const WindowSpec& spec) { return spec.window == name; }));
    }

  private:
    Result<TmuxState> look() {
        TmuxState now{state.server_pid, state.server_start, state.panes};
        for (auto& pane : now.panes) pane.dead = !processes_.alive.contains(pane.ref.pid);
        const auto answer = list_fails ? Result<TmuxState>(*list_fails) : now;
        looked();
        return answer;
    }
    std::string shown_in(const std::string& pane_id) const {
        const auto screen = screens.find(pane_id);
        return screen == screens.end() ? first_screen : screen->second;
    }
    static bool is_in(const PaneInfo& pane, const std::string& id) {
        return pane.ref.window_id == id || pane.ref.session_id == id;
    }
    bool has_session(const std::string& name) const {
        return std::any_of(state.panes.begin(), state.panes.end(),
                           [&](const PaneInfo& pane) { return pane.session_name == name; });
    }
    std::string name_of(const std::string& session_id) const {
        for (const auto& pane : state.panes) {
            if (pane.ref.session_id == session_id) return pane.session_name;
        }
        return {};
    }

    FakeProcesses& processes_;
};

}  // namespace orange::fakes
