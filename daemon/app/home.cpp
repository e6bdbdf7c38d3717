#include "daemon/app/home.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>

#include "common/config/home_check.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_patience = 5s, k_step = 20ms;

std::string owner_of(int lock) {
    char text[32] = {};
    const auto size = ::pread(lock, text, sizeof text - 1, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string("unknown");
}

bool runs(const std::string& pid) {
    int number = 0;
    const auto [end, error] = std::from_chars(pid.data(), pid.data() + pid.size(), number);
    return error == std::errc() && number > 0 && (::kill(number, 0) == 0 || errno == EPERM);
}

/// A daemon that was killed while it started a child leaves its lock with that child, until that has become what it is
/// to be.
bool lock_soon(int lock) {
    const auto end = std::chrono::steady_clock::now() + k_patience;
    while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return false;
        const bool is_taken = runs(owner_of(lock)) || std::chrono::steady_clock::now() > end;
        errno = EWOULDBLOCK;
        if (is_taken) return false;
        std::this_thread::sleep_for(k_step);
    }
    return true;
}

}  // namespace

Result<Home> Home::take(const Paths& paths) {
    if (auto fine = make_home(paths.home); !fine) return fine.error();
    const auto tmux_folder = paths.tmux_socket().parent_path();
    if (tmux_folder != paths.home) {
        if (auto fine = make_home(tmux_folder); !fine) return in_context("the folder of tmux's socket", fine.error());
    }
    const auto file = paths.lock();
    const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return io_error("opening " + file.string(), errno);
    Home home(lock);
    if (!lock_soon(lock)) {
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
