#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/output/row.hpp"

/// The order of a list in which sub-tasks stand below their task. Pure.
namespace orange::output {

struct Member {
    std::size_t at = 0;     ///< place in the list that came
    std::size_t depth = 0;  ///< 1: a sub-task that stands below its task
};

/// All of `tasks`, in their order, but for sub-tasks that need nobody: each of these stands below its task, if that is
/// in the list. What needs its human keeps its place.
std::vector<Member> families(const std::vector<const Row*>& tasks);

/// "3/5": how many of its sub-tasks are done; empty if it has none.
std::string children_count(const rpc::TaskView& task);

}  // namespace orange::output
