#include <cstdio>
#include <exception>
#include <string_view>

#include "common/base/text.hpp"
#include "daemon/shim/agent.hpp"
#include "daemon/shim/event.hpp"
#include "daemon/shim/keeper.hpp"
#include "daemon/shim/permit.hpp"
#include "daemon/shim/scope.hpp"

/// orange-agent <spec file>: started by the daemon in a tmux window. orange-agent --keep …: started by the daemon in
/// front of the tmux server. orange-agent --permit …: started by a reviewer's program, for its answer. orange-agent
/// --event …: started by a hook of an agent's program. orange-agent --join PID: started by systemd for the first one.
/// It is not called by hand.
int main(int argc, char** argv) {
    constexpr int k_usage = 2, k_failed = 126;
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::puts("orange-agent " ORANGE_VERSION);
        return 0;
    }
    if (argc > 3 && std::string_view(argv[1]) == orange::k_keep_option) return orange::shim::run_below_keeper(argv + 3);
    if (argc == 3 && std::string_view(argv[1]) == orange::k_permit_option) return orange::shim::answer_hook(argv[2]);
    if (argc == 3 && std::string_view(argv[1]) == orange::k_join_option) return orange::shim::join_scope(argv[2]);
    if (argc >= 3 && std::string_view(argv[1]) == orange::k_event_option) {
        return orange::shim::write_event(argv[2], {argv + 3, argv + argc});
    }
    if (argc != 2) {
        std::fputs(
            "usage: orange-agent SPEC\n       orange-agent --keep HOME COMMAND [ARG...]\n"
            "       orange-agent --permit SPEC\n       orange-agent --event FILE [WORD...]\n       orange-agent --join "
            "PID\n\n"
            "Runs one agent in a pane, or the tmux server of all panes; started by oranged. With --permit it decides\n"
            "whether a reviewer may make the call of a tool that is on stdin. With --event it adds what an agent's\n"
            "program says about itself to FILE: the words, or the object of JSON that is on stdin. With --join it "
            "moves\n"
            "the process PID into its own systemd scope.\n",
            stderr);
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
