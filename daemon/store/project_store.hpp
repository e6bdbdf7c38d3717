#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/json.hpp"
#include "common/model/project.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// The projects, in projects.json. A file that cannot be read or parsed is never overwritten: every change is refused,
/// with the reason, until a person repairs the file; meanwhile its last good contents stay in force. load() copies a
/// good file to projects.json.bak. The monitor calls refresh() when the file was edited.
class ProjectStore {
  public:
    ProjectStore(FileSystem& files, Path file);

    /// Reads the file, and copies it to projects.json.bak if it is good.
    Result<void> load();
    std::vector<Project> list() const;
    /// Returns the project as it is now; null if there is none. The pointer stays valid, and the project unchanged, as
    /// long as the store lives.
    const Project* find(const std::string& name) const;
    /// Returns the project whose repository is `root`; null if there is none.
    const Project* at_path(const std::string& root) const;
    /// Adds or replaces a project, and writes the file. Keys of the file that Orange does not know stay in it.
    Result<void> put(Project project);
    Result<void> remove(const std::string& name);
    /// Reads the file again, and writes nothing. The Error says why the file cannot be used.
    Result<void> refresh();
    /// Sets a function that is called when refresh(), put() or remove() finds an edit of the file from outside.
    void on_edit(std::function<void()> observer) { edited_ = std::move(observer); }
    /// Returns why the file cannot be used; empty if it can be.
    const std::string& problem() const { return problem_; }
    /// Returns true if the problem is the file's content. Otherwise the file could only not be read.
    bool is_broken() const { return is_broken_; }

  private:
    using Values = std::map<std::string, Project>;

    Values values() const;
    void replace_all(Values projects);
    Result<void> write(Values projects);

    FileSystem& files_;
    Path file_;
    std::deque<Project> kept_;  ///< all versions of all projects: a suspended coroutine may hold a pointer to one
    std::map<std::string, const Project*> projects_;
    std::map<std::string, Json> unknown_;  ///< by project: keys of the file that Orange does not know
    std::optional<std::string> content_;   ///< of the file as last read or written; unset: there is no file
    std::string problem_;
    bool is_broken_ = false;
    std::function<void()> edited_ = [] {};
};

}  // namespace orange::store
