#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "client/commands/popup.hpp"
#include "client/commands/task.hpp"
#include "client/connection/child.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"

namespace orange::commands {
namespace {

/// Checks the folder of tmux's socket, because typed text goes to the process that listens there. The folder may be in
/// /tmp, where other users can write.
Result<void> check_socket_folder(const std::vector<std::string>& argv) {
    const auto option = std::find(argv.begin(), argv.end(), "-S");
    if (option == argv.end() || option + 1 == argv.end()) return {};
    auto safe = check_private_folder(std::filesystem::path(*(option + 1)).parent_path());
    return safe ? safe : in_context("cannot attach: the folder of tmux's socket", safe.error());
}

/// Checks that tmux can draw on the terminal, because tmux's own error is unspecific. Without `tput` nothing is
/// refused.
Result<void> check_terminal(const std::string& task) {
    constexpr int k_unknown = 3, k_last_of_tput = 4;  // exit statuses of tput
    const char* term = std::getenv("TERM");
    const std::string name = term ? term : "";
    if (name.empty()) return {};
    const auto status = connection::status_of({"tput", "-T", name, "clear"}, {});
    const auto refused = [&](const std::string& why) {
        return Error(ErrorCode::invalid_argument, "tmux cannot draw on the terminal \"" + name + "\" (TERM): " + why);
    };
    if (status == k_unknown) {
        return refused(
            "this machine does not know it. Most terminals understand xterm's sequences:"
            "\n  TERM=xterm-256color orange attach" +
            task);
    }
    if (status > 0 && status <= k_last_of_tput) {
        return refused("it cannot be cleared. To print the agent's screen instead:\n  orange peek" + task);
    }
    return {};
}

}  // namespace

Status task_attach(Context& context, rpc::TaskAttach params) {
    complete_with_cwd(context, params, params.id.has_value());
    const auto task = params.id ? " " + shell_word(*params.id) : std::string();
    if (!context.json && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)) {
        return {ErrorCode::invalid_argument,
                "attach needs a terminal. To print the agent's screen instead:\n  orange peek" + task};
    }
    TRY(auto reply, context.call_json(params.k_name, written(params)));
    if (context.json) return put_json(reply);
    TRY(auto typed, connection::reply_as<rpc::TaskAttach::Reply>(params.k_name, reply));
    if (typed.argv.empty()) return {ErrorCode::internal, "the daemon's reply has no command to attach with"};
    TRY(check_socket_folder(typed.argv));

    if (is_inside_tmux()) {
        if (const auto status = show_in_popup(typed.argv)) return *status;  // otherwise attach inside the caller's tmux
    }
    TRY(check_terminal(task));
    std::vector<char*> argv;
    for (auto& word : typed.argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    // Orange's tmux is another server than the caller's, so this is no nesting.
    ::unsetenv("TMUX");
    ::unsetenv("TMUX_PANE");
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv.data());
    return io_error("starting " + typed.argv.front(), errno);
}

}  // namespace orange::commands
