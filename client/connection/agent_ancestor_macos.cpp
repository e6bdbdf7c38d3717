#include <libproc.h>
#include <unistd.h>

#include <cstring>

#include "client/connection/agent_ancestor.hpp"

namespace orange::connection {

bool has_agent_ancestor() {
    int steps = 256;
    for (pid_t pid = ::getppid(); pid > 1 && steps > 0; --steps) {
        proc_bsdinfo info{};
        if (::proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) <= 0) return false;
        if (std::strcmp(info.pbi_name, "orange-agent") == 0) return true;
        pid = static_cast<pid_t>(info.pbi_ppid);
    }
    return false;
}

}  // namespace orange::connection
