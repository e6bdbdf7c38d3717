#include <cstdio>
#include <exception>
#include <string_view>

#include "common/base/text.hpp"
#include "daemon/shim/agent.hpp"

/// orange-agent <spec file>. Started by the daemon in a tmux window; nobody calls it by hand.
int main(int argc, char** argv) {
    constexpr int k_usage = 2, k_failed = 126;
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::puts("orange-agent " ORANGE_VERSION);
        return 0;
    }
    if (argc != 2) {
        std::fputs("usage: orange-agent SPEC\n\nRuns one agent in a pane; started by oranged.\n", stderr);
        return k_usage;
    }
    try {
        const auto spec = orange::read_spec(argv[1]);
        if (spec) return orange::shim::run_agent(*spec);
        std::fprintf(stderr, "orange-agent: %s\n", orange::printable(spec.error().message).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "orange-agent: %s\n", error.what());
    }
    return k_failed;
}
