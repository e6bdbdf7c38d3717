#include "daemon/app/service.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "common/config/program_path.hpp"
#include "common/posix/fd.hpp"

namespace orange {

void tell_service_manager(const std::string& state) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    const std::string_view target = name ? name : "";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (target.size() < 2 || target.size() >= sizeof address.sun_path) return;
    if (target.front() != '/' && target.front() != '@') return;
    std::memcpy(address.sun_path, target.data(), target.size());
    if (target.front() == '@') address.sun_path[0] = '\0';  // an abstract name of Linux
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
    if (!socket) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + target.size());
    // Do not wait for a manager that does not listen.
    (void)::sendto(socket.get(), state.data(), state.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address),
                   size);
}

bool has_watchdog() {
    const char* interval = std::getenv("WATCHDOG_USEC");
    const char* pid = std::getenv("WATCHDOG_PID");
    return interval && *interval && (!pid || !*pid || std::to_string(::getpid()) == pid);
}

OwnProgram::OwnProgram() : path_(program_path().value_or({})) {
    if (::stat(path_.c_str(), &before_) != 0) path_.clear();
}

bool OwnProgram::was_replaced() const {
    struct stat now {};
    if (path_.empty()) return false;
    if (::stat(path_.c_str(), &now) != 0) return errno == ENOENT;
    return now.st_dev != before_.st_dev || now.st_ino != before_.st_ino;
}

bool OwnProgram::may_be_restarted() const {
    constexpr std::time_t k_installed = 5;  ///< seconds: other files of a package may come after this one
    struct stat now {};
    if (!was_replaced() || ::stat(path_.c_str(), &now) != 0 || ::access(path_.c_str(), X_OK) != 0) return false;
    const auto age = std::time(nullptr) - now.st_ctime;
    return age < 0 || age >= k_installed;  // below 0: the clock was set back
}

void OwnProgram::restart() const {
    auto name = path_.string();
    char* argv[] = {name.data(), nullptr};
    ::execv(name.c_str(), argv);
    std::fprintf(stderr, "oranged: cannot start %s: %s\n", name.c_str(), std::strerror(errno));
}

std::string OwnProgram::note() const {
    return "this daemon runs Orange " ORANGE_VERSION ", but " + path_.string() +
           " has been replaced or removed since it started. Agents go on if you run: orange daemon restart";
}

}  // namespace orange
