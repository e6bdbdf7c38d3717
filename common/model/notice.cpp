#include "common/model/notice_kinds.hpp"

namespace orange {
namespace {

constexpr NoticeRule k_notice_rules[] = {
    {"transition_unfinished", true, NoticeEnd::cause},  // the next daemon, or the next call, finishes it
    {"workspace_missing", true, NoticeEnd::transition},
    {"session_lost", true, NoticeEnd::transition},
    {"agent_crashed", true, NoticeEnd::transition},
    {"agent_ended", true, NoticeEnd::transition},
    {"start_failed", true, NoticeEnd::transition},
    {"blocker_gone", true, NoticeEnd::transition},  // also when no missing blocker is left
    {"child_needs_you", true,
     NoticeEnd::transition},  // also when no sub-task is stuck, or has ended without being done
    {"children_unapproved", true, NoticeEnd::cause},
    {"merge_conflict", true, NoticeEnd::transition},
    {"agent_dialog", false, NoticeEnd::transition},  // the task needs an answer: engine/needs.hpp
    {"usage_limit", true, NoticeEnd::cause},
    {"agent_cannot_work", true, NoticeEnd::cause},  // a missing login or credit, a provider that refuses or fails
    {"agent_unknown_error", true, NoticeEnd::transition},  // also when the agent works again
    {"agent_idle", true, NoticeEnd::transition},           // also when the agent works again
    {"agent_hung", true, NoticeEnd::cause},
    {"executor_stop", true, NoticeEnd::cause},  // until the executor has ended the run
    {"merge_failed", true, NoticeEnd::transition},
    {"other_branch", true, NoticeEnd::cause},  // until the task's branch contains the worktree's commits
    {"checks_failed", true, NoticeEnd::transition},
    {"merged_without", true, NoticeEnd::cause},  // until the work is merged or discarded, too
    {"pull_request", true, NoticeEnd::transition},
    {"agent_asks", true, NoticeEnd::transition},
    {"hook_failed", true, NoticeEnd::transition},
    {"task_file_conflict", true, NoticeEnd::transition},
    {"task_file_unread", true, NoticeEnd::cause},  // until both copies of TASK.md are read again
    {"unverified_review", false, NoticeEnd::transition},
    {"message_undelivered", true, NoticeEnd::transition},
    {"out_of_memory", false, NoticeEnd::transition},
    {"out_of_processes", false, NoticeEnd::transition},
    {"git_config_changed", false, NoticeEnd::ack},
    {"harness_changed", false, NoticeEnd::ack},
};

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
    for (std::size_t i = 0; i < std::size(k_notice_rules); ++i) {
        if (k_notice_rules[i].name == name) return static_cast<NoticeKind>(i);
    }
    return std::nullopt;
}

}  // namespace orange
