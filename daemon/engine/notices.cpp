#include "daemon/engine/notices.hpp"

#include <algorithm>

namespace orange::engine {
namespace {

/// Sorts the notices, the most urgent first; the frontmatter shows that one.
void show(TaskRecord& record) {
    std::sort(record.notices.begin(), record.notices.end(),
              [](const Notice& a, const Notice& b) { return a.kind < b.kind; });
    record.task.attention.reset();
    if (!record.notices.empty()) record.task.attention = record.notices.front().text;
}

}  // namespace

void raise(TaskRecord& record, Notice notice) {
    if (const auto* known = find_notice(record, notice.kind); known != nullptr && known->text == notice.text) return;
    std::erase_if(record.notices, [&](const Notice& old) { return old.kind == notice.kind; });
    record.notices.push_back(std::move(notice));
    show(record);
}

bool clear(TaskRecord& record, NoticeKind kind) {
    const auto gone = std::erase_if(record.notices, [&](const Notice& notice) { return notice.kind == kind; });
    show(record);
    return gone > 0;
}

void clear_for_transition(TaskRecord& record, const std::vector<Notice>& before) {
    std::erase_if(record.notices, [&](const Notice& notice) {
        return rule_of(notice.kind).ends == NoticeEnd::transition &&
               std::find(before.begin(), before.end(), notice) != before.end();
    });
    show(record);
}

void clear_for_agents(TaskRecord& record) {
    static constexpr NoticeKind k_of_agents[] = {NoticeKind::workspace_missing,   NoticeKind::session_lost,
                                                 NoticeKind::agent_crashed,       NoticeKind::agent_ended,
                                                 NoticeKind::start_failed,        NoticeKind::agent_dialog,
                                                 NoticeKind::agent_unknown_error, NoticeKind::agent_idle};
    std::erase_if(record.notices, [](const Notice& notice) {
        return std::ranges::find(k_of_agents, notice.kind) != std::end(k_of_agents);
    });
    show(record);
}

void clear_for_end(TaskRecord& record) {
    for (const auto kind : {NoticeKind::agent_hung, NoticeKind::agent_cannot_work, NoticeKind::usage_limit,
                            NoticeKind::agent_unknown_error, NoticeKind::agent_idle, NoticeKind::message_undelivered,
                            NoticeKind::budget, NoticeKind::budget_near}) {
        (void)clear(record, kind);
    }
}

void clear_all(TaskRecord& record) {
    record.notices.clear();
    show(record);
}

const Notice* find_notice(const TaskRecord& record, NoticeKind kind) {
    for (const auto& notice : record.notices) {
        if (notice.kind == kind) return &notice;
    }
    return nullptr;
}

}  // namespace orange::engine
