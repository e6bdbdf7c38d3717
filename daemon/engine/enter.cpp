#include "daemon/engine/enter.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/engine/times.hpp"

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

/// Returns a sentence such as "the review failed twice: no test for a negative amount; the same".
std::string failures_text(const std::vector<std::string>& failed) {
    const auto count = failed.size();
    std::vector<std::string> said;
    for (const auto& words : failed) {
        if (!words.empty()) said.push_back(words.ends_with('.') ? words.substr(0, words.size() - 1) : words);
    }
    const auto times = count == 1 ? std::string("failed")
                                  : "failed " + (count == 2 ? std::string("twice") : std::to_string(count) + " times");
    return "the review " + times + (said.empty() ? "" : ": " + join(said, "; then: "));
}

std::string why_moved(const TaskRecord& record, const Definition& definition, const Decision& decision,
                      const Caller& by) {
    const bool is_stuck = definition.means(decision.to, Meaning::stuck);
    if (is_stuck && decision.verdict == Verdict::fail) return failures_text(record.failed_reviews);
    if (!decision.auto_reason.empty()) return decision.auto_reason;
    const bool by_agent = by.role == Role::worker || by.role == Role::reviewer;
    if (!by_agent) return {};
    if (!is_stuck) return set_by(by.role);
    return decision.words.empty() ? cannot_go_on(by.role) : cannot_go_on(by.role) + ", and asks: " + decision.words;
}

}  // namespace

std::string set_by(Role role) {
    return "the " + name_text(role) + " set this status";
}

std::string cannot_go_on(Role role) {
    return "the " + name_text(role) + " cannot go on";
}

void enter(TaskRecord& record, const Definition& definition, const Decision& decision, Entrance entrance) {
    const auto* state = definition.state(decision.to);
    const auto* left = definition.state(decision.from);
    // A doubt about a review stays as long as the review counts, also while a second one is made.
    const bool counts = left && left->agent == Role::reviewer && !(state && state->agent == Role::worker);
    if (counts) {
        std::erase_if(entrance.notices_before,
                      [](const Notice& notice) { return notice.kind == NoticeKind::unverified_review; });
    }
    clear_for_transition(record, entrance.notices_before);
    record.task.status = decision.to;
    for (const auto& [field, value] : decision.counters) record.task.counters[field] = value;
    record.task.updated_at = entrance.at;
    record.entered_at = entrance.at;
    const bool is_reviewed_again = state && state->agent == Role::reviewer;  // a second reviewer has its word, too
    if (decision.verdict == Verdict::fail) {
        record.failed_reviews.push_back(decision.words);
    } else if ((decision.verdict && !is_reviewed_again) || entrance.by.role == Role::human) {
        record.failed_reviews.clear();
    }
    record.moved_because = why_moved(record, definition, decision, entrance.by);
    record.entry_sections = std::move(entrance.sections);
    record.ended = state && state->terminal;
    if (record.ended) {
        record.died.clear();
        clear_for_end(record);
    }
    record.stopped = false;
    record.queued = false;
    record.unapproved = false;
    record.start.reset();
    record.answered.reset();
    record.asked.reset();
    record.held.clear();
    std::erase_if(record.outbox, [](const Message& message) { return message.lasts; });
    keep_time(record, definition, entrance.at);
    record.intent = intent_of(decision, std::move(entrance));
}

}  // namespace orange::engine
