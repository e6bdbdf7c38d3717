#pragma once

#include <nlohmann/json.hpp>

#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/project.hpp"
#include "common/model/record.hpp"

/// The JSON of the records, on disk and over the wire. Reading accepts missing and unknown keys of older and newer
/// versions, and is strict about types: a wrong type is an Error that names the key, never an exception.
namespace orange {

using Json = nlohmann::json;

/// Parses a JSON text; an Error says where it is invalid. Nesting deeper than `max_depth` is refused.
Result<Json> parse_json(std::string_view text, int max_depth = 64);

/// The schema of state.json, projects.json and .pool.json. The number is raised if an older Orange would lose data that
/// a newer one writes.
inline constexpr int k_schema = 1;
/// The schema of a state.json that restricts the task's agents (an executor, permissions): an Orange that does not know
/// restrictions, or not these, must not start them without.
inline constexpr int k_restricting_schema = 2;

/// Returns an Error, with the way out, for a file of a newer schema: such a file is not read, so that it is not
/// overwritten either. A file without a schema has schema 1.
Result<void> check_schema(const Json& json, int newest = k_schema);

/// Returns compact text. Invalid UTF-8 in strings is replaced; nothing is thrown.
std::string dump(const Json& json);

/// Returns the text of a member; empty if there is no such member, or if it is no text.
std::string text_member(const Json& object, const std::string& name);

Json to_json(const Task& task);
Result<Task> task_from_json(const Json& json);

Json to_json(const Project& project);
Result<Project> project_from_json(const Json& json);

/// Sets a setting: in its own JSON type, or as text in the form that people write ("false"; for `checks` one command or
/// a list of commands). null removes the value. invalid_argument names the known settings or values.
Result<void> set_setting(ProjectSettings& settings, const std::string& name, const Json& value);

Json to_json(const TaskRecord& record);
Result<TaskRecord> record_from_json(const Json& json);

/// Sets every time of the record that is later than `now` to `now`: the clock was wrong when it was noted. Returns true
/// if there was one. A record notes only what has happened.
bool end_times_at(TaskRecord& record, Timestamp now);

Json to_json(const HistoryEvent& event);
Result<HistoryEvent> event_from_json(const Json& json);

}  // namespace orange
