// Compiled by scripts/check-macos, but never run.
#include <errno.h>

#include "daemon/files/beneath.hpp"

namespace orange::files {

int open_beneath(int, const char*, int) {
    errno = ENOSYS;
    return -1;
}

}  // namespace orange::files
