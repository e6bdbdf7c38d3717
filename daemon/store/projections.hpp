#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::store {

/// Which frontmatters the daemon itself has written for a task, across restarts: the file `.projections` in the task's
/// folder, one hash a line. An agent that writes back a whole TASK.md from an hour ago brings an old one with it; that
/// is refused like everything else, but it is nobody's edit and is not reported as one.
class Projections {
  public:
    Projections(FileSystem& files, const Path& folder) : files_(&files), file_(folder / ".projections") {}

    /// Before it is written to a copy, so that no crash leaves one that is unknown. `frontmatter` without `---` lines.
    Result<void> remember(std::string_view frontmatter);
    Result<bool> is_known(std::string_view frontmatter);

  private:
    Result<void> load();

    FileSystem* files_;
    Path file_;
    bool loaded_ = false;
    std::set<std::string> hashes_;
};

}  // namespace orange::store
