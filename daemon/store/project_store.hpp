#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// projects.json. A file that cannot be read or parsed is never overwritten: every change is refused with the reason
/// until it is mended; the last good one is kept beside it as projects.json.bak. Edited by hand while the daemon runs,
/// it is read again before the next change.
class ProjectStore {
  public:
    ProjectStore(FileSystem& files, Path file);

    Result<void> load();
    std::vector<Project> list() const;
    const Project* find(const std::string& name) const;
    /// The project whose repository is `root`.
    const Project* at_path(const std::string& root) const;
    Result<void> put(Project project);
    Result<void> remove(const std::string& name);
    /// Takes over what somebody wrote into the file; the Error says why it cannot be used. Writes nothing.
    Result<void> refresh();
    /// Why the file cannot be used; empty where it can.
    const std::string& problem() const { return problem_; }

  private:
    Result<void> write(std::map<std::string, Project> projects);

    FileSystem& files_;
    Path file_;
    std::map<std::string, Project> projects_;
    std::optional<std::string> content_;  ///< of the file, as last read or written; unset: there is none
    std::string problem_;
};

}  // namespace orange::store
