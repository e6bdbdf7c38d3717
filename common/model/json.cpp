#include "common/model/json.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/model/record_fields.hpp"

namespace orange {
namespace {

template <class T>
Result<T> from_file(const Json& json, const char* what) {
    auto read = read_as<T>(json, "", UnknownKeys::ignore);
    if (!read) return in_context(what, read.error());
    return read;
}

/// Makes the error for a missing field, for example "name" of a project.
Error without(const char* what, const char* field) {
    return {ErrorCode::invalid_argument, std::string(what) + ": \"" + field + "\" is missing"};
}

constexpr const char* k_fields = "fields";

/// Returns the members of `json` whose names a T does not have.
template <class T>
Json beyond(const Json& json) {
    static const auto known = schema_of<T>().at("properties");
    Json more = Json::object();
    for (const auto& [key, value] : json.items()) {
        if (!known.contains(key)) more[key] = value;
    }
    return more;
}

/// Returns what a newer Orange has written in a state.json and this one does not know, as JSON; else an empty text.
std::string unknown_in(const Json& json) {
    auto more = beyond<TaskRecord>(json);
    more.erase("schema");
    if (const auto fields = json.find(k_fields); fields != json.end() && fields->is_object()) {
        if (auto inner = beyond<Task>(*fields); !inner.empty()) more[k_fields] = std::move(inner);
    }
    return more.empty() ? std::string() : dump(more);
}

class TimeLimit : public FieldVisitor<TimeLimit> {
  public:
    explicit TimeLimit(Timestamp now) : now_(now) {}
    void field(const char*, auto& member, const char*, Presence) { visit(member); }
    void counter(const char*, const detail::Counters&, const char*) {}
    void counters(const char*, const detail::Counters&, const char*) {}
    bool found() const { return found_; }

  private:
    template <class T>
    void visit(T& value) {
        if constexpr (std::is_same_v<T, Timestamp>) {
            if (value <= now_) return;
            value = now_;
            found_ = true;
        } else if constexpr (detail::Optional<T>) {
            if (value) visit(*value);
        } else if constexpr (detail::List<T>) {
            for (auto& each : value) visit(each);
        } else if constexpr (detail::Described<T>) {
            value.describe(*this);
        }
    }

    Timestamp now_;
    bool found_ = false;
};

struct FieldNames : FieldVisitor<FieldNames> {
    template <class T>
    void field(const char* name, const T&, const char*, Presence) {
        all.push_back({name, false});
    }
    void counter(const char* name, const detail::Counters&, const char*) { all.push_back({name, true, true}); }
    void own_counter(const char* name, const detail::Counters&, const char*) { all.push_back({name, true}); }
    void counters(const char*, const detail::Counters&, const char*) {}
    std::vector<FrontmatterField> all;
};

/// Checks the depth of a JSON text. nlohmann's parser does not recurse, but code that uses the result does, and so do
/// its destructors.
bool deeper_than(std::string_view text, int max_depth) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, int max_depth) {
    if (deeper_than(text, max_depth)) {
        return {ErrorCode::invalid_argument, "JSON nested deeper than " + std::to_string(max_depth) + " levels"};
    }
    if (text.find('\0') != std::string_view::npos) {  // the parser would take it for the end
        return {ErrorCode::invalid_argument, "not valid JSON: it contains a NUL byte"};
    }
    try {
        return Json::parse(text);
    } catch (const Json::exception& e) {
        return {ErrorCode::invalid_argument, std::string("not valid JSON: ") + e.what()};
    }
}

Result<void> check_schema(const Json& json, int newest) {
    const auto found = json.is_object() ? json.find("schema") : json.end();
    if (!json.is_object() || found == json.end()) return {};
    if (!found->is_number_integer()) return {ErrorCode::invalid_argument, "\"schema\" is not a number"};
    const auto schema = found->get<std::int64_t>();
    if (schema <= newest) return {};
    return {ErrorCode::conflict, "it was written by a newer Orange (schema " + std::to_string(schema) +
                                     ", this one knows " + std::to_string(newest) +
                                     ") and stays unchanged; upgrade orange"};
}

std::string text_member(const Json& object, const std::string& name) {
    if (!object.is_object() || !object.contains(name) || !object.at(name).is_string()) return {};
    return object.at(name).get<std::string>();
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Error> detail::FieldReader::finish() {
    if (error_ || unknown_ == UnknownKeys::ignore) return error_;
    for (const auto& [key, value] : json_.items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        fail("unknown " + called(where_ + key, unknown_) +
             "; known: " + (known_.empty() ? "none" : join(known_, ", ")));
        break;
    }
    return error_;
}

template Result<Task> read_as<Task>(const Json&, const std::string&, UnknownKeys);
template Json written<Task>(const Task&);
template Json schema_of<Task>();

const std::vector<FrontmatterField>& frontmatter_fields() {
    static const auto all = [] {
        FieldNames names;
        Task().describe_frontmatter(names);
        return names.all;
    }();
    return all;
}

Json to_json(const Task& task) {
    return written(task);
}

Result<Task> task_from_json(const Json& json) {
    return from_file<Task>(json, "task");
}

Json to_json(const Project& project) {
    return written(project);
}

Result<Project> project_from_json(const Json& json) {
    TRY(auto project, from_file<Project>(json, "project"));
    if (project.name.empty()) return without("project", "name");
    if (project.path.empty()) return without("project", "path");
    TRY(check_settings(project.settings));
    return project;
}

Json to_json(const TaskRecord& record) {
    auto json = written(record);
    const bool restricts = !record.task.executor.empty() || record.task.permissions;
    json["schema"] = restricts ? k_restricting_schema : k_schema;
    if (record.unknown.empty()) return json;
    const auto more = parse_json(record.unknown);
    if (!more) return json;
    for (const auto& [key, value] : more->items()) {
        if (key == k_fields) {
            json[k_fields].update(value);
        } else {
            json[key] = value;
        }
    }
    return json;
}

bool end_times_at(TaskRecord& record, Timestamp now) {
    TimeLimit limit(now);
    record.describe(limit);
    record.task.describe(limit);
    return limit.found();
}

Result<TaskRecord> record_from_json(const Json& json) {
    TRY(check_schema(json, k_restricting_schema));
    TRY(auto record, from_file<TaskRecord>(json, "state.json"));
    record.unknown = unknown_in(json);
    return record;
}

Json to_json(const HistoryEvent& event) {
    auto json = written(event);
    for (const auto& [key, value] : event.fields) {
        std::visit([&, name = key](const auto& scalar) { json[name] = scalar; }, value);
    }
    return json;
}

Result<HistoryEvent> event_from_json(const Json& json) {
    TRY(auto event, from_file<HistoryEvent>(json, "history event"));
    if (event.type.empty()) return without("history event", "type");
    for (const auto& [key, value] : json.items()) {
        if (key == "type" || key == "timestamp") continue;
        if (value.is_string()) event.fields[key] = value.get<std::string>();
        if (value.is_number_integer()) event.fields[key] = value.get<std::int64_t>();
        if (value.is_boolean()) event.fields[key] = value.get<bool>();
    }
    return event;
}

}  // namespace orange
