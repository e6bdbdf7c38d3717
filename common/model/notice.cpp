#include "common/model/notice_kinds.hpp"

namespace orange {
namespace {

constexpr NoticeRule k_notice_rules[] = {
    // the next daemon, or the next call, finishes it
    {NoticeKind::transition_unfinished, "transition_unfinished", true, NoticeEnd::cause},
    {NoticeKind::workspace_missing, "workspace_missing", true, NoticeEnd::transition},
    {NoticeKind::session_lost, "session_lost", true, NoticeEnd::transition},
    {NoticeKind::agent_crashed, "agent_crashed", true, NoticeEnd::transition},
    {NoticeKind::agent_ended, "agent_ended", true, NoticeEnd::transition},
    {NoticeKind::start_failed, "start_failed", true, NoticeEnd::transition},
    // also when no missing blocker is left
    {NoticeKind::blocker_gone, "blocker_gone", true, NoticeEnd::transition},
    // also when no sub-task is stuck, or has ended without being done
    {NoticeKind::child_needs_you, "child_needs_you", true, NoticeEnd::transition},
    {NoticeKind::children_unapproved, "children_unapproved", true, NoticeEnd::cause},
    {NoticeKind::merge_conflict, "merge_conflict", true, NoticeEnd::transition},
    // also when the branch has followed the task that it is built on
    {NoticeKind::on_changed, "on_changed", true, NoticeEnd::transition},
    // the task needs an answer: engine/needs.hpp
    {NoticeKind::agent_dialog, "agent_dialog", false, NoticeEnd::transition},
    // until the budget is raised, or the day ends whose budget is used up
    {NoticeKind::budget, "budget", true, NoticeEnd::cause},
    {NoticeKind::usage_limit, "usage_limit", true, NoticeEnd::cause},
    // a missing login or credit, a provider that refuses or fails
    {NoticeKind::agent_cannot_work, "agent_cannot_work", true, NoticeEnd::cause},
    // also when the agent works again
    {NoticeKind::agent_unknown_error, "agent_unknown_error", true, NoticeEnd::transition},
    {NoticeKind::agent_idle, "agent_idle", true, NoticeEnd::transition},  // also when the agent works again
    {NoticeKind::agent_hung, "agent_hung", true, NoticeEnd::cause},
    // an agent told more tokens than its harness says are possible
    {NoticeKind::usage_doubtful, "usage_doubtful", true, NoticeEnd::ack},
    // until the executor has ended the run
    {NoticeKind::executor_stop, "executor_stop", true, NoticeEnd::cause},
    {NoticeKind::merge_failed, "merge_failed", true, NoticeEnd::transition},
    // until the task's branch contains the worktree's commits
    {NoticeKind::other_branch, "other_branch", true, NoticeEnd::cause},
    {NoticeKind::checks_failed, "checks_failed", true, NoticeEnd::transition},
    // until the work is merged or discarded, too
    {NoticeKind::merged_without, "merged_without", true, NoticeEnd::cause},
    {NoticeKind::pull_request, "pull_request", true, NoticeEnd::transition},
    {NoticeKind::agent_asks, "agent_asks", true, NoticeEnd::transition},
    {NoticeKind::hook_failed, "hook_failed", true, NoticeEnd::transition},
    {NoticeKind::task_file_conflict, "task_file_conflict", true, NoticeEnd::transition},
    // until both copies of TASK.md are read again
    {NoticeKind::task_file_unread, "task_file_unread", true, NoticeEnd::cause},
    {NoticeKind::unverified_review, "unverified_review", false, NoticeEnd::transition},
    {NoticeKind::message_undelivered, "message_undelivered", true, NoticeEnd::transition},
    {NoticeKind::out_of_memory, "out_of_memory", false, NoticeEnd::transition},
    {NoticeKind::out_of_processes, "out_of_processes", false, NoticeEnd::transition},
    // until the budget is used up or raised, or the day ends
    {NoticeKind::budget_near, "budget_near", false, NoticeEnd::cause},
    {NoticeKind::git_config_changed, "git_config_changed", false, NoticeEnd::ack},
    {NoticeKind::harness_changed, "harness_changed", false, NoticeEnd::ack},
};
static_assert(has_row_for_each<k_notice_rules>());

}  // namespace

std::span<const NoticeRule> notice_rules() {
    return k_notice_rules;
}

const NoticeRule& rule_of(NoticeKind kind) {
    return k_notice_rules[static_cast<std::size_t>(kind)];
}

std::string_view name_of(NoticeKind kind) {
    return rule_of(kind).name;
}

std::optional<NoticeKind> from_name(std::string_view name, NoticeKind) {
    return kind_named(k_notice_rules, name);
}

}  // namespace orange
