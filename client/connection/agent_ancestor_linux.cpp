#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "client/connection/agent_ancestor.hpp"

namespace orange::connection {

bool has_agent_ancestor() {
    // A chain longer than this is no process tree, but a race with reused pids.
    int steps = 256;
    for (long pid = ::getppid(); pid > 1 && steps > 0; --steps) {
        const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return false;
        char text[1024];
        const auto size = ::read(fd, text, sizeof text - 1);
        ::close(fd);
        if (size <= 0) return false;
        text[size] = '\0';
        // "4711 (name) S 4242 …": the name may itself hold blanks and parentheses.
        const std::string_view stat(text, static_cast<std::size_t>(size));
        const auto open = stat.find('(');
        const auto close = stat.rfind(')');
        if (open == std::string_view::npos || close == std::string_view::npos || close + 4 >= stat.size()) return false;
        if (stat.substr(open + 1, close - open - 1) == "orange-agent") return true;
        pid = std::strtol(text + close + 4, nullptr, 10);
    }
    return false;
}

}  // namespace orange::connection
