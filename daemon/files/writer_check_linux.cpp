#include "daemon/files/writer_check.hpp"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>

#include "daemon/files/file_facts.hpp"

namespace orange {

WriterCheck::WriterCheck(const Path& path)
    : lease_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) {
    if (!lease_) return;
    // The kernel grants a read lease only if no process has the file open for writing; readers do not matter. When a
    // process waits for the end of the lease, the kernel sends a signal, by default SIGIO, which kills. SIGURG is
    // ignored by default.
    ::fcntl(lease_.get(), F_SETSIG, SIGURG);
    if (::fcntl(lease_.get(), F_SETLEASE, F_RDLCK) == 0) return;
    open_elsewhere_ = errno == EAGAIN || files::modified_within(path, std::chrono::seconds(1));
}

}  // namespace orange
