#pragma once

#include "common/model/notice_kinds.hpp"
#include "common/model/record.hpp"

/// Raises and clears a task's notices; the frontmatter's `attention` follows. common/model/notice_kinds.hpp has the
/// kinds.
namespace orange::engine {

/// Raises a notice in place of one of its kind. If the text is the same, the notice keeps its time.
void raise(TaskRecord& record, Notice notice);
/// Clears the notice of this kind. Returns true if there was one.
bool clear(TaskRecord& record, NoticeKind kind);
/// Clears the notices of `before` that end with a transition. A notice that was raised later stays.
void clear_for_transition(TaskRecord& record, const std::vector<Notice>& before);
/// Clears the notices about its agents, which are stopped or started again. Notices about its work stay.
void clear_for_agents(TaskRecord& record);
/// Removes what is said of agents that work, when the task has ended.
void clear_for_end(TaskRecord& record);
void clear_all(TaskRecord& record);

const Notice* find_notice(const TaskRecord& record, NoticeKind kind);

}  // namespace orange::engine
