#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {

/// One task, even where the daemon ends before it answers and another one has to be asked.
Result<Json> create_task(Context& context, rpc::TaskCreate params);
/// The exit status after a call that starts an agent: 1 where it was not started, said on standard error; the task is
/// there all the same.
int spawn_status(const Context& context, const rpc::TaskReply& started);
/// Prints such a call's reply, and `note` below it; its exit status.
int print_started(const Context& context, const Result<Json>& reply, const std::string& note = {});
/// What else a task may be made from, in place of a summary.
struct CreateFrom {
    std::optional<std::string> issue;  ///< a number or URL
    std::optional<std::string> file;   ///< Markdown, a task for each heading; - is standard input
};
/// `words` are the summary, joined by blanks; or a branch and a summary, if there are two and only the second has a
/// blank. On a terminal a person without a summary is asked for one.
int task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words,
                const CreateFrom& from = {});
struct ListOptions {
    bool everywhere = false;          ///< every project's, although the caller is in one, and those of all hosts
    bool watch = false;               ///< again after each change, until a signal comes
    std::optional<std::string> form;  ///< a line for each task in this form (output/format.hpp), in place of the page
};
int task_list(Context& context, rpc::TaskList params, const ListOptions& options);
/// Which task waits for which; of all projects, or of those alone that are connected with `about`.
int task_tree(Context& context, rpc::TaskList params, bool everywhere, const std::optional<std::string>& about);
/// task_list() or inbox() again after each change; nothing is asked in between. `rings` is about the inbox.
int watch_tasks(Context& context, const rpc::TaskList& params, const std::optional<std::string>& form,
                bool rings = false);
int task_show(Context& context, rpc::TaskShow params, const std::optional<std::string>& form);
int task_why(Context& context, rpc::TaskWhy params);
int task_peek(Context& context, rpc::TaskPeek params);

/// Sends what changes one task and answers with a TaskReply, and prints that.
int print_change(Context& context, const char* method, Json params);
template <class Method>
int change(Context& context, Method params) {
    complete_with_cwd(context, params, params.id.has_value());
    return print_change(context, Method::k_name, written(params));
}

int task_spawn(Context& context, rpc::TaskSpawn params);
int task_respawn(Context& context, rpc::TaskRespawn params);
int task_complete(Context& context, rpc::TaskComplete params);
int task_stuck(Context& context, rpc::TaskStuck params);
int task_ack(Context& context, rpc::TaskAck params);
int task_approve(Context& context, rpc::TaskApprove params);
/// One word is the message for the caller's own task; of several the first is the id.
int task_send(Context& context, rpc::TaskSend params, std::vector<std::string> words);

/// `branch`: none: leave it. Empty: take over the one that git has. Else: rename or switch.
int task_update(Context& context, rpc::TaskUpdate params);

/// 1 if one of the checks failed.
int task_check(Context& context, rpc::TaskCheck params);
int task_merge(Context& context, rpc::TaskMerge params, bool yes);
int task_create_pr(Context& context, rpc::TaskCreatePr params);
int task_update_branch(Context& context, rpc::TaskUpdateBranch params);
int task_restore(Context& context, rpc::TaskRestore params);
int task_cancel(Context& context, rpc::TaskCancel params, bool yes);
int task_delete(Context& context, rpc::TaskDelete params, bool yes);

struct InboxOptions {
    std::optional<std::string> project;
    std::optional<std::string> form;  ///< as for task_list()
    bool everywhere = false;          ///< of all hosts, too
    bool count = false;               ///< only how many tasks need their human
    bool line = false;                ///< the same in words, or nothing if there are none
    bool watch = false;               ///< again after each change, until a signal comes
    bool rings = true;                ///< with `watch`: the terminal's bell, when a task begins to need its human
};
/// Shows what needs its human, in all projects or in one. `count` and `line` start no daemon, and print nothing if none
/// answers soon: a prompt calls them.
int inbox(Context& context, const InboxOptions& options);
/// What is wrong with a form, for a usage error; `shown`: of task_show().
std::string form_problem(const std::string& form, bool shown);
/// Prints a `task.list` reply in a form.
int put_formed(const Context& context, const Result<Json>& reply, const std::string& form);
/// Prints a `task.list` reply, which may have tasks of other hosts (everywhere.hpp), in a form or as a page.
int print_tasks(const Context& context, const Result<Json>& reply, const std::optional<std::string>& form,
                const std::function<std::string(const rpc::TaskList::Reply&)>& page);
/// Words as for task_send().
int task_reply(Context& context, rpc::TaskAnswer params, std::vector<std::string> words);
int task_reject(Context& context, rpc::TaskReject params, std::vector<std::string> words);
int task_stop(Context& context, rpc::TaskStop params);
int task_restart(Context& context, rpc::TaskRestart params);

struct DiffOptions {
    bool stat = false;
    bool name_only = false;
    std::vector<std::string> files;
};
/// Becomes git, which shows it through the user's pager; with --json says where to look.
int task_diff(Context& context, rpc::TaskDiff params, const DiffOptions& options);
int task_path(Context& context, rpc::TaskShow params);
/// Becomes the user's shell, in the task's worktree.
int task_shell(Context& context, rpc::TaskShow params);

/// Becomes tmux; returns only on failure, or with --json.
int task_attach(Context& context, rpc::TaskAttach params);

}  // namespace orange::commands
