#include "common/base/shortage.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "common/base/text.hpp"

namespace orange {
namespace {

std::string own_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "all are open";
    return "all " + std::to_string(limit.rlim_cur) + " are open";
}

/// The message of EAGAIN is also that of locks and of pipes. It is about processes if its line is about a start.
bool tells_of_no_process(std::string_view text) {
    for (const auto line : split(text, '\n')) {
        if (line.find(std::strerror(EAGAIN)) == std::string_view::npos) continue;
        for (const auto* start : {"starting ", "fork", "thread", "clone"}) {
            if (line.find(start) != std::string_view::npos) return true;
        }
    }
    return false;
}

}  // namespace

std::optional<Shortage> shortage_in(const Error& error) {
    const auto output = error.details.find("stderr");
    const auto says = [&](const char* text) {
        return error.message.find(text) != std::string::npos ||
               (output != error.details.end() && output->second.find(text) != std::string::npos);
    };
    const auto tells = [&](int number) { return says(std::strerror(number)); };
    // Git does not say why it could not write a file of a worktree.
    const bool is_git = says("unable to write file ") || says("unable to write new index file");
    if (is_git || tells(ENOSPC) || tells(EDQUOT))
        return Shortage{"the disk has room", "Make room on the disk:\n  df -h"};
    if (error.details.contains(k_of_project)) return std::nullopt;
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
    if (tells_of_no_process(error.message) || (output != error.details.end() && tells_of_no_process(output->second))) {
        return Shortage{"there is room for processes again",
                        "No more processes may be started (`ulimit -u`, or TasksMax of a service)."};
    }
    return std::nullopt;
}

}  // namespace orange
