// The command line of `orange`: which command that is, and its parser. What can be said stands in arguments/, what is
// done in commands/.
//
// Only the parser of the subcommand that was called is built. That keeps the start at a fraction of a millisecond, and
// a summary such as `orange task create list` is never taken for the name of another subcommand.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "client/arguments/command.hpp"
#include "client/output/terminal.hpp"
#include "common/base/text.hpp"
#include "common/rpc/errors.hpp"

namespace orange {
namespace {

using arguments::Command;
using commands::Context;

constexpr int k_usage_error = 2;
constexpr std::size_t k_overview_width = 80;
constexpr std::size_t k_overview_column = 20;

const std::span<const Command> k_tables[] = {arguments::run_commands(),     arguments::task_commands(),
                                             arguments::project_commands(), arguments::workflow_commands(),
                                             arguments::harness_commands(), arguments::daemon_commands()};

std::string listed(std::string_view group, std::string_view indent) {
    std::string out;
    for (const auto& table : k_tables) {
        for (const auto& command : table) {
            if (command.hidden || command.group != group) continue;
            std::string name = command.name;
            name.resize(std::max<std::size_t>(name.size() + 2, 11), ' ');
            out += std::string(indent) + name + command.summary + "\n";
        }
    }
    return out;
}

/// "  orange task       create list show …", every group's commands in lines of 80 columns.
std::string groups() {
    std::string out;
    std::string line;
    std::string_view group;
    const auto finish_line = [&] { out += std::exchange(line, {}) + "\n"; };
    for (const auto& table : k_tables) {
        for (const auto& command : table) {
            if (command.hidden || !*command.group) continue;
            if (command.group != group) {
                if (!line.empty()) finish_line();
                group = command.group;
                line = "  orange " + std::string(group);
                line.resize(k_overview_column, ' ');
            } else if (line.size() + 1 + std::strlen(command.name) > k_overview_width) {
                finish_line();
                line.resize(k_overview_column, ' ');
            }
            line += (line.back() == ' ' ? "" : " ") + std::string(command.name);
        }
    }
    finish_line();
    for (const auto& table : k_tables) {
        for (const auto& command : table) {
            if (command.hidden || *command.group) continue;
            line = std::string("  orange ") + command.name;
            line.resize(k_overview_column, ' ');
            line += command.summary;
            finish_line();
        }
    }
    return out;
}

std::string overview() {
    return "Orange runs coding agents, each in a git worktree and a tmux session of its own.\n\n"
           "  orange run \"what to do\"            in a git repository: an agent starts on it\n"
           "  orange task list                   how far they are\n"
           "  orange task attach ID              sit down at an agent's terminal\n"
           "  orange task merge ID               take over what was reviewed\n\n"
           "Commands (orange GROUP --help says more):\n" +
           groups() + "\n--json works everywhere: one line on standard output, errors too.\n";
}

const Command* first_where(const auto& wanted) {
    for (const auto& table : k_tables) {
        const auto found = std::ranges::find_if(table, wanted);
        if (found != table.end()) return &*found;
    }
    return nullptr;
}

bool is_group(std::string_view word) {
    return first_where([&](const Command& command) { return *command.group && word == command.group; });
}

const Command* find_command(std::string_view group, std::string_view name) {
    return first_where([&](const Command& command) { return command.group == group && command.name == name; });
}

int usage_error(const std::string& problem, const std::string& help, bool json) {
    if (json) {
        commands::put_json({{"error", rpc::error_json({ErrorCode::invalid_argument, problem, {{"help", help}}})}});
    } else {
        output::complain("orange: " + printable(problem) + "\nSee: " + help + "\n");
    }
    return k_usage_error;
}

// --- running
// ------------------------------------------------------------------------------------------------------------

bool asks_for_json(const std::vector<std::string>& words) {
    const auto end = std::ranges::find(words, "--");
    return std::find(words.begin(), end, "--json") != end;
}

/// `words` are the arguments behind the command's name.
int run(const Command& command, std::vector<std::string> words, bool json) {
    const std::string name = std::string("orange ") + command.group + (*command.group ? " " : "") + command.name;
    CLI::App app(command.summary, name);
    app.get_formatter()->column_width(28);
    app.add_flag("--json", json, "The reply as JSON, one line");
    const arguments::Action action = command.build(app);
    json = json || asks_for_json(words);  // a line that cannot be parsed has set no flag
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        output::put(app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        return usage_error(error.what(), name + " --help", json);
    }
    auto paths = paths_from_environment();
    if (!paths) return commands::fail(json, paths.error());
    Context context(std::move(*paths), json);
    return action(context);
}

int dispatch(std::vector<std::string> words) {
    bool json = false;
    while (!words.empty() && words.front() == "--json") {
        json = true;
        words.erase(words.begin());
    }
    const auto take = [&] {
        std::string word = words.front();
        words.erase(words.begin());
        return word;
    };
    const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h" || word == "help"; };
    if (words.empty() || is_help(words.front())) {
        output::put(overview());
        return 0;
    }
    std::string first = take();
    if (first == "--version") first = "version";
    if (const auto* command = find_command("", first)) return run(*command, std::move(words), json);
    const bool wants_json = json || asks_for_json(words);
    if (!is_group(first)) return usage_error("there is no command \"" + first + "\"", "orange --help", wants_json);
    if (wants_json && (words.empty() || words.front() == "--json")) {
        return usage_error("orange " + first + " needs a command", "orange " + first + " --help", true);
    }
    if (words.empty() || is_help(words.front())) {
        output::put("orange " + first + " COMMAND\n\n" + listed(first, "  ") + "\nSee: orange " + first +
                    " COMMAND --help\n");
        return words.empty() ? k_usage_error : 0;
    }
    const auto second = take();
    if (const auto* command = find_command(first, second)) return run(*command, std::move(words), json);
    return usage_error("there is no command \"" + first + " " + second + "\"", "orange " + first + " --help",
                       wants_json);
}

/// A caller may have closed them; a socket must not get one of these numbers.
void open_standard_descriptors() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO) continue;
        ::close(fd);
        break;
    }
}

}  // namespace
}  // namespace orange

int main(int argc, char** argv) {
    orange::open_standard_descriptors();
    ::signal(SIGPIPE, SIG_IGN);
    try {
        return orange::output::finish(orange::dispatch({argv + 1, argv + argc}));
    } catch (const std::exception& bug) {
        orange::output::complain(std::string("orange: this is a bug: ") + orange::printable(bug.what()) + "\n");
        return orange::output::finish(1);
    }
}
