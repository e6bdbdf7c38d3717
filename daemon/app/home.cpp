#include "daemon/app/home.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>

#include "common/base/system.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/config/home_lock.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_step = 20ms;

std::string holder_of(const Paths& paths) {
    const auto pid = lock_holder(paths).value_or(0);
    return pid > 0 ? "pid " + std::to_string(pid) : "pid unknown";
}

/// Returns true if a daemon works here. False for a child that a killed daemon was just starting: it has the lock and
/// the socket of the daemon until it executes another program.
bool is_at_work(const Paths& paths) {
    if (!is_listening(paths.socket())) return false;
    const auto pid = lock_holder(paths).value_or(0);
    return pid <= 0 || ::kill(pid, 0) == 0 || errno == EPERM;
}

/// Takes the lock. If another process holds it and no daemon works here, that process is about to listen or to end, so
/// this waits for it.
Result<void> lock_soon(int lock, const Paths& paths, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return io_error("locking " + paths.lock().string(), errno);
        if (is_at_work(paths)) {
            return {ErrorCode::conflict, "oranged is already running for this home, " + holder_of(paths)};
        }
        if (std::chrono::steady_clock::now() >= until) {
            return {ErrorCode::timeout,
                    "another process holds " + paths.lock().string() + " (" + holder_of(paths) +
                        "), but no daemon works there; replace it with `orange daemon restart --force`"};
        }
        std::this_thread::sleep_for(k_step);
    }
    return {};
}

/// Returns true if the lock file is older than the boot: every daemon writes it when it starts.
bool is_older_than_boot(int lock) {
    struct stat facts {};
    const auto running = system::uptime();
    if (!running || ::fstat(lock, &facts) != 0 || facts.st_size == 0) return false;
    const auto booted = std::chrono::system_clock::now() - *running;
    return std::chrono::system_clock::from_time_t(facts.st_mtime) < booted;
}

}  // namespace

Result<Home> Home::acquire(const Paths& paths, std::chrono::milliseconds patience) {
    TRY(const auto made, make_closed_home(paths.home));
    const auto file = paths.lock();
    Home home(UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
    const int lock = home.lock_.get();
    if (lock < 0) return io_error("opening " + file.string(), errno);
    home.was_closed_ = made;
    TRY(lock_soon(lock, paths, patience));
    home.first_since_boot_ = is_older_than_boot(lock);
    const auto pid = std::to_string(::getpid());
    if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) < 0) {
        return io_error("writing " + file.string(), errno);
    }
    std::error_code error;
    home.path_ = std::filesystem::canonical(paths.home, error);
    struct stat facts {};
    if (error || ::lstat(home.path_.c_str(), &facts) != 0) {
        return io_error("looking at " + paths.home.string(), error ? error.value() : errno);
    }
    home.device_ = facts.st_dev;
    home.inode_ = facts.st_ino;
    TRY(make_tmux_folder(Paths{home.path_}));
    return home;
}

Home::State Home::state() const {
    struct stat facts {};
    if (::lstat(path_.c_str(), &facts) != 0) return State::missing;
    return facts.st_dev == device_ && facts.st_ino == inode_ ? State::here : State::another;
}

HomeWatch::Finding HomeWatch::check(Clock::time_point now) {
    const auto place = home_.path().string();
    const std::string agents = "; agents continue, and the next daemon adopts them";
    switch (home_.state()) {
        case Home::State::here:
            if (!std::exchange(missing_since_, std::nullopt)) return {};
            return {true, false, place + " is back"};
        case Home::State::another:
            return {false, true,
                    place + " is not the folder that this daemon has locked any more; the daemon ends" + agents};
        case Home::State::missing:
            break;
    }
    if (!missing_since_) {
        missing_since_ = now;
        return {false, false, place + " is gone; nothing is written until it is back"};
    }
    if (now - *missing_since_ < k_patience) return {false, false, {}};
    return {false, true, place + " has been gone for a minute; this daemon ends" + agents};
}

}  // namespace orange
