#include "daemon/runner/synced.hpp"

#include "daemon/log/log.hpp"
#include "daemon/runner/notices.hpp"

namespace orange {

void apply_synced(World& world, TaskRecord& record, const store::Synced& synced) {
    for (const auto& event : synced.events) world.journal.write(record, event);
    if (synced.attention) raise(world, record, NoticeKind::task_file_conflict, *synced.attention);
    if (synced.extra_frontmatter) record.task.extra_frontmatter = *synced.extra_frontmatter;
    record.body_hash = synced.body_hash;
    if (const auto* known = world.tasks.find(record.task.id); known && *known == record) return;
    const auto durability = synced.attention || synced.extra_frontmatter ? Durability::synced : Durability::atomic;
    if (auto saved = world.tasks.save(record, durability); !saved) {
        log::error("runner", saved.error().message, {{"task", record.task.id.value}});
    }
}

}  // namespace orange
