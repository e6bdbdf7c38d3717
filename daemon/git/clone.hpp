#pragma once

namespace orange::git {

/// Makes the empty file `to` share the data of `from` (a reflink): the file system copies a block only when one of the
/// files is written. Returns false, and changes nothing, if the file system cannot do that.
bool clone_contents(int from, int to);

}  // namespace orange::git
