#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "client/commands/popup.hpp"
#include "client/commands/task.hpp"
#include "common/config/home_check.hpp"

namespace orange::commands {
namespace {

/// What is typed goes to whoever listens at tmux's socket, and its folder may be in /tmp, which is everybody's.
Result<void> check_socket_folder(const std::vector<std::string>& argv) {
    const auto option = std::find(argv.begin(), argv.end(), "-S");
    if (option == argv.end() || option + 1 == argv.end()) return {};
    auto safe = check_private_folder(std::filesystem::path(*(option + 1)).parent_path());
    return safe ? safe : in_context("cannot attach: the folder of tmux's socket", safe.error());
}

}  // namespace

int task_attach(Context& context, rpc::TaskAttach params) {
    complete_with_cwd(context, params, params.id.has_value());
    if (!context.json && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)) {
        return fail(context, {ErrorCode::invalid_argument,
                              "attach needs a terminal. To print the agent's screen instead:\n  orange task peek" +
                                  (params.id ? " " + *params.id : std::string())});
    }
    auto reply = context.call_json(params.k_name, written(params));
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<rpc::TaskAttach::Reply>(params.k_name, *reply);
    if (!typed) return fail(context, typed.error());
    if (typed->argv.empty())
        return fail(context, {ErrorCode::internal, "the daemon's reply has no command to attach with"});
    if (auto safe = check_socket_folder(typed->argv); !safe) return fail(context, safe.error());

    if (is_inside_tmux()) {
        if (const auto status = show_in_popup(typed->argv)) return *status;  // else nested
    }
    std::vector<char*> argv;
    for (auto& word : typed->argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    // Orange's tmux server is another one than the one that the caller may be in, so this is no nesting.
    ::unsetenv("TMUX");
    ::unsetenv("TMUX_PANE");
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv.data());
    return fail(context, io_error("starting " + typed->argv.front(), errno));
}

}  // namespace orange::commands
