// Compiled by scripts/check-macos, never run.
#include "daemon/git/clone.hpp"

namespace orange::git {

/// APFS clones only into a file that it makes itself (fclonefileat), and the caller has made that already.
bool clone_contents(int, int) {
    return false;
}

}  // namespace orange::git
