#include "daemon/engine/enter.hpp"

#include <utility>

#include "daemon/engine/notices.hpp"

namespace orange::engine {
namespace {

Intent intent_of(const Decision& decision, Entrance entrance) {
    Intent intent;
    intent.id = std::move(entrance.tx);
    intent.from = decision.from;
    intent.to = decision.to;
    intent.by = std::move(entrance.by);
    intent.auto_reason = decision.auto_reason;
    intent.attested = decision.attested;
    intent.at = entrance.at;
    for (const auto& action : decision.actions) intent.actions.push_back({action, false});
    return intent;
}

std::string why_moved(const Decision& decision, const Caller& by) {
    if (!decision.auto_reason.empty()) return decision.auto_reason;
    const bool by_agent = by.role == Role::worker || by.role == Role::reviewer;
    return by_agent ? "the " + name_text(by.role) + " set this status" : std::string();
}

}  // namespace

void enter(TaskRecord& record, const Definition& definition, const Decision& decision, Entrance entrance) {
    clear_for_transition(record, entrance.notices_before);
    const auto* state = definition.state(decision.to);
    record.task.status = decision.to;
    for (const auto& [field, value] : decision.counters) record.task.counters[field] = value;
    record.task.updated_at = entrance.at;
    record.entered_at = entrance.at;
    record.moved_because = why_moved(decision, entrance.by);
    record.entry_sections = std::move(entrance.sections);
    record.ended = state && state->terminal;
    if (record.ended) record.died.clear();
    record.stopped = false;
    record.queued = false;
    record.unapproved = false;
    record.start.reset();
    record.answered.reset();
    record.asked.reset();
    record.held.clear();
    std::erase_if(record.outbox, [](const Message& message) { return message.lasts; });
    record.intent = intent_of(decision, std::move(entrance));
}

}  // namespace orange::engine
