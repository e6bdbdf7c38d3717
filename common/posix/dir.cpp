#include "common/posix/dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/base/text.hpp"
#include "common/posix/retried.hpp"

namespace orange::posix {

Result<UniqueFd> open_folder_at(int folder, const std::string& name, const std::string& shown) {
    constexpr int k_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd opened(retried([&] { return ::openat(folder, name.c_str(), k_flags); }));
    if (!opened) return io_error("opening the folder " + shown, errno);
    return opened;
}

Result<UniqueFd> open_folder(const std::string& path) {
    return open_folder_at(AT_FDCWD, path, path);
}

Result<UniqueFd> open_folder_below(int folder, const std::string& relative, const std::string& shown) {
    Result<UniqueFd> opened = UniqueFd();
    for (const auto name : split(relative, '/')) {
        auto next = open_folder_at(*opened ? opened->get() : folder, std::string(name), shown);
        opened = std::move(next);
        if (!opened) break;
    }
    return opened;
}

bool is_folder_at(int folder, const std::string& name) {
    struct stat facts {};
    return ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace orange::posix
