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

/// The processes of runs. A kernel that tells the children of a process is asked for those of the run alone. Elsewhere
/// one look at all processes serves every run for two seconds.
class RunProcesses {
  public:
    using ChildrenOf = std::function<std::optional<std::vector<std::int64_t>>(std::int64_t pid)>;

    RunProcesses() : RunProcesses(process::children_of) {}
    /// Tests choose what the kernel tells.
    explicit RunProcesses(ChildrenOf children_of) : children_of_(std::move(children_of)) {}

    /// The processes below `ancestor`, itself included: a program may sit behind a wrapper of its own.
    std::vector<std::int64_t> family_of(std::int64_t ancestor);

    /// The processor time in milliseconds of all processes of a run.
    std::int64_t cpu_ms_of_all(const AgentRun& run);

    /// Returns the same for the commands that the agent runs. A spinner alone may use more than a third of a processor.
    std::int64_t cpu_ms_of_commands(const AgentRun& run);

  private:
    const std::vector<std::int64_t>& seen_children_of(std::int64_t pid);

    ChildrenOf children_of_;
    std::map<std::int64_t, std::vector<std::int64_t>> seen_;  ///< in the last look at all processes
    std::optional<async::Moment> looked_;                     ///< when that was
};

}  // namespace orange
