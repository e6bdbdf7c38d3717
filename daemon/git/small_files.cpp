#include "daemon/git/small_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/base/ids.hpp"

namespace orange::git {
namespace {

int write_all(int file, std::string_view content) {
    while (!content.empty()) {
        const auto n = ::write(file, content.data(), content.size());
        if (n < 0 && errno != EINTR) return errno;
        if (n > 0) content.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::fsync(file) == 0 ? 0 : errno;
}

}  // namespace

Result<UniqueFd> open_folder_at(int folder, const std::string& name, const std::string& shown) {
    UniqueFd opened(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) return io_error("opening the folder " + shown, errno);
    return opened;
}

Result<UniqueFd> open_folder(const std::string& path) {
    return open_folder_at(AT_FDCWD, path, path);
}

std::optional<std::string> small_file_at(int folder, const std::string& name, std::size_t limit) {
    const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    if (facts.st_size > static_cast<off_t>(limit)) return std::nullopt;
    std::string text(limit + 1, '\0');  // one more: it may have grown since
    std::size_t size = 0;
    for (ssize_t n = 1; n > 0 && size < text.size();) {
        n = ::read(file.get(), text.data() + size, text.size() - size);
        if (n < 0) return std::nullopt;
        size += static_cast<std::size_t>(n);
    }
    if (size > limit) return std::nullopt;
    text.resize(size);
    return text;
}

Result<void> replace_file_at(int folder, const std::string& name, std::string_view content, const std::string& shown) {
    const auto temporary = name + "." + random_id(10) + ".tmp";
    constexpr int k_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const UniqueFd out(::openat(folder, temporary.c_str(), k_flags, 0666));
    if (!out) return io_error("writing " + shown, errno);
    int problem = write_all(out.get(), content);
    if (problem == 0 && ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) problem = errno;
    if (problem == 0) return {};
    ::unlinkat(folder, temporary.c_str(), 0);
    return io_error("writing " + shown, problem);
}

}  // namespace orange::git
