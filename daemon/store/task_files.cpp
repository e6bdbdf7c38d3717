#include "daemon/store/task_files.hpp"

#include "daemon/store/task_sync.hpp"

namespace orange::store {

TaskFiles::TaskFiles(FileSystem& files, const Clock& clock, std::chrono::milliseconds keeps_displaced)
    : files_(files), clock_(clock), keeps_displaced_(keeps_displaced) {}

TaskFiles::~TaskFiles() = default;

Awaitable<Result<Synced>> TaskFiles::sync(TaskRecord record, Copies copies) {
    return write_sections(std::move(record), std::move(copies), {});
}

Awaitable<Result<Synced>> TaskFiles::write_sections(TaskRecord record, Copies copies, std::vector<SectionEdit> edits) {
    auto memory = memory_for(record.task.id);
    TaskSync sync(files_, clock_, keeps_displaced_, std::move(memory), std::move(record), std::move(copies));
    co_return co_await sync.run(false, std::move(edits));
}

Awaitable<Result<Synced>> TaskFiles::retire_mirror(TaskRecord record, Copies copies) {
    auto memory = memory_for(record.task.id);
    TaskSync sync(files_, clock_, keeps_displaced_, std::move(memory), std::move(record), std::move(copies));
    co_return co_await sync.run(true);
}

void TaskFiles::forget(const TaskId& id) {
    memories_.erase(id);
}

std::shared_ptr<TaskMemory> TaskFiles::memory_for(const TaskId& id) {
    auto& memory = memories_[id];
    if (!memory) memory = std::make_shared<TaskMemory>();
    return memory;
}

}  // namespace orange::store
