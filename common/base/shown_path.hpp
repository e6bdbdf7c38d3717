#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange {

/// Returns the path of a repository's file for people, unambiguous and on one line. Most paths stay as they are. A path
/// with a control character, a quote, a backslash, an invisible character, a blank at an end, or invalid UTF-8 is put
/// in double quotes with escapes (\n, \t, \", \\, \351), as git prints it.
std::string shown_path(std::string_view path);
std::vector<std::string> shown_paths(const std::vector<std::string>& paths);

}  // namespace orange
