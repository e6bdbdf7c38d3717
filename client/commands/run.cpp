#include "client/commands/run.hpp"

#include <unistd.h>

#include "client/commands/follow.hpp"
#include "client/commands/task.hpp"
#include "client/output/events.hpp"
#include "client/output/run.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

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

int wait_for(Context& context, TaskFollower& follower, const rpc::TaskReply& created) {
    const auto id = created.task.fields.id.value;
    auto followed = follower.follow(id, [&](const Json& event) {
        if (context.json) return;
        if (const auto line = output::run_event(event, context.style); !line.empty()) output::put_now(line);
    });
    if (!followed) return fail(context, followed.error());
    if (context.json) {
        put_json({{"task", written(followed->task)},
                  {"notes", created.notes},
                  {"ready", followed->ready},
                  {"reason", followed->reason}});
    } else {
        const auto sentence = printable(followed->reason, true) + "\n";
        if (followed->ready) output::put(sentence);
        if (!followed->ready) output::complain("orange: " + sentence);
    }
    return followed->ready ? 0 : 1;
}

}  // namespace

int run(Context& context, RunOptions options) {
    if (auto fine = complete(context, options); !fine) return fail(context, fine.error());
    TaskFollower follower(context);
    if (options.wait) {
        if (auto opened = follower.open(); !opened) return fail(context, opened.error());
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
    return options.wait ? wait_for(context, follower, *created) : status;
}

}  // namespace orange::commands
