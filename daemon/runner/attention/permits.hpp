#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agents/events.hpp"
#include "daemon/agents/permit.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Requests of agents' programs that a human answers from anywhere (docs/permits.md).
///
/// A hook of the program calls and waits. Its request is in memory: when the daemon, the hook or the agent ends, it is
/// over, and the program asks in its window. Its number is of the task's record, so that an answer never meets another
/// request. An answer is in the record before the hook gets it, and stays there until an event of the program shows
/// what became of it: the window may have answered first. Nothing here ever says yes by itself.
namespace orange {

/// A request that waits for its human, or whose answer the hook gets now.
struct OpenPermit {
    std::int64_t number = 0;  ///< 0: it has none yet, and is not shown
    RunId run;
    Role role = Role::worker;
    std::string harness;
    std::string key;
    agents::Permit request;
    bool replaces_dialog = false;  ///< the window shows no dialog meanwhile
    Timestamp since{};

    bool seen_in_window = false;        ///< the program's dialog was seen
    std::int64_t later = 0;             ///< how many events of whoever asked have come since
    std::optional<std::string> answer;  ///< what the hook has to print
    std::string over;                   ///< why it is over without an answer; empty: it is not
    std::shared_ptr<async::Wakeup> changed;

    bool is_open() const { return number > 0 && !answer && over.empty(); }
};

/// A request as the hook passes it on.
struct NewPermit {
    std::string key;
    std::string object;  ///< JSON
    bool cut = false;
};

class Permits : Owner {
  public:
    using Owner::Owner;
    using Handle = std::shared_ptr<OpenPermit>;

    /// Takes a request of the caller's own run. forbidden for another caller, invalid_argument for what is none.
    Result<Handle> begin(const Caller& by, NewPermit asked);
    /// Waits until it is answered or over, and returns what the hook has to print; empty: nothing.
    Awaitable<Result<std::string>> wait(TaskId task, Handle permit);
    /// Ends it without an answer; `why` follows "request 3 is over: ".
    static void end(const Handle& permit, const std::string& why);

    /// Answers an open request. not_found if it is over, conflict if it was answered before, forbidden for an `allowed`
    /// of one that is not whole.
    Awaitable<Result<Outcome>> answer(TaskId task, std::int64_t number, bool allowed, std::string text, Caller by);

    /// Returns the open requests of a task, oldest first.
    std::vector<std::shared_ptr<const OpenPermit>> of(const TaskId& task) const;
    /// True if the run has a request that is open, or about to be.
    bool waits(const TaskId& task, const RunId& run) const;

    /// Called when the run's sources were read: ends requests that the window has answered. `reading` is what they say.
    void look(const TaskId& task, const AgentRun& run, const agents::Reading& reading,
              const agents::EventReader& events);

    /// Ends the requests of all runs that the record does not have.
    void end_of_others(const TaskRecord& record);

    /// Removes the answers from the record whose fate is known; `events_of` returns the events of a run, nullptr if
    /// they were not read. The fate of an answer to a run that the record does not have is known: nobody confirms it
    /// any more. The caller saves the record.
    using EventsOf = std::function<const agents::EventReader*(const RunId&)>;
    void settle(TaskRecord& record, const EventsOf& events_of) const;
    /// Writes the history of the answers that settle() would remove. A crash afterwards writes nothing twice.
    void tell_settled(const TaskRecord& record, const EventsOf& events_of) const;

  private:
    Awaitable<Result<std::string>> wait_for_answer(TaskId task, Handle permit);
    /// Returns ". These requests wait: …"; empty if none does.
    std::string others_text(const TaskId& task) const;
    std::optional<bool> fate_in(const TaskRecord& record, const PermitAnswer& answer, const EventsOf& events_of) const;

    std::map<TaskId, std::vector<Handle>> open_;
};

}  // namespace orange
