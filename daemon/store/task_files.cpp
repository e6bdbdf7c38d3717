#include "daemon/store/task_files.hpp"

#include "daemon/store/task_sync.hpp"

namespace orange::store {

TaskFiles::TaskFiles(FileSystem& files, const Clock& clock, std::chrono::milliseconds keeps_displaced)
    : files_(files), clock_(clock), keeps_displaced_(keeps_displaced) {}

TaskFiles::~TaskFiles() = default;

Awaitable<Result<Synced>> TaskFiles::sync(TaskRecord record, Copies copies) {
    auto memory = memory_for(record.task.id);
    TaskSync sync(files_, clock_, keeps_displaced_, std::move(memory), std::move(record), std::move(copies));
    co_return co_await sync.run(std::nullopt, false);
}

Awaitable<Result<Synced>> TaskFiles::write_section(TaskRecord record, Copies copies, std::string heading,
                                                   std::string text) {
    auto memory = memory_for(record.task.id);
    TaskSync sync(files_, clock_, keeps_displaced_, std::move(memory), std::move(record), std::move(copies));
    std::optional<SectionEdit> edit(std::in_place);
    edit->heading = std::move(heading);
    edit->text = std::move(text);
    co_return co_await sync.run(std::move(edit), false);
}

Awaitable<Result<Synced>> TaskFiles::retire_mirror(TaskRecord record, Copies copies) {
    auto memory = memory_for(record.task.id);
    TaskSync sync(files_, clock_, keeps_displaced_, std::move(memory), std::move(record), std::move(copies));
    co_return co_await sync.run(std::nullopt, true);
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
