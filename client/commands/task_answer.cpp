// Commands of a person about a task that needs attention: the inbox, answers, rejections, and looking at the work.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "client/commands/everywhere.hpp"
#include "client/commands/show_changes.hpp"
#include "client/commands/task.hpp"
#include "client/connection/quickly.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

/// Parses `[ID] TEXT`: of several words the first is the task; `-` reads standard input.
template <class Method>
Result<void> take_words(Method& params, std::string& text, std::vector<std::string> words) {
    if (words.size() > 1) {
        params.id = words.front();
        words.erase(words.begin());
    }
    TRY(auto whole, text_argument(join(words, " ")));
    text = std::string(trim(whole));
    return {};
}

/// Sends a text with files. `text` is a member of `params`, and stays empty without words.
template <class Method>
Status change_with_files(Context& context, Method& params, std::string& text, std::vector<std::string> words,
                         const FileOptions& files) {
    TRY(auto uploads, Uploads::open(files));  // standard input has them before the text
    if (!words.empty()) TRY(take_words(params, text, std::move(words)));
    TRY(params.files, uploads.send(context));
    return change(context, params);
}

/// Replaces the process by another program; returns only if that fails.
Error become(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv.data());
    return io_error("cannot start " + words.front(), errno);
}

Result<rpc::TaskShow::Reply> shown(Context& context, rpc::TaskShow params) {
    complete_with_cwd(context, params, params.id.has_value());
    return context.call(params);
}

Result<std::string> worktree_of(const rpc::TaskShow::Reply& reply) {
    const auto& task = reply.task;
    if (!task.worktree.empty()) return task.worktree;
    const auto id = output::short_id(task);
    const auto status = printable(task.fields.status);
    if (task.means == "initial") {
        return {ErrorCode::not_found,
                "task " + id + " has not started and has no workspace yet. To start it:\n  orange spawn " + id};
    }
    if (task.means == "done" || task.means == "cancelled") {
        return {ErrorCode::not_found, "task " + id + " is " + status + " and has no workspace any more"};
    }
    return {ErrorCode::not_found, "task " + id + " has the status " + status + " and no workspace; its branch is " +
                                      printable(task.fields.branch)};
}

Status count_needs(const Context& context, const rpc::TaskList& params, bool in_words) {
    const auto reply = connection::ask_quickly(context.paths, params);
    const bool unheard =
        !reply && (reply.error().code == ErrorCode::unavailable || reply.error().code == ErrorCode::timeout);
    if (!reply && !unheard) return reply.error();
    if (context.json) return put_json({{"count", reply ? Json(reply->count.value_or(0)) : Json()}});
    const auto count = reply ? reply->count.value_or(0) : 0;
    const auto number = std::to_string(count);
    if (in_words && count > 0) output::put(number + (count == 1 ? " needs you\n" : " need you\n"));
    if (!in_words && reply) output::put(number + "\n");
    return 0;
}

}  // namespace

Status inbox(Context& context, const InboxOptions& options) {
    rpc::TaskList params;
    params.project = options.project;
    if (options.count || options.line) {
        params.count = true;
        return count_needs(context, params, options.line);
    }
    params.needs = true;
    if (options.watch) return watch_tasks(context, params, options.form, options.rings);
    auto reply = context.call_json(params.k_name, written(params));
    if (options.everywhere) reply = with_hosts(context, std::move(reply), {"inbox", {"inbox"}, options.project});
    return print_tasks(context, reply, options.form, [&](const rpc::TaskList::Reply& list) {
        return output::inbox_page(list, SystemClock().now(), context.style);
    });
}

Status task_send(Context& context, rpc::TaskSend params, std::vector<std::string> words, const FileOptions& files) {
    return change_with_files(context, params, params.text, std::move(words), files);
}

Status task_reply(Context& context, rpc::TaskAnswer params, std::vector<std::string> words, const FileOptions& files) {
    return change_with_files(context, params, params.text, std::move(words), files);
}

Status task_reject(Context& context, rpc::TaskReject params, std::vector<std::string> words, const FileOptions& files) {
    return change_with_files(context, params, params.feedback, std::move(words), files);
}

Status task_diff(Context& context, rpc::TaskDiff params, const DiffOptions& options) {
    complete_with_cwd(context, params, params.id.has_value());
    TRY(auto reply, context.call_json(params.k_name, written(params)));
    if (context.json) return put_json(reply);
    TRY(auto typed, connection::reply_as<rpc::TaskDiff::Reply>(params.k_name, reply));
    if (!typed.alarm.empty()) output::print_error("warning: " + printable(typed.alarm, true) + "\n");
    const auto large = output::large_files_text(typed.changes);
    if (!large.empty()) output::print_error("orange: " + large + ", because of its size\n");
    if (typed.changes.files == 0 && large.empty()) {
        output::put(params.since_review ? "Nothing was changed since the review.\n"
                                        : "The branch has no changes yet.\n");
        return 0;
    }
    std::vector<std::string> args = {typed.base, typed.tip};
    if (options.stat) args.emplace_back("--stat");
    if (options.name_only) args.emplace_back("--name-only");
    args.emplace_back("--");
    args.insert(args.end(), options.files.begin(), options.files.end());
    return show_changes(typed.repository, std::move(args));
}

Status task_path(Context& context, rpc::TaskShow params) {
    TRY(const auto reply, shown(context, std::move(params)));
    TRY(const auto path, worktree_of(reply));
    if (context.json) return put_json({{"path", path}});
    output::put(path + "\n");
    return 0;
}

Status task_shell(Context& context, rpc::TaskShow params) {
    TRY(const auto reply, shown(context, std::move(params)));
    TRY(const auto path, worktree_of(reply));
    if (::chdir(path.c_str()) != 0) return io_error("cannot enter " + path, errno);
    // The shell is for a person, not for the task's agent.
    for (const char* name : {"ORANGE_TASK", "ORANGE_ROLE", "ORANGE_RUN"}) ::unsetenv(name);
    const char* shell = std::getenv("SHELL");
    const std::string program = shell && *shell ? shell : "/bin/sh";
    output::print_error("orange: " + path + "; type exit to return\n");
    return become({program});
}

}  // namespace orange::commands
