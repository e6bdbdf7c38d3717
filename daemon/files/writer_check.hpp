#pragma once

#include "daemon/files/descriptor.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Whether a process (this one included) has a file open for writing, so that its content may still change although it
/// has lost its name. If nobody has, nobody begins while this lives: he waits in open(), so keep it for a read and no
/// longer. Exact if the kernel gives leases (Linux, the file being ours); elsewhere a file counts as open while it was
/// modified within the last second, and who begins does not wait.
class WriterCheck {
  public:
    explicit WriterCheck(const Path& path);
    /// False if there is no such file.
    bool is_open_elsewhere() const { return open_elsewhere_; }

  private:
    files::Descriptor lease_;  ///< its end is the lease's
    bool open_elsewhere_ = false;
};

}  // namespace orange
