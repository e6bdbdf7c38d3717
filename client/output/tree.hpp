#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/model/json.hpp"
#include "common/rpc/task_view.hpp"

/// Which task waits for which, drawn. Pure.
namespace orange::output {

struct TreeTask {
    std::string id;
    std::string short_id;
    std::string status;
    std::string summary;
    std::vector<std::string> blocked_by;  ///< ids
    std::vector<std::string> waits_for;   ///< those of them that are not done
    std::string parent = {};              ///< id of the task that it is a part of
    std::string children = {};            ///< "3/5": how many of its sub-tasks are done
};

/// The tasks that wait for others or are waited for, also those that are known only as somebody's blockers, and
/// sub-tasks with their tasks, oldest first. With `about`, an id: those alone that are connected with it.
std::vector<TreeTask> tree_of(const std::vector<rpc::TaskView>& tasks, const std::string& about = {});

/// A line for each task, below one that it waits for; below further ones its line only says that it stands above. A
/// sub-task that waits for none of its siblings stands below its task.
/// Whatever is drawn, no line is wider than the style, and no task is left out.
std::string tree_page(const std::vector<TreeTask>& tasks, const Style& style);
Json tree_json(const std::vector<TreeTask>& tasks);

}  // namespace orange::output
