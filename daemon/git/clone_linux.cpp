#include "daemon/git/clone.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>

namespace orange::git {

bool clone_contents(int from, int to) {
    return ::ioctl(to, FICLONE, from) == 0;
}

}  // namespace orange::git
