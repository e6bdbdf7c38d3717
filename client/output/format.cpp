#include "client/output/format.hpp"

#include <algorithm>
#include <utility>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::output {
namespace {

constexpr std::pair<const char*, const char*> k_short_names[] = {
    {"id", "fields.id"},         {"status", "fields.status"},   {"needs", "needs.kind"},
    {"branch", "fields.branch"}, {"summary", "fields.summary"}, {"project", "fields.project"}};

struct Part {
    enum class Kind { text, name, open };  ///< open: a brace that is not closed
    Kind kind = Kind::text;
    std::string text;
};

std::vector<Part> parts_of(std::string_view form) {
    std::vector<Part> parts;
    std::string plain;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const char next = i + 1 < form.size() ? form[i + 1] : '\0';
        if (form[i] == '\\' && (next == 'n' || next == 't' || next == '\\')) {
            plain += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
            ++i;
        } else if ((form[i] == '{' || form[i] == '}') && next == form[i]) {
            plain += form[i++];
        } else if (form[i] == '{') {
            const auto end = form.find('}', i);
            parts.push_back({Part::Kind::text, std::exchange(plain, {})});
            if (end == std::string_view::npos) {
                parts.push_back({Part::Kind::open, std::string(form.substr(i))});
                return parts;
            }
            parts.push_back({Part::Kind::name, std::string(form.substr(i + 1, end - i - 1))});
            i = end;
        } else {
            plain += form[i];
        }
    }
    parts.push_back({Part::Kind::text, plain});
    return parts;
}

void add_paths(const Json& schema, const std::string& prefix, std::vector<std::string>& paths) {
    const auto properties = schema.find("properties");
    if (properties == schema.end()) return;
    for (const auto& [name, value] : properties->items()) {
        if (value.contains("properties")) {
            add_paths(value, prefix + name + ".", paths);
        } else {
            paths.push_back(prefix + name);
        }
    }
}

template <class View>
std::vector<std::string> paths_of() {
    std::vector<std::string> paths;
    add_paths(schema_of<View>(), {}, paths);
    return paths;
}

/// Keeps tabs and line ends of a format. Other characters that a terminal acts on are a mistake of the script, and are
/// escaped.
std::string text_between(std::string_view text) {
    std::vector<std::string> columns;
    for (const auto column : split(text, '\t')) columns.push_back(printable(column, true));
    return join(columns, "\t");
}

std::string text_of_value(const Json& value) {
    if (value.is_null()) return {};
    return printable(value.is_string() ? value.get<std::string>() : dump(value));
}

const Json* value_at(const Json& object, std::string_view path) {
    for (const auto& [name, whole] : k_short_names) {
        if (path == name) path = whole;
    }
    const Json* at = &object;
    for (const auto name : split(path, '.')) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(std::string(name));
        if (found == at->end()) return nullptr;
        at = &*found;
    }
    return at;
}

}  // namespace

std::string form_problem(std::string_view form, const std::vector<std::string>& names) {
    for (const auto& part : parts_of(form)) {
        if (part.kind == Part::Kind::open) return part.text + " has no closing brace; write {{ for a brace";
        if (part.kind == Part::Kind::text || std::ranges::find(names, part.text) != names.end()) continue;
        const auto meant = nearest(part.text, names);
        return "there is no {" + part.text + "}" + (meant ? "; did you mean {" + *meant + "}?" : ";") +
               " Known: " + join(names, " ");
    }
    return {};
}

std::string formed(std::string_view form, const Json& task) {
    std::string line;
    for (const auto& part : parts_of(form)) {
        if (part.kind != Part::Kind::name) {
            line += text_between(part.text);
        } else if (const auto* value = value_at(task, part.text)) {
            line += text_of_value(*value);
        }
    }
    return line + "\n";
}

std::vector<std::string> task_form_names() {
    std::vector<std::string> names;
    for (const auto& [name, path] : k_short_names) names.emplace_back(name);
    for (auto& path : paths_of<rpc::TaskView>()) names.push_back(std::move(path));
    return names;
}

std::vector<std::string> shown_task_form_names() {
    auto names = task_form_names();
    for (auto& path : paths_of<rpc::TaskShow::Reply>()) {
        if (!path.starts_with("task.")) names.push_back(std::move(path));
    }
    return names;
}

}  // namespace orange::output
