#include <stdio.h>
#include <sys/stdio.h>

#include <cerrno>

#include "daemon/files/exchange.hpp"

namespace orange::files {

int exchange_names(int folder, const char* a, const char* b) {
    while (::renameatx_np(folder, a, folder, b, RENAME_SWAP) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

}  // namespace orange::files
