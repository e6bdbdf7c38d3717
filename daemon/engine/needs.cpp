#include "daemon/engine/needs.hpp"

#include <algorithm>

#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/enter.hpp"
#include "daemon/engine/notices.hpp"

namespace orange::engine {
namespace {

std::string answers_text(std::int64_t answered) {
    if (answered == 0) return {};
    return "; " + counted(static_cast<std::size_t>(answered), "comment") + " of yours " +
           (answered == 1 ? "is" : "are") + " answered";
}

class Question {
  public:
    Question(const Definition& definition, const TaskRecord& record, const NeedFacts& sight)
        : definition_(definition), record_(record), sight_(sight), state_(definition.state(record.task.status)) {}

    Needs answer() const {
        if (const auto* notice = notice_for_help()) {
            return {Need::help, std::string(first_line(notice->text)),
                    notice->command.empty() ? to_agent() : OrangeCommand::from_text(notice->command), notice->since};
        }
        if (const auto waiting = std::ranges::count_if(sight_.children, &Child::unapproved); waiting > 0) {
            return here(Need::help, unapproved_text(static_cast<std::size_t>(waiting)), command("approve"));
        }
        if (state_ == nullptr) {
            return here(Need::help, "the workflow " + definition_.name + " has no state " + printable(status()),
                        command("update", "--workflow default"));
        }
        if (!state_->terminal && record_.unapproved) return unapproved();
        if (!state_->terminal && record_.blocked()) return blocked();
        if (state_->terminal || record_.intent || !sight_.under_way.empty()) return nothing();
        if (state_->meaning == Meaning::stuck) {
            const auto& why = record_.moved_because;
            return here(Need::help, why.empty() ? "the task is stuck" : why, out_of_stuck());
        }
        if (!sight_.below_gone.empty()) return below_gone();
        if (sight_.permit) return permit(*sight_.permit);
        if (const auto* dialog = find_notice(record_, NoticeKind::agent_dialog)) {
            return {Need::answer, std::string(first_line(dialog->text)), OrangeCommand::from_text(dialog->command),
                    dialog->since};
        }
        if (state_->children) return children();
        if (state_->needs) return as_the_workflow_says(*state_->needs);
        const bool asked = !record_.questions.empty() || record_.moved_because == set_by(Role::worker);
        const bool waits_for_answer = (asked && record_.question_stands()) || sight_.idle_long;
        if (state_->meaning == Meaning::clarification && waits_for_answer) return question();
        if (!is_agents() && state_->meaning != Meaning::initial) return review();
        return start_or_nothing();
    }

  private:
    const std::string& status() const { return record_.task.status; }
    const std::string& id() const { return record_.task.id.value; }
    OrangeCommand command(std::string_view verb, std::string_view options = {}) const {
        return task_command(verb, id(), options);
    }
    Needs here(Need kind, std::string text, OrangeCommand run = {}) const {
        return {kind, std::move(text), std::move(run), record_.entered_at.value_or(record_.task.updated_at)};
    }
    bool is_agents() const { return is_for_agent(definition_, *state_); }
    /// True if an agent of the dead one's role lives again. If the state does not say which role works in it, the
    /// notice does.
    bool is_replaced(const Notice& death) const {
        if (state_->agent || death.cause.empty()) return sight_.agent_alive;
        return std::ranges::find(sight_.living, death.cause) != sight_.living.end();
    }
    /// Returns "worker", or "agent" if the workflow does not say which.
    std::string agent_name() const { return state_->agent ? name_text(*state_->agent) : "agent"; }
    /// True if its human has to act in any case, whatever its budget is.
    bool waits_for_human() const {
        if (state_->meaning == Meaning::stuck) return true;
        return state_->meaning == Meaning::clarification && !record_.questions.empty() && record_.question_stands();
    }
    /// True if tokens are used in this state, or if Orange would take a step by itself that uses some.
    bool begins_something() const {
        if (state_->terminal || waits_for_human()) return false;
        if (state_->children) return have_come_back(definition_, record_.task, sight_.children);
        return is_agents() || (record_.queued && !record_.kept_back());
    }
    /// A dead agent is no trouble in a state that needs none.
    const Notice* notice_for_help() const {
        for (const auto& each : record_.notices) {
            const bool of_agent = each.kind == NoticeKind::agent_crashed || each.kind == NoticeKind::agent_ended ||
                                  each.kind == NoticeKind::session_lost;
            if (!rule_of(each.kind).help) continue;
            if (each.kind == NoticeKind::budget && state_ != nullptr && !begins_something()) continue;
            // A worker that waits for its review may be at a limit or hang without harm.
            const bool of_role = each.kind == NoticeKind::usage_limit || each.kind == NoticeKind::agent_cannot_work ||
                                 each.kind == NoticeKind::agent_hung || each.kind == NoticeKind::message_undelivered;
            const bool of_other = of_role && (state_ == nullptr || !is_agents() ||
                                              (state_->agent && each.cause != name_of(*state_->agent)));
            if (of_other) continue;
            if (of_agent && state_ != nullptr && (!is_agents() || sight_.restarting || is_replaced(each))) continue;
            return &each;
        }
        return nullptr;
    }
    /// Returns the command that opens the terminal of the agent, or starts it.
    OrangeCommand to_agent() const {
        if (state_ == nullptr || state_->terminal) return command("show");
        if (sight_.agent_alive) return command("attach");
        if (state_->meaning == Meaning::initial) return command("spawn");
        return state_->respawn_prompt.empty() ? command("why") : command("respawn");
    }
    /// The living worker can do nothing about a reviewer that died: the human sends the work to its review again, or
    /// reviews it.
    OrangeCommand out_of_stuck() const {
        const auto& task = record_.task;
        const bool goes_back = !record_.failed_reviews.empty() && rejection_target(definition_, task);
        if (goes_back) return command("reject", "\"...\"");
        const auto& why = record_.moved_because;
        const bool by_itself = !why.empty() && !why.starts_with(cannot_go_on(Role::worker));
        if (by_itself && sight_.agent_alive && record_.died.contains(Role::reviewer)) {
            const auto* review = review_target(definition_, task, Role::human);
            if (review != nullptr) return human_command(definition_, task, review->name);
        }
        return to_agent();
    }
    Needs question() const {
        if (record_.questions.empty()) {
            return here(Need::answer, "the agent waits for you in its window, and ## Questions is empty", to_agent());
        }
        const auto text = record_.question.empty() ? "the agent has questions (## Questions in TASK.md)"
                                                   : "the agent asks: " + record_.question;
        return here(Need::answer, text, command("reply", "\"...\""));
    }
    Needs review() const {
        if (sight_.waits_for_pick && can_be_merged_from(definition_, status())) {
            return here(Need::nothing, "ready to be compared with the other attempts");
        }
        if (can_be_merged_from(definition_, status())) {
            const auto& url = sight_.preview_url;
            return here(Need::review,
                        "the work is ready for your review" + answers_text(sight_.answered) +
                            (sight_.merged_first.empty() ? "" : "; merge " + sight_.merged_first + " first") +
                            (sight_.clash.empty() ? "" : "; it " + sight_.clash) +
                            (url.empty() ? url : "; it runs at " + url),
                        command("diff"));
        }
        if (approval_target(definition_, record_.task) != nullptr) {
            const auto section = handed_over();
            return here(Need::review,
                        (section.empty() ? "the task" : "## " + section) + " needs your approval; " +
                            task_command("show").text() + " prints it",
                        command("approve"));
        }
        for (const auto& to : definition_.targets_from(status())) {
            const State* next = definition_.state(to);
            if (next == nullptr || next->meaning == Meaning::cancelled) continue;
            for (const auto* edge : definition_.between(status(), to)) {
                if (!edge->force && may_ask(*edge, Role::human)) {
                    return here(Need::review, "the status " + status() + " needs your decision",
                                human_command(definition_, record_.task, to));
                }
            }
        }
        return here(Need::review, "the status " + status() + " needs your decision", command("why"));
    }
    /// Returns the section with which tasks come into this state.
    std::string handed_over() const {
        for (const auto& transition : definition_.transitions) {
            if (transition.to == status() && transition.gate && !transition.gate->section.empty()) {
                return transition.gate->section;
            }
        }
        return {};
    }
    Needs as_the_workflow_says(Need need) const {
        switch (need) {
            case Need::nothing:
                return nothing();
            case Need::start:
                return here(Need::start, "nothing starts it automatically", to_agent());
            case Need::review:
                return review();
            case Need::answer:
                return record_.question_stands() ? question() : nothing();
            case Need::help:
                return here(Need::help, "the status " + status() + " needs your help", to_agent());
        }
        return nothing();
    }
    /// The command that is shown allows only what its reader has seen whole.
    Needs permit(const PermitNeed& asked) const {
        const auto allow = OrangeCommand{"allow " + id() + "." + std::to_string(asked.number)};
        const auto run = asked.is_short ? allow : command("show");
        return {Need::answer, asked.text, run, asked.since, asked.number};
    }
    Needs start_or_nothing() const {
        if (sight_.held_for_human) return here(Need::start, sight_.held_back, to_agent());
        if (state_->meaning == Meaning::initial) {
            if (!record_.queued) return here(Need::start, "not started", command("spawn"));
            if (sight_.room && sight_.held_back.empty()) {
                return here(Need::start, "not started, although a workspace is free", command("spawn"));
            }
            return nothing();
        }
        const bool comes = sight_.restarting || sight_.ending || !sight_.held_back.empty();
        if (sight_.agent_alive || comes) return nothing();
        const auto role = agent_name();
        if (record_.stopped) return here(Need::start, "you stopped the " + role, command("restart"));
        return here(Need::start, "the " + role + " is not running", to_agent());
    }
    /// Holds even if the human has acknowledged that a blocker is gone: the task will not start by itself.
    Needs blocked() const {
        if (sight_.gone.empty()) return here(Need::nothing, "waits for " + sight_.waits_for);
        return here(Need::help, "waits for " + sight_.gone + ", which will never be done",
                    command("update", "--unblock " + sight_.gone));
    }
    /// Holds even if the human has acknowledged the notice: the task cannot be merged as it is.
    Needs below_gone() const {
        return here(Need::help,
                    "task " + sight_.merged_first + ", on which it is built, " + sight_.below_gone +
                        "; its commits are still in the branch",
                    command("update", "--unblock " + sight_.below.value));
    }
    /// The notice of the parent covers all of its sub-tasks at once.
    Needs unapproved() const {
        if (sight_.parent_there) return here(Need::nothing, "waits for your approval");
        return here(Need::start, "waits for your approval", command("approve"));
    }
    /// Holds even if the human has acknowledged the trouble: the task does not continue by itself.
    Needs children() const {
        if (const auto trouble = trouble_of(definition_, record_.task, sight_.children)) {
            return here(Need::help, std::string(first_line(trouble->text)), trouble->command);
        }
        if (waits_for_pick(sight_.children)) return attempts();
        if (sight_.held_for_human) return here(Need::start, sight_.held_back, command("spawn"));
        if (record_.queued && sight_.room && sight_.held_back.empty()) {
            return here(Need::start, progress_text(sight_.children) + ", and a workspace is free",
                        human_command(definition_, record_.task, state_->children->when_commits));
        }
        if (record_.queued) return nothing();
        return here(Need::nothing, progress_text(sight_.children));
    }
    /// Its human compares the attempts when none of them goes on by itself.
    Needs attempts() const {
        const auto all = comparable(sight_.children);
        const auto merged = std::ranges::find(all, ChildState::done, &Child::state);
        if (merged != all.end()) {
            return here(Need::review, "its attempt " + merged->attempt + " is done, and none is picked",
                        OrangeCommand{"pick", id(), merged->id.value});
        }
        if (!std::ranges::all_of(all, &Child::rests)) return here(Need::nothing, attempts_text(sight_.children));
        return here(Need::review, counted(all.size(), "attempt") + " to compare", OrangeCommand{"compare", id()});
    }
    Needs nothing() const {
        if (record_.intent) return here(Need::nothing, record_.intent->from + " → " + record_.intent->to);
        if (!sight_.under_way.empty()) return here(Need::nothing, sight_.under_way);
        if (state_->terminal) return here(Need::nothing, how_it_ended(), way_back());
        if (!sight_.held_back.empty()) return here(Need::nothing, sight_.held_back);
        if (record_.queued) {
            return here(Need::nothing, "waits for a workspace, place " + std::to_string(sight_.queue_place));
        }
        if (is_agents()) {
            return here(Need::nothing,
                        "the " + agent_name() +
                            (sight_.ending         ? " has ended"
                             : !sight_.agent_alive ? " is being restarted"
                             : sight_.idle         ? " is idle"
                                                   : " works"),
                        {});
        }
        const auto& pull = record_.pull_request;
        if (pull && pull->state == PullState::open) {
            return here(Need::nothing, pull_name(std::to_string(pull->number), pull->url) + " is open");
        }
        return here(Need::nothing, "waits in " + status());
    }

    /// Returns the command that goes on with the work of a cancelled task; none if there is no work.
    OrangeCommand way_back() const {
        const bool has_worked = state_->meaning == Meaning::cancelled && !record_.branch_start.empty();
        return has_worked && record_.continued_by.empty() ? command("restore", "--create") : OrangeCommand{};
    }

    std::string how_it_ended() const {
        if (!sight_.continued_by.empty()) return "its work goes on in task " + sight_.continued_by;
        if (const auto& merge = record_.merge; merge && merge->phase == MergePhase::done) {
            const auto target = printable(merge->target), commit = merge->commit.substr(0, 12);
            if (merge->pull != 0)
                return pull_name(std::to_string(merge->pull), record_.task.pr_url) + " was merged as " + commit;
            return merge->elsewhere ? target + " already had the work" : "merged into " + target + " as " + commit;
        }
        const auto& pull = record_.pull_request;
        const bool is_cancelled = state_->meaning == Meaning::cancelled;
        if (is_cancelled && pull && pull->state == PullState::closed) {
            return pull_name(std::to_string(pull->number), pull->url) + " was closed";
        }
        if (!record_.moved_because.empty()) return record_.moved_because;
        return is_cancelled ? "you cancelled it" : "it has ended";
    }

    const Definition& definition_;
    const TaskRecord& record_;
    const NeedFacts& sight_;
    const State* state_;
};

}  // namespace

bool is_for_agent(const Definition& definition, const State& state) {
    if (state.agent || state.meaning == Meaning::clarification) return true;
    if (state.meaning != Meaning::none) return false;
    bool has_rule = false;
    for (const auto& rule : definition.exit_rules) {
        if (rule.status != state.name) continue;
        has_rule = true;
        if (rule.action != ExitAction::mark_dead) return true;
    }
    return !has_rule && !state.respawn_prompt.empty() && !can_be_merged_from(definition, state.name);
}

Needs needs_of(const Definition& definition, const TaskRecord& record, const NeedFacts& sight) {
    return Question(definition, record, sight).answer();
}

}  // namespace orange::engine
