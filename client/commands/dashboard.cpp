#include "client/commands/dashboard.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "client/connection/autostart.hpp"
#include "client/connection/child.hpp"

namespace orange::commands {
namespace {

/// Replaces the process by the dashboard; returns only if that fails.
Error become_dashboard(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::execv(argv[0], argv.data());
    return io_error("starting " + words.front(), errno);
}

}  // namespace

Status dashboard(Context& context, const std::vector<std::string>& arguments) {
    if (context.json || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
        return {ErrorCode::invalid_argument,
                "the dashboard needs a terminal. The same without one:\n  orange inbox\n  orange list"};
    }
    const auto program = connection::find_program("orange-dashboard");
    if (!program) {
        return {ErrorCode::not_found,
                "orange-dashboard is not installed beside orange or on PATH. The same without it:\n"
                "  orange inbox\n  orange list"};
    }
    return become_dashboard(*program, arguments);
}

bool dashboard_instead_of_help() {
    const char* term = std::getenv("TERM");
    const bool can_draw = term && *term && std::string_view(term) != "dumb";
    if (!can_draw || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return false;
    if (connection::inside_agent()) return false;
    const auto program = connection::find_program("orange-dashboard");
    if (program) (void)become_dashboard(*program, {});
    return false;
}

}  // namespace orange::commands
