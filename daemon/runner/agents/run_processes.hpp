#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/async/time.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange {

/// The processes of runs. If the kernel reports the children of a process, only those of the run are read. Otherwise
/// one scan of all processes serves every run for two seconds.
class RunProcesses {
  public:
    using ChildrenOf = std::function<std::optional<std::vector<std::int64_t>>(std::int64_t pid)>;

    RunProcesses() : RunProcesses(process::children_of) {}
    /// Tests choose what the kernel reports.
    explicit RunProcesses(ChildrenOf children_of) : children_of_(std::move(children_of)) {}

    /// Returns the processes below `ancestor`, including itself: a program may run behind a wrapper of its own.
    std::vector<std::int64_t> family_of(std::int64_t ancestor);

    /// Returns the processor time of all processes of a run, in milliseconds.
    std::int64_t cpu_ms_of_all(const AgentRun& run);

    /// Returns the processor time of the commands that the agent runs, in milliseconds. The program itself does not
    /// count, since a spinner alone may use more than a third of a processor.
    std::int64_t cpu_ms_of_commands(const AgentRun& run);

  private:
    const std::vector<std::int64_t>& seen_children_of(std::int64_t pid);

    ChildrenOf children_of_;
    std::map<std::int64_t, std::vector<std::int64_t>> seen_;  ///< children by parent, in the last scan
    std::optional<async::Moment> looked_;                     ///< when the last scan was
};

}  // namespace orange
