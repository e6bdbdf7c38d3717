// Compiled by scripts/check-macos, but never run.
#include "client/connection/process_facts.hpp"

#include <libproc.h>
#include <sys/proc.h>

namespace orange::connection {

std::optional<ProcessFacts> process_facts(pid_t pid) {
    proc_bsdinfo info{};
    if (::proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) <= 0) return std::nullopt;
    return ProcessFacts{info.pbi_name, static_cast<pid_t>(info.pbi_ppid), info.pbi_status == SZOMB,
                        info.pbi_status == SSTOP ? Doing::is_stopped : Doing::waits};
}

}  // namespace orange::connection
