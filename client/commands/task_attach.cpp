#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "client/commands/task.hpp"

namespace orange::commands {

int task_attach(Context& context, rpc::TaskAttach params) {
    complete_with_cwd(context, params, params.id.has_value());
    if (!context.json && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)) {
        return fail(context, {ErrorCode::invalid_argument,
                              "attach needs a terminal; `orange task peek` shows the agent's screen without one"});
    }
    auto reply = context.call_json(params.k_name, rpc::written(params));
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<rpc::TaskAttach::Reply>(params.k_name, *reply);
    if (!typed) return fail(context, typed.error());
    if (typed->argv.empty()) return fail(context, {ErrorCode::internal, "the daemon named no command to attach with"});

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
