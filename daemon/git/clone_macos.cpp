// Compiled by scripts/check-macos, but never run.
#include "daemon/git/clone.hpp"

namespace orange::git {

/// APFS clones only into a new file (fclonefileat), but the caller has created `to` already.
bool clone_contents(int, int) {
    return false;
}

}  // namespace orange::git
