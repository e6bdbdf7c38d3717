#pragma once

#include <asio/any_io_executor.hpp>
#include <set>

#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// Removes what posix::Remover has put aside, with `orange-agent --remove`: one child at a time, beside all other work.
/// A child that does not end within ten minutes is started again at the next sweep. What it could not remove is logged
/// once and left for the next daemon.
class Sweeper {
  public:
    Sweeper(asio::any_io_executor executor, FileSystem& files, ProcessRunner& processes, Path program)
        : executor_(std::move(executor)), files_(files), processes_(processes), program_(std::move(program)) {}

    /// Removes everything in `place` soon, and then the empty folder.
    void sweep(Path place);

  private:
    Awaitable<void> run();
    Awaitable<bool> empty(Path place);

    asio::any_io_executor executor_;
    FileSystem& files_;
    ProcessRunner& processes_;
    Path program_;
    std::set<Path> due_, stuck_;
    bool is_running_ = false;
};

}  // namespace orange
