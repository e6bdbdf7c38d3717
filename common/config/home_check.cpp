#include "common/config/home_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/base/text.hpp"

namespace orange {
namespace {

std::string real_path(const std::filesystem::path& link) {
    std::error_code error;
    const auto target = std::filesystem::canonical(link, error);
    return error ? std::string("the real folder") : shell_word(target.string());
}

}  // namespace

Result<void> check_home(const std::filesystem::path& home) {
    struct stat info {};
    if (::lstat(home.c_str(), &info) != 0) return io_error("looking at " + home.string(), errno);
    const auto unsafe = [&](const std::string& why) { return Error{ErrorCode::forbidden, home.string() + why, {}}; };
    if (S_ISLNK(info.st_mode)) return unsafe(" is a symbolic link; set ORANGE_HOME to " + real_path(home));
    if (!S_ISDIR(info.st_mode)) return unsafe(" is not a folder; move it away, or set ORANGE_HOME");
    if (info.st_uid != ::geteuid()) return unsafe(" belongs to another user; set ORANGE_HOME to a folder of your own");
    if ((info.st_mode & 077) != 0) return unsafe(" is open to others; run: chmod 700 " + shell_word(home.string()));
    return {};
}

Result<void> make_home(const std::filesystem::path& home) {
    if (::mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + home.string(), errno);
    return check_home(home);
}

}  // namespace orange
