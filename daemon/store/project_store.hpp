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

/// projects.json. A file that cannot be read or parsed is never overwritten: every change is refused with the reason
/// until the file is repaired. The last good file is kept beside it as projects.json.bak. The monitor calls refresh()
/// when somebody has edited the file; what it said before stays in force while it cannot be used.
class ProjectStore {
  public:
    ProjectStore(FileSystem& files, Path file);

    Result<void> load();
    std::vector<Project> list() const;
    /// The project as it is now. The pointer stays valid, and the project unchanged, as long as the store lives.
    const Project* find(const std::string& name) const;
    /// The project whose repository is `root`.
    const Project* at_path(const std::string& root) const;
    /// Keys of the file that Orange does not know stay in it.
    Result<void> put(Project project);
    Result<void> remove(const std::string& name);
    /// Reads the file again. The Error says why it cannot be used. Writes nothing.
    Result<void> refresh();
    /// Called when refresh(), put() or remove() has found a change that somebody else made to the file.
    void on_edit(std::function<void()> observer) { edited_ = std::move(observer); }
    /// Why the file cannot be used; empty if it can be.
    const std::string& problem() const { return problem_; }

  private:
    using Values = std::map<std::string, Project>;

    Values values() const;
    void replace_all(Values projects);
    Result<void> write(Values projects);

    FileSystem& files_;
    Path file_;
    std::deque<Project> kept_;  ///< all that there were: a coroutine that waits may hold one of them
    std::map<std::string, const Project*> projects_;
    std::map<std::string, Json> unknown_;  ///< of each project: what the file says beyond what Orange knows
    std::optional<std::string> content_;   ///< of the file, as last read or written; unset: there is none
    std::string problem_;
    std::function<void()> edited_ = [] {};
};

}  // namespace orange::store
