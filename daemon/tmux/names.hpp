#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/tmux/tmux.hpp"

/// Checks the words that are passed to tmux, and parses its answers. tmux is an interpreter: it runs #(…) in names,
/// ends a command at a trailing ';' of an argument, and takes names for patterns.
namespace orange::tmux {

/// Accepts names of [A-Za-z0-9_/-] that are not empty, do not begin with '-', and have at most 200 bytes.
Result<void> check_name(std::string_view what, std::string_view name);

/// Accepts at least two words (tmux passes a single one to a shell), each short, without control characters or a
/// trailing ';'.
Result<void> check_argv(const std::vector<std::string>& argv);

/// Returns true for one of `kinds` ("$@%") with digits behind it.
bool is_id(std::string_view id, std::string_view kinds);

/// The format of a pane. Names and the command become one safe word each, so that they cannot fake a field. The title
/// comes last, because its program chooses it and it may hold blanks; tmux takes no title with control characters.
inline constexpr std::string_view k_pane_format =
    "#{pid} #{session_id} #{window_id} #{pane_id} #{pane_pid} #{pane_dead} "
    "#{s|[^A-Za-z0-9_/-]|-|:session_name} #{s|[^A-Za-z0-9_/-]|-|:window_name} "
    ":#{s|[^A-Za-z0-9_/.-]|-|:pane_start_command} #{pane_title}";

/// The format of the first line of a pane's view: number of lines, the cursor's line, times of the session, title.
inline constexpr const char* k_view_format =
    "#{pane_height} #{cursor_y} #{session_created} #{session_activity} #{pane_title}";

/// Parses a line of k_view_format, followed by the screen line by line with its escapes, and by the screen with broken
/// lines joined.
PaneView view_from(std::string_view printed);

/// Returns the output of capture-pane without unused rows and without blanks at the ends of lines; only the last `most`
/// lines, 0: all.
std::string without_padding(std::string_view captured, std::size_t most);

/// Parses a line of k_pane_format; nothing if it is none.
std::optional<PaneInfo> pane_from(std::string_view line);

/// The format of a client: its tty, its session's name as a safe word, and the time of its last use.
inline constexpr std::string_view k_client_format =
    "#{client_tty} #{s|[^A-Za-z0-9_/-]|-|:session_name} #{client_activity}";

/// Parses a line of k_client_format; nothing for a client without a terminal.
std::optional<TmuxClient> client_from(std::string_view line);

/// Returns `text` in a form that display-message shows unchanged: one line in which tmux expands nothing.
std::string displayable(std::string_view text);

/// Returns `text` as one line that can be typed: line ends and tabs become blanks, other control characters and invalid
/// UTF-8 are dropped.
std::string typeable(std::string_view text);

}  // namespace orange::tmux
