#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/config/paths.hpp"
#include "daemon/rpc/server.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {

/// Keeps a socket for each run that a record has: r/<run>/s in the home (docs/protocol.md, "Who is calling"). The store
/// tells it of each saved task, so a run has its socket before its agent starts, and loses it with the write that
/// removes the run from the record. A daemon that ends leaves the files; the next one listens there again.
///
/// A socket that cannot be made is tried again, and keeps no agent from starting: its calls go to the daemon's socket.
class RunSockets {
  public:
    RunSockets(const Paths& paths, FileSystem& files, store::TaskStore& tasks, rpc::Server& server)
        : paths_(paths), files_(files), tasks_(tasks), server_(server) {}
    ~RunSockets() { tasks_.unobserve(observer_); }
    RunSockets(const RunSockets&) = delete;
    RunSockets& operator=(const RunSockets&) = delete;

    /// Listens for the runs of all loaded tasks, and follows the store from then on. Removes the folders of other runs
    /// if `all_known`: no task could not be read.
    void start(bool all_known);
    /// Creates the sockets that are missing, for whatever reason.
    void check();

    /// The path of the run's socket; empty if it could not be made.
    std::string path_of(const RunId& run) const;
    /// Returns why the last socket could not be created; empty if all exist.
    const std::string& problem() const { return problem_; }

  private:
    void follow(const TaskId& id);
    Result<void> make_missing(const TaskId& id);
    Result<void> open(const TaskId& id, const RunId& run);
    void close(const RunId& run);
    void note(const Result<void>& made);

    const Paths& paths_;
    FileSystem& files_;
    store::TaskStore& tasks_;
    rpc::Server& server_;
    int observer_ = 0;
    std::map<TaskId, std::vector<RunId>> known_;
    std::string problem_;
};

}  // namespace orange
