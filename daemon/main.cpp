#include <cstdio>
#include <cstring>
#include <exception>

#include "common/config/paths.hpp"
#include "daemon/app/app.hpp"
#include "daemon/app/offline.hpp"

namespace {

constexpr const char* k_usage =
    "Usage: oranged [--check] [--agents] [--version] [--help]\n"
    "\n"
    "Orange's daemon: owns tasks, workspaces and agents, and serves ~/orange/orange.sock\n"
    "(ORANGE_HOME moves ~/orange). Runs in the foreground; `orange` starts it when it is\n"
    "needed. One runs for each home. Ends on SIGTERM; agents continue, and the next oranged\n"
    "adopts them. SIGHUP reloads config.yml. --check starts nothing; it reports whether\n"
    "config.yml is valid, and exits with 1 if it is not. --agents lists the agents: name,\n"
    "program on your PATH, command that installs it, folder of its skills.\n";

int start(bool only_check, bool only_agents) {
    const auto paths = orange::paths_from_environment();
    if (!paths) {
        std::fprintf(stderr, "oranged: %s\n", paths.error().message.c_str());
        return 1;
    }
    if (only_check) return orange::check_settings(*paths);
    const auto installation = orange::find_installation();
    if (!installation) {
        std::fprintf(stderr, "oranged: %s\n", installation.error().message.c_str());
        return 1;
    }
    if (only_agents) return orange::list_agents(*paths, *installation);
    return orange::run_daemon(*paths, *installation);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
        std::printf("oranged %s\n", ORANGE_VERSION);
        return 0;
    }
    const bool only_check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
    const bool only_agents = argc > 1 && std::strcmp(argv[1], "--agents") == 0;
    if (argc > 1 && !only_check && !only_agents) {
        const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
        std::fputs(k_usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    try {
        return start(only_check, only_agents);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "oranged: internal error: %s\n", e.what());
        return 1;
    }
}
