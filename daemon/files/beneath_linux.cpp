#include "daemon/files/beneath.hpp"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace orange::files {

int open_beneath(int root, const char* path, int flags) {
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    // Call it by number, because no C library has openat2().
    return static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
}

}  // namespace orange::files
