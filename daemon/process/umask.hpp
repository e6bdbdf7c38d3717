#pragma once

#include <optional>
#include <string>
#include <string_view>

/// The umask of this process, which its children inherit. Orange's own files get their modes from the calls that create
/// them. Only one thread may call these functions at a time.
namespace orange::process {

/// Returns the umask with which this process was started. Call it before the first use_umask().
int umask_at_start();

int current_umask();
void use_umask(int mask);

/// Parses "022", "0022" or "22"; nothing if it is no octal number, or would remove the user's own permissions.
std::optional<int> umask_from(std::string_view text);
std::string umask_text(int mask);

}  // namespace orange::process
