#include <fcntl.h>
#include <signal.h>

#include <cerrno>

#include "daemon/files/descriptor.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"

namespace orange {

bool open_elsewhere(const Path& path) {
    const files::Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file) return false;
    // A read lease is given only where nobody has the file open for writing; readers don't matter. Somebody who opens
    // it in the moment that we hold it waits for the kernel's F_UNLCK below; the signal that tells us of him would by
    // default be SIGIO, which kills. SIGURG is ignored by default.
    ::fcntl(file.get(), F_SETSIG, SIGURG);
    if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
        ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
        return false;
    }
    return errno == EAGAIN || files::modified_within(path, std::chrono::seconds(1));
}

}  // namespace orange
