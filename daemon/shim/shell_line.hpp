#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// What a shell would make of a command line, as far as it can be known without running it.
namespace orange::shim {

struct ShellWord {
    std::string text;      ///< without quotes; of `$NAME` nothing
    bool unknown = false;  ///< holds `$NAME`: its text is not known
    bool globs = false;    ///< a pattern for names of files; may become several words
    bool tilde = false;    ///< begins with a ~ that stands for a home
};

/// `>file`, `2>>file`, `<file`. Copies of descriptors (`2>&1`) are none.
struct Redirection {
    bool writes = false;
    ShellWord target;
};

/// What stands between `;`, `&&`, `||`, `|` and ends of lines.
struct SimpleCommand {
    std::vector<ShellWord> words;
    std::vector<Redirection> redirections;
    std::string input;  ///< its here-document
};

/// invalid_argument for whatever hides commands from a reader or runs them apart: `$(…)`, backticks, `(…)`, `&`,
/// braces that expand. Words of the shell's own language (`for`, `if`, `{`) come back as commands of that name.
Result<std::vector<SimpleCommand>> parse_shell_line(std::string_view line);

}  // namespace orange::shim
