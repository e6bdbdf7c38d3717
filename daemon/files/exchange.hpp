#pragma once

namespace orange::files {

/// Swaps two names of one folder atomically: neither is ever missing. 0, or the errno; the kernel's own call on each
/// platform (renameat2 with RENAME_EXCHANGE; renameatx_np with RENAME_SWAP).
int exchange_names(int folder, const char* a, const char* b);

}  // namespace orange::files
