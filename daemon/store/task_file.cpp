#include "daemon/store/task_file.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "daemon/yaml/node.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_largest_frontmatter = 64 << 10;
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

bool is_fence(std::string_view line) {
    return line.starts_with("---") && trim(line.substr(3)).empty();
}

/// The value of a field in YAML; nothing means null.
using Value = std::optional<std::string>;
using Counters = std::map<std::string, std::int64_t>;

struct Field {
    std::string name;
    Value value;
    bool is_plain = false;     ///< a number or time that Orange wrote, which needs no quotes
    bool is_left_out = false;  ///< an empty field, which has no line
};

/// Returns a list of ids between brackets, for comparing and writing. Ids need no quotes.
std::string list_text(const std::vector<TaskId>& ids) {
    std::vector<std::string> texts;
    for (const auto& id : ids) texts.push_back(yaml::scalar_text(id.value));
    return "[" + join(texts, ", ") + "]";
}

/// The frontmatter's fields in their order on disk.
class Projection : public FieldVisitor<Projection> {
  public:
    explicit Projection(const Task& task) { const_cast<Task&>(task).describe_frontmatter(*this); }  // changes nothing

    void field(const char* name, const Value& value, const char*, Presence presence) {
        fields.push_back({name, value, false, !value && presence == Presence::sparse});
    }
    void field(const char* name, const std::string& text, const char*, Presence presence) {
        fields.push_back({name, text, false, text.empty() && presence == Presence::sparse});
    }
    void field(const char* name, const TaskId& id, const char*, Presence presence) {
        fields.push_back({name, id.value, false, id.empty() && presence == Presence::sparse});
    }
    void field(const char* name, Timestamp time, const char*, Presence) {
        fields.push_back({name, to_rfc3339(time), true});
    }
    void field(const char* name, const std::vector<TaskId>& ids, const char*, Presence presence) {
        fields.push_back({name, list_text(ids), true, ids.empty() && presence == Presence::sparse});
    }
    void counter(const std::string& name, const Counters& all, const char*) {
        const auto found = all.find(name);
        fields.push_back({name, std::to_string(found == all.end() ? 0 : found->second), true});
    }
    void counters(const char*, const Counters& all, const char*) {
        for (const auto& [name, value] : all) {
            const auto is_it = [&, wanted = name](const Field& field) { return field.name == wanted; };
            if (std::none_of(fields.begin(), fields.end(), is_it)) counter(name, all, "");
        }
    }
    std::vector<Field> fields;
};

std::string current_name(const std::string& name) {
    return name == "description" ? "summary" : name;
}

std::string current_status(const std::string& status) {
    if (status == "reviewed") return "reviewing";
    if (status == "failed") return "cancelled";
    return status;
}

bool is_known(const std::string& name) {
    const auto& all = frontmatter_fields();
    return std::any_of(all.begin(), all.end(), [&](const auto& field) { return field.name == current_name(name); });
}

Error at_line(int line, std::string_view why) {
    return {ErrorCode::invalid_argument, "frontmatter line " + std::to_string(line) + ": " + std::string(why)};
}

Result<yaml::Node> parse_map(std::string_view frontmatter) {
    if (frontmatter.size() > k_largest_frontmatter) return at_line(1, "larger than 64 KiB");
    auto node = yaml::parse(frontmatter, "TASK.md", yaml::Anchors::refused);
    if (!node) return in_context("frontmatter", node.error());
    if (node->is_null()) node->kind = yaml::Node::Kind::map;
    if (!node->is_map()) return at_line(1, "not a list of `field: value` lines");
    return node;
}

/// Reads fields into a task; error() is the first problem.
class FrontmatterReader : public FieldVisitor<FrontmatterReader> {
  public:
    explicit FrontmatterReader(const yaml::Node& map) : map_(map) {}

    void field(const char* name, std::string& into, const char*, Presence) {
        if (const auto* node = find(name)) into = node->is_null() ? std::string{} : node->scalar;
    }
    void field(const char* name, TaskId& into, const char* doc, Presence presence) {
        field(name, into.value, doc, presence);
    }
    void field(const char* name, Value& into, const char*, Presence) {
        const auto* node = find(name);
        if (node && !node->is_null() && !node->scalar.empty()) into = node->scalar;
    }
    void field(const char* name, std::vector<TaskId>& into, const char*, Presence) {
        const auto* node = find(name, true);
        if (!node || node->is_null()) return;
        into.clear();
        const bool is_list = node->is_sequence();
        for (const auto& item : is_list ? node->items : std::vector{*node}) {
            if (!item.is_scalar()) return fail(node->place.line, name, "is not a list of ids");
            into.push_back({item.scalar});
        }
    }
    void field(const char* name, Timestamp& into, const char*, Presence) {
        const auto* node = find(name);
        if (!node || node->is_null()) return;
        const auto time = from_rfc3339(node->scalar);
        if (!time) return fail(node->place.line, name, "is not an RFC 3339 time");
        into = *time;
    }
    void counter(const char* name, Counters& into, const char*) {
        const auto* node = find(name);
        if (!node || node->is_null()) return;
        const auto value = whole_number(node->scalar);
        if (!value) return fail(node->place.line, name, "is not a number");
        if (*value != 0) into[name] = *value;
    }
    /// Does nothing: only the workflow tells which unknown fields are counters.
    void counters(const char*, Counters&, const char*) {}
    const std::optional<Error>& error() const { return error_; }

  private:
    const yaml::Node* find(std::string_view name, bool lists = false) {
        const yaml::Node* node = nullptr;
        for (const auto& [key, value] : map_.members) {
            if (key == name || (!node && current_name(key) == name)) node = &value;
        }
        if (!node || error_) return nullptr;
        if (!node->is_scalar() && !node->is_null() && !(lists && node->is_sequence())) {
            fail(node->place.line, name, "is not a single value");
            return nullptr;
        }
        return node;
    }
    void fail(int line, std::string_view name, std::string_view why) {
        if (!error_) error_ = at_line(line, std::string(name) + " " + std::string(why));
    }

    const yaml::Node& map_;
    std::optional<Error> error_;
};

}  // namespace

TaskText split_task_text(std::string_view text) {
    auto rest = text.starts_with(k_byte_order_mark) ? text.substr(k_byte_order_mark.size()) : text;
    const auto take_line = [&rest] {
        const auto end = rest.find('\n');
        const auto line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        return line;
    };
    if (!is_fence(rest.substr(0, rest.find('\n')))) return {{}, std::string(text), false};
    take_line();
    const auto start = rest;
    while (!rest.empty()) {
        const auto length = static_cast<std::size_t>(rest.data() - start.data());
        if (is_fence(take_line())) return {std::string(start.substr(0, length)), std::string(rest), true};
    }
    return {{}, std::string(text), false};
}

std::string frontmatter_of(const Task& task) {
    std::string text = "---\n";
    for (const auto& [name, value, is_plain, is_left_out] : Projection(task).fields) {
        if (is_left_out) continue;
        text += name + ": ";
        text += !value ? "null" : is_plain ? *value : yaml::scalar_text(*value);
        text += "\n";
    }
    text += task.extra_frontmatter;
    if (!text.ends_with('\n')) text += "\n";
    return text + "---\n";
}

std::string task_text(const Task& task, std::string_view body) {
    return frontmatter_of(task).append(body);
}

Result<Task> task_from_frontmatter(std::string_view frontmatter) {
    TRY(auto map, parse_map(frontmatter));
    Task task;
    FrontmatterReader in(map);
    task.describe_frontmatter(in);
    if (in.error()) return *in.error();
    task.status = current_status(task.status);
    task.extra_frontmatter = unknown_fields(frontmatter, task);
    return task;
}

namespace {

/// Returns each top-level field with its lines.
std::vector<std::pair<std::string, std::string>> fields_with_lines(std::string_view frontmatter) {
    const auto map = parse_map(frontmatter);
    if (!map) return {};
    const auto lines = split_lines(frontmatter);
    std::vector<std::pair<std::string, std::string>> fields;
    for (std::size_t i = 0; i < map->members.size(); ++i) {
        const auto first = static_cast<std::size_t>(map->member_places[i].line);
        const bool last = i + 1 == map->members.size();
        const auto end = last ? lines.size() + 1 : static_cast<std::size_t>(map->member_places[i + 1].line);
        std::string text;
        for (auto line = first; line < end && line <= lines.size(); ++line) text += std::string(lines[line - 1]) + "\n";
        fields.emplace_back(map->members[i].first, std::move(text));
    }
    return fields;
}

}  // namespace

std::string unknown_fields(std::string_view frontmatter, const Task& known) {
    std::string unknown;
    for (const auto& [name, text] : fields_with_lines(frontmatter)) {
        if (!is_known(name) && !known.counters.contains(name)) unknown += text;
    }
    return unknown;
}

std::string without_known_fields(const std::string& extra, const Task& known) {
    const auto fields = fields_with_lines(extra);
    const bool any_known = std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
        return is_known(field.first) || known.counters.contains(field.first);
    });
    return any_known ? unknown_fields(extra, known) : extra;
}

std::string with_unknown_fields(const std::string& unknown, const std::string& found) {
    if (found.empty() || found == unknown) return unknown;
    auto fields = fields_with_lines(unknown);
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < fields.size(); ++i) places[fields[i].first] = i;
    for (auto& [name, text] : fields_with_lines(found)) {
        const auto old = places.find(name);
        if (old == places.end()) {
            fields.emplace_back(name, text);
        } else {
            fields[old->second].second = text;
        }
    }
    std::string merged;
    for (const auto& [name, text] : fields) merged += text;
    return merged;
}

namespace {

/// Returns the value of a node in the form of Field::value.
Value said_by(const std::string& name, const yaml::Node& node) {
    if (node.is_null()) return std::nullopt;
    if (node.is_scalar()) return name == "status" ? current_status(node.scalar) : node.scalar;
    const bool plain =
        name == "blocked_by" && node.is_sequence() && std::ranges::all_of(node.items, &yaml::Node::is_scalar);
    if (!plain) return "(not a single value)";
    std::vector<TaskId> ids;
    for (const auto& item : node.items) ids.push_back({item.scalar});
    return list_text(ids);
}

}  // namespace

std::string frontmatter_difference(const Task& task, std::string_view found) {
    const auto map = parse_map(found);
    if (!map) return "all of it (" + map.error().message + ")";
    std::map<std::string, Value> values;
    for (const auto& [key, node] : map->members) {
        const auto name = current_name(key);
        values[name] = said_by(name, node);
    }
    std::vector<std::string> differences;
    for (const auto& [name, value, is_plain, is_left_out] : Projection(task).fields) {
        if (name == "updated_at") continue;  // differs in every stale copy, and means nothing
        if (is_left_out && !values.contains(name)) continue;
        const auto there = values.find(name);
        const bool is_missing = there == values.end();
        const auto said = is_missing ? Value() : there->second;
        // Older versions left out empty fields: an absent or null field equals an empty one or 0.
        if (said == value || (!said && (value->empty() || value == "0"))) continue;
        differences.push_back(name + ": " + (is_missing ? "(missing)" : printable(said.value_or("null"))));
    }
    return join(differences, ", ");
}

}  // namespace orange::store
