#include "client/commands/popup.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "client/connection/child.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

/// Makes an empty file that the command in the popup removes first. If its client already shows a popup, tmux ignores
/// display-popup without an error, so its exit status does not tell whether the popup was opened.
std::string make_mark() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    auto path = ((error ? "/tmp" : folder) / "orange-attach-XXXXXX").string();
    const int file = ::mkstemp(path.data());
    if (file < 0) return {};
    ::close(file);
    return path;
}

std::string popup_command(const std::string& mark, const std::vector<std::string>& argv) {
    // Orange's tmux is another server than the caller's, so this is no nesting.
    std::string command = "rm -f " + shell_word(mark) + "; exec env -u TMUX -u TMUX_PANE";
    for (const auto& word : argv) command += " " + shell_word(word);
    return command;
}

/// Returns true for a terminal that draws tmux's windows itself (tmux -CC): it would run a popup's command and show
/// nothing.
bool is_control_client() {
    return connection::output_of({"tmux", "display-message", "-p", "#{client_control_mode}"})
        .value_or("")
        .starts_with('1');
}

}  // namespace

bool is_inside_tmux() {
    const char* tmux = std::getenv("TMUX");
    return tmux && *tmux;
}

std::optional<int> show_in_popup(const std::vector<std::string>& argv) {
    if (is_control_client()) return std::nullopt;
    const auto mark = make_mark();
    if (mark.empty()) return std::nullopt;
    // -EE: a popup whose command fails stays open, so that the error can be read.
    const auto child = connection::start_child(
        {"tmux", "display-popup", "-EE", "-w", "100%", "-h", "100%", popup_command(mark, argv)}, {});
    const auto status = child ? std::optional(connection::wait_for_child(*child)) : std::nullopt;
    const bool was_shown = ::unlink(mark.c_str()) != 0;
    return was_shown ? status : std::nullopt;
}

}  // namespace orange::commands
