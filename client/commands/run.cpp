#include "client/commands/run.hpp"

#include <unistd.h>

#include <algorithm>

#include "client/commands/follow.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/task.hpp"
#include "client/output/run.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {
namespace {

constexpr auto k_daemon_patience = std::chrono::seconds(15);

/// What can be said without asking the daemon.
Result<void> complete(const Context& context, RunOptions& options) {
    auto& params = options.params;
    params.summary = join(options.words, " ");
    if (trim(params.summary).empty()) {
        return {ErrorCode::invalid_argument, "what is to be done? For example: orange run \"Fix the login redirect\""};
    }
    if (options.attach && (context.json || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)) {
        return {ErrorCode::invalid_argument,
                "--attach needs a terminal, and nothing to read but it; leave it out, and look with: orange task peek"};
    }
    if (!context.cwd) return {ErrorCode::invalid_argument, "the current directory is gone; go into a repository"};
    params.cwd = context.cwd;
    params.name_branch = true;
    params.add_project = true;
    if (!params.context) return {};
    TRY(params.context, text_argument(*params.context));
    return {};
}

bool can_be_merged(const rpc::TaskWhy::Reply& now) {
    return std::any_of(now.edges.begin(), now.edges.end(),
                       [](const auto& edge) { return edge.to == "done" && edge.open && !edge.needs_force; });
}

/// How the waiting ended.
struct Ending {
    bool ready = false;  ///< it can be merged, or is done
    std::string reason;  ///< a sentence: what the human is needed for
};

Ending ending_of(const rpc::TaskWhy::Reply& now) {
    const auto& task = now.task;
    const auto status = printable(task.fields.status);
    const auto attention = printable(task.fields.attention.value_or(""));
    const auto id = output::short_id(task.fields.id.value);
    if (status == "done") return {true, "it is done"};
    if (status == "cancelled") return {false, "it was cancelled"};
    if (!attention.empty()) return {false, attention};
    const auto ready = "ready: look at it, then run: orange task merge " + id;
    if (can_be_merged(now)) return {true, (task.alarm ? *task.alarm + "; " : "") + ready};
    if (status == "clarification") {
        return {false, "the agent has questions; answer it in its terminal: orange task attach " + id};
    }
    if (status == "stuck") return {false, "it is stuck; help it: orange task attach " + id};
    if (now.edges.empty()) return {false, "it has ended as " + status};
    return {false, "it is " + status + " and waits for you: orange task why " + id};
}

/// Until somebody is needed: the task can be merged, has ended, has questions, is stuck, or asks for attention.
Result<Ending> wait_until_needed(const Context& context, EventStream& stream, rpc::TaskView& task) {
    rpc::TaskWait wait;  // the daemon knows which states of the workflow leave a task to a human
    wait.id = task.fields.id.value;
    rpc::TaskWhy why;
    why.id = wait.id;
    rpc::TaskWait::Reply last;
    last.task = task;
    Ending ending;
    Follower follower;
    follower.patience = k_daemon_patience;
    follower.event = [&](const rpc::EventNotification& event) {
        if (event.task != *wait.id || context.json) return;
        if (const auto line = output::run_event(event.event, context.style); !line.empty()) output::put_now(line);
    };
    follower.enough = [&](EventStream::What) -> Result<bool> {
        auto now = stream.call(why);
        if (!now && now.error().code == ErrorCode::unavailable) return false;
        if (!now) return now.error();
        ending = ending_of(*now);
        last.task = now->task;
        return !now->task.in_progress;  // what comes of it is an event
    };
    const auto over = follow_task(stream, wait, follower, last);
    task = last.task;
    if (!over && over.error().code == ErrorCode::not_found) return Ending{false, "the task is gone"};
    if (!over) return over.error();
    if (!*over) {
        return {ErrorCode::timeout,
                "no longer waiting; the task goes on. See: orange task show " + output::short_id(*wait.id)};
    }
    take_rest(stream, follower.event);
    return ending;
}

int wait_for(Context& context, EventStream& stream, const rpc::TaskReply& created) {
    auto task = created.task;
    const auto ending = wait_until_needed(context, stream, task);
    if (!ending) return fail(context, ending.error());
    if (context.json) {
        put_json(
            {{"task", written(task)}, {"notes", created.notes}, {"ready", ending->ready}, {"reason", ending->reason}});
    } else {
        const auto sentence = printable(ending->reason, true) + "\n";
        if (ending->ready) output::put(sentence);
        if (!ending->ready) output::complain("orange: " + sentence);
    }
    return ending->ready ? 0 : 1;
}

}  // namespace

int run(Context& context, RunOptions options) {
    if (auto fine = complete(context, options); !fine) return fail(context, fine.error());
    EventStream stream(context.paths, rpc::EventsSubscribe{});
    if (options.wait) {  // opened before the task is created, so that nothing is missed
        catch_interrupts();
        if (auto opened = stream.open(); !opened) return fail(context, opened.error());
    }
    auto reply = create_task(context, options.params);
    if (!reply) return fail(context, reply.error());
    auto created = connection::reply_as<rpc::TaskReply>(options.params.k_name, *reply);
    if (!created) return fail(context, created.error());
    if (context.json && !options.wait) {
        put_json(*reply);
        return spawn_status(context, *created);
    }
    if (!context.json) output::put_now(output::run_page(*created, context.paths.workspaces().string(), context.style));
    const int status = options.wait ? 0 : spawn_status(context, *created);
    if (options.attach && status == 0) {
        rpc::TaskAttach attach;
        attach.id = created->task.fields.id.value;
        return task_attach(context, attach);
    }
    return options.wait ? wait_for(context, stream, *created) : status;
}

}  // namespace orange::commands
