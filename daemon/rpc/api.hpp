#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/rpc/caller_environment.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/task_view.hpp"
#include "daemon/async/async.hpp"
#include "daemon/doctor/doctor.hpp"
#include "daemon/rpc/method_table.hpp"
#include "daemon/rpc/screens.hpp"
#include "daemon/runner/runner.hpp"

namespace orange::rpc {

/// The daemon's state and its reload and shutdown, for the methods daemon.*; app provides these functions.
struct DaemonControl {
    std::function<DaemonStatus::Reply()> status;
    /// Reloads config.yml, the workflows and the environment; invalid_argument if config.yml is invalid.
    std::function<Awaitable<Result<std::vector<std::string>>>()> reload;
    std::function<void()> shutdown;
    std::function<doctor::Facts()> facts;
};

/// Shared by all handlers: finds the task or project that a call is about, and makes the replies that show tasks.
class Api {
  public:
    Api(Runner& runner, DaemonControl control) : runner_(runner), world_(runner.world), control_(std::move(control)) {}

    /// Adds all methods to the table; docs/protocol.md lists them.
    void add_to(MethodTable& table);

    Runner& runner() { return runner_; }
    World& world() { return world_; }
    DaemonControl& control() { return control_; }
    Screens& screens() { return screens_; }

    /// Returns the task that a call is about: the task with the given id, or else the task whose workspace contains the
    /// caller's directory, or else the calling agent's own task.
    Result<TaskId> select(const TaskSelector& selector, const Call& call,
                          store::Naming by = store::Naming::anything) const;
    /// Returns the task of a call with a text. If the text is the only argument and names a task, the text itself is
    /// missing: invalid_argument.
    Result<TaskId> select_for_text(const TaskSelector& selector, const Call& call, const std::string& text,
                                   const std::string& command) const;
    /// Returns the project of that name, or else the project of a directory: in a workspace, or in the repository
    /// itself.
    Awaitable<Result<Project>> select_project(std::optional<std::string> name, std::optional<std::string> cwd);

    /// Checks files that the caller has sent with file.put (methods/file_methods.cpp).
    Result<void> check_files(const std::vector<std::string>& files, const Call& call);

    /// Locks the projects. A method holds the lock from its first look at a project to its change of it; otherwise two
    /// calls at once would each undo the other's change.
    Awaitable<async::Mutex::Lock> change_projects() { return async::Mutex::acquire(changing_projects_); }

    /// Returns the project of a directory from paths alone, without a git process, for calls that must be quick. The
    /// function does not find a worktree that the user made outside the repository.
    std::optional<std::string> project_near(const std::string& directory) const;

    /// Adds a human's PATH to those in which agents' programs are looked up. For methods that agents may not call.
    void take_path_of(const CallerEnvironment& caller) {
        if (caller.path) world_.harnesses.take_client_path(*caller.path);
    }

    /// Returns false for a task that a wall around the caller hides from it (engine::BehindWall).
    bool is_shown(const TaskId& id, const Call& call) const;
    /// Returns true if the caller is behind a wall in an attempt, and the task is another attempt at the same.
    bool is_other_attempt(const TaskId& id, const Call& call) const;
    /// Removes what a wall around the caller hides: of other tasks, all but id, branch and status; of tasks that it
    /// depends on, their summaries.
    void hide(TaskView& view, const Call& call) const;

    TaskView view(const TaskRecord& record) const;
    /// Returns what a task has used up to now, those of its living agents included.
    store::Spent spent_of(const TaskRecord& record) const;
    /// Returns that for replies; nullopt if nothing is known.
    std::optional<TaskUsage> usage_of(const TaskRecord& record) const;
    /// Returns what one task shows of another. `is_done`: the other counts as done, whatever its status is.
    RelatedTask related(const TaskId& id, bool is_done) const;
    RelatedTask related(const engine::Child& child) const;
    Result<TaskView> view(const TaskId& id) const;
    Result<TaskReply> reply(const TaskId& id, Outcome outcome) const;
    /// Puts the ids that people type into the sentences of a reply.
    std::vector<std::string> sentences(std::vector<std::string> notes) const;

  private:
    Result<TaskId> named(const TaskSelector& selector, const Call& call, store::Naming by) const;
    std::vector<RelatedTask> blockers(const TaskRecord& record) const;
    std::string agent_view(const TaskRecord& record, Role role) const;
    PlacedRun placed(const AgentRun& run) const;

    Runner& runner_;
    World& world_;
    DaemonControl control_;
    Screens screens_;
    std::shared_ptr<async::Mutex> changing_projects_ = std::make_shared<async::Mutex>(world_.executor);
};

/// Returns the counts of `changes` for a reply.
ChangeCounts counts_of(const Changes& changes);

/// The comments on a task's lines, and what its reviewers say about lines.
struct CommentsReply {
    std::vector<CommentView> comments;
    std::vector<RemarkView> remarks;  ///< without what became a comment; none for sections
};
enum class CommentsOf { task, files, sections };
/// Returns them with their places in `changes` and in `body`, which is TASK.md's (methods/task_comments.cpp). Agents
/// get no drafts of their human, and no texts of strangers.
Awaitable<Result<CommentsReply>> comments_at(Api& api, TaskRecord record, Call call, CommentsOf which,
                                             std::optional<Changes> changes, std::string body);

/// Returns `next` of a reply with a page of tasks: the place of the last task that was looked at for it.
std::string place_text(const store::Age& age);
Result<std::optional<store::Age>> place_from(const std::optional<std::string>& text);

/// Each of these functions adds the methods of its file in methods/ to the table.
void add_task_create(MethodTable& table, Api& api);
void add_task_fork(MethodTable& table, Api& api);
void add_task_methods(MethodTable& table, Api& api);
void add_attempt_methods(MethodTable& table, Api& api);
void add_merge_methods(MethodTable& table, Api& api);
void add_task_answers(MethodTable& table, Api& api);
void add_task_comments(MethodTable& table, Api& api);
void add_permit_methods(MethodTable& table, Api& api);
void add_task_views(MethodTable& table, Api& api);
void add_project_methods(MethodTable& table, Api& api);
void add_workspace_methods(MethodTable& table, Api& api);
void add_workflow_methods(MethodTable& table, Api& api);
void add_harness_methods(MethodTable& table, Api& api);
void add_executor_methods(MethodTable& table, Api& api);
void add_harness_explain(MethodTable& table, Api& api);
void add_daemon_methods(MethodTable& table, Api& api);
void add_event_methods(MethodTable& table, Api& api);
void add_file_methods(MethodTable& table, Api& api);
void add_task_wait(MethodTable& table, Api& api);
void add_task_list(MethodTable& table, Api& api);
void add_task_log(MethodTable& table, Api& api);
void add_task_search(MethodTable& table, Api& api);
void add_log_methods(MethodTable& table, Api& api);
void add_usage_methods(MethodTable& table, Api& api);

}  // namespace orange::rpc
