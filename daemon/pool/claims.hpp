#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/git/pinned.hpp"

namespace orange {

inline std::string workspace_name(const std::string& project, int number) {
    return project + "--" + std::to_string(number);
}

/// A workspace of .pool.json.
struct Slot {
    std::string project;
    int number = 0;
    TaskId task;
    std::optional<git::Identity> identity = {};
    std::optional<int> ports = {};

    template <class V>
    void describe(V& v) {
        auto name = workspace_name(project, number);
        v.optional("name", name, "its folder's, which follows from project and number");
        v.required("project", project, "whose workspace it is");
        v.required("number", number, "from 1");
        v.nullable("task", task, "who has it; null: it is free");
        v.sparse("worktree", identity, "what it was when it was made");
        v.sparse("ports", ports, "which range of ports is its own, from 0");
    }
};

/// Who has which workspace: .pool.json, and a copy of it in memory, which is changed only after the disk was.
class Claims {
  public:
    /// `root`: the folder of all workspaces.
    Claims(FileSystem& files, Path root) : files_(files), root_(std::move(root)) {}

    /// Reads .pool.json. A file that cannot be parsed refuses every claim with the reason; it is never overwritten.
    Result<void> load();
    /// Whether load() would succeed. Changes nothing.
    Result<void> check() const;
    /// Whatever .pool.json says: the tasks are right.
    void adopt(const std::map<std::string, TaskId>& workspaces);

    /// The workspace that the task has, else the lowest that is free and not `busy`. pool_exhausted if there is none.
    Result<std::string> claim(const Project& project, const TaskId& task, const std::set<std::string>& busy);
    Result<void> give_back(const std::string& name, const TaskId& task);

    const std::map<std::string, Slot>& all() const { return slots_; }
    const Slot* find(const std::string& name) const;
    std::optional<git::Identity> identity_of(const std::string& name) const;
    /// The number of its range of ports, which no other workspace has and which stays as long as it is in the pool.
    std::optional<int> ports_of(const std::string& name) const;
    /// Empty: nobody.
    TaskId holder_of(const std::string& name) const;
    std::optional<std::string> workspace_of(const TaskId& task) const;
    /// The workspace that `directory` is in.
    const Slot* at(const Path& directory) const;
    /// How many more tasks could have a workspace now: the pool's size less all that are taken, those too that a
    /// larger pool has left over.
    int free(const Project& project) const;

    /// An entry of its own for a workspace; in .pool.json with the next write().
    void add(const std::string& project, const std::string& name);
    void erase(const std::string& name) { slots_.erase(name); }
    void set_identity(const std::string& name, std::optional<git::Identity> identity);
    Result<void> write();

  private:
    Result<std::map<std::string, Slot>> read() const;
    int taken(const std::string& project) const;
    void give_ports();

    FileSystem& files_;
    Path root_;
    std::map<std::string, Slot> slots_;  ///< by workspace name
    std::string problem_;                ///< why .pool.json cannot be used
};

}  // namespace orange
