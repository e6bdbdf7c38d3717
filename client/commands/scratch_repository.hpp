#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::commands {

/// A git repository with one commit in a temporary folder of its own, for the demo. The folder stays until remove().
class ScratchRepository {
  public:
    /// `git` comes from PATH; the user's GIT_* environment stays out, and the identity is the repository's own.
    static Result<ScratchRepository> make();

    const std::filesystem::path& path() const { return path_; }
    /// Its log as a graph, the default branch's.
    Result<std::string> log() const;
    Result<void> remove() const;

  private:
    Result<std::string> git(std::vector<std::string> words) const;
    Result<void> first_commit() const;

    std::filesystem::path folder_;
    std::filesystem::path path_;
};

}  // namespace orange::commands
