#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/async/shared_answer.hpp"
#include "daemon/process/leftovers.hpp"

namespace orange::agents {

/// What runs have left running, by the run in the environment of each process. To know it, one has to look at every
/// process of the machine. One look serves all who ask before it begins, and lets others run in between.
class Remains {
  public:
    Remains() : seen_(look) {}

    /// As they are at some moment after the call.
    Awaitable<std::vector<process::Leftover>> of_run(std::string run);
    /// How many looks there were.
    std::uint64_t looks() const { return seen_.begun(); }

  private:
    using ByRun = std::map<std::string, std::vector<process::Leftover>>;
    static Awaitable<ByRun> look();

    async::SharedAnswer<ByRun> seen_;
};

}  // namespace orange::agents
