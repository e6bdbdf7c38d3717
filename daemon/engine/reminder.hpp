#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

/// What an agent has forgotten that ended its turn without telling Orange, and when it is told so. Pure: the same
/// arguments always give the same answer.
namespace orange::engine {

/// What the status's own agent still has to do, in the engine's own words: the exact command, or what the gate in front
/// of it misses. Nothing in a status from which no exit rule leads on, or without an agent.
std::optional<std::string> forgotten(const Definition& definition, const Situation& situation);

/// The transition that an exit rule names whose artifact is there, as if the idle agent had exited. Nothing if none is.
/// A verdict that is taken so is not attested.
std::optional<Decision> decide_idle(const Definition& definition, const Situation& situation);

/// True if the status has an agent that leads on from it by what it writes. In other statuses an agent waits.
bool leads_on(const Definition& definition, const Task& task);

/// A text that an agent has written for the next status, without the call that asks for it.
struct Handover {
    std::string section;
    std::string to;
};
/// Nothing if the section that an exit rule asks for is not there.
std::optional<Handover> handover(const Definition& definition, const Situation& situation);

struct IdleTimes {
    std::chrono::milliseconds idle_after{60'000};     ///< how long an agent is idle before it is reminded
    std::chrono::milliseconds remind_again{300'000};  ///< and how long after that again, and its human told
};

/// What to do about an idle agent, and when.
struct IdleStep {
    enum class Kind { remind, give_up } kind = Kind::remind;
    Timestamp at{};
};

/// `told`: what it was reminded of before, if anything. `human_at`: when a human last typed into its window. The same
/// thing is said twice, then its human is told; something else begins anew, since the agent got further.
IdleStep idle_step(const std::string& text, const std::optional<Reminder>& told, Timestamp entered,
                   Timestamp idle_since, std::optional<Timestamp> human_at, const IdleTimes& times);

}  // namespace orange::engine
