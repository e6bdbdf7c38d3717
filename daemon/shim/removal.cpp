#include "daemon/shim/removal.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/remove.hpp"

namespace orange::shim {
namespace {

/// Returns 0 or an errno. The daemon passes whole paths of single things, and nothing else is removed, also if the
/// folder around them has been replaced by a link meanwhile.
int remove_path(const std::filesystem::path& path) {
    const auto name = path.filename();
    if (!path.is_absolute() || name.empty() || name == "." || name == "..") return EINVAL;
    const UniqueFd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() < 0) return errno;
    return posix::remove_all(folder.get(), name.string());
}

}  // namespace

int remove_paths(char** paths) {
    system::be_idle();
    int status = 0;
    for (; *paths; ++paths) {
        const int error = remove_path(*paths);
        if (error == 0) continue;
        std::fprintf(stderr, "orange-agent: cannot remove %s: %s\n", printable(*paths).c_str(), std::strerror(error));
        status = 1;
    }
    return status;
}

}  // namespace orange::shim
