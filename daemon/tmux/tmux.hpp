#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

/// The place of a process in Orange's tmux server. Ids come from tmux ("$3", "@7", "%7") and are valid only for the
/// server that gave them: a new server counts from 0 again, and after a reboot it may have the same pid.
struct PaneRef {
    std::int64_t server_pid = 0;
    std::int64_t server_start = 0;  ///< start time of the server's process (process::start_time); 0: unknown
    std::string session_id;
    std::string window_id;
    std::string pane_id;
    std::int64_t pid = 0;  ///< of the process in the pane

    bool operator==(const PaneRef&) const = default;
};

struct PaneInfo {
    PaneRef ref;
    bool dead = false;  ///< its process has ended; remain-on-exit keeps the pane
    std::string session_name;
    std::string window_name;
    std::string command = {};  ///< its command; characters other than [A-Za-z0-9_/.-] are replaced by '-'
    std::string title;         ///< chosen by the program in the pane: untrusted text
};

/// The present contents of a pane.
struct PaneView {
    std::string title;   ///< untrusted text
    std::string screen;  ///< without escapes; lines that the terminal broke are joined
    std::string styled;  ///< line by line as the terminal broke it, with the escapes of colours and attributes (SGR)
    std::optional<std::size_t> cursor = std::nullopt;  ///< the line of the cursor in `styled`, from 0
    /// When a person last pressed a key in a terminal that shows the pane's session, or attached one; to the second.
    /// nullopt: never. It survives the detach, and keys that Orange sends do not count.
    std::optional<Timestamp> touched_at = std::nullopt;
};

/// What became of a text that was pasted into a program's prompt.
enum class Entered {
    no,     ///< the prompt does not hold it, or not it alone: Enter was not pressed
    holds,  ///< Enter was pressed, and the prompt still holds it
    taken,  ///< Enter was pressed, and the prompt no longer holds it
};

/// The state of the tmux server. If no server runs, `server_pid` is 0; if tmux does not answer, the call returns an
/// Error.
struct TmuxState {
    std::int64_t server_pid = 0;
    std::int64_t server_start = 0;  ///< see PaneRef
    std::vector<PaneInfo> panes;
};

/// The last lines of a pane, and the server that has answered.
struct LastLines {
    std::int64_t server_pid = 0;        ///< 0: no server runs
    std::int64_t server_start = 0;      ///< see PaneRef
    std::optional<std::string> text{};  ///< nothing if this is not the server of the pane, or the pane is gone
};

/// A person's terminal that is attached to the server.
struct TmuxClient {
    std::string name;  ///< its tty, for display_message()
    std::string session_name;
    Timestamp typed_at{};  ///< the time of the last key press, to the second
};

/// A window to open: in the session `in_session`, or in a new session called `session` if that is empty. Names consist
/// of [A-Za-z0-9_/-] only, which `open` checks, because tmux expands and splits everything else.
struct WindowSpec {
    std::string session;
    std::string in_session;  ///< "$3"
    std::string window;
    std::vector<std::string> argv;  ///< fixed words only: the shim and its spec file
};

/// Orange's own tmux server (`tmux -S ~/orange/tmux.sock -f /dev/null`), in which all agents run. The runner, the
/// agents and the doctor use it, by ids only. The server starts on demand with a scrubbed environment and runs on
/// without sessions, also without the daemon. Panes of ended processes remain until they are killed. All functions
/// return an Error if tmux fails or does not answer.
class Tmux {
  public:
    virtual ~Tmux() = default;

    /// Opens the window without giving it the focus. conflict if a session has the new session's name already.
    virtual Awaitable<Result<PaneRef>> open(WindowSpec spec) = 0;
    /// Lists all panes.
    virtual Awaitable<Result<TmuxState>> list() = 0;
    /// Returns the last `lines` lines of a pane, if the server that answers is the pane's. One process answers both, at
    /// a cost that does not depend on the number of panes.
    virtual Awaitable<Result<LastLines>> last_lines(PaneRef pane, int lines) = 0;
    /// Kills a window ("@7") or a session ("$3"); success if it does not exist. Its processes may still be ending
    /// afterwards.
    virtual Awaitable<Result<void>> kill(std::string id) = 0;
    virtual Awaitable<Result<void>> rename_session(std::string session_id, std::string name) = 0;
    /// Pastes one line into a pane (bracketed), without Enter. Leaves copy mode first. Control characters are dropped.
    virtual Awaitable<Result<void>> paste(std::string pane_id, std::string text) = 0;
    /// Waits until `holds` is true for what the pane shows, for at most three seconds, and presses Enter then. Presses
    /// it once more if `holds` is still true a second later: some programs lose it.
    virtual Awaitable<Result<Entered>> press_enter(std::string pane_id, std::function<bool(const PaneView&)> holds) = 0;
    /// Presses Escape in a pane: closes a dialog.
    virtual Awaitable<Result<void>> press_escape(std::string pane_id) = 0;
    /// Returns the last `lines` lines of a pane's scrollback and screen; 0: only the visible screen. Escapes are
    /// removed; with `colours`, those of colours and attributes (SGR) stay.
    virtual Awaitable<Result<std::string>> capture(std::string pane_id, int lines, bool colours = false) = 0;
    /// Returns the title and the visible screen of a pane.
    virtual Awaitable<Result<PaneView>> view_pane(std::string pane_id) = 0;
    /// Returns the attached clients with their sessions; none if no server runs.
    virtual Awaitable<Result<std::vector<TmuxClient>>> clients() = 0;
    /// Shows a line in a client's status line for some seconds, and rings its bell.
    virtual Awaitable<Result<void>> display_message(std::string client, std::string text) = 0;
};

/// Returns `<project>/<branch>` in tmux's safe alphabet: other characters become '-', cut to 60 characters. The name is
/// not unique; the caller appends "-2" … after a conflict.
std::string session_name_for(std::string_view project, std::string_view branch);

}  // namespace orange
