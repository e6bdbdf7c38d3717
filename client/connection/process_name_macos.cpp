#include <libproc.h>

#include "client/connection/process_name.hpp"

namespace orange::connection {

// Not tried on a machine yet.
std::string process_name(pid_t pid) {
    char name[2 * MAXCOMLEN + 1] = {};
    const int size = ::proc_name(pid, name, sizeof name);
    return size > 0 ? std::string(name, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace orange::connection
