#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "daemon/git/worktrees.hpp"
#include "daemon/pool/pool.hpp"

/// What the parts of the pool share; of nobody else's concern.
namespace orange {

namespace pool_parts {

inline std::string workspace_name(const std::string& project, int number) {
    return project + "--" + std::to_string(number);
}

inline bool is_folder(const Path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
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
