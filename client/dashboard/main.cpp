// orange-dashboard shows a person's tasks on one screen, all day. `orange dashboard` starts it; see docs/dashboard.md.
//
// The dashboard has three layers. The core (state.hpp, core.hpp, view.hpp) decides what a key or an event does and what
// is shown; the core has no side effects. terminal.hpp draws with ncurses. wire.hpp is the connection to the daemon,
// host_wire.hpp to that of another machine. program.hpp connects the layers.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection/autostart.hpp"
#include "client/dashboard/program.hpp"
#include "client/hosts/hosts_file.hpp"
#include "client/output/terminal.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {
namespace {

constexpr const char* k_help =
    "orange dashboard: your tasks on one screen\n\n"
    "  --project NAME   only the tasks of this project\n"
    "  --everywhere     the tasks of all projects on all your machines (orange host list);\n"
    "                   default: of the project that you are in\n"
    "  --read-only      look, but change nothing\n"
    "  --no-mouse       leave the mouse to the terminal\n"
    "  --no-bell        do not ring when a task needs you\n\n"
    "In it, ? shows all keys.\n";

/// Returns the main worktree of the repository that contains `folder`, judged by its files; the daemon asks git.
std::optional<std::string> repository_of(std::filesystem::path folder) {
    std::error_code error;
    for (;; folder = folder.parent_path()) {
        const auto git = folder / ".git";
        if (std::filesystem::is_directory(git, error)) return folder.string();
        if (std::filesystem::is_regular_file(git, error)) {
            std::string line;
            std::getline(std::ifstream(git) >> std::ws, line);  // gitdir: /home/me/shop/.git/worktrees/other
            const auto end = line.rfind("/.git/worktrees/");
            const bool linked = line.starts_with("gitdir: /") && end != std::string::npos;
            return linked ? line.substr(8, end - 8) : folder.string();
        }
        if (folder == folder.parent_path()) return std::nullopt;
    }
}

/// Starts the dashboard. An agent sees only the tasks of this machine.
Result<int> start(const Paths& paths, State state, const TerminalOptions& options, bool everywhere) {
    std::vector<hosts::Host> hosts;
    if (everywhere && !connection::inside_agent()) {
        TRY(hosts, hosts::read_hosts(paths.home));
    }
    return run(paths, std::move(state), options, hosts);
}

int usage_problem(const std::string& problem) {
    output::print_error("error: " + printable(problem) + "\nhint:  orange dashboard --help\n");
    return 2;
}

int dashboard_main(const std::vector<std::string>& words) {
    State state;
    TerminalOptions options;
    bool everywhere = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        if (word == "--help" || word == "-h") {
            output::put(k_help);
            return output::finish(0);
        }
        if (word == "--version") {
            output::put("orange-dashboard " ORANGE_VERSION "\n");
            return output::finish(0);
        }
        if (word == "--everywhere") {
            everywhere = true;
        } else if (word == "--read-only") {
            state.read_only = true;
        } else if (word == "--no-mouse") {
            options.mouse = false;
        } else if (word == "--no-bell") {
            options.rings = false;
        } else if (word.starts_with("--project=")) {
            state.project = word.substr(10);
        } else if ((word == "--project" || word == "-p") && i + 1 < words.size()) {
            state.project = words[++i];
        } else {
            return usage_problem("unknown argument " + word);
        }
    }
    if (everywhere && state.project) return usage_problem("--project and --everywhere exclude each other");
    std::error_code error;
    const auto here = std::filesystem::current_path(error);
    if (!everywhere && !error) state.cwd = here.string();
    if (!error) state.repository = repository_of(here);
    const auto paths = paths_from_environment();
    const auto status = paths ? start(*paths, std::move(state), options, everywhere) : Result<int>(paths.error());
    if (status) return *status;
    for (const auto line : split_lines(status.error().message)) {
        const bool command = line.starts_with("  ");
        output::print_error((command ? "hint:  " : "error: ") + printable(trim(line)) + "\n");
    }
    return 1;
}

}  // namespace
}  // namespace orange::dashboard

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    return orange::dashboard::dashboard_main({argv + 1, argv + argc});
}
