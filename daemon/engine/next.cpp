#include "daemon/engine/next.hpp"

#include <algorithm>

#include "daemon/engine/notices.hpp"

namespace orange::engine {
namespace {

using Due = std::optional<Step>;

Due note_blockers(const View& view) {
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
    return ended;
}

Due note_children(const View& view) {
    step::NoteChildren ended;
    for (const auto& child : view.children) {
        if (child.state == ChildState::done && !view.record.children_done.contains(child.id)) {
            ended.done.push_back(child.id);
        }
    }
    return ended.done.empty() ? Due() : Due(std::move(ended));
}

Due tell_of_children(const View& view) {
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
    return is_news || is_over || is_old ? Due(std::move(tell)) : Due();
}

/// A merge that is not finished ends the task, or its end asks again.
bool may_go_on(const View& view) {
    return view.definition != nullptr && !(view.record.merge && view.record.merge->unfinished());
}

Due wait_for_children(const View& view) {
    if (!may_go_on(view) || have_come_back(*view.definition, view.record.task, view.children)) return std::nullopt;
    const auto* state = view.definition->state(view.record.task.status);
    const bool is_queued = state != nullptr && state->children && view.record.queued;
    const auto* failed = find_notice(view.record, NoticeKind::start_failed);
    const bool has_failed = failed != nullptr && failed->cause == k_tried_again;
    return is_queued || has_failed ? Due(step::WaitForChildren{is_queued}) : Due();
}

/// In the queue, it goes on when a workspace is free. What failed for good goes on when its human has seen it.
Due go_on_after_children(const View& view) {
    if (!may_go_on(view) || !have_come_back(*view.definition, view.record.task, view.children)) return std::nullopt;
    const auto* failed = find_notice(view.record, NoticeKind::start_failed);
    if (view.record.queued || (failed != nullptr && failed->cause != k_tried_again)) return std::nullopt;
    return step::GoOnAfterChildren{};
}

struct Rule {
    std::string_view name;
    Due (*due)(const View& view);
};

/// In the order of the variant.
constexpr std::array<Rule, k_step_count> k_rules = {{
    // What has become of other tasks is written down first: all that follows is decided from the record.
    {"note the tasks that it waited for", note_blockers},
    {"note its sub-tasks that are done", note_children},
    // The human hears of trouble before Orange takes a step that might hide it.
    {"tell of its sub-tasks", tell_of_children},
    // A task that must wait again leaves the queue before it could start.
    {"wait for its sub-tasks", wait_for_children},
    {"go on after its sub-tasks", go_on_after_children},
}};

}  // namespace

std::string_view name_of(const Step& step) {
    return k_rules[step.index()].name;
}

std::variant<Step, Until> next(const View& view) {
    Until until;
    if (view.record.intent) return until;
    for (std::size_t i = 0; i < k_rules.size(); ++i) {
        auto step = k_rules[i].due(view);
        if (!step) continue;
        const auto& hold = view.holds[i];
        if (!hold) return std::move(*step);
        const bool sooner = hold->left && (!until.in || *hold->left < *until.in);
        if (sooner || until.what.empty()) until = {hold->left, std::string(k_rules[i].name), hold->why};
    }
    return until;
}

}  // namespace orange::engine
