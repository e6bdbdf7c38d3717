#pragma once

#include <cstddef>
#include <string>

namespace orange::posix {

/// Reads an open regular file from its beginning, at most `limit` bytes, into `text`. Returns 0 or an errno: EFBIG if
/// the file is larger, or grows beyond the limit while it is read; EINVAL if it is a pipe, a device or a folder.
int read_at_most(int fd, std::size_t limit, std::string& text);

/// Appends what a descriptor has until its end to `text`. Returns 0 or an errno: EFBIG if `text` becomes longer than
/// `limit`.
int read_to_end(int fd, std::size_t limit, std::string& text);

}  // namespace orange::posix
