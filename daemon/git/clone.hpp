#pragma once

namespace orange::git {

/// Gives the empty file `to` the contents of `from` without a copy of the data: both files share it until one of them
/// is written to. False, and nothing is changed, if the file system cannot do that.
bool clone_contents(int from, int to);

}  // namespace orange::git
