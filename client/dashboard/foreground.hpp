#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// Other programs: one that has the terminal to itself, and small ones beside it.
namespace orange::dashboard {

/// Runs `argv` (found on PATH) in the foreground of the terminal until it ends; its exit status, 128 + n for a signal.
/// The caller has given the terminal back before.
Result<int> run_in_foreground(const std::vector<std::string>& argv);

/// $VISUAL, $EDITOR or vi, in words.
Result<std::vector<std::string>> editor();

/// What a person makes of `text` in the editor; nothing if the editor fails.
std::optional<std::string> edited(const std::string& text);

/// Gives `text` to the clipboard program of this desktop, if there is one.
void copy_to_desktop(const std::string& text);
/// Shows an address in the browser; false: nothing here can.
bool open_in_browser(const std::string& url);
/// Of these two, those that have ended.
void reap_children();

}  // namespace orange::dashboard
