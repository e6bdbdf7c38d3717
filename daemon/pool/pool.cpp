#include "daemon/pool/pool.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
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

bool is_identity(const Json& worktree) {
    if (!worktree.is_object() || !worktree.contains("admin") || !worktree.contains("inode")) return false;
    const auto& admin = worktree.at("admin");
    if (!admin.is_string() || !worktree.at("inode").is_number_unsigned()) return false;
    const auto name = admin.get<std::string>();
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

/// All of them or none: what is left out here would be lost with the next write.
Result<std::map<std::string, Pool::Slot>> Pool::slots_from(const Json& entries) {
    std::map<std::string, Slot> slots;
    for (const auto& entry : entries) {
        const auto of = [&](const char* key) {
            const auto found = entry.is_object() ? entry.find(key) : entry.end();
            return found == entry.end() ? Json() : *found;
        };
        const auto project = of("project"), number = of("number"), task = of("task"), worktree = of("worktree");
        const bool fine = project.is_string() && check_project_name(project.get<std::string>()) &&
                          number.is_number_integer() && number.get<std::int64_t>() > 0 &&
                          number.get<std::int64_t>() < 1'000'000 && (task.is_null() || task.is_string()) &&
                          (worktree.is_null() || is_identity(worktree));
        if (!fine) return Error(ErrorCode::invalid_argument, "this is no workspace: " + dump(entry));
        Slot slot{project.get<std::string>(), number.get<int>(), TaskId{}};
        if (!worktree.is_null()) {
            slot.identity =
                git::Identity{worktree.at("admin").get<std::string>(), worktree.at("inode").get<std::uint64_t>()};
        }
        if (task.is_string()) slot.task.value = task.get<std::string>();
        slots[workspace_name(slot.project, slot.number)] = std::move(slot);
    }
    return slots;
}

Result<std::map<std::string, Pool::Slot>> Pool::read() const {
    const auto file = root_ / ".pool.json";
    auto text = files_.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return std::map<std::string, Slot>();
    auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (json) {
        if (auto known = check_schema(*json); !known) json = known.error();
    }
    if (json && !(json->is_object() && json->contains("workspaces") && json->at("workspaces").is_array())) {
        json = Error(ErrorCode::invalid_argument, "\"workspaces\" is missing or no list");
    }
    auto slots = json ? slots_from(json->at("workspaces")) : Result<std::map<std::string, Slot>>(json.error());
    if (slots) {
        // A home that was copied, or put back from a backup, has other folders under the same names.
        const auto root = json->find("root");
        const bool same = root != json->end() && root->is_number_unsigned() && *root == inode_of(root_);
        for (auto& [name, slot] : *slots) {
            if (!same) slot.identity.reset();
        }
        return slots;
    }
    return Error(ErrorCode::io,
                 file.string() + ": " + slots.error().message + "; mend or remove it, then run: orange workspace gc");
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
    Json workspaces = Json::array();
    for (const auto& [name, slot] : slots_) {
        workspaces.push_back({{"name", name},
                              {"project", slot.project},
                              {"number", slot.number},
                              {"task", slot.task.empty() ? Json(nullptr) : Json(slot.task.value)}});
        if (!slot.identity) continue;
        workspaces.back()["worktree"] = {{"admin", slot.identity->admin}, {"inode", slot.identity->inode}};
    }
    Json all = {{"schema", k_schema}, {"workspaces", std::move(workspaces)}};
    if (const auto root = inode_of(root_); root != 0) all["root"] = root;
    return files_.replace(root_ / ".pool.json", all.dump(2) + "\n");
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

const std::pair<const std::string, Pool::Slot>* Pool::slot_at(const Path& directory) const {
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
