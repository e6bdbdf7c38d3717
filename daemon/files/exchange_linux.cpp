#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/files/exchange.hpp"

namespace orange::files {

int exchange_names(int folder, const char* a, const char* b) {
    // Call it by number, because musl has no renameat2().
    return static_cast<int>(::syscall(SYS_renameat2, folder, a, folder, b, RENAME_EXCHANGE));
}

}  // namespace orange::files
