#include "daemon/pool/pool.hpp"

namespace orange {

Pool::Pool(FileSystem& files, Git& git, ProcessRunner& processes, async::KeyedMutex& repositories, Path root,
           std::string mark)
    : files_(files),
      git_(git),
      processes_(processes),
      repositories_(repositories),
      root_(std::move(root)),
      claims_(files, root_),
      workspaces_(repositories.executor()),
      mark_(std::move(mark)),
      keepings_(git_, repositories.executor(),
                [this](const Keeping& keeping) { tell_keeping_(claims_.holder_of(keeping.workspace), keeping); }) {}

const Keeping* Pool::keeping(const TaskId& task) const {
    if (keepings_.empty()) return nullptr;  // a fast path: lists ask for each task
    const auto workspace = claims_.workspace_of(task);
    return workspace ? keepings_.of(*workspace) : nullptr;
}

bool Pool::is_idle(const std::string& name) const {
    const auto* slot = claims_.find(name);
    return slot && slot->task.empty() && !in_use_.contains(name);
}

std::vector<WorkspaceInfo> Pool::list(const std::optional<std::string>& project) const {
    std::vector<WorkspaceInfo> found;
    for (const auto& [name, slot] : claims_.all()) {
        if (project && slot.project != *project) continue;
        WorkspaceInfo info{name, slot.project, slot.number, path_of(name), slot.task, {}};
        info.busy = in_use_.contains(name);
        if (is_missing(files_, info.path)) {
            info.problem = "its folder is missing; run: orange workspace gc";
        } else if (is_replaced(name)) {
            info.problem = "another folder or a link is in its place; move it away, then run: orange workspace gc";
        }
        found.push_back(std::move(info));
    }
    return found;
}

std::optional<TaskId> Pool::task_at(const Path& directory) const {
    const auto* slot = claims_.at(directory);
    if (!slot || slot->task.empty()) return std::nullopt;
    return slot->task;
}

std::optional<std::string> Pool::project_at(const Path& directory) const {
    const auto* slot = claims_.at(directory);
    if (!slot) return std::nullopt;
    return slot->project;
}

}  // namespace orange
