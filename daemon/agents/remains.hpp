#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/async/shared_answer.hpp"
#include "daemon/process/stray_processes.hpp"

namespace orange::agents {

/// Finds the processes that runs have left, by the run in the environment of each process. That needs a scan of every
/// process of the machine. One scan serves all callers that come before it begins. Other coroutines run in between.
class Remains {
  public:
    Remains() : seen_(look) {}

    /// Returns the processes of the run that live at some moment after the call.
    Awaitable<std::vector<process::StrayProcess>> of_run(std::string run);
    /// Returns the number of scans so far.
    std::uint64_t looks() const { return seen_.begun(); }

  private:
    using ByRun = std::map<std::string, std::vector<process::StrayProcess>>;
    static Awaitable<ByRun> look();

    async::SharedAnswer<ByRun> seen_;
};

}  // namespace orange::agents
