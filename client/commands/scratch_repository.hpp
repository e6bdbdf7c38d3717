#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::commands {

/// A git repository with one commit in a temporary folder, for the demo and for trials. The folder exists until
/// remove().
class ScratchRepository {
  public:
    /// Makes the repository. `git` comes from PATH, the user's GIT_* variables are removed, and the repository has its
    /// own identity.
    static Result<ScratchRepository> make();

    const std::filesystem::path& path() const { return path_; }
    /// Returns the log of the default branch as a graph.
    Result<std::string> log() const;
    /// Runs git in the repository, as a person does, and returns what it prints.
    Result<std::string> git(std::vector<std::string> words) const;
    Result<void> remove() const;

  private:
    Result<void> first_commit() const;

    std::filesystem::path folder_;
    std::filesystem::path path_;
};

}  // namespace orange::commands
