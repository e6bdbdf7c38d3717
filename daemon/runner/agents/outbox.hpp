#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/agents/activity.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Returns the error that no agent of this role takes a message or shows a screen, with the command that starts one or
/// says more.
Error not_running(const engine::Definition& definition, const TaskRecord& record, Role role);

/// The failed tries of a step, and when they began. The steady clock counts: a wall clock that is set, or a machine
/// that slept, does not use up the patience with an agent.
struct Tries {
    int count = 0;
    async::Moment since = async::now();
};

/// Delivers messages to agents: from the durable outbox in state.json into their windows. No other code types into a
/// window. The order is: look, paste, look, Enter (docs/harnesses.md). typing.hpp decides by the first look; Enter is
/// pressed only if the prompt then holds the message and nothing else. A longer message is put into a file, and its
/// path is typed.
class Outbox : Owner {
  public:
    using Owner::Owner;

    /// Puts a human's message to a living agent into the outbox, and types it if that can be done now. `files`: checked
    /// uploads that come with it.
    Awaitable<Result<Outcome>> send(TaskId id, Role to, std::string text, std::vector<std::string> files);
    Awaitable<Result<Outcome>> send(TaskId id, Role to, std::string text) {
        std::vector<std::string> none;
        return send(std::move(id), to, std::move(text), std::move(none));
    }

    /// Puts a human's message into the outbox of an agent that may not run yet. The agent gets it when it runs.
    Awaitable<Result<void>> leave(TaskId id, Role to, std::string text, std::vector<std::string> files);
    Awaitable<Result<void>> leave(TaskId id, Role to, std::string text) {
        std::vector<std::string> none;
        return leave(std::move(id), to, std::move(text), std::move(none));
    }

    /// Types the first message of the outbox that can be typed into its agent's window, or drops it if it is out of
    /// date; the messages to one agent keep their order. `record` is that of the task's turn and has a message. Returns
    /// a Hold if none can be typed yet. If a message waits for long, the human gets a notice. With `without_own`, the
    /// messages of Orange itself stay in the outbox.
    Awaitable<Result<std::optional<engine::Hold>>> deliver_next(TaskRecord& record, Tries tries,
                                                                bool without_own = false);

    /// Looks whether the agents have taken the typed messages. A message that an idle program swallowed is typed once
    /// more; if that does not help, the human gets a notice. Returns a Hold for the time in which nothing more can be
    /// found out.
    Awaitable<Result<std::optional<engine::Hold>>> acknowledge(TaskRecord& record);

    /// Returns true if the role's agent waits for a human's answer in its window.
    Awaitable<bool> shows_dialog(const TaskRecord& record, Role role);

    /// Returns true if a message was typed, its agent is idle, and it is not known whether the agent took the message;
    /// or if the program has said that it took one from its inbox.
    bool may_be_seen(const TaskId& id) const;

  private:
    /// Puts a human's message with these files into the task's outbox, in its turn.
    Awaitable<Result<void>> queue(TaskRecord& record, Role to, std::string text, std::vector<std::string> files);
    struct Typed {
        bool done = false;
        agents::Typing window = agents::Typing::later;  ///< whether the agent's window could be typed into
        bool seen = false;                              ///< the program has said that it has the message
        Timestamp at = {};                              ///< before the first key
    };
    /// Adds the message to the run's inbox, unless it is there. It is done when the program has taken it: until then it
    /// stays in the outbox, for the next run if this one ends.
    Awaitable<Typed> put_into_inbox(const TaskRecord& record, AgentRun run, Message message);
    /// Types all messages that can be typed now. Returns why the next one waits; empty if none is left.
    Awaitable<std::string> deliver(TaskId id);
    /// A message as it is typed.
    struct Line {
        std::string text;  ///< the message's text, or where the file with it is
        Path file = {};    ///< empty: none
    };
    Line line_for(const TaskRecord& record, const AgentRun& run, const Message& message) const;
    /// Presses Enter if the prompt holds that line and nothing else. What became of it is seen in the next looks.
    Awaitable<void> enter(AgentRun run, std::string line);
    /// Puts the line into the prompt. Returns false if it could not be pasted.
    Awaitable<bool> paste(AgentRun run, Line line, std::string whole);
    Awaitable<Typed> type(const TaskRecord& record, AgentRun run, Message message);
    bool is_outdated(const TaskRecord& record, const Message& message) const;
    /// Delivers that message of the outbox, or returns why not yet.
    Awaitable<Result<std::optional<engine::Hold>>> deliver_one(TaskRecord& record, std::string id, Tries tries);
    Result<void> drop(TaskRecord& record, const std::string& id);
    Result<void> note_typed(TaskRecord& record, const Message& message, const Typed& typed);
    /// The traces of a typed message in the agent's window.
    struct Traces {
        Activity activity = Activity::unknown;
        agents::Pasted pasted = agents::Pasted::gone;  ///< in the prompt, it was typed and not sent
        bool shown = false;                            ///< the screen shows the message
        bool taken = false;                            ///< the agent has it
        Timestamp::duration age = {};
    };
    Awaitable<std::optional<Traces>> traces_of(const TaskRecord& record, AgentRun run, Message message);
    Awaitable<bool> acknowledge_one(TaskRecord& record, Message& message);
    void tell_not_taken(TaskRecord& record, Message& message, agents::Pasted pasted);
    Awaitable<bool> is_held_by_limit(AgentRun run, bool is_attended);
    /// Returns false if the message only waits until its agent has time for it.
    bool tell_undelivered(TaskRecord& record, Message& message, agents::Typing window, async::Moment since);
    bool waits_too_long(const TaskRecord& record, const Message& message, agents::Typing window,
                        async::Moment since) const;

    /// Messages that were typed while their records could not be written: they are not typed again.
    std::set<std::string> unwritten_;
    /// Typed messages that stood on the screen outside the prompt: their programs have them, and none is typed again.
    std::set<std::string> shown_;
};

/// Puts a message into the task's durable outbox and saves the record. Called in the task's turn. Outbox delivers the
/// message when the agent can take it. A message with the same `key` is queued once, so that an interrupted transition
/// can repeat the call; an empty key is never the same.
Result<void> queue_message(World& world, Turns& turns, TaskRecord& record, Role to, Role from, std::string text,
                           std::string key = {});

/// Adds a message to a record that the caller saves. `lasts`: if this run has ended, the message stays for the agent's
/// next run.
void add_message(World& world, TaskRecord& record, Role to, Role from, std::string text, bool lasts = false,
                 std::string key = {});

}  // namespace orange
