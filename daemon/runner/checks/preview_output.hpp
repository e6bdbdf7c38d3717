#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Reads the output of a command with which a human tries a task's work. It is text of programs that agents may have
/// written: a URL in it is only taken if it can be no other machine's.
namespace orange::checked {

/// Returns output without escape sequences, and with "\n" as its only line end.
std::string plain(std::string_view output);

struct LocalUrl {
    std::string text;
    int port = 0;
};
/// Returns the first URL (http or https) of localhost, 127.0.0.1 or [::1] in a plain text. It has only characters that
/// a shell, a terminal and a browser read in one way.
std::optional<LocalUrl> local_url(std::string_view text);

/// Returns the last `count` lines.
std::string_view tail_of(std::string_view text, std::size_t count);

}  // namespace orange::checked
