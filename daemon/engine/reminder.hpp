#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

/// Decides what to remind an agent of that ended its turn without calling Orange, and when. Pure: the same arguments
/// always give the same answer.
namespace orange::engine {

/// Returns what the agent of the task's status still has to do, as the text of a reminder: the exact command, or what
/// is missing for the gate in front of it. nullopt if no exit rule leads on from the status, or if it has no agent.
std::optional<std::string> forgotten(const Definition& definition, const TransitionFacts& given);

/// Returns the transition of an exit rule whose artifact exists, as if the idle agent had exited; nullopt if there is
/// none. A verdict that is accepted in this way is not attested.
std::optional<Decision> decide_idle(const Definition& definition, const TransitionFacts& given);

/// True if the status has an agent that leads on from it by what it writes. In any other status an agent waits.
bool leads_on(const Definition& definition, const Task& task);

/// A section that an agent has written for the next status, without the call that asks for it.
struct Handover {
    std::string section;
    std::string to;
};
/// Returns the section that an exit rule waits for; nullopt if it does not exist.
std::optional<Handover> handover(const Definition& definition, const TransitionFacts& given);

struct IdleTimes {
    std::chrono::milliseconds idle_after{60'000};     ///< how long an agent is idle before it is reminded
    std::chrono::milliseconds remind_again{300'000};  ///< how long until the second one, and until its human is told
};

/// The next action for an idle agent, and its time.
struct IdleStep {
    enum class Kind { remind, give_up } kind = Kind::remind;
    Timestamp at{};
};

/// Returns the next step. `told` is the last reminder, if there was one. `human_at` is when a human last typed into the
/// window. The same reminder is sent twice, then the human is told. A different reminder begins again, since the agent
/// got further.
IdleStep idle_step(const std::string& text, const std::optional<Reminder>& told, Timestamp entered,
                   Timestamp idle_since, std::optional<Timestamp> human_at, const IdleTimes& times);

}  // namespace orange::engine
