#include "daemon/engine/times.hpp"

#include <algorithm>

#include "daemon/engine/needs.hpp"
#include "daemon/engine/notices.hpp"

namespace orange::engine {
namespace {

constexpr const char *k_for_place = "place", *k_for_you = "you";

/// The notices with which an agent's task stands still until its human does something.
constexpr NoticeKind k_standstills[] = {NoticeKind::agent_dialog,      NoticeKind::agent_ended,
                                        NoticeKind::session_lost,      NoticeKind::agent_crashed,
                                        NoticeKind::agent_cannot_work, NoticeKind::start_failed};

bool stands_still(const TaskRecord& record) {
    return std::ranges::any_of(k_standstills, [&](NoticeKind kind) { return find_notice(record, kind) != nullptr; });
}

}  // namespace

std::string occupation_of(const Definition& definition, const TaskRecord& record) {
    const auto* state = definition.state(record.task.status);
    if (state == nullptr || state->terminal || record.ended) return {};
    if (record.unapproved || record.stopped) return k_for_you;
    if (record.blocked()) return {};
    if (find_notice(record, NoticeKind::budget)) return k_for_you;
    if (record.queued || !record.held.empty()) return k_for_place;
    if (state->children || state->needs == Need::nothing) return {};
    if (state->meaning == Meaning::clarification || !is_for_agent(definition, *state)) return k_for_you;
    if (stands_still(record)) return k_for_you;
    return name_text(state->agent.value_or(Role::worker));
}

void keep_time(TaskRecord& record, const Definition& definition, Timestamp now) {
    auto what = occupation_of(definition, record);
    auto& open = record.time_open;
    if (open && open->what == what) return;
    if (open && !open->what.empty()) add(record.times, *open, now);
    open.reset();
    if (!what.empty()) open = TimeOpen{std::move(what), now};
}

}  // namespace orange::engine
