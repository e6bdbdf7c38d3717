#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// projects.json. A file that cannot be read or parsed is never overwritten: every change is refused with the reason
/// until it is mended; the last good one is kept beside it as projects.json.bak. Edited by hand while the daemon runs,
/// it is read again before its next use; what it said before stays in force while it cannot be used.
class ProjectStore {
  public:
    ProjectStore(FileSystem& files, Path file);

    Result<void> load();
    std::vector<Project> list();
    /// Stays where it is, with what the project is then, until the next call but one after it was removed.
    const Project* find(const std::string& name);
    /// The project whose repository is `root`.
    const Project* at_path(const std::string& root);
    Result<void> put(Project project);
    Result<void> remove(const std::string& name);
    /// Takes over what somebody wrote into the file; the Error says why it cannot be used. Writes nothing.
    Result<void> refresh();
    /// Why the file cannot be used; empty where it can.
    const std::string& problem() const { return problem_; }

  private:
    void look();
    void note_seen();
    void take(std::map<std::string, Project> projects);
    Result<void> write(std::map<std::string, Project> projects);

    FileSystem& files_;
    Path file_;
    std::map<std::string, Project> projects_;
    std::map<std::string, Project> removed_;  ///< by the last change
    std::optional<FileFacts> seen_;           ///< of the file, before it was last read or after it was written
    std::optional<std::string> content_;      ///< of the file, as last read or written; unset: there is none
    std::string problem_;
};

}  // namespace orange::store
