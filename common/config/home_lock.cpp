#include "common/config/home_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "common/base/system.hpp"
#include "common/config/socket_address.hpp"

namespace orange {

std::optional<pid_t> lock_holder(const Paths& paths) {
    const int lock = ::open(paths.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return std::nullopt;
    // Take a shared lock and release it at once: a daemon that wants the lock at this moment waits, and other readers
    // are not affected.
    const bool is_held = ::flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    char text[32] = {};
    const auto size = ::pread(lock, text, sizeof text - 1, 0);
    ::close(lock);
    if (!is_held) return std::nullopt;
    return size > 0 && !is_of_other_namespace(paths) ? std::atoi(text) : 0;
}

bool is_of_other_namespace(const Paths& paths) {
    system::PidNamespace noted;
    const auto here = system::pid_namespace();
    std::ifstream file(paths.pid_namespace());
    if (!here || !(file >> noted.boot >> noted.number)) return false;
    return noted.boot == here->boot && noted.number != here->number;
}

bool is_listening(const std::filesystem::path& socket) {
    const auto address = SocketAddress::in_folder(socket);
    if (!address) return false;
    const int fd = system::local_socket();
    if (fd < 0) return false;
    // EAGAIN: a process listens, but its queue of waiting connections is full.
    const bool found = ::connect(fd, address->get(), address->size()) == 0 || errno == EAGAIN;
    ::close(fd);
    return found;
}

}  // namespace orange
