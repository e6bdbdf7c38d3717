#include "client/connection/agent_ancestor.hpp"

#include <unistd.h>

#include "client/connection/process_facts.hpp"

namespace orange::connection {

bool has_agent_ancestor() {
    // A longer chain is not a process tree, but caused by reused pids.
    int steps = 256;
    for (pid_t pid = ::getppid(); pid > 1 && steps > 0; --steps) {
        const auto facts = process_facts(pid);
        if (!facts) return false;
        if (facts->name == "orange-agent") return true;
        pid = facts->parent;
    }
    return false;
}

}  // namespace orange::connection
