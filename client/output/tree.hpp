#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/model/json.hpp"
#include "common/rpc/task_view.hpp"

/// Draws which task waits for which. Pure.
namespace orange::output {

struct TreeTask {
    std::string id;
    std::string short_id;
    std::string status;
    std::string summary;
    std::vector<std::string> blocked_by;  ///< ids
    std::vector<std::string> waits_for;   ///< those of blocked_by that are not done
    std::string parent = {};              ///< id of its parent
    std::string children = {};            ///< "3/5": the number of done sub-tasks
};

/// Returns the tasks that wait for others or are waited for, including tasks known only as blockers, and sub-tasks with
/// their parents, oldest first. `about`: the id of a task; only tasks that are connected with it.
std::vector<TreeTask> tree_of(const std::vector<rpc::TaskView>& tasks, const std::string& about = {});

/// Returns a line for each task below a task that it waits for. Below further ones, its line only refers to the first.
/// A sub-task that waits for no sibling is below its parent. No line is wider than the style, and no task is left out.
std::string tree_page(const std::vector<TreeTask>& tasks, const Style& style);
Json tree_json(const std::vector<TreeTask>& tasks);

}  // namespace orange::output
