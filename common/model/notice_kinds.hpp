#pragma once

#include <span>

#include "common/model/notice.hpp"

namespace orange {

/// Most urgent first.
enum class NoticeKind : int {
    transition_unfinished,
    workspace_missing,
    session_lost,
    agent_crashed,
    agent_ended,
    start_failed,
    blocker_gone,
    child_needs_you,
    children_unapproved,
    merge_conflict,
    on_changed,
    agent_dialog,
    budget,
    usage_limit,
    agent_cannot_work,
    agent_unknown_error,
    agent_idle,
    agent_hung,
    usage_doubtful,
    executor_stop,
    merge_failed,
    other_branch,
    checks_failed,
    merged_without,
    pull_request,
    agent_asks,
    hook_failed,
    task_file_conflict,
    task_file_unread,
    unverified_review,
    message_undelivered,
    out_of_memory,
    out_of_processes,
    budget_near,
    git_config_changed,
    harness_changed,
};

/// The event that ends a notice. `orange task ack` ends any notice.
enum class NoticeEnd {
    transition,  ///< the next change of status; a notice about an agent also ends with a new agent
    cause,       ///< the end of its cause; the code that raised it clears it
    ack,         ///< nothing but `orange task ack`
};

struct NoticeRule {
    NoticeKind kind;
    std::string_view name;
    bool help;  ///< the task needs help while it has the notice
    NoticeEnd ends;
};

/// Returns the rule of each kind, in their order.
std::span<const NoticeRule> notice_rules();
const NoticeRule& rule_of(NoticeKind kind);

}  // namespace orange
