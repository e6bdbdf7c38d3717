#pragma once

#include "common/model/record.hpp"

/// Raising and clearing a task's notices; the frontmatter's `attention` follows. common/model/notice.hpp has the kinds,
/// and what ends each.
namespace orange::engine {

/// In place of one of its kind. The same text again keeps its time.
void raise(TaskRecord& record, Notice notice);
/// Whether there was one.
bool clear(TaskRecord& record, NoticeKind kind);
/// Those of `before` that a transition ends. What was raised since stays.
void clear_for_transition(TaskRecord& record, const std::vector<Notice>& before);
/// Those about its agents, which are stopped or started anew. What is to be said of its work stays.
void clear_for_agents(TaskRecord& record);
void clear_all(TaskRecord& record);

const Notice* find_notice(const TaskRecord& record, NoticeKind kind);

}  // namespace orange::engine
