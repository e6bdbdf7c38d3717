// Reads the tasks when the daemon starts, and those whose folders come later.
#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/files/unfinished.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_folder.hpp"
#include "daemon/store/task_store.hpp"

namespace orange::store {
namespace {

/// Returns a time after which the history has no event.
Timestamp time_of(const FileFacts& history) {
    return std::chrono::ceil<std::chrono::milliseconds>(history.modified);
}

/// A file that cannot be removed now is removed by the next daemon.
void sweep(FileSystem& files, const Path& folder) {
    for (const auto& place : {folder, folder / "logs", folder / "run"}) (void)files::remove_unfinished(files, place);
}

bool has_unfinished(const std::vector<std::string>& names) {
    return std::ranges::any_of(names, files::is_unfinished);
}

}  // namespace

Result<void> TaskStore::load() {
    const auto projects = files_.list(root_);
    has_failed_to_load_ = !projects;
    if (!projects) return projects.error();
    for (const auto& project : *projects) {
        if (!check_project_name(project)) continue;
        auto ids = files_.list(root_ / project);
        if (!ids) {
            unreadable_.push_back({project, "", ids.error().message, {}});
            continue;
        }
        std::vector<std::string> folders;
        for (auto& id : *ids) {
            if (files::is_unfinished(id)) (void)files_.remove(root_ / project / id);  // a removal that was interrupted
            if (!id.starts_with('.')) folders.push_back(std::move(id));
        }
        files_.read_each(root_ / project, folders, k_state, [&](const std::string& id, Result<std::string> state) {
            if (!state || !load_resting(project, id, *state)) load_folder(project, id, state);
        });
    }
    return {};
}

std::vector<TaskId> TaskStore::load_new() {
    std::vector<TaskId> found;
    const auto projects = files_.list(root_);
    for (const auto& project : projects ? *projects : std::vector<std::string>()) {
        const auto facts = files_.facts_of(root_ / project);
        if (!check_project_name(project) || !facts || looked_into_[project] == facts->modified) continue;
        const auto ids = files_.list(root_ / project);
        if (!ids) continue;
        looked_into_[project] = facts->modified;
        for (const auto& id : *ids) {
            if (!is_task_id(id) || entry_of(TaskId{id})) continue;
            const auto state = files_.read(root_ / project / id / k_state);
            if (!record_from(state, project, id) || is_missing(files_, root_ / project / id / k_task)) {
                looked_into_.erase(project);  // its files are still to come
                continue;
            }
            std::erase_if(unreadable_, [&](const auto& each) { return each.project == project && each.id == id; });
            if (!load_resting(project, id, *state)) load_folder(project, id, state);
            if (entry_of(TaskId{id})) found.push_back(TaskId{id});
        }
        if (looked_into_.contains(project)) {  // all its tasks are loaded
            std::erase_if(unreadable_, [&](const auto& each) { return each.project == project && each.id.empty(); });
        }
    }
    for (const auto& id : found) notify_observers(id);
    return found;
}

/// Returns false if the task does not rest, or if anything about it is unusual. No creation that was cut off is one of
/// these tasks: no task begins at an end.
bool TaskStore::load_resting(const std::string& project, const std::string& id, std::string_view state) {
    auto brief = brief_of_resting(state);
    if (!brief || brief->id.value != id || brief->project.text() != project || entry_of(brief->id)) return false;
    if (is_above(brief->id, brief->parent)) brief->parent = {};
    auto& entry = add_entry(std::move(*brief));
    entry.is_tidy = false;
    index(entry);
    return true;
}

void TaskStore::load_folder(const std::string& project, const std::string& id, const Result<std::string>& state) {
    const auto names = files_.list(root_ / project / id);
    // A folder without TASK.md was left by a daemon that was killed while it created the task. Such a folder is not a
    // task.
    const bool cut_off = names && std::ranges::all_of(*names, [](const std::string& name) {
                             return name.starts_with('.') || name == k_state || name == k_files;
                         });
    auto record = record_from(state, project, id);
    if (!record && record.error().code == ErrorCode::not_found) record = import_folder(project, id);
    const bool nothing = !record && record.error().code == ErrorCode::not_found;
    // An imported task has no history yet, and its TASK.md is written again.
    const bool imported = record && record->imported;
    if (cut_off && !imported && (record || nothing)) {
        if (auto removed = files_.remove(root_ / project / id); !removed) {
            add_unreadable(project, id, removed.error().message);
        }
        return;
    }
    if (record && entry_of(record->task.id)) {
        record = Error(ErrorCode::conflict, "another project has a task of this id");
    }
    if (record) {
        // A broken file may name a descendant as parent.
        if (is_above(record->task.id, record->task.parent)) record->task.parent = {};
        index(std::make_shared<TaskRecord>(*record));
        if (names && std::ranges::find(*names, k_history) != names->end()) look_at_history(*entry_of(record->task.id));
        // There may be thousands of ended tasks: only those with a temporary file are swept.
        if (active_.contains(record->task.id) || (names && has_unfinished(*names))) sweep(files_, root_ / project / id);
    } else {
        add_unreadable(project, id, record.error().message);
    }
}

void TaskStore::end_times_at(Timestamp now) {
    std::vector<RecordPtr> changed;
    each_awake([&](const TaskRecord& record) {
        auto copy = std::make_shared<TaskRecord>(record);
        if (orange::end_times_at(*copy, now)) changed.push_back(std::move(copy));
    });
    for (const auto& record : changed) {
        unindex(*entry_of(record->task.id));
        index(record);
    }
}

bool TaskStore::tidy_next() {
    auto entry = tidied_ ? std::make_reverse_iterator(by_age_.lower_bound(*tidied_)) : by_age_.rbegin();
    while (entry != by_age_.rend() && (*entry)->is_tidy) ++entry;
    if (entry == by_age_.rend()) {
        tidied_ = Age{};
        return false;
    }
    const auto& next = (*entry)->brief;
    tidied_ = Age{next.created_at, next.id};
    tidy(*entry_of(next.id));
    return true;
}

void TaskStore::tidy(Entry& entry) {
    const auto names = files_.list(folder(entry.brief));
    if (names && has_unfinished(*names)) sweep(files_, folder(entry.brief));
    look_at_history(entry);
    entry.is_tidy = true;
}

/// If the file cannot be examined, it counts as the latest, because it may have any event.
void TaskStore::look_at_history(const Entry& entry) {
    const auto facts = files_.facts_of(folder(entry.brief) / k_history);
    const bool is_there = facts || facts.error().code != ErrorCode::not_found;
    if (is_there) histories_.note(entry.brief.id, facts ? time_of(*facts) : Timestamp::max());
}

/// Returns true if `id` is `below` or an ancestor of it. No loaded task is its own ancestor, so the loop ends.
bool TaskStore::is_above(const TaskId& id, TaskId below) const {
    while (!below.empty() && below != id) {
        const auto* task = brief(below);
        below = task ? task->parent : TaskId{};
    }
    return !below.empty();
}

void TaskStore::add_unreadable(const std::string& project, const std::string& id, std::string why) {
    Unreadable broken{project, id, std::move(why), {}};
    if (const auto text = files_.read(root_ / project / id / k_task)) {
        const auto parts = split_task_text(*text);
        auto task = task_from_frontmatter(parts.frontmatter);
        if (parts.has_frontmatter && task) broken.shown = std::move(*task);
    }
    unreadable_.push_back(std::move(broken));
}

Result<TaskRecord> TaskStore::record_from(const Result<std::string>& state, const std::string& project,
                                          const std::string& id) const {
    if (!state) return state.error();
    const Path file = root_ / project / id / k_state;
    const auto json = parse_json(*state);
    if (!json) return in_context("reading " + file.string(), json.error());
    auto record = record_from_json(*json);
    if (!record) return in_context("reading " + file.string(), record.error());
    record->task.extra_frontmatter = without_known_fields(record->task.extra_frontmatter, record->task);
    if (record->task.id.value != id || record->task.project != project) {
        return {ErrorCode::conflict, "reading " + file.string() + ": it belongs to the task " + record->task.project +
                                         "/" + record->task.id.value};
    }
    return record;
}

Result<TaskRecord> TaskStore::import_folder(const std::string& project, const std::string& id) {
    const Path folder = root_ / project / id;
    const Path file = folder / k_task;
    if (!is_id_safe(id)) return {ErrorCode::invalid_argument, "the name of the folder is not a task id"};
    const auto content = files_.read(file);
    if (!content) return in_context("neither state.json nor TASK.md", content.error());
    const auto text = split_task_text(*content);
    if (!text.has_frontmatter) return {ErrorCode::invalid_argument, file.string() + " has no frontmatter"};
    auto task = task_from_frontmatter(text.frontmatter);
    if (!task) return in_context("reading " + file.string(), task.error());

    TaskRecord record;
    record.task = std::move(*task);
    record.task.id.value = id;
    record.task.project = project;
    if (record.task.branch.empty()) record.task.branch = "orange-tasks/" + id;
    if (record.task.status.empty()) record.task.status = "pending";
    if (record.task.review_harness.empty()) record.task.review_harness = record.task.harness;
    // An imported file is not trusted with these: Orange would kill that session, or reset that worktree.
    record.task.workspace.reset();
    record.task.tmux_session.reset();
    record.task.attention.reset();  // its notice is not known
    if (record.task.created_at == Timestamp{}) {
        const auto facts = files_.facts_of(file);
        if (facts) record.task.created_at = std::chrono::floor<std::chrono::milliseconds>(facts->modified);
    }
    if (record.task.updated_at == Timestamp{}) record.task.updated_at = record.task.created_at;
    record.body_hash = sha256(text.body);
    record.imported = true;
    TRY(files_.replace(folder / k_state, state_text(record)));
    return record;
}

}  // namespace orange::store
