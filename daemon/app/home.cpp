#include "daemon/app/home.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace orange {
namespace {

Result<void> check_folder(const std::filesystem::path& home) {
    if (::mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + home.string(), errno);
    struct stat info {};
    if (::lstat(home.c_str(), &info) != 0) return io_error("looking at " + home.string(), errno);
    const auto unsafe = [&](const std::string& why) { return Error{ErrorCode::forbidden, home.string() + why, {}}; };
    if (S_ISLNK(info.st_mode)) return unsafe(" is a symbolic link; set ORANGE_HOME to the real folder");
    if (!S_ISDIR(info.st_mode)) return unsafe(" is not a folder; move it away, or set ORANGE_HOME");
    if (info.st_uid != ::geteuid()) return unsafe(" belongs to another user; set ORANGE_HOME to a folder of your own");
    if ((info.st_mode & 077) != 0) return unsafe(" is open to others; run: chmod 700 " + home.string());
    return {};
}

std::string owner_of(int lock) {
    char text[32] = {};
    const auto size = ::pread(lock, text, sizeof text - 1, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string("unknown");
}

}  // namespace

Result<Home> Home::take(const Paths& paths) {
    if (auto fine = check_folder(paths.home); !fine) return fine.error();
    const auto file = paths.lock();
    const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return io_error("opening " + file.string(), errno);
    Home home(lock);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return io_error("locking " + file.string(), errno);
        return Error{ErrorCode::conflict, "oranged is running already for this home, pid " + owner_of(lock), {}};
    }
    const auto pid = std::to_string(::getpid());
    if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) < 0) {
        return io_error("writing " + file.string(), errno);
    }
    return home;
}

Home::Home(Home&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}

Home::~Home() {
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace orange
