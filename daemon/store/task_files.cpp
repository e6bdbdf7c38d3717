#include "daemon/store/task_files.hpp"

#include "daemon/store/task_sync.hpp"

/// How TASK.md is shared with everybody who edits it.
///
/// There is no lock that editors would honour, so nothing is prevented; whatever happened is found out and brought
/// together. A call goes through four steps (TaskSync):
///
/// 1. Look: read both copies, with a little patience for whoever is saving at this moment.
/// 2. Decide what the body is now. A copy is news where it differs from what it was known to show. News of one copy
///    are taken over; of both, the newer stays and the other is kept as a file.
/// 3. Write the copies that are not right: exchange the new text in, then read what that displaced. It is what had
///    been read, or somebody was faster: then his change is merged in and the step repeats.
/// 4. Settle: a displaced file has no name that anybody knows, but whoever opened it before can still write to it. It
///    is read again until nobody has it open, and only then removed.
///
/// One more race cannot be seen on the disk: an editor that read the file before a body was merged into it writes back
/// what it made of the older text. So the bodies that each copy showed within the last seconds are remembered, and news
/// are merged against the one that they were most likely made from: lines that were merged in meanwhile stay.
namespace orange::store {

TaskFiles::TaskFiles(FileSystem& files, ProcessRunner& processes, const Clock& clock,
                     std::chrono::milliseconds keeps_displaced)
    : files_(files), processes_(processes), clock_(clock), keeps_displaced_(keeps_displaced) {}

TaskFiles::~TaskFiles() = default;

Awaitable<Result<Synced>> TaskFiles::sync(TaskRecord record, Copies copies) {
    auto memory = memory_for(record.task.id, copies);
    TaskSync sync(files_, processes_, clock_, keeps_displaced_, std::move(memory), std::move(record),
                  std::move(copies));
    co_return co_await sync.run(std::nullopt, false);
}

Awaitable<Result<Synced>> TaskFiles::write_section(TaskRecord record, Copies copies, std::string heading,
                                                   std::string text) {
    auto memory = memory_for(record.task.id, copies);
    TaskSync sync(files_, processes_, clock_, keeps_displaced_, std::move(memory), std::move(record),
                  std::move(copies));
    std::optional<SectionEdit> edit(std::in_place);
    edit->heading = std::move(heading);
    edit->text = std::move(text);
    co_return co_await sync.run(std::move(edit), false);
}

Awaitable<Result<Synced>> TaskFiles::retire_mirror(TaskRecord record, Copies copies) {
    auto memory = memory_for(record.task.id, copies);
    TaskSync sync(files_, processes_, clock_, keeps_displaced_, std::move(memory), std::move(record),
                  std::move(copies));
    co_return co_await sync.run(std::nullopt, true);
}

void TaskFiles::forget(const TaskId& id) {
    memories_.erase(id);
}

std::shared_ptr<TaskMemory> TaskFiles::memory_for(const TaskId& id, const Copies& copies) {
    auto& memory = memories_[id];
    if (!memory) memory = std::make_shared<TaskMemory>(Projections(files_, copies.own.parent_path()));
    return memory;
}

}  // namespace orange::store
