#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/async/shared_answer.hpp"
#include "daemon/runner/transitions/turns.hpp"
#include "daemon/runner/world.hpp"
#include "daemon/shim/exit_record.hpp"

/// Handles runs that an executor starts on another machine or inside something, such as a container
/// (docs/executors.md): starts them there, learns whether their agents have begun or ended, and ends what is left of
/// them. It does nothing for a run without an executor, which has no `place`.
///
/// A command that asks for a run or ends it is tried again until it succeeds. The record keeps the runs that could not
/// be ended, and a human is told of them.
namespace orange {

/// Appends to git's configuration: a wall hides the keys that sign commits, and git's memory of resolved conflicts is
/// read-only there, so that either setting would make commits and rebases fail.
void let_git_commit(std::map<std::string, std::string>& env);

/// Returns the environment in which an executor is asked for tasks of the project; an agent's own is also its
/// harness's. Without a project, or with one that is not registered: that of all projects.
std::map<std::string, std::string> executor_environment(const World& world, const std::string& project);

/// Returns when the agent of the run began, as the clock of the far side told, which may be wrong.
Timestamp begin_of(const AgentRun& run, Timestamp told, Timestamp now);

/// Returns the values of an executor's placeholders for a task, without those that depend on a run.
agents::ExecutorValues executor_values(const World& world, const Task& task, const agents::Executor& executor,
                                       const std::map<std::string, std::string>& env);

/// Adds what every box shows to read: Orange's programs and data, the user's settings of git, and of the project's .git
/// the hooks, the files of Git LFS and the folders from which it borrows objects.
void add_shown(const World& world, const std::string& git_common, const Environment& env,
               std::vector<agents::Bind>& binds);

/// Fails if the program of the executor is missing.
Result<void> find_executor(const agents::Executor& executor, const std::map<std::string, std::string>& env);
/// Fails if the executor cannot be used here: its program is missing, or its `check` fails. `env` is the environment of
/// the agent, in which the executor is started; `project` may be empty.
Awaitable<Result<void>> check_executor(const World& world, agents::Executor executor, std::string project,
                                       std::map<std::string, std::string> env);

/// Returns the command that tries the executor with the options of the task, for a person.
std::string to_try_executor(const Task& task, const std::string& executor);
/// Returns the commands for a person whose task could not be started by that executor: to start it again, and to try.
std::string to_start_again(const Task& task, const std::string& executor);

/// Makes the run of `request` start in the executor of the task, if it has one, and checks that the executor can be
/// used. `launch` has the paths of the task.
Awaitable<Result<void>> put_into_executor(const World& world, const Task& task, const agents::LaunchRequest& launch,
                                          const agents::HarnessEntry& harness, const Path& run_folder,
                                          agents::StartRequest& request);

/// Follows runs from the start of their executor to the end of their agent, and asks executors whether a run goes on
/// whose shim is gone. One process of a probe answers for all runs that ask the same.
class Placements {
  public:
    Placements(World& world, Turns& turns) : world_(world), turns_(turns) {}

    /// Makes the executor end what it may still have of a run that has ended. Waits only a moment for an executor that
    /// does not answer, as one whose controller is down. The record keeps a run that has not ended for sure by then,
    /// and stop_left() tries again. The caller saves the record.
    Awaitable<void> leave(TaskRecord& record, AgentRun run);
    enum class Wait { a_moment, to_the_end };
    /// Performs the reconciler's step for runs of the record that have not ended for sure. An error says why they have
    /// not; the human is told of a failure.
    Awaitable<Result<void>> stop_left(TaskRecord& record, Wait wait = Wait::a_moment);

    /// Registers the function that is called when a run has certainly ended after its end was unknown.
    void on_ended(std::function<void(const TaskId&, const RunId&)> observer) { ended_ = std::move(observer); }
    /// Called when the agent of a run has begun, or has to wait for resources.
    void on_placed(std::function<void(const AgentRun&)> observer) { placed_ = std::move(observer); }

    /// Follows a run from its start to its end. Called for each run that begins or is adopted.
    void follow(const TaskId& id, const AgentRun& run);
    /// Looks at the files of a run that is followed: the far side has written one.
    void look_at(const RunId& run);

    /// Returns true if a run whose shim is gone has certainly ended. If its executor does not answer, marks the run as
    /// unknown, and asks again until it answers.
    Awaitable<bool> has_ended(TaskId id, AgentRun run, Path run_folder);

    /// Returns the state of a run that its executor has ended itself, for example at a limit of time; empty if the
    /// agent ended in another way, or if the executor does not say. Asks only if a signal may have ended the agent. If
    /// the executor does not answer, returns nothing, marks the run as unknown, and asks again until it answers.
    Awaitable<std::optional<std::string>> why_ended(TaskId id, AgentRun run, Path run_folder);

    /// Returns the state in which the executor shows the run; empty if it does not, or cannot be asked.
    Awaitable<std::string> state_of(TaskId id, AgentRun run);

  private:
    using Text = Result<std::string>;
    using Seen = Result<std::optional<agents::ProbedRun>>;
    /// A `probe`, and its environment.
    using Question = std::pair<std::vector<std::string>, Environment>;
    /// The commands that end a run, while they run. The turn of the task may end before they do.
    struct Stopping {
        explicit Stopping(const async::Executor& executor) : ended(executor) {}
        std::optional<Result<void>> result;
        async::Wakeup ended;
        bool has_answered = false;  ///< the executor has, since that was looked at last; the run may still be ending
        bool is_awaited = false;    ///< a turn of the task notes the result
    };
    /// A run that its executor has ended, as it says. It is asked for a while: a controller that was killed before it
    /// had saved its state starts again with jobs that it had cancelled.
    struct Stopped {
        TaskId task;
        LeftRun run;
        async::Moment until;
    };
    /// Returns what the executor says of the run; nothing if the run is not there; an error if it cannot be asked.
    Awaitable<Seen> probe(TaskId id, AgentRun run);
    Awaitable<Seen> probe(TaskId id, RunId run, std::vector<std::string> probe, std::vector<std::string> queued);
    Question question_of(const TaskId& id, std::vector<std::string> words) const;
    Awaitable<Text> answer_to(Question question);
    /// Returns true if the run has ended for sure, an error if that cannot be said, and nothing if it is not known yet.
    Awaitable<std::optional<Result<void>>> stop(TaskId id, LeftRun run, Wait wait);
    Awaitable<void> stop_now(TaskId id, LeftRun run, std::shared_ptr<Stopping> stopping);
    /// Runs `stop`, and waits until `probe` does not show the run any more.
    Awaitable<Result<void>> end_for_sure(TaskId id, LeftRun run, std::shared_ptr<Stopping> stopping);
    /// Notes in the record how the end of one of its runs went.
    void note_stopped(TaskRecord& record, const LeftRun& run, const Result<void>& result);
    void look_after(const TaskId& id, const LeftRun& run);
    Awaitable<void> look_for_stopped();
    Awaitable<void> look_again(RunId run, Text answer);
    /// Ends a run again that was ended, and tells the human.
    Awaitable<void> end_again(TaskId id, LeftRun run, std::string state);
    std::optional<AgentRun> find(const TaskId& id, const RunId& run) const;
    using News = std::shared_ptr<async::Wakeup>;
    Awaitable<void> watch_over(TaskId id, AgentRun run, News news);
    Awaitable<void> wait_for_start(TaskId id, AgentRun run, Path run_folder, News news);
    Awaitable<void> end_executor(TaskId id, AgentRun run, Path run_folder, News news);
    /// Marks the run as unknown until its executor answers.
    void wait_for_answer(const TaskId& id, const AgentRun& run, const Error& why);
    Awaitable<void> wait_for_end(TaskId id, AgentRun run);
    Awaitable<void> note_begun(TaskId id, RunId run, StartRecord started);
    Awaitable<void> note_probed(TaskId id, RunId run, agents::ProbedRun seen);

    World& world_;
    Turns& turns_;
    std::function<void(const TaskId&, const RunId&)> ended_ = [](const TaskId&, const RunId&) {};
    std::function<void(const AgentRun&)> placed_ = [](const AgentRun&) {};
    std::map<std::string, News> followed_;                       ///< by run
    std::set<std::string> starting_;                             ///< runs
    std::set<std::string> unknown_;                              ///< runs
    std::map<std::string, std::shared_ptr<Stopping>> stopping_;  ///< by run
    std::map<std::string, Stopped> stopped_;                     ///< by run
    std::shared_ptr<async::Wakeup> looks_for_stopped_;
    std::map<Question, std::shared_ptr<async::SharedAnswer<Text>>> answers_;  ///< the last of each
};

}  // namespace orange
