#include "daemon/pool/claims.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "common/base/shortage.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"

namespace orange {
namespace {

/// Returns 0 if the text is not the name of a workspace.
int number_in(const std::string& workspace) {
    const auto dashes = workspace.rfind("--");
    int number = 0;
    if (dashes == std::string::npos) return number;
    std::from_chars(workspace.data() + dashes + 2, workspace.data() + workspace.size(), number);
    return number;
}

/// Returns 0 if the path does not exist.
std::uint64_t inode_of(const Path& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::uint64_t{facts.st_ino} : 0;
}

struct PoolFile {
    int schema = k_schema;
    std::uint64_t root = 0;
    std::vector<Slot> workspaces;

    void describe(auto& v) {
        v.optional("schema", schema, "of this file");
        v.sparse("root", root, "inode of the folder that it is in");
        v.required("workspaces", workspaces, "all of them");
    }
};

bool is_file_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

/// Returns all workspaces, or an error if one entry is invalid: a skipped entry would be lost at the next write.
Result<PoolFile> pool_file_from(const std::string& text) {
    TRY(const auto json, parse_json(text));
    TRY(check_schema(json));
    TRY(auto file, read_as<PoolFile>(json, "", UnknownKeys::ignore));
    for (const auto& slot : file.workspaces) {
        const bool fine = check_project_name(slot.project) && slot.number > 0 && slot.number < 1'000'000 &&
                          slot.ports.value_or(0) >= 0 && (!slot.identity || is_file_name(slot.identity->admin));
        if (!fine) return Error(ErrorCode::invalid_argument, "this is not a workspace: " + dump(written(slot)));
    }
    return file;
}

}  // namespace

Result<std::map<std::string, Slot>> Claims::read() const {
    const auto file = root_ / ".pool.json";
    std::map<std::string, Slot> slots;
    const auto text = files_.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return slots;
    if (!text) {  // that says nothing about its content
        const auto shortage = shortage_in(text.error());
        return shortage ? Error(ErrorCode::io, text.error().message + ". " + shortage->advice) : text.error();
    }
    auto found = pool_file_from(*text);
    if (!found) {
        return Error(ErrorCode::io, file.string() + ": " + found.error().message +
                                        "; repair or remove it, then run\n  orange workspace gc");
    }
    // A home that was copied or restored from a backup has other folders with the same names.
    const bool same = found->root == inode_of(root_);
    for (auto& slot : found->workspaces) {
        if (!same) slot.identity.reset();
        slots[workspace_name(slot.project, slot.number)] = std::move(slot);
    }
    return slots;
}

Result<void> Claims::load() {
    problem_.clear();
    auto slots = read();
    if (!slots) {
        problem_ = slots.error().message;
        return slots.error();
    }
    for (auto& [name, slot] : *slots) {
        const auto [known, is_new] = slots_.try_emplace(name, slot);
        if (is_new || known->second.identity) continue;
        slot.task = known->second.task;  // adopt() knew only that while the file could not be read
        known->second = std::move(slot);
    }
    give_ports();
    return {};
}

Result<void> Claims::check() const {
    TRY(read());
    return {};
}

void Claims::adopt(const std::map<std::string, TaskId>& workspaces) {
    for (const auto& [name, task] : workspaces) {
        const int number = number_in(name);
        if (number <= 0) continue;
        auto& slot = slots_.try_emplace(name, Slot{name.substr(0, name.rfind("--")), number, task}).first->second;
        slot.task = task;
    }
    give_ports();
}

/// Gives the lowest free range to each workspace without one.
void Claims::give_ports() {
    std::set<int> taken;
    for (const auto& [name, slot] : slots_) taken.insert(slot.ports.value_or(-1));
    int next = 0;
    for (auto& [name, slot] : slots_) {
        if (slot.ports) continue;
        while (taken.contains(next)) ++next;
        slot.ports = next++;
    }
}

Result<void> Claims::write() {
    if (!problem_.empty()) return Error(ErrorCode::io, problem_);
    give_ports();
    PoolFile file;
    file.root = inode_of(root_);
    for (const auto& [name, slot] : slots_) file.workspaces.push_back(slot);
    return files_.replace(root_ / ".pool.json", written(file).dump(2) + "\n");
}

Result<std::string> Claims::claim(const Project& project, const TaskId& task, const std::set<std::string>& busy) {
    if (!problem_.empty()) TRY(load());  // it may be repaired, or readable again
    if (auto name = workspace_of(task)) return *name;
    for (int number = 1; free(project) > 0 && number <= project.pool_size; ++number) {
        const auto name = workspace_name(project.name, number);
        const auto found = slots_.find(name);
        if ((found != slots_.end() && !found->second.task.empty()) || busy.contains(name)) continue;
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
    auto message = held > project.pool_size ? std::to_string(held) + " tasks have workspaces of " + project.name +
                                                  ", whose limit is now " + limit
                                            : "all " + limit + " of " + project.name + " are in use";
    const auto command = project.command_for_more_room();
    message += command.empty()
                   ? ". To see by which tasks:\n  orange workspace list"
                   : ". To see by which tasks, or to allow one more:\n  orange workspace list\n  " + command;
    return Error(ErrorCode::pool_exhausted, std::move(message));
}

Result<void> Claims::give_back(const std::string& name, const TaskId& task) {
    const auto found = slots_.find(name);
    if (found == slots_.end() || found->second.task != task) return {};
    found->second.task = TaskId{};
    auto written = write();
    if (!written) found->second.task = task;
    return written;
}

TaskId Claims::holder_of(const std::string& name) const {
    const auto* slot = find(name);
    return slot ? slot->task : TaskId{};
}

/// Includes workspaces beyond the pool's size: after a reduction no task starts until fewer are taken than the new
/// size.
int Claims::taken(const std::string& project) const {
    return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [&](const auto& entry) {
        return entry.second.project == project && !entry.second.task.empty();
    }));
}

int Claims::free(const Project& project) const {
    return std::max(0, project.pool_size - taken(project.name));
}

std::vector<std::string> Claims::of(const std::string& project) const {
    std::vector<std::string> names;
    for (const auto& [name, slot] : slots_) {
        if (slot.project == project) names.push_back(name);
    }
    return names;
}

const Slot* Claims::find(const std::string& name) const {
    const auto found = slots_.find(name);
    return found == slots_.end() ? nullptr : &found->second;
}

std::optional<git::Identity> Claims::identity_of(const std::string& name) const {
    const auto* slot = find(name);
    return slot ? slot->identity : std::nullopt;
}

std::optional<int> Claims::ports_of(const std::string& name) const {
    const auto* slot = find(name);
    return slot ? slot->ports : std::nullopt;
}

std::optional<std::string> Claims::workspace_of(const TaskId& task) const {
    for (const auto& [name, slot] : slots_) {
        if (slot.task == task) return name;
    }
    return std::nullopt;
}

const Slot* Claims::at(const Path& directory) const {
    const auto relative = directory.lexically_normal().lexically_relative(root_);
    if (relative.empty() || *relative.begin() == "..") return nullptr;
    return find(relative.begin()->string());
}

void Claims::add(const std::string& project, const std::string& name) {
    slots_.try_emplace(name, Slot{project, number_in(name), {}});
}

void Claims::set_identity(const std::string& name, std::optional<git::Identity> identity) {
    if (const auto found = slots_.find(name); found != slots_.end()) found->second.identity = std::move(identity);
}

bool Claims::is_walled(const std::string& name) const {
    const auto* slot = find(name);
    return slot && slot->walled;
}

void Claims::set_walled(const std::string& name, bool walled) {
    if (const auto found = slots_.find(name); found != slots_.end()) found->second.walled = walled;
}

}  // namespace orange
