#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Transitions that wait for the checks of a gate. The request is saved in the record (`asked`), so the next daemon
/// continues with it. Checks run without the task's lock. Their result is saved, and then the transition is decided
/// again.
class Gates : Owner {
  public:
    using Owner::Owner;

    /// Sets how long wait() waits: an agent's shell may give a command no more than a minute.
    void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

    /// Saves the request to move the task to the status that `checks` are for. Called in the task's turn. A repeated
    /// request changes nothing; a different one replaces the former and stops its checks.
    Result<void> ask(TaskRecord& record, const engine::AwaitChecks& checks, const engine::Request& request,
                     const Caller& by);

    /// Continues the task's request in the background, unless that already happens.
    void go_on(const TaskId& id);

    /// Continues the task's request and returns its result. When the patience is over, returns that the checks still
    /// run.
    Awaitable<Result<Outcome>> wait(TaskId id);

    /// Runs the checks that the end of an agent waits for, and then calls `then`: with the reason if they could not
    /// run, otherwise with an empty text. Does not call it if the daemon ends.
    void run_for_exit(const TaskId& id, engine::AwaitChecks wanted, std::function<void(std::string why)> then);

    /// True while checks run for the end of an agent of the task.
    bool end_waits(const TaskId& id) const { return ends_waiting_.contains(id); }

    /// Ends all calls of wait(); the requests stay in the records.
    void stop();

  private:
    /// A request that is being worked on.
    struct Pursuit {
        std::optional<Result<Outcome>> end;
        std::vector<std::shared_ptr<async::Wakeup>> waiting;
        bool sent_away = false;  ///< a caller was told to expect a message

        bool is_heard() const { return !waiting.empty() && !sent_away; }
    };
    /// The checks that have to run before the request can be decided, or the result of the request.
    struct GateStep {
        std::optional<Result<Outcome>> end;
        AskedTransition asked;
        engine::Argvs checks;
    };

    class AtWork;

    Awaitable<void> pursue(TaskId id, std::shared_ptr<Pursuit> pursuit);
    Awaitable<Result<Outcome>> follow(TaskId id, std::shared_ptr<Pursuit> pursuit);
    Awaitable<GateStep> step(TaskId id, bool is_waited_for);
    Awaitable<Error> drop(TaskId id, AskedTransition asked, Error why, bool is_waited_for);
    Error drop(TaskRecord& record, Error why, bool is_waited_for);
    Awaitable<void> check_for_exit(TaskId id, engine::AwaitChecks wanted, std::function<void(std::string why)> then);

    std::chrono::milliseconds patience_ = std::chrono::seconds(45);
    using Pursuits = std::map<TaskId, std::shared_ptr<Pursuit>>;
    std::shared_ptr<Pursuits> pursuits_ = std::make_shared<Pursuits>();  ///< coroutines may outlive this object
    std::set<TaskId> ends_waiting_;                                      ///< tasks whose agent's end waits for checks
    bool stopped_ = false;
};

}  // namespace orange
