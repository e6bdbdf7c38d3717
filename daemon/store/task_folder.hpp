#pragma once

#include <string>
#include <string_view>

#include "common/model/record.hpp"

/// The folder of a task: its name, and the files in it.
namespace orange::store {

inline constexpr const char* k_state = "state.json";
inline constexpr const char* k_task = "TASK.md";
inline constexpr const char* k_history = "history.jsonl";
inline constexpr const char* k_files = "files";  ///< the folder with the files that were given to its agents

/// Returns true if the text may be the name of a task's folder.
bool is_id_safe(std::string_view text);
/// Returns the text of state.json.
std::string state_text(const TaskRecord& record);

}  // namespace orange::store
