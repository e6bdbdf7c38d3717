#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace orange::connection {

/// The state of a process at a moment, as far as the kernel tells. `waits` for anything but a disk.
enum class Doing { waits, computes, waits_for_disk, is_stopped };

/// The facts of a process that the kernel shows to other processes.
struct ProcessFacts {
    std::string name;  ///< the program's name, as ps shows it; Linux cuts it to 15 bytes
    pid_t parent = 0;
    bool ended = false;  ///< a zombie: its parent has not reaped it
    Doing doing = Doing::waits;
};

/// Returns nothing if there is no such process. Each platform has its own implementation.
std::optional<ProcessFacts> process_facts(pid_t pid);

}  // namespace orange::connection
