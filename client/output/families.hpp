#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/output/row.hpp"

/// Orders a list so that sub-tasks follow their parents. Pure.
namespace orange::output {

struct Member {
    std::size_t at = 0;     ///< place in the original list
    std::size_t depth = 0;  ///< 1: a sub-task below its parent
};

/// Returns all of `tasks` in their order, with each sub-task that needs no human below its parent, if that is in the
/// list. Tasks that need their human keep their place.
std::vector<Member> families(const std::vector<const Row*>& tasks);

/// Returns "3/5", the number of done sub-tasks; empty if the task has none.
std::string children_count(const rpc::TaskView& task);

}  // namespace orange::output
