#pragma once

namespace orange::files {

/// Swaps two names of one folder atomically, so that neither is ever missing. Returns 0, or -1 and errno. Each platform
/// has its own system call: renameat2 with RENAME_EXCHANGE, renameatx_np with RENAME_SWAP.
int exchange_names(int folder, const char* a, const char* b);

}  // namespace orange::files
