// Compiled by scripts/check-macos, but never run.
#include <stdio.h>
#include <sys/stdio.h>

#include "daemon/files/exchange.hpp"

namespace orange::files {

int exchange_names(int folder, const char* a, const char* b) {
    return ::renameatx_np(folder, a, folder, b, RENAME_SWAP);
}

}  // namespace orange::files
