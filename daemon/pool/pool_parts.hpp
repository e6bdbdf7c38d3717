#pragma once

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "daemon/git/worktrees.hpp"
#include "daemon/pool/pool.hpp"

/// What the parts of the pool share; of nobody else's concern.
namespace orange {

namespace pool_parts {

/// 0 where it is no workspace's name.
inline int number_in(const std::string& workspace) {
    const auto dashes = workspace.rfind("--");
    int number = 0;
    if (dashes == std::string::npos) return number;
    std::from_chars(workspace.data() + dashes + 2, workspace.data() + workspace.size(), number);
    return number;
}

/// Not a link to one: what that leads to is somebody else's.
inline bool is_folder(const Path& path) {
    std::error_code error;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

/// 0 where there is none.
inline std::uint64_t inode_of(const Path& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::uint64_t{facts.st_ino} : 0;
}

/// Nothing at all has that name.
inline bool is_missing(const Path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
}

}  // namespace pool_parts

/// Marks a workspace as being worked on, for as long as it lives.
class Pool::AtWork {
  public:
    AtWork(Pool& pool, std::string name) : pool_(pool), name_(std::move(name)) { pool_.at_work_.insert(name_); }
    ~AtWork() { pool_.at_work_.erase(name_); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

  private:
    Pool& pool_;
    std::string name_;
};

/// Lets an acquire be stopped, for as long as it lives.
class Pool::Stoppable {
  public:
    Stoppable(Pool& pool, TaskId task) : pool_(pool), task_(std::move(task)) {
        pool_.stops_[task_] = std::make_shared<Stop>();
    }
    ~Stoppable() { pool_.stops_.erase(task_); }
    Stoppable(const Stoppable&) = delete;
    Stoppable& operator=(const Stoppable&) = delete;

  private:
    Pool& pool_;
    TaskId task_;
};

}  // namespace orange
