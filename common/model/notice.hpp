#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"

/// Notices tell a task's human what happened. A task has at most one notice of each kind. The table below defines what
/// ends a notice, and whether the task needs help while it has the notice. `attention` in the frontmatter is the text
/// of the most urgent notice.
namespace orange {

/// Most urgent first.
enum class NoticeKind {
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
    agent_dialog,
    usage_limit,
    agent_cannot_work,
    agent_unknown_error,
    agent_idle,
    agent_hung,
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
    std::string_view name;
    bool help;  ///< the task needs help while it has the notice
    NoticeEnd ends;
};

inline constexpr NoticeRule k_notice_rules[] = {
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

constexpr const NoticeRule& rule_of(NoticeKind kind) {
    return k_notice_rules[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(NoticeKind kind) {
    return rule_of(kind).name;
}
constexpr std::optional<NoticeKind> from_name(std::string_view name, NoticeKind) {
    for (std::size_t i = 0; i < std::size(k_notice_rules); ++i) {
        if (k_notice_rules[i].name == name) return static_cast<NoticeKind>(i);
    }
    return std::nullopt;
}

struct Notice {
    NoticeKind kind = NoticeKind::hook_failed;
    std::string text;
    std::string command;
    std::string cause;
    Timestamp since{};

    template <class V>
    void describe(V& v) {
        v.required("kind", kind, "what kind of notice it is (docs/protocol.md)");
        v.required("text", text, "what happened, a sentence; the first line says it, more lines are details");
        v.sparse("command", command, "what to run, with the task's whole id; absent: it depends on the task's state");
        v.sparse("cause", cause, "what it is about, for programs: a role, a hook, a file");
        v.optional("since", since, "when it was raised");
    }
    bool operator==(const Notice&) const = default;
};

}  // namespace orange
