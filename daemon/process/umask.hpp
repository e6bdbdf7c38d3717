#pragma once

#include <optional>
#include <string>
#include <string_view>

/// The umask of this process, which its children inherit. Orange's own files get their modes from the calls that make
/// them. No function here may run in two threads at once.
namespace orange::process {

/// The umask with which this process was started. The first call has to come before any use_umask().
int umask_at_start();

int current_umask();
void use_umask(int mask);

/// "022", "0022" or "22" as a number; nothing if it is no octal number, or takes the user's own permissions away.
std::optional<int> umask_from(std::string_view text);
std::string umask_text(int mask);

}  // namespace orange::process
