#include "client/commands/run.hpp"

#include <unistd.h>

#include <algorithm>

#include "client/commands/follow.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/task.hpp"
#include "client/connection/autostart.hpp"
#include "client/output/run.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {
namespace {

/// Checks and completes the options without asking the daemon.
Result<void> complete(const Context& context, RunOptions& options) {
    if (connection::inside_agent()) {
        return {ErrorCode::forbidden,
                "only a human may call orange run. An agent that splits its task creates sub-tasks:\n"
                "  orange create SUMMARY"};
    }
    auto& params = options.params;
    params.summary = join(options.words, " ");
    if (trim(params.summary).empty()) {
        return {ErrorCode::invalid_argument,
                "the summary is missing. Say what to do:\n  orange run \"Fix the login redirect\""};
    }
    if (options.attach && (context.json || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)) {
        return {ErrorCode::invalid_argument,
                "--attach needs a terminal. Run without --attach, then print the agent's screen:\n  orange peek ID"};
    }
    if (options.attach && !params.attempts.empty()) {
        return {ErrorCode::invalid_argument,
                "--attach opens the terminal of one agent, and --attempts starts several. Run without --attach, then:\n"
                "  orange list"};
    }
    if (!context.cwd)
        return {ErrorCode::invalid_argument, "the current directory no longer exists; change to a repository"};
    params.cwd = context.cwd;
    params.name_branch = true;
    params.add_project = !connection::inside_agent();  // a sub-task belongs to its parent's project
    if (!params.context) return {};
    TRY(params.context, text_argument(*params.context));
    return {};
}

/// The result of the wait.
struct Ending {
    bool ready = false;  ///< the task can be merged, or is done
    std::string reason;  ///< a sentence: why the human is needed
};

Ending ending_of(const rpc::TaskView& task) {
    const auto& needs = task.needs;
    const auto id = output::short_id(task);
    const auto text = printable(needs.text, true);
    if (needs.kind == Need::nothing)
        return {task.means == "done", "the task has the status " + printable(task.fields.status)};
    const auto command = "\n  " + output::command_of(task);
    if (needs.kind == Need::review && needs.command.verb == "task diff") {
        return {true, (task.alarm ? printable(*task.alarm) + "; " : "") + text + command + "\n  orange merge " + id};
    }
    return {false, text + command};
}

/// Waits until a human is needed: the task can be merged, has ended, has questions, is stuck, or needs attention.
Result<Ending> wait_until_needed(const Context& context, EventStream& stream, rpc::TaskView& task) {
    rpc::TaskWait wait;  // the daemon knows which states of the workflow leave a task to a human
    wait.id = task.fields.id.value;
    rpc::TaskWait::Reply last;
    last.task = task;
    Follower follower;
    follower.patience = k_daemon_patience;
    follower.event = [&](const rpc::EventNotification& event) {
        if (event.task != *wait.id || context.json) return;
        if (const auto line = output::run_event(event.event, context.style); !line.empty()) output::put_now(line);
    };
    const auto over = follow_task(stream, wait, follower, last);
    task = last.task;
    if (!over && over.error().code == ErrorCode::not_found) return Ending{false, "the task was deleted"};
    if (!over) return over.error();
    if (!*over) {
        return {ErrorCode::timeout, "stopped waiting; the task continues\n  orange show " + output::short_id(task)};
    }
    take_rest(stream, follower.event);
    return ending_of(task);
}

Status wait_for(Context& context, EventStream& stream, const rpc::TaskReply& created) {
    auto task = created.task;
    TRY(const auto ending, wait_until_needed(context, stream, task));
    if (context.json) {
        put_json(
            {{"task", written(task)}, {"notes", created.notes}, {"ready", ending.ready}, {"reason", ending.reason}});
    } else {
        const auto sentence = printable(ending.reason, true) + "\n";
        if (ending.ready) output::put(sentence);
        if (!ending.ready) output::print_error("orange: " + sentence);
    }
    return ending.ready ? 0 : 1;
}

}  // namespace

Status run(Context& context, RunOptions options) {
    TRY(auto uploads, Uploads::open(options.files));  // standard input has them before the context
    TRY(complete(context, options));
    EventStream stream(context.paths, rpc::EventsSubscribe{});
    if (options.wait) {  // opened before the task is created, so that no event is missed
        catch_interrupts();
        TRY(stream.open());
    }
    TRY(auto reply, create_task(context, options.params, uploads));
    TRY(auto created, connection::reply_as<rpc::TaskReply>(options.params.k_name, reply));
    if (context.json && !options.wait) {
        put_json(reply);
        return spawn_status(context, created);
    }
    if (!context.json) output::put_now(output::run_page(created, context.paths.workspaces().string(), context.style));
    const int status = options.wait ? 0 : spawn_status(context, created);
    if (options.attach && status == 0) {
        rpc::TaskAttach attach;
        attach.id = created.task.fields.id.value;
        return task_attach(context, attach);
    }
    if (options.wait && !context.json) output::put_now("\n");
    return options.wait ? wait_for(context, stream, created) : status;
}

}  // namespace orange::commands
