#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

/// Where something runs in Orange's tmux server. Ids only ever come from tmux ("$3", "@7", "%7") and are valid only
/// together with the server that gave them: a new server starts counting at 0 again, and after a reboot it may well
/// have the old one's pid.
struct PaneRef {
    std::int64_t server_pid = 0;
    std::int64_t server_start = 0;  ///< when that process was started (process::start_time); 0: unknown
    std::string session_id;
    std::string window_id;
    std::string pane_id;
    std::int64_t pid = 0;  ///< of the process in the pane

    bool operator==(const PaneRef&) const = default;
};

struct PaneInfo {
    PaneRef ref;
    bool dead = false;  ///< its process has ended (remain-on-exit keeps the pane)
    std::string session_name;
    std::string window_name;
    std::string command = {};  ///< what it was started with; blanks and all but [A-Za-z0-9_/.-] became '-'
    std::string title;         ///< chosen by the program in the pane: untrusted text
};

/// What a pane shows now, without escapes.
struct PaneView {
    std::string title;          ///< untrusted text
    std::string screen;         ///< lines that the terminal broke are joined
    std::string before_cursor;  ///< the screen up to the cursor, line by line
};

/// What tmux says of itself. No server is an answer (`server_pid` 0); a tmux that does not answer is an Error.
struct TmuxState {
    std::int64_t server_pid = 0;
    std::int64_t server_start = 0;  ///< as in PaneRef
    std::vector<PaneInfo> panes;
};

/// A person's terminal that is attached to the server.
struct TmuxClient {
    std::string name;  ///< its tty, for display_message()
    std::string session_name;
    Timestamp typed_at{};  ///< when a key was last pressed there, to the second
};

/// A window to open: in a new session called `session` where `in_session` is empty, else in that session.
/// Names are of [A-Za-z0-9_/-] only, which `open` enforces: tmux expands and splits everything else (faults.md, 1–3).
struct WindowSpec {
    std::string session;
    std::string in_session;  ///< "$3"
    std::string window;
    std::vector<std::string> argv;  ///< fixed words only: the shim and its spec file
};

/// Orange's own tmux server (`tmux -S ~/orange/tmux.sock -f /dev/null`), by ids only. Started on demand with a scrubbed
/// environment; keeps running without sessions; panes of ended processes remain until they are killed.
class Tmux {
  public:
    virtual ~Tmux() = default;

    /// Opens the window without giving it the focus. conflict where the session's name is taken.
    virtual Awaitable<Result<PaneRef>> open(WindowSpec spec) = 0;
    virtual Awaitable<Result<TmuxState>> list() = 0;
    /// The same without the panes. Costs the same with any number of them.
    virtual Awaitable<Result<TmuxState>> server() = 0;
    /// Kills a window ("@7") or a session ("$3"); success where it is gone already. Its processes may still be ending.
    virtual Awaitable<Result<void>> kill(std::string id) = 0;
    virtual Awaitable<Result<void>> rename_session(std::string session_id, std::string name) = 0;
    /// Types one line into a pane: leaves copy mode, bracketed paste, 0.3 s, Enter. Control characters are dropped.
    virtual Awaitable<Result<void>> send(std::string pane_id, std::string text) = 0;
    /// Presses Escape in a pane: closes a dialog.
    virtual Awaitable<Result<void>> press_escape(std::string pane_id) = 0;
    /// The last `lines` lines of a pane's scrollback and screen; 0: the visible screen alone. Escapes are left out, but
    /// with `colours` those of colours and attributes (SGR).
    virtual Awaitable<Result<std::string>> capture(std::string pane_id, int lines, bool colours = false) = 0;
    /// Returns the title and the visible screen of a pane, and the part of the screen before the cursor.
    virtual Awaitable<Result<PaneView>> view_pane(std::string pane_id) = 0;
    /// Who is attached, and to which session; none if no server runs.
    virtual Awaitable<Result<std::vector<TmuxClient>>> clients() = 0;
    /// Shows a line in a client's status line for some seconds, and rings its bell.
    virtual Awaitable<Result<void>> display_message(std::string client, std::string text) = 0;
};

/// `<project>/<branch>` in tmux's safe alphabet: every other character becomes '-', cut to 60 characters. Not unique by
/// itself; the caller adds "-2" … on conflict.
std::string session_name_for(std::string_view project, std::string_view branch);

}  // namespace orange
