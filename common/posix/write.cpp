#include "common/posix/write.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/posix/fd.hpp"
#include "common/posix/retried.hpp"

namespace orange::posix {

int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const auto written = retried([&] { return ::write(fd, content.data(), content.size()); });
        if (written < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_new(int folder, const std::string& name, std::string_view content, mode_t mode, Sync sync) {
    constexpr int k_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd file(retried([&] { return ::openat(folder, name.c_str(), k_flags, mode); }));
    if (!file) return errno;
    int error = write_all(file.get(), content);
    if (error == 0 && sync == Sync::yes && ::fsync(file.get()) != 0) error = errno;
    // Some file systems report a full disk or quota only at close.
    if (::close(file.release()) != 0 && error == 0 && errno != EINTR) error = errno;
    if (error != 0) ::unlinkat(folder, name.c_str(), 0);
    return error;
}

int replace_at(int folder, const std::string& name, const std::string& temporary, std::string_view content, mode_t mode,
               Sync sync) {
    if (const int error = write_new(folder, temporary, content, mode, sync)) return error;
    if (::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) return 0;
    const int error = errno;
    ::unlinkat(folder, temporary.c_str(), 0);
    return error;
}

}  // namespace orange::posix
