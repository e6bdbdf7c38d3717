#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/git/pinned.hpp"

namespace orange {

/// Returns the name of a workspace, which is also the name of its folder: "shop--1".
inline std::string workspace_name(const std::string& project, int number) {
    return project + "--" + std::to_string(number);
}

/// An entry of .pool.json: one workspace.
struct Slot {
    std::string project;
    int number = 0;
    TaskId task;
    std::optional<git::Identity> identity = {};
    std::optional<int> ports = {};
    bool walled = false;

    void describe(auto& v) {
        auto name = workspace_name(project, number);
        v.optional("name", name, "its folder's, which follows from project and number");
        v.required("project", project, "whose workspace it is");
        v.required("number", number, "from 1");
        v.nullable("task", task, "who has it; null: it is free");
        v.sparse("worktree", identity, "what it was when it was made");
        v.sparse("ports", ports, "which range of ports is its own, from 0");
        v.sparse("walled", walled, "an agent in an executor that hides files has worked in it since it was made");
    }
};

/// Records which task has which workspace: in .pool.json, and in a copy in memory that is changed only after the file.
class Claims {
  public:
    /// `root`: the folder of all workspaces.
    Claims(FileSystem& files, Path root) : files_(files), root_(std::move(root)) {}

    /// Reads .pool.json. If it cannot be parsed, every claim fails with the reason; the file is never overwritten.
    Result<void> load();
    /// Returns the error that load() would return. Changes nothing.
    Result<void> check() const;
    /// Claims the workspaces that the tasks name (workspace name → task), even against .pool.json: the tasks are
    /// authoritative.
    void adopt(const std::map<std::string, TaskId>& workspaces);

    /// Claims a workspace and returns its name: the one that the task already has, otherwise the free one with the
    /// lowest number that is not in `busy`. Error pool_exhausted if there is none, io if .pool.json cannot be written.
    Result<std::string> claim(const Project& project, const TaskId& task, const std::set<std::string>& busy);
    Result<void> give_back(const std::string& name, const TaskId& task);

    const std::map<std::string, Slot>& all() const { return slots_; }
    const Slot* find(const std::string& name) const;
    /// Returns the names of a project's workspaces.
    std::vector<std::string> of(const std::string& project) const;
    std::optional<git::Identity> identity_of(const std::string& name) const;
    /// Returns the index of the workspace's range of ports: unique, and constant as long as the workspace is in the
    /// pool.
    std::optional<int> ports_of(const std::string& name) const;
    /// Returns the task that has the workspace; empty if it is free.
    TaskId holder_of(const std::string& name) const;
    std::optional<std::string> workspace_of(const TaskId& task) const;
    /// Returns the workspace that contains `directory`; null if none does.
    const Slot* at(const Path& directory) const;
    /// Returns how many more tasks can get a workspace now: the pool's size minus all taken workspaces, including those
    /// that are beyond the size because the pool was made smaller.
    int free(const Project& project) const;

    /// Adds a workspace in memory; the next write() saves it.
    void add(const std::string& project, const std::string& name);
    void erase(const std::string& name) { slots_.erase(name); }
    void set_identity(const std::string& name, std::optional<git::Identity> identity);
    bool is_walled(const std::string& name) const;
    void set_walled(const std::string& name, bool walled);
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
