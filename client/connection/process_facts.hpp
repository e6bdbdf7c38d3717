#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace orange::connection {

struct ProcessFacts {
    std::string name;  ///< the name of its program, as ps shows it; Linux cuts it to 15 bytes
    pid_t parent = 0;
    bool ended = false;  ///< its parent has not noticed yet
};

/// Returns nothing if there is no such process. One implementation a platform.
std::optional<ProcessFacts> process_facts(pid_t pid);

}  // namespace orange::connection
