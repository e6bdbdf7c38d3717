#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange {

/// The path of a repository's file as people read it, on one line and without doubt: unchanged in most cases; in double
/// quotes and with escapes (\n, \t, \", \\, \351), as git itself prints it, if it has a control character, a quote, a
/// backslash, an invisible character, a blank at an end, or bytes that are not UTF-8.
std::string shown_path(std::string_view path);
std::vector<std::string> shown_paths(const std::vector<std::string>& paths);

}  // namespace orange
