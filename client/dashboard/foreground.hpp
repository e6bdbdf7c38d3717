#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/connection/editor.hpp"
#include "common/base/result.hpp"

/// Runs other programs: one that gets the terminal, and small ones beside the dashboard.
namespace orange::dashboard {

/// Runs `argv` (found on PATH) in the foreground of the terminal until it ends. Returns its exit status, 128 + n for
/// signal n. The caller must have left the terminal before.
Result<int> run_in_foreground(const std::vector<std::string>& argv);

using connection::editor;

struct Edited {
    std::optional<std::string> text;  ///< absent: nothing was saved that could be used
    std::string error;                ///< why the editor failed; empty: it did not
};
/// Lets a person edit `text`. If the editor fails, the result has what it saved before, if that is another text.
Edited edited(const std::string& text);

/// Passes `text` to this desktop's clipboard program, if there is one.
void copy_to_desktop(const std::string& text);
/// Opens an address in the browser; false if that is not possible here.
bool open_in_browser(const std::string& url);
/// Reaps ended programs of copy_to_desktop() and open_in_browser().
void reap_children();

}  // namespace orange::dashboard
