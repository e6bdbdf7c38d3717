#pragma once

#include "common/posix/fd.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Checks whether a process (including this one) has a file open for writing, so that its content may change even after
/// the file has lost its name. If none has, no process can open it for writing while this object lives: open() blocks.
/// So keep the object only for the time of a read. The check is exact if the kernel grants leases (Linux, own files).
/// Elsewhere a file counts as open if it was modified within the last second, and open() does not block.
class WriterCheck {
  public:
    explicit WriterCheck(const Path& path);
    /// Returns true if a process has the file open for writing; false if there is no such file.
    bool is_open_elsewhere() const { return open_elsewhere_; }

  private:
    UniqueFd lease_;  ///< holds the lease until it is closed
    bool open_elsewhere_ = false;
};

}  // namespace orange
