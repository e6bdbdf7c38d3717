#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "client/commands/uploads.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/train_methods.hpp"

namespace orange::commands {

/// Creates one task, even if the daemon ends before it replies and the call is repeated. Each daemon gets the files.
Result<Json> create_task(Context& context, rpc::TaskCreate params, const Uploads& files);
/// Returns the exit status of a call that starts an agent. If the agent did not start: 1, with the reason on standard
/// error; the task exists nevertheless.
int spawn_status(const Context& context, const rpc::TaskReply& started);
/// Prints the reply of such a call, with `note` below it, and returns its exit status. With `later`, notes are added
/// there instead of being printed.
Status print_started(const Context& context, const Result<Json>& reply, const std::string& note = {},
                     std::vector<std::string>* later = nullptr);
/// Other sources of a task than a summary.
struct CreateFrom {
    std::optional<std::string> issue;  ///< a number or URL
    std::optional<std::string> file;   ///< Markdown with a task for each heading; "-": standard input
};
/// `words` are the summary, joined by blanks. If there are two and only the second contains a blank, they are a branch
/// and a summary. A person at a terminal who gives no summary is asked for one.
Status task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words,
                   const CreateFrom& from = {}, const FileOptions& files = {});
struct ListOptions {
    bool everywhere = false;          ///< all projects, also if the caller is in one, and all hosts
    bool watch = false;               ///< print again after each change, until a signal comes
    std::optional<std::string> form;  ///< a format for a line of each task (output/format.hpp), instead of the page
};
Status task_list(Context& context, rpc::TaskList params, const ListOptions& options);
/// Prints which task waits for which: in all projects, or only those connected with `about`.
Status task_tree(Context& context, rpc::TaskList params, bool everywhere, const std::optional<std::string>& about);
/// task_list() or inbox() again after each change; nothing is asked in between. `rings` is about the inbox.
Status watch_tasks(Context& context, const rpc::TaskList& params, const std::optional<std::string>& form,
                   bool rings = false);
Status task_show(Context& context, rpc::TaskShow params, const std::optional<std::string>& form);
Status task_why(Context& context, rpc::TaskWhy params);
Status task_peek(Context& context, rpc::TaskPeek params);

/// Sends a request that changes one task and replies with a TaskReply, and prints the reply.
Status print_change(Context& context, const char* method, Json params);
template <class Method>
Status change(Context& context, Method params) {
    complete_with_cwd(context, params, params.id.has_value());
    return print_change(context, Method::k_name, written(params));
}

Status task_spawn(Context& context, rpc::TaskSpawn params);
Status task_respawn(Context& context, rpc::TaskRespawn params);
/// `words`: one word is the message for the caller's own task; of several the first is the id.
Status task_send(Context& context, rpc::TaskSend params, std::vector<std::string> words, const FileOptions& files);

/// `params.branch`: unset: keep the branch; empty: use the branch that git is on; else rename the branch, or switch to
/// it.
Status task_update(Context& context, rpc::TaskUpdate params);

/// Returns 1 if a check failed.
Status task_check(Context& context, rpc::TaskCheck params);
struct TryOptions {
    bool open = false;    ///< open the URL in a browser
    bool follow = false;  ///< print the output until the command has ended
    bool no_wait = false;
    std::string tunnel;  ///< how the caller's ssh names this machine, if the caller is on another one
};
/// Starts or ends the command with which a human tries the work, and waits until it can be opened. Returns 1 if it has
/// failed before that.
Status task_try(Context& context, rpc::TaskTry params, const TryOptions& options);
Status task_merge(Context& context, rpc::TaskMerge params, bool yes);
/// Merges several tasks in the order that conflicts least, or `as_given`. On a terminal it shows the order and asks.
/// Returns 1 if not all of them are merged.
Status tasks_merge(Context& context, rpc::TrainMerge params, bool as_given, bool yes);
/// Returns the ids of the tasks of this project that can be merged without force and wait for that, oldest first;
/// not_found if there is none.
Result<std::vector<std::string>> tasks_to_merge(Context& context);
Status task_create_pr(Context& context, rpc::TaskCreatePr params);
Status task_update_branch(Context& context, rpc::TaskUpdateBranch params);
Status task_restore(Context& context, rpc::TaskRestore params);
Status task_fork(Context& context, rpc::TaskFork params);
Status task_cancel(Context& context, rpc::TaskCancel params, bool yes);
Status task_delete(Context& context, rpc::TaskDelete params, bool yes);

struct InboxOptions {
    std::optional<std::string> project;
    std::optional<std::string> form;  ///< as for task_list()
    bool everywhere = false;          ///< of all hosts, too
    bool count = false;               ///< only how many tasks need their human
    bool line = false;                ///< the same in words, or nothing if there are none
    bool watch = false;               ///< again after each change, until a signal comes
    bool rings = true;                ///< with `watch`: the terminal's bell, when a task begins to need its human
};
/// Shows the tasks that need their human, in all projects or in one. `count` and `line` are for shell prompts: they
/// start no daemon, and print nothing if none answers soon.
Status inbox(Context& context, const InboxOptions& options);
/// Returns what is wrong with a format, for a usage error. `shown`: a format of task_show().
std::string form_problem(const std::string& form, bool shown);
/// Prints a `task.list` reply in a format.
void put_formed(const Json& list, const std::string& form);
/// Prints a `task.list` reply, which may have tasks of other hosts (everywhere.hpp), in a format or as a page.
Status print_tasks(const Context& context, const Result<Json>& reply, const std::optional<std::string>& form,
                   const std::function<std::string(const rpc::TaskList::Reply&)>& page);
/// `words`: see task_send().
Status task_reply(Context& context, rpc::TaskAnswer params, std::vector<std::string> words, const FileOptions& files);
/// Without words, or with the name of the task alone, the rejection sends only the comments.
Status task_reject(Context& context, rpc::TaskReject params, std::vector<std::string> words, const FileOptions& files);

struct DiffOptions {
    bool stat = false;
    bool name_only = false;
    std::vector<std::string> files;
};
/// Replaces the process by git, which shows the changes in the user's pager; with --json prints where they are.
Status task_diff(Context& context, rpc::TaskDiff params, const DiffOptions& options);
Status task_path(Context& context, rpc::TaskShow params);
/// Replaces the process by the user's shell, in the task's worktree.
Status task_shell(Context& context, rpc::TaskShow params);

/// Replaces the process by tmux; returns only on failure, or with --json.
Status task_attach(Context& context, rpc::TaskAttach params);

}  // namespace orange::commands
