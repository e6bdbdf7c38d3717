#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/files/file_system.hpp"

namespace orange {

struct Occupant {
    std::int64_t pid = 0;
    std::string name;
};

/// Processes whose working directory is in `directory`.
std::vector<Occupant> occupants(const Path& directory);

/// Those of them that may be writing there: not the shell of a terminal (the first of its session), which merely
/// waits, nor the client that asks for it.
std::vector<Occupant> workers_in(const Path& directory);

}  // namespace orange
