#include "daemon/store/project_store.hpp"

#include "common/base/try.hpp"
#include "common/model/json.hpp"

namespace orange::store {
namespace {

constexpr auto k_tick = std::chrono::milliseconds(50);

Result<std::map<std::string, Project>> parse(const std::string& content) {
    TRY(auto json, parse_json(content));
    // A list is schema 1. A later one is an object that says so, and holds what this version would drop.
    TRY(check_schema(json));
    if (!json.is_array()) return {ErrorCode::invalid_argument, "not a list of projects"};
    std::map<std::string, Project> projects;
    for (const auto& item : json) {
        TRY(auto project, project_from_json(item));
        const auto name = project.name;
        TRY(check_project_name(name));
        if (!projects.emplace(name, std::move(project)).second) {
            return {ErrorCode::invalid_argument, "two projects are called \"" + name + "\""};
        }
    }
    return projects;
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

void ProjectStore::note_seen() {
    seen_.reset();
    if (const auto facts = files_.facts_of(file_)) seen_ = *facts;
}

Result<void> ProjectStore::refresh() {
    const auto refuse = [this](const Error& error) -> Error {
        problem_ = file_.string() + " cannot be used: " + error.message + "; repair it (the last good one is " +
                   file_.filename().string() + ".bak) or remove it";
        return {ErrorCode::io, problem_};
    };
    note_seen();
    auto content = files_.read(file_);
    if (!content && content.error().code != ErrorCode::not_found) return refuse(content.error());
    if (problem_.empty() && (content ? content_ == *content : !content_)) return {};
    std::map<std::string, Project> projects;
    if (content) {
        auto parsed = parse(*content);
        if (!parsed) return refuse(parsed.error());
        projects = std::move(*parsed);
    }
    take(std::move(projects));
    content_.reset();
    if (content) content_ = std::move(*content);
    problem_.clear();
    return {};
}

/// Before each use. An editor may have taken the file away for a moment: that one is gone counts at the next change.
void ProjectStore::look() {
    const auto facts = files_.facts_of(file_);
    if (!facts) return;
    // Two edits within one tick of the file system's clock look the same.
    const bool settled = std::chrono::system_clock::now() - facts->modified > k_tick;
    const bool same = seen_ && seen_->size == facts->size && seen_->modified == facts->modified;
    if (!same || !settled || !problem_.empty()) (void)refresh();  // problem() says what is wrong
}

/// Whoever holds a Project goes on with it.
void ProjectStore::take(std::map<std::string, Project> projects) {
    removed_.clear();
    for (auto at = projects_.begin(); at != projects_.end();) {
        const auto next = std::next(at);
        if (!projects.contains(at->first)) removed_.insert(projects_.extract(at));
        at = next;
    }
    for (auto& [name, project] : projects) projects_[name] = std::move(project);
}

std::vector<Project> ProjectStore::list() {
    look();
    std::vector<Project> all;
    for (const auto& [name, project] : projects_) all.push_back(project);
    return all;
}

const Project* ProjectStore::find(const std::string& name) {
    look();
    const auto found = projects_.find(name);
    return found == projects_.end() ? nullptr : &found->second;
}

const Project* ProjectStore::at_path(const std::string& root) {
    look();
    for (const auto& [name, project] : projects_) {
        if (project.path == root) return &project;
    }
    return nullptr;
}

Result<void> ProjectStore::put(Project project) {
    TRY(check_project_name(project.name));
    TRY(refresh());
    auto changed = projects_;
    const auto name = project.name;
    changed[name] = std::move(project);
    return write(std::move(changed));
}

Result<void> ProjectStore::remove(const std::string& name) {
    TRY(refresh());
    auto changed = projects_;
    if (changed.erase(name) == 0) return {ErrorCode::not_found, "there is no project \"" + name + "\""};
    return write(std::move(changed));
}

Result<void> ProjectStore::write(std::map<std::string, Project> projects) {
    Json json = Json::array();
    for (const auto& [name, project] : projects) json.push_back(to_json(project));
    const auto content = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (content_) TRY(files_.replace(file_.string() + ".bak", *content_));
    TRY(files_.replace(file_, content));
    take(std::move(projects));
    content_ = content;
    note_seen();
    return {};
}

}  // namespace orange::store
