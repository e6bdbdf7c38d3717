#pragma once

#include <sys/types.h>

#include <string>

namespace orange::connection {

/// The name of the program that a process runs, as ps shows it (Linux cuts it to 15 bytes); empty where there is no
/// such process. One implementation a platform.
std::string process_name(pid_t pid);

}  // namespace orange::connection
