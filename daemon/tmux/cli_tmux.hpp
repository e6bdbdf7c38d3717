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

/// The real Tmux, on the tmux program. It is given fixed words, checked names and ids, nothing else; answers are read
/// from formats of ids and sanitised names. Whether there is a server is asked of its socket, not of tmux's words.
///
/// The server's environment stays for its whole life and is seen by every pane, so it holds only what a shell needs to
/// start; an agent's environment comes with its spec. Where systemd's user manager is there, the server starts in a
/// scope of its own: it must outlive the daemon's unit.
class CliTmux final : public Tmux {
  public:
    /// `base`: usually scrubbed_environment(). `deadline` is how long tmux may take to answer. The runner must outlive
    /// it.
    CliTmux(ProcessRunner& runner, std::filesystem::path socket, const Environment& base,
            std::chrono::milliseconds deadline = std::chrono::seconds(10));

    Awaitable<Result<PaneRef>> open(WindowSpec spec) override;
    Awaitable<Result<TmuxState>> list() override;
    Awaitable<Result<TmuxState>> server() override;
    Awaitable<Result<void>> kill(std::string id) override;
    Awaitable<Result<void>> rename_session(std::string session_id, std::string name) override;
    Awaitable<Result<void>> send(std::string pane_id, std::string text) override;
    Awaitable<Result<void>> press_escape(std::string pane_id) override;
    Awaitable<Result<std::string>> capture(std::string pane_id, int lines, bool colours = false) override;
    Awaitable<Result<PaneView>> view_pane(std::string pane_id) override;
    Awaitable<Result<std::vector<TmuxClient>>> clients() override;
    Awaitable<Result<void>> display_message(std::string client, std::string text) override;

    /// A server that agents are known to be in, from before this object asked any: where its socket has been removed,
    /// it is made to make it anew (USR1), never replaced by a second server. Ignored where one is known that runs.
    void expect_server(std::int64_t pid, std::int64_t start_time);

    /// Words in front of the command that starts the server: a program that stays the ancestor of whatever the server
    /// starts (orange-agent --keep). Unset: none.
    void keep_below(std::vector<std::string> keeper) { keeper_ = std::move(keeper); }

    /// The key that leaves the server's sessions, for a server that starts; bind_detach_key() gives it to one that
    /// runs.
    void set_detach_key(DetachKey key) { detach_key_ = std::move(key); }
    Awaitable<Result<void>> bind_detach_key();

    /// Asked immediately before the socket is used, each time, and before a server is made to make its socket anew; the
    /// call fails as it says: for a socket whose folder may become somebody else's. Unset: never.
    void ask_first(std::function<Result<void>()> guard) { guard_ = std::move(guard); }

    /// Who is told, in a sentence, what is worth a line in the log. Unset: nobody.
    void on_note(std::function<void(const std::string&)> note) { note_ = std::move(note); }

    /// The server that answered last; 0: none yet. Who is called from there is told by it.
    std::int64_t server_pid() const { return server_pid_; }
    std::int64_t server_start() const { return server_start_; }

  private:
    /// `before` are words in front of tmux's own (process::scope_words, the keeper's).
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

    ProcessRunner& runner_;
    std::string socket_;
    Environment env_;
    std::chrono::milliseconds deadline_;
    std::vector<std::string> keeper_;
    DetachKey detach_key_;
    std::function<Result<void>()> guard_;
    std::function<void(const std::string&)> note_;
    std::string program_;          ///< absolute; empty: not installed
    std::int64_t server_pid_ = 0;  ///< the last one that answered
    std::int64_t server_start_ = 0;
    std::optional<async::Moment> woken_;  ///< when it was last sent USR1
};

}  // namespace orange
