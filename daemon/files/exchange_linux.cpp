#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "daemon/files/exchange.hpp"

namespace orange::files {

int exchange_names(int folder, const char* a, const char* b) {
    while (::renameat2(folder, a, folder, b, RENAME_EXCHANGE) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

}  // namespace orange::files
