#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/tmux/tmux.hpp"

/// What may be given to tmux and what it may answer. tmux is an interpreter: it runs #(…) in names, ends a command at
/// an argument's trailing ';', and takes a name for a pattern (faults.md, 1–3).
namespace orange::tmux {

/// [A-Za-z0-9_/-], not empty, not beginning with '-', at most 200.
Result<void> check_name(std::string_view what, std::string_view name);

/// At least two words (a single one would go to a shell), each short, without control characters or a trailing ';'.
Result<void> check_argv(const std::vector<std::string>& argv);

/// One of `kinds` ("$@%"), then digits.
bool is_id(std::string_view id, std::string_view kinds);

/// Names and the command as one safe word each, so that none can forge a field; the title, which is the
/// program's own and may hold blanks, comes last; tmux takes no title with control characters.
inline constexpr std::string_view k_pane_format =
    "#{pid} #{session_id} #{window_id} #{pane_id} #{pane_pid} #{pane_dead} "
    "#{s|[^A-Za-z0-9_/-]|-|:session_name} #{s|[^A-Za-z0-9_/-]|-|:window_name} "
    ":#{s|[^A-Za-z0-9_/.-]|-|:pane_start_command} #{pane_title}";

/// What a look at a pane prints first: where its cursor is, how many lines it has, and its title.
inline constexpr const char* k_view_format = "#{cursor_x} #{cursor_y} #{pane_height} #{pane_title}";

/// A line of k_view_format, the screen line by line, and the screen with broken lines joined.
PaneView view_from(std::string_view printed);

/// What capture-pane printed, without the screen's unused rows and the blanks at the ends of lines; the last `most`
/// lines, 0: all.
std::string without_padding(std::string_view captured, std::size_t most);

/// One line of k_pane_format; nothing where it is none.
std::optional<PaneInfo> pane_from(std::string_view line);

/// A client's tty, its session's name as a safe word, and when it was last used.
inline constexpr std::string_view k_client_format =
    "#{client_tty} #{s|[^A-Za-z0-9_/-]|-|:session_name} #{client_activity}";

/// One line of k_client_format; nothing for a client without a terminal.
std::optional<TmuxClient> client_from(std::string_view line);

/// `text` as display-message shows it unchanged: one line in which tmux expands nothing.
std::string displayable(std::string_view text);

/// `text` as one line that can be typed: line ends and tabs become blanks, other control characters and what is not
/// UTF-8 are dropped.
std::string typeable(std::string_view text);

}  // namespace orange::tmux
