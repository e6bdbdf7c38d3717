#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <utility>

#include "common/config/detach_key.hpp"
#include "daemon/async/time.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/tmux/tmux.hpp"

namespace orange {

/// Runs the program tmux. CliTmux passes only fixed words, checked names and ids, and parses only formats of ids and
/// sanitised names. To find out whether a server runs, CliTmux connects to the socket, and does not rely on tmux's
/// messages.
///
/// The server's environment lasts for its whole life, and every pane sees it. So it has only what a shell needs to
/// start; an agent's environment comes with its spec. If systemd's user manager runs, the server starts in a scope of
/// its own, because it must outlive the daemon's unit.
class CliTmux final : public Tmux {
  public:
    /// `base`: usually scrubbed_environment(). `deadline`: the time for an answer of tmux. The runner must outlive this
    /// object.
    CliTmux(ProcessRunner& runner, std::filesystem::path socket, const Environment& base,
            std::chrono::milliseconds deadline = std::chrono::seconds(10));

    Awaitable<Result<PaneRef>> open(WindowSpec spec) override;
    Awaitable<Result<TmuxState>> list() override;
    Awaitable<Result<LastLines>> last_lines(PaneRef pane, int lines) override;
    Awaitable<Result<void>> kill(std::string id) override;
    Awaitable<Result<void>> rename_session(std::string session_id, std::string name) override;
    Awaitable<Result<void>> paste(std::string pane_id, std::string text) override;
    Awaitable<Result<Entered>> press_enter(std::string pane_id, std::function<bool(const PaneView&)> holds) override;
    Awaitable<Result<void>> press_escape(std::string pane_id) override;
    Awaitable<Result<std::string>> capture(std::string pane_id, int lines, bool colours = false) override;
    Awaitable<Result<PaneView>> view_pane(std::string pane_id) override;
    Awaitable<Result<std::vector<TmuxClient>>> clients() override;
    Awaitable<Result<void>> display_message(std::string client, std::string text) override;

    /// Names the server in which agents are known to run, before the first command. If its socket was removed, CliTmux
    /// makes it create the socket again (USR1) instead of starting a second server. Ignored if a running server is
    /// known.
    void expect_server(std::int64_t pid, std::int64_t start_time);

    /// Sets words in front of the command that starts the server: a program that stays the ancestor of all processes of
    /// the server (orange-agent --keep). By default none.
    void keep_below(std::vector<std::string> keeper) { keeper_ = std::move(keeper); }

    /// Sets the detach key for a server that starts later; bind_detach_key() changes a running one.
    void set_detach_key(DetachKey key) { detach_key_ = std::move(key); }
    /// Binds the detach key in the running server; success if no server runs.
    Awaitable<Result<void>> bind_detach_key();

    /// Sets a check that runs immediately before each use of the socket and before the server is made to create it
    /// again. If the check fails, so does the call. The check protects against a folder that another user has taken
    /// over. By default none.
    void ask_first(std::function<Result<void>()> guard) { guard_ = std::move(guard); }

    /// Sets the receiver of sentences for the log. By default none.
    void on_note(std::function<void(const std::string&)> note) { note_ = std::move(note); }

    /// Returns the pid of the server that answered last; 0 if none has. The daemon recognizes callers inside the server
    /// by it.
    std::int64_t server_pid() const { return server_pid_; }
    std::int64_t server_start() const { return server_start_; }

  private:
    /// `before`: words in front of tmux's own (process::scope_words, the keeper's).
    Awaitable<Result<Completed>> call(std::vector<std::string> args, std::string input = {},
                                      std::vector<std::string> before = {});
    Command command_for(const std::vector<std::string>& args, const std::vector<std::string>& before) const;
    Result<void> allowed() const { return guard_ ? guard_() : Result<void>{}; }
    Awaitable<bool> succeeds(std::vector<std::string> args);
    Awaitable<Result<void>> start_server();
    Awaitable<Result<Completed>> open_window(std::vector<std::string> args);
    Awaitable<bool> start_in_scope(std::vector<std::string> args);
    bool server_lives() const;
    Error unreachable() const;
    Result<TmuxState> without_server() const;
    TmuxState answered_by(std::string_view pid);
    Awaitable<bool> wake_lost_server();
    void remember_server(std::int64_t pid);
    Awaitable<Result<void>> find_pane(std::string pane_id);
    Awaitable<Result<void>> press(std::string pane_id, std::string key);
    Awaitable<Result<bool>> shows(std::string pane_id, const std::function<bool(const PaneView&)>& holds, bool wanted,
                                  int looks);

    ProcessRunner& runner_;
    std::string socket_;
    Environment env_;
    std::chrono::milliseconds deadline_;
    std::vector<std::string> keeper_;
    DetachKey detach_key_;
    std::function<Result<void>()> guard_;
    std::function<void(const std::string&)> note_;
    std::string program_;          ///< absolute path; empty: not installed
    std::int64_t server_pid_ = 0;  ///< of the server that answered last
    std::int64_t server_start_ = 0;
    std::optional<async::Moment> woken_;  ///< the last time it was sent USR1
};

}  // namespace orange
