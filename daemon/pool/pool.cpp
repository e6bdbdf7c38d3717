#include "daemon/pool/pool.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "daemon/pool/pool_parts.hpp"

/// Who has which workspace: .pool.json, claims, and what is asked of them.
namespace orange {

using namespace pool_parts;

Pool::Pool(FileSystem& files, Git& git, ProcessRunner& processes, async::KeyedMutex& repositories, Path root,
           std::string mark)
    : files_(files),
      git_(git),
      processes_(processes),
      repositories_(repositories),
      root_(std::move(root)),
      workspaces_(repositories.executor()),
      mark_(std::move(mark)) {}

namespace {

struct PoolFile {
    int schema = k_schema;
    std::uint64_t root = 0;
    std::vector<Slot> workspaces;

    template <class V>
    void describe(V& v) {
        v.optional("schema", schema, "of this file");
        v.sparse("root", root, "inode of the folder that it is in");
        v.required("workspaces", workspaces, "all of them");
    }
};

bool is_file_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

/// All workspaces or none: what is left out here would be lost with the next write.
Result<PoolFile> pool_file_from(const std::string& text) {
    TRY(const auto json, parse_json(text));
    TRY(check_schema(json));
    TRY(auto file, read_as<PoolFile>(json, "", UnknownKeys::ignore));
    for (const auto& slot : file.workspaces) {
        const bool fine = check_project_name(slot.project) && slot.number > 0 && slot.number < 1'000'000 &&
                          (!slot.identity || is_file_name(slot.identity->admin));
        if (!fine) return Error(ErrorCode::invalid_argument, "this is no workspace: " + dump(written(slot)));
    }
    return file;
}

}  // namespace

Result<std::map<std::string, Slot>> Pool::read() const {
    const auto file = root_ / ".pool.json";
    std::map<std::string, Slot> slots;
    const auto text = files_.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return slots;
    auto found = text ? pool_file_from(*text) : Result<PoolFile>(text.error());
    if (!found) {
        return Error(ErrorCode::io, file.string() + ": " + found.error().message +
                                        "; mend or remove it, then run: orange workspace gc");
    }
    // A home that was copied, or put back from a backup, has other folders under the same names.
    const bool same = found->root == inode_of(root_);
    for (auto& slot : found->workspaces) {
        if (!same) slot.identity.reset();
        slots[workspace_name(slot.project, slot.number)] = std::move(slot);
    }
    return slots;
}

Result<void> Pool::load() {
    problem_.clear();
    auto slots = read();
    if (!slots) {
        problem_ = slots.error().message;
        return slots.error();
    }
    for (auto& [name, slot] : *slots) slots_.try_emplace(name, std::move(slot));
    return {};
}

Result<void> Pool::check() const {
    TRY(read());
    return {};
}

void Pool::adopt_claims(const std::map<std::string, TaskId>& workspaces) {
    for (const auto& [name, task] : workspaces) {
        const int number = number_in(name);
        if (number <= 0) continue;
        auto& slot = slots_.try_emplace(name, Slot{name.substr(0, name.rfind("--")), number, task}).first->second;
        slot.task = task;
    }
}

Result<void> Pool::write() {
    if (!problem_.empty()) return Error(ErrorCode::io, problem_);
    PoolFile file;
    file.root = inode_of(root_);
    for (const auto& [name, slot] : slots_) file.workspaces.push_back(slot);
    return files_.replace(root_ / ".pool.json", written(file).dump(2) + "\n");
}

Result<std::string> Pool::claim(const Project& project, const TaskId& task) {
    for (const auto& [name, slot] : slots_) {
        if (slot.task == task) return name;
    }
    for (int number = 1; free(project) > 0 && number <= project.pool_size; ++number) {
        const auto name = workspace_name(project.name, number);
        const auto found = slots_.find(name);
        if ((found != slots_.end() && !found->second.task.empty()) || at_work_.contains(name)) continue;
        const auto before = slots_;
        slots_.try_emplace(name, Slot{project.name, number, task}).first->second.task = task;
        if (auto written = write(); !written) {
            slots_ = before;
            return written.error();
        }
        return name;
    }
    const int held = taken(project.name);
    const auto limit = counted(static_cast<std::size_t>(project.pool_size), "workspace");
    return Error(
        ErrorCode::pool_exhausted,
        (held > project.pool_size ? std::to_string(held) + " tasks have workspaces of " + project.name +
                                        ", whose limit is now " + limit + "; it starts when they are fewer"
                                  : "all " + limit + " of " + project.name + " are taken; it starts when one is free") +
            ", or raise the limit: orange project update " + project.name + " --pool-size N");
}

Result<void> Pool::give_back(const std::string& name, const TaskId& task) {
    const auto found = slots_.find(name);
    if (found == slots_.end() || found->second.task != task) return {};
    found->second.task = TaskId{};
    auto written = write();
    if (!written) found->second.task = task;
    return written;
}

TaskId Pool::holder_of(const std::string& name) const {
    const auto found = slots_.find(name);
    return found == slots_.end() ? TaskId{} : found->second.task;
}

/// Those beyond the pool's size too: a pool that was made smaller starts nobody until it is below its size.
int Pool::taken(const std::string& project) const {
    return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [&](const auto& entry) {
        return entry.second.project == project && !entry.second.task.empty();
    }));
}

int Pool::free(const Project& project) const {
    return std::max(0, project.pool_size - taken(project.name));
}

bool Pool::is_idle(const std::string& name) const {
    const auto slot = slots_.find(name);
    return slot != slots_.end() && slot->second.task.empty() && !at_work_.contains(name);
}

bool Pool::has_claim(const TaskId& task) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) { return slot.second.task == task; });
}

std::vector<WorkspaceInfo> Pool::list(const std::optional<std::string>& project) const {
    std::vector<WorkspaceInfo> found;
    for (const auto& [name, slot] : slots_) {
        if (project && slot.project != *project) continue;
        WorkspaceInfo info{name, slot.project, slot.number, path_of(name), slot.task, {}};
        info.busy = at_work_.contains(name);
        if (is_missing(info.path)) {
            info.problem = "its folder is missing; run: orange workspace gc";
        } else if (is_replaced(name)) {
            info.problem = "another folder or a link is in its place; move it away, then run: orange workspace gc";
        }
        found.push_back(std::move(info));
    }
    return found;
}

const std::pair<const std::string, Slot>* Pool::slot_at(const Path& directory) const {
    const auto relative = directory.lexically_normal().lexically_relative(root_);
    if (relative.empty() || *relative.begin() == "..") return nullptr;
    const auto found = slots_.find(relative.begin()->string());
    return found == slots_.end() ? nullptr : &*found;
}

std::optional<TaskId> Pool::task_at(const Path& directory) const {
    const auto* slot = slot_at(directory);
    if (!slot || slot->second.task.empty()) return std::nullopt;
    return slot->second.task;
}

std::optional<std::string> Pool::project_at(const Path& directory) const {
    const auto* slot = slot_at(directory);
    if (!slot) return std::nullopt;
    return slot->second.project;
}

}  // namespace orange
