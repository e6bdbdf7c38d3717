#pragma once

#include <nlohmann/json.hpp>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/project.hpp"
#include "common/model/record.hpp"

/// JSON of the records, as on disk and over the wire. Reading is tolerant of missing and unknown keys (older and newer
/// versions) and strict about types: a wrong type is an Error that names the key, never an exception.
namespace orange {

using Json = nlohmann::json;

/// Parses one JSON text; an Error says where it breaks. Nesting deeper than `max_depth` is refused.
Result<Json> parse_json(std::string_view text, int max_depth = 64);

/// Of state.json, projects.json and .pool.json; raised where an older Orange would lose what a newer one has written.
inline constexpr int k_schema = 1;

/// An Error, with what to do, for a file of a newer schema: it is not read, so that it is not written either. A file
/// that names none is of the first.
Result<void> check_schema(const Json& json);

/// As compact text. Invalid UTF-8 in strings is replaced, never thrown about.
std::string dump(const Json& json);

Json to_json(const Task& task);
Result<Task> task_from_json(const Json& json);

Json to_json(const Project& project);
Result<Project> project_from_json(const Json& json);

/// Gives a setting a value: its own type in JSON, or a text as people write it ("false"; of `checks` one command, or a
/// list of commands). null: it has none. invalid_argument names the settings or the values that there are.
Result<void> set_setting(ProjectSettings& settings, const std::string& name, const Json& value);

Json to_json(const TaskRecord& record);
Result<TaskRecord> record_from_json(const Json& json);

Json to_json(const HistoryEvent& event);
Result<HistoryEvent> event_from_json(const Json& json);

}  // namespace orange
