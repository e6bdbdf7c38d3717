#include "daemon/engine/next.hpp"

#include <algorithm>
#include <type_traits>

#include "daemon/engine/notices.hpp"

namespace orange::engine {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

/// A typed message is looked for in the agent's window until it is as old as the first time, beginning with the second.
constexpr milliseconds k_message_window = 30s, k_first_look_at_message = 2s;

/// A step, and how long until it is due.
struct Due {
    Step step;
    milliseconds in{};
};
using MaybeDue = std::optional<Due>;

MaybeDue note_blockers(const View& view) {
    if (view.ended) return std::nullopt;
    step::NoteBlockers ended;
    for (const auto& blocker : view.blockers) {
        if (blocker.state == BlockerState::done) ended.done.push_back(blocker.id);
        if (blocker.state == BlockerState::gone) ended.gone.push_back(blocker);
    }
    const auto is_told = [&](const Blocker& blocker) { return view.record.blockers_gone.contains(blocker.id); };
    const auto* notice = find_notice(view.record, NoticeKind::blocker_gone);
    const bool is_old = notice != nullptr && (ended.gone.empty() || notice->text != gone_text(ended.gone));
    if (ended.done.empty() && std::ranges::all_of(ended.gone, is_told) && !is_old) return std::nullopt;
    return Due{std::move(ended)};
}

MaybeDue note_children(const View& view) {
    step::NoteChildren ended;
    for (const auto& child : view.children) {
        if (child.state == ChildState::done && !view.record.children_done.contains(child.id)) {
            ended.done.push_back(child.id);
        }
    }
    if (ended.done.empty()) return std::nullopt;
    return Due{std::move(ended)};
}

MaybeDue end_unpicked(const View& view) {
    if (!view.unpicked || view.ended || view.is_merging) return std::nullopt;
    return Due{step::EndUnpicked{}};
}

MaybeDue make_attempts(const View& view) {
    const auto& record = view.record;
    const auto* state = view.definition != nullptr ? view.definition->state(record.task.status) : nullptr;
    const bool all_made = std::ranges::all_of(record.attempts, &AttemptRow::made);
    if (state == nullptr || !state->children || all_made || !record.picked.empty()) return std::nullopt;
    return Due{step::MakeAttempts{}};
}

MaybeDue tell_of_children(const View& view) {
    if (view.definition == nullptr) return std::nullopt;
    const auto& record = view.record;
    step::TellOfChildren tell;
    for (const auto& child : view.children) {
        if (child.unapproved) tell.unapproved.push_back(child.id);
    }
    tell.trouble = trouble_of(*view.definition, record.task, view.children);
    const auto with = tell.trouble ? tell.trouble->with : std::vector<TaskId>();
    const auto* approval = find_notice(record, NoticeKind::children_unapproved);
    const auto* trouble = find_notice(record, NoticeKind::child_needs_you);
    const bool is_news = tell.unapproved != record.unapproved_told || with != record.trouble_told;
    const bool is_over = (approval != nullptr && tell.unapproved.empty()) || (trouble != nullptr && !tell.trouble);
    const bool is_old = trouble != nullptr && tell.trouble && trouble->text != tell.trouble->text;
    if (!is_news && !is_over && !is_old) return std::nullopt;
    return Due{std::move(tell)};
}

/// An unfinished merge ends the task, or its end wakes the task's loop.
bool may_go_on(const View& view) {
    return view.definition != nullptr && !(view.record.merge && view.record.merge->unfinished());
}

MaybeDue wait_for_children(const View& view) {
    if (!may_go_on(view) || have_come_back(*view.definition, view.record.task, view.children)) return std::nullopt;
    const auto* state = view.definition->state(view.record.task.status);
    const bool is_queued = state != nullptr && state->children && view.record.queued;
    const auto* failed = find_notice(view.record, NoticeKind::start_failed);
    const bool has_failed = failed != nullptr && failed->cause == k_tried_again;
    if (!is_queued && !has_failed) return std::nullopt;
    return Due{step::WaitForChildren{is_queued}};
}

/// A queued task continues when a workspace is free. After a permanent failure, it continues when its human has
/// acknowledged that.
MaybeDue go_on_after_children(const View& view) {
    if (!may_go_on(view) || !have_come_back(*view.definition, view.record.task, view.children)) return std::nullopt;
    const auto* failed = find_notice(view.record, NoticeKind::start_failed);
    if (view.budget_spent || view.record.queued || (failed != nullptr && failed->cause != k_tried_again))
        return std::nullopt;
    return Due{step::GoOnAfterChildren{}};
}

MaybeDue stop_spent(const View& view) {
    return view.stops_spent && !view.ended ? MaybeDue(Due{step::StopSpent{}}) : std::nullopt;
}

MaybeDue stop_runs_left(const View& view) {
    return view.record.left.empty() ? std::nullopt : MaybeDue(Due{step::StopLeft{}});
}

/// A task that has begun follows the one that it is built on. One that has not begun waits again if that one is not in
/// review any more.
MaybeDue follow_below(const View& view) {
    const auto& record = view.record;
    if (view.ended || !view.below || view.below->is_changing || view.is_merging) return std::nullopt;
    const auto& below = *view.below;
    const bool rests = below.state == Below::State::reviewed || below.state == Below::State::done;
    const bool waits_again = !record.stacked_on.empty() && !rests && record.blockers_done.contains(below.id);
    const bool has_moved = record.stands_on_other() && below.seen != record.on_seen;
    if (!waits_again && !has_moved) return std::nullopt;
    return Due{step::FollowBelow{below}};
}

MaybeDue start_agents(const View& view) {
    if (view.ended || view.definition == nullptr || view.record.held.empty() || !view.has_room || view.budget_spent)
        return std::nullopt;
    return Due{step::StartAgents{}};
}

MaybeDue deliver(const View& view) {
    if (!view.is_on_duty) return std::nullopt;
    const auto& outbox = view.record.outbox;
    const auto is_due = [&](const Message& message) { return !view.budget_spent || message.from != Role::system; };
    const auto first = std::ranges::find_if(outbox, is_due);
    if (first == outbox.end()) return std::nullopt;
    return Due{step::Deliver{first->id, view.budget_spent}};
}

/// A message is looked for during half a minute after it was typed, and later whenever its agent is idle: the agent's
/// program may have put it into its queue.
MaybeDue acknowledge(const View& view) {
    if (!view.is_on_duty || view.ended) return std::nullopt;
    MaybeDue due;
    for (const auto& message : view.record.typed) {
        if (message.seen || !message.typed_at) continue;
        const auto age = std::chrono::duration_cast<milliseconds>(view.now - *message.typed_at);
        if (age >= k_message_window && !view.idle.contains(message.to)) continue;
        // If the clock was set back, the message was typed in the future: look now.
        const auto in =
            age < milliseconds(0) ? milliseconds(0) : std::max(k_first_look_at_message - age, milliseconds(0));
        if (!due || in < due->in) due = Due{step::Acknowledge{}, in};
    }
    return due;
}

MaybeDue clear_idle(const View& view) {
    const bool works = view.agent && view.agent->activity == Activity::busy;
    if (!works || find_notice(view.record, NoticeKind::agent_idle) == nullptr) return std::nullopt;
    return Due{step::ClearIdle{}};
}

/// An agent is reminded only while the task waits for nothing else.
MaybeDue remind(const View& view) {
    const auto& record = view.record;
    if (!view.is_on_duty || view.ended || view.definition == nullptr || !view.agent) return std::nullopt;
    if (view.budget_spent) return std::nullopt;
    if (record.stopped || !record.outbox.empty() || record.asked || view.is_merging || view.is_checking)
        return std::nullopt;
    const auto* state = view.definition->state(record.task.status);
    const bool unread = view.agent->activity == Activity::unknown;
    const bool rests = unread || view.agent->activity == Activity::idle;
    if (state == nullptr || !state->agent || !rests || view.needs.kind != Need::nothing) return std::nullopt;
    const auto& times = view.idle_times;
    const auto patience = unread ? times.idle_after + times.remind_again : times.idle_after;
    const auto entered = record.entered_at.value_or(record.task.updated_at);
    const auto since = unread ? view.unchanged_since : std::max(view.agent->since, entered);
    const auto in = std::chrono::ceil<milliseconds>(since + patience - view.now);
    return Due{step::Remind{*state->agent, unread, patience}, std::max(in, milliseconds(0))};
}

/// The human is notified of every need for help, of every request of an agent's program that comes to be the need, and
/// of every other need of a task that needed nothing before.
MaybeDue notify(const View& view) {
    if (!view.is_on_duty || view.is_merging) return std::nullopt;
    const auto now = view.needs.kind, before = view.needed_before;
    const bool asks_anew = view.needs.permit != 0 && view.needs.permit != view.permit_before;
    const bool is_news =
        now > Need::start && (before <= Need::start || asks_anew || (now == Need::help && before != Need::help));
    if (!is_news && !view.has_untold_text) return std::nullopt;
    return Due{step::Notify{view.needs}};
}

template <class Wanted, std::size_t i = 0>
constexpr std::size_t index_of() {
    if constexpr (std::is_same_v<Wanted, std::variant_alternative_t<i, Step>>) {
        return i;
    } else {
        return index_of<Wanted, i + 1>();
    }
}

struct Rule {
    std::size_t step;  ///< its index in the variant
    std::string_view name;
    MaybeDue (*due)(const View& view);
};

/// The rules of the steps, in the order of the variant.
constexpr std::array<Rule, k_step_count> k_rules = {{
    // The ends of other tasks are saved first: all later steps are decided from the record.
    {index_of<step::NoteBlockers>(), "note what became of the tasks that it waits for", note_blockers},
    {index_of<step::NoteChildren>(), "note which sub-tasks are done", note_children},
    // No step helps a task that its human has decided against.
    {index_of<step::EndUnpicked>(), "cancel it, because you picked another attempt", end_unpicked},
    {index_of<step::MakeAttempts>(), "create its attempts", make_attempts},
    // The human learns of trouble before Orange takes a step that might hide it.
    {index_of<step::TellOfChildren>(), "tell you of its sub-tasks", tell_of_children},
    // A task that must wait again leaves the queue before it could start.
    {index_of<step::WaitForChildren>(), "", wait_for_children},
    {index_of<step::GoOnAfterChildren>(), "go on after its sub-tasks", go_on_after_children},
    // An agent that runs away is stopped before anything else begins.
    {index_of<step::StopSpent>(), "stop the agents, because the budget is used up", stop_spent},
    // No agent starts before the previous run has certainly ended.
    {index_of<step::StopLeft>(), "end what an executor still has of a run", stop_runs_left},
    // The branch follows the one below before an agent works on it.
    {index_of<step::FollowBelow>(), "follow the task that it is built on", follow_below},
    // The agent starts before its messages are typed.
    {index_of<step::StartAgents>(), "start the agent that waited for room", start_agents},
    // An agent gets its messages before it is reminded.
    {index_of<step::Deliver>(), "type a message", deliver},
    {index_of<step::Acknowledge>(), "", acknowledge},
    // If the agent works again, it is not reminded, and the human is not notified of its idleness.
    {index_of<step::ClearIdle>(), "", clear_idle},
    {index_of<step::Remind>(), "remind the agent", remind},
    // The human comes last: for what Orange could not do by itself.
    {index_of<step::Notify>(), "", notify},
}};
constexpr bool are_rules_in_order() {
    for (std::size_t i = 0; i < k_rules.size(); ++i) {
        if (k_rules[i].step != i) return false;
    }
    return true;
}
static_assert(are_rules_in_order());

}  // namespace

bool is_reminder_due(const View& view) {
    const auto due = remind(view);
    return due && due->in <= milliseconds(0);
}

std::string_view name_of(const Step& step) {
    return k_rules[step.index()].name;
}

std::variant<Step, Until> next(const View& view) {
    Until until;
    if (view.record.intent) return until;
    for (std::size_t i = 0; i < k_rules.size(); ++i) {
        auto due = k_rules[i].due(view);
        if (!due) continue;
        const auto& hold = view.holds[i];
        if (!hold && due->in <= milliseconds(0)) return std::move(due->step);
        auto in = hold ? hold->left : std::optional(due->in);
        if (!in) continue;
        in = std::max(*in, due->in);
        if (!until.in || *in < *until.in) until.in = in;
        const bool is_sooner = !until.upcoming || *in < until.upcoming->in;
        if (is_sooner && !k_rules[i].name.empty()) {
            until.upcoming = {std::string(k_rules[i].name), *in, hold ? hold->why : std::string()};
        }
    }
    return until;
}

}  // namespace orange::engine
