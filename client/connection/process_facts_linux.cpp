#include "client/connection/process_facts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace orange::connection {

namespace {

Doing doing_in(char state) {
    switch (state) {
        case 'R':
            return Doing::computes;
        case 'D':
            return Doing::waits_for_disk;
        case 'T':
            return Doing::is_stopped;
        default:
            return Doing::waits;
    }
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t pid) {
    const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    char text[1024];
    const auto size = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (size <= 0) return std::nullopt;
    text[size] = '\0';
    // "4711 (name) S 4242 …": the name may contain blanks and parentheses.
    const std::string_view stat(text, static_cast<std::size_t>(size));
    const auto open = stat.find('(');
    const auto close = stat.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close + 4 >= stat.size())
        return std::nullopt;
    return ProcessFacts{std::string(stat.substr(open + 1, close - open - 1)),
                        static_cast<pid_t>(std::strtol(text + close + 4, nullptr, 10)), text[close + 2] == 'Z',
                        doing_in(text[close + 2])};
}

}  // namespace orange::connection
