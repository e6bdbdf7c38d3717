#include "common/base/shortage.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace orange {
namespace {

std::string own_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "all are open";
    return "all " + std::to_string(limit.rlim_cur) + " are open";
}

}  // namespace

std::optional<Shortage> shortage_in(const Error& error) {
    const auto output = error.details.find("stderr");
    const auto tells = [&](int number) {
        const auto* text = std::strerror(number);
        return error.message.find(text) != std::string::npos ||
               (output != error.details.end() && output->second.find(text) != std::string::npos);
    };
    if (tells(ENOSPC) || tells(EDQUOT)) return Shortage{"the disk has room", "Make room on the disk:\n  df -h"};
    if (tells(ENFILE)) {  // its text begins with that of EMFILE
        return Shortage{"the machine has file descriptors again",
                        "The machine has no file descriptor left. Close programs, or raise the limit:\n"
                        "  sysctl fs.file-nr fs.file-max"};
    }
    if (tells(EMFILE)) {
        return Shortage{"the daemon has file descriptors again",
                        "The daemon has no file descriptor left (" + own_limit() +
                            "). To raise the limit, start it where `ulimit -n` is higher (for a service: LimitNOFILE):"
                            "\n  orange daemon restart"};
    }
    if (tells(ENOMEM)) return Shortage{"there is memory again", "The machine has no memory left:\n  free -h"};
    if (tells(EAGAIN)) {
        return Shortage{"there is room for processes again",
                        "No more processes may be started (`ulimit -u`, or TasksMax of a service)."};
    }
    return std::nullopt;
}

}  // namespace orange
