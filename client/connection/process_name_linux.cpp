#include <fstream>

#include "client/connection/process_name.hpp"

namespace orange::connection {

std::string process_name(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(in, name);
    return name;
}

}  // namespace orange::connection
