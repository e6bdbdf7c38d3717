#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "common/base/text.hpp"
#include "daemon/shim/agent.hpp"
#include "daemon/shim/ask.hpp"
#include "daemon/shim/event.hpp"
#include "daemon/shim/harness.hpp"
#include "daemon/shim/keeper.hpp"
#include "daemon/shim/proxy.hpp"
#include "daemon/shim/removal.hpp"
#include "daemon/shim/scope.hpp"

/// orange-agent has several uses. It is not called by hand.
/// - `orange-agent SPEC`: the daemon starts it in a tmux window; it runs one agent.
/// - `orange-agent --inner SPEC`: an executor, which the first use has started, does the same on its far side.
/// - `orange-agent --keep …`: the daemon starts the tmux server with it.
/// - `orange-agent --event …`: a hook of an agent's program reports an event.
/// - `orange-agent --ask FILE`: a hook of an agent's program asks the human.
/// - `orange-agent --remove PATH...`: the daemon removes folders that agents may have filled.
/// - `orange-agent --behind …`: an executor runs a command of the project's with it, behind the wall of an agent.
/// - `orange-agent --proxy …`, `--through …`: it connects the box of an agent to some places of the network.
/// - `orange-agent --join PID`: systemd starts it for the first use, to move that process into a scope.
int main(int argc, char** argv) {
    constexpr int k_usage = 2, k_failed = 126, k_not_found = 127;
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::puts("orange-agent " ORANGE_VERSION);
        return 0;
    }
    if (argc > 3 && std::string_view(argv[1]) == orange::k_keep_option) return orange::shim::run_below_keeper(argv + 3);
    if (argc == 3 && std::string_view(argv[1]) == orange::k_join_option) return orange::shim::join_scope(argv[2]);
    if (argc >= 3 && std::string_view(argv[1]) == orange::k_event_option) {
        return orange::shim::write_event(argv[2], {argv + 3, argv + argc});
    }
    if (argc == 3 && std::string_view(argv[1]) == orange::k_ask_option) return orange::shim::ask_human(argv[2]);
    if (argc >= 3 && std::string_view(argv[1]) == orange::k_remove_option) return orange::shim::remove_paths(argv + 2);
    if (argc > 3 && std::string_view(argv[1]) == orange::k_behind_option) {
        char** word = argv + 2;
        while (*word != nullptr && std::string_view(*word) != "--") ::unsetenv(*word++);
        if (*word == nullptr || word[1] == nullptr) return k_usage;
        orange::shim::leave_session_keyring();
        ::execvp(word[1], word + 1);
        std::fprintf(stderr, "orange-agent: %s: %s\n", word[1], std::strerror(errno));
        return k_not_found;
    }
    if (argc > 2 && std::string_view(argv[1]) == orange::k_proxy_option) return orange::shim::run_with_proxy(argv + 2);
    if (argc > 2 && std::string_view(argv[1]) == orange::k_through_option) {
        return orange::shim::run_through_proxy(argv + 2);
    }
    const bool is_inner = argc == 3 && std::string_view(argv[1]) == orange::k_inner_option;
    if (argc != 2 && !is_inner) {
        std::fputs(
            "usage: orange-agent SPEC\n       orange-agent --inner SPEC\n       orange-agent --keep HOME COMMAND "
            "[ARG...]\n"
            "       orange-agent --event FILE [WORD...]\n       orange-agent --ask FILE\n"
            "       orange-agent --join PID\n"
            "       orange-agent --remove PATH...\n"
            "       orange-agent --behind VARIABLE... -- COMMAND [ARG...]\n"
            "       orange-agent --proxy SOCKET LOG PLACE... -- COMMAND [ARG...]\n"
            "       orange-agent --through SOCKET -- COMMAND [ARG...]\n\n"
            "Runs one agent in a pane, or the tmux server of all panes; started by oranged. With --inner it does so\n"
            "below the program of an executor. With --event it adds what\n"
            "an agent's program says about itself to FILE: the words, or the object of JSON that is on stdin. With\n"
            "--ask it also waits for the human's answer to it, and prints that. With\n"
            "--join it moves the process PID into its own systemd scope. With --remove it removes files and whole "
            "folders\n"
            "for the daemon, at idle priority.\n",
            stderr);
        return k_usage;
    }
    try {
        const auto spec = orange::read_spec(argv[argc - 1]);
        if (is_inner) orange::shim::leave_session_keyring();
        if (spec) return orange::shim::run_agent(*spec);
        std::fprintf(stderr, "orange-agent: %s\n", orange::printable(spec.error().message).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "orange-agent: %s\n", error.what());
    }
    return k_failed;
}
