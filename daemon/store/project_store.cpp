#include "daemon/store/project_store.hpp"

#include "common/base/branch_name.hpp"
#include "common/base/shortage.hpp"
#include "common/base/try.hpp"

namespace orange::store {
namespace {

struct Parsed {
    std::map<std::string, Project> projects;
    std::map<std::string, Json> unknown;
};

/// Returns the members of `json` that `written` does not have, recursively.
Json beyond(const Json& json, const Json& written) {
    Json more = Json::object();
    for (const auto& [key, value] : json.items()) {
        const auto known = written.find(key);
        if (known == written.end()) {
            more[key] = value;
        } else if (value.is_object() && known->is_object()) {
            if (auto inner = beyond(value, *known); !inner.empty()) more[key] = std::move(inner);
        }
    }
    return more;
}

/// Adds the members of `more` that `json` does not have, recursively.
void add_missing(Json& json, const Json& more) {
    for (const auto& [key, value] : more.items()) {
        if (!json.contains(key)) {
            json[key] = value;
        } else if (value.is_object() && json[key].is_object()) {
            add_missing(json[key], value);
        }
    }
}

Result<Parsed> parse(const std::string& content) {
    TRY(auto json, parse_json(content));
    // Schema 1 is a list. A later schema is an object with its number, and has contents that this version would drop.
    TRY(check_schema(json));
    if (!json.is_array()) return {ErrorCode::invalid_argument, "not a list of projects"};
    Parsed parsed;
    for (const auto& item : json) {
        TRY(auto project, project_from_json(item));
        project.default_branch = branch_name(std::move(project.default_branch));
        const auto name = project.name;
        TRY(check_project_name(name));
        parsed.unknown[name] = beyond(item, to_json(project));
        if (!parsed.projects.emplace(name, std::move(project)).second) {
            return {ErrorCode::invalid_argument, "two projects are called \"" + name + "\""};
        }
    }
    return parsed;
}

}  // namespace

ProjectStore::ProjectStore(FileSystem& files, Path file) : files_(files), file_(std::move(file)) {}

Result<void> ProjectStore::load() {
    auto loaded = refresh();
    if (!loaded || !content_) return loaded;
    const Path backup = file_.string() + ".bak";
    const auto kept = files_.read(backup);
    if (kept && *kept == *content_) return {};
    return files_.replace(backup, *content_);
}

Result<void> ProjectStore::refresh() {
    const auto refuse = [this](std::string problem, bool is_broken) -> Error {
        problem_ = std::move(problem);
        is_broken_ = is_broken;
        return {ErrorCode::io, problem_};
    };
    auto content = files_.read(file_);
    if (!content && content.error().code != ErrorCode::not_found) {  // that says nothing about its content
        const auto shortage = shortage_in(content.error());
        return refuse(content.error().message +
                          (shortage ? ". " + shortage->advice
                                    : ". The projects stay as they were when it was read last, and cannot be changed"),
                      false);
    }
    if (problem_.empty() && (content ? content_ == *content : !content_)) return {};
    auto parsed = content ? parse(*content) : Result<Parsed>(Parsed{});
    if (!parsed) {
        return refuse(file_.string() + " cannot be used: " + parsed.error().message +
                          "; repair it (the last good one is " + file_.filename().string() + ".bak) or remove it",
                      true);
    }
    replace_all(std::move(parsed->projects));
    unknown_ = std::move(parsed->unknown);
    content_.reset();
    if (content) content_ = std::move(*content);
    problem_.clear();
    is_broken_ = false;
    edited_();
    return {};
}

ProjectStore::Values ProjectStore::values() const {
    Values values;
    for (const auto& [name, project] : projects_) values.emplace(name, *project);
    return values;
}

void ProjectStore::replace_all(Values projects) {
    std::map<std::string, const Project*> taken;
    for (auto& [name, project] : projects) {
        const auto* known = find(name);
        taken[name] = known && *known == project ? known : &kept_.emplace_back(std::move(project));
    }
    projects_ = std::move(taken);
}

std::vector<Project> ProjectStore::list() const {
    std::vector<Project> all;
    for (const auto& [name, project] : projects_) all.push_back(*project);
    return all;
}

const Project* ProjectStore::find(const std::string& name) const {
    const auto found = projects_.find(name);
    return found == projects_.end() ? nullptr : found->second;
}

const Project* ProjectStore::at_path(const std::string& root) const {
    for (const auto& [name, project] : projects_) {
        if (project->path == root) return project;
    }
    return nullptr;
}

Result<void> ProjectStore::put(Project project) {
    TRY(check_project_name(project.name));
    TRY(refresh());
    auto changed = values();
    const auto name = project.name;
    changed.insert_or_assign(name, std::move(project));
    return write(std::move(changed));
}

Result<void> ProjectStore::remove(const std::string& name) {
    TRY(refresh());
    auto changed = values();
    if (changed.erase(name) == 0) return {ErrorCode::not_found, "there is no project \"" + name + "\""};
    return write(std::move(changed));
}

Result<void> ProjectStore::write(Values projects) {
    Json json = Json::array();
    for (const auto& [name, project] : projects) {
        auto item = to_json(project);
        if (const auto more = unknown_.find(name); more != unknown_.end()) add_missing(item, more->second);
        json.push_back(std::move(item));
    }
    const auto content = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (content_) TRY(files_.replace(file_.string() + ".bak", *content_));
    TRY(files_.replace(file_, content));
    replace_all(std::move(projects));
    std::erase_if(unknown_, [this](const auto& entry) { return !projects_.contains(entry.first); });
    content_ = content;
    return {};
}

}  // namespace orange::store
