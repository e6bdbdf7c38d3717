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

/// What the daemon knows of itself, for daemon.status; given by app.
struct DaemonControl {
    std::function<DaemonStatus::Reply()> status;
    /// An error where config.yml makes no sense.
    std::function<Awaitable<Result<std::vector<std::string>>>()> reload;
    std::function<void()> shutdown;
    std::function<doctor::Facts()> facts;
};

/// What the handlers share: who "this task" is, and how a task is shown.
class Api {
  public:
    Api(Runner& runner, DaemonControl control) : runner_(runner), world_(runner.world), control_(std::move(control)) {}

    /// All methods; docs/protocol.md lists them.
    void add_to(MethodTable& table);

    Runner& runner() { return runner_; }
    World& world() { return world_; }
    DaemonControl& control() { return control_; }
    Screens& screens() { return screens_; }

    /// The task that a call is about: its id, else the one whose workspace the caller's directory is in, else the
    /// calling agent's own.
    Result<TaskId> select(const TaskSelector& selector, const Call& call,
                          store::Naming by = store::Naming::anything) const;
    /// For a call with a text, which may be all that was given: a text that names a task is taken for that.
    Result<TaskId> select_for_text(const TaskSelector& selector, const Call& call, const std::string& text,
                                   const std::string& command) const;
    /// The project of a name, else the one that a directory is in: a workspace, or the repository itself.
    Awaitable<Result<Project>> select_project(std::optional<std::string> name, std::optional<std::string> cwd);

    /// Held while a project is looked at and then changed: two calls at once would each undo the other's change.
    Awaitable<async::Mutex::Lock> change_projects() { return async::Mutex::acquire(changing_projects_); }

    /// The same from paths alone, without asking git: for calls that must be quick and can do without an answer (a
    /// worktree of the user's own outside the repository has none).
    std::optional<std::string> project_near(const std::string& directory) const;

    /// A human's PATH, as one more in which agents' programs are looked up. Only for methods that no agent may call.
    void take_path_of(const CallerEnvironment& caller) {
        if (caller.path) world_.harnesses.take_client_path(*caller.path);
    }

    TaskView view(const TaskRecord& record) const;
    /// What another task shows of it; `is_done`: it counts as done, whatever has become of it.
    RelatedTask related(const TaskId& id, bool is_done) const;
    RelatedTask related(const engine::Child& child) const;
    Result<TaskView> view(const TaskId& id) const;
    Result<TaskReply> reply(const TaskId& id, Outcome outcome) const;
    /// Sentences for a reply: with the ids that people type.
    std::vector<std::string> sentences(std::vector<std::string> notes) const;

  private:
    std::vector<RelatedTask> blockers(const TaskRecord& record) const;
    std::string agent_view(const TaskRecord& record, Role role) const;
    PlacedRun placed(const AgentRun& run) const;

    Runner& runner_;
    World& world_;
    DaemonControl control_;
    Screens screens_;
    std::shared_ptr<async::Mutex> changing_projects_ = std::make_shared<async::Mutex>(world_.executor);
};

ChangeCounts counts_of(const Changes& changes);

void add_task_create(MethodTable& table, Api& api);
void add_task_methods(MethodTable& table, Api& api);
void add_task_answers(MethodTable& table, Api& api);
void add_task_views(MethodTable& table, Api& api);
void add_project_methods(MethodTable& table, Api& api);
void add_workspace_methods(MethodTable& table, Api& api);
void add_workflow_methods(MethodTable& table, Api& api);
void add_harness_methods(MethodTable& table, Api& api);
void add_executor_methods(MethodTable& table, Api& api);
void add_harness_explain(MethodTable& table, Api& api);
void add_daemon_methods(MethodTable& table, Api& api);
void add_event_methods(MethodTable& table, Api& api);
void add_task_wait(MethodTable& table, Api& api);
void add_task_log(MethodTable& table, Api& api);
void add_log_methods(MethodTable& table, Api& api);

}  // namespace orange::rpc
