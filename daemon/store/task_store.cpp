#include "daemon/store/task_store.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/unfinished.hpp"
#include "daemon/store/task_file.hpp"

/// The daemon's persistent memory of tasks (docs/files.md).
///
/// state.json is the truth about a task, and one rename of it commits a change. The index in memory is a copy of all
/// these files and changes only after the disk. A new task exists once its TASK.md does, which is written after
/// state.json: a folder with TASK.md alone would look hand-made and be imported. TASK.md has two parts with different
/// owners. The frontmatter only shows the record, and TaskFiles restores it. The body belongs to agents and people, and
/// this file never changes it.
namespace orange::store {
namespace {

constexpr const char* k_state = "state.json";
constexpr const char* k_task = "TASK.md";
constexpr const char* k_history = "history.jsonl";
/// The bytes at a history's end that are read for its last events, and the size up to which a history is rewritten.
constexpr std::uintmax_t k_history_end = std::uintmax_t{4} << 20, k_rewritten = std::uintmax_t{16} << 20;

std::pair<std::string, std::string> branch_key(const TaskRecord& record) {
    return {record.task.project, record.task.branch};
}

bool is_id_safe(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
}

std::uintmax_t size_of(FileSystem& files, const Path& file) {
    const auto facts = files.facts_of(file);
    return facts ? facts->size : 0;
}

std::string state_text(const TaskRecord& record) {
    return dump(to_json(record)) + "\n";
}

/// A file that cannot be removed now is removed by the next daemon.
void sweep(FileSystem& files, const Path& folder) {
    for (const auto& place : {folder, folder / "logs", folder / "run"}) (void)files::remove_unfinished(files, place);
}

bool is_end(const std::string& status) {
    return status == "done" || status == "cancelled";
}

}  // namespace

bool has_ended(const TaskRecord& record) {
    return record.ended || is_end(record.task.status);
}

TaskStore::TaskStore(FileSystem& files, Path root) : files_(files), root_(std::move(root)) {}

Path TaskStore::folder(const TaskRecord& record) const {
    return root_ / record.task.project / record.task.id.value;
}

Result<void> TaskStore::load() {
    TRY(auto projects, files_.list(root_));
    for (const auto& project : projects) {
        if (!check_project_name(project)) continue;
        auto ids = files_.list(root_ / project);
        if (!ids) {
            unreadable_.push_back({project, "", ids.error().message, {}});
            continue;
        }
        for (const auto& id : *ids) {
            if (files::is_unfinished(id)) (void)files_.remove(root_ / project / id);  // a removal that was interrupted
            if (!id.starts_with('.')) load_folder(project, id);
        }
    }
    return {};
}

void TaskStore::load_folder(const std::string& project, const std::string& id) {
    const auto names = files_.list(root_ / project / id);
    // A folder without TASK.md was left by a daemon that was killed while it created the task. Such a folder is not a
    // task.
    const bool cut_off = names && std::ranges::all_of(*names, [](const std::string& name) {
                             return name.starts_with('.') || name == k_state;
                         });
    auto record = read_folder(project, id);
    const bool nothing = !record && record.error().code == ErrorCode::not_found;
    const bool imported =
        record && record->imported;  // an imported task has no history yet, and its TASK.md is written again
    if (cut_off && !imported && (record || nothing)) {
        if (auto removed = files_.remove(root_ / project / id); !removed) {
            add_unreadable(project, id, removed.error().message);
        }
        return;
    }
    if (record && records_.contains(record->task.id)) {
        record = Error(ErrorCode::conflict, "another project has a task of this id");
    }
    if (record) {
        if (is_above(record->task.id, record->task.parent))
            record->task.parent = {};  // a broken file may name a descendant as parent
        index(*record);
        if (names && std::ranges::find(*names, k_history) != names->end()) load_history_time(*record);
        // There may be thousands of ended tasks: only those with a temporary file are swept.
        const bool unfinished = names && std::ranges::any_of(*names, files::is_unfinished);
        if (unfinished || active_.contains(record->task.id)) sweep(files_, root_ / project / id);
    } else {
        add_unreadable(project, id, record.error().message);
    }
}

/// If the file cannot be examined, it counts as the latest, because it may have any event.
void TaskStore::load_history_time(const TaskRecord& record) {
    const auto facts = files_.facts_of(folder(record) / k_history);
    histories_.note(record.task.id,
                    facts ? std::chrono::ceil<std::chrono::milliseconds>(facts->modified) : Timestamp::max());
}

/// Returns true if `id` is `below` or an ancestor of it. No loaded task is its own ancestor, so the loop ends.
bool TaskStore::is_above(const TaskId& id, TaskId below) const {
    while (!below.empty() && below != id) {
        const auto* record = find(below);
        below = record ? record->task.parent : TaskId{};
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

Result<TaskRecord> TaskStore::read_folder(const std::string& project, const std::string& id) {
    const Path file = root_ / project / id / k_state;
    const auto content = files_.read(file);
    if (!content) {
        return content.error().code == ErrorCode::not_found ? import_folder(project, id)
                                                            : Result<TaskRecord>(content.error());
    }
    const auto json = parse_json(*content);
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
    if (record.task.created_at == Timestamp{}) {
        const auto facts = files_.facts_of(file);
        if (facts) record.task.created_at = std::chrono::floor<std::chrono::milliseconds>(facts->modified);
    }
    if (record.task.updated_at == Timestamp{}) record.task.updated_at = record.task.created_at;
    record.body_hash = content_hash(text.body);
    record.imported = true;
    TRY(files_.replace(folder / k_state, state_text(record)));
    return record;
}

const TaskRecord* TaskStore::find(const TaskId& id) const {
    const auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

std::optional<BranchHolder> TaskStore::on_branch(const std::string& project, const std::string& branch) const {
    if (const auto found = by_branch_.find({project, branch}); found != by_branch_.end()) {
        const auto& id = *found->second.begin();
        return BranchHolder{id, records_.at(id).task.status};
    }
    for (const auto& broken : unreadable_) {
        if (broken.project != project || !broken.shown || broken.shown->branch != branch) continue;
        if (!is_end(broken.shown->status)) return BranchHolder{{broken.id}, "cannot be read", false};
    }
    return std::nullopt;
}

void TaskStore::each_of(const ByAge& tasks, const std::function<bool(const TaskRecord&)>& visit) const {
    for (auto entry = tasks.rbegin(); entry != tasks.rend(); ++entry) {
        if (!visit(records_.at(entry->second))) return;
    }
}

void TaskStore::each(const std::function<bool(const TaskRecord&)>& visit) const {
    each_of(by_age_, visit);
}

void TaskStore::each_open(const std::function<bool(const TaskRecord&)>& visit) const {
    each_of(open_by_age_, visit);
}

std::size_t TaskStore::closed(const std::optional<std::string>& project) const {
    if (!project) return by_age_.size() - open_by_age_.size();
    const auto all = sizes_.find(*project), open = open_.find(*project);
    return (all == sizes_.end() ? 0 : all->second) - (open == open_.end() ? 0 : open->second);
}

std::vector<TaskId> TaskStore::queue(const std::string& project) const {
    std::vector<TaskId> ids;
    const auto found = queues_.find(project);
    if (found == queues_.end()) return ids;
    for (const auto& [place, id] : found->second) ids.push_back(id);
    return ids;
}

bool TaskStore::any_queued() const {
    return std::ranges::any_of(queues_, [](const auto& queue) { return !queue.second.empty(); });
}

std::int64_t TaskStore::queue_place(const TaskRecord& record) const {
    const auto found = queues_.find(record.task.project);
    if (!record.queued || found == queues_.end()) return 0;
    const auto place = found->second.find({record.queued_seq, record.task.id});
    return place == found->second.end() ? 0 : std::distance(found->second.begin(), place) + 1;
}

std::vector<TaskId> TaskStore::blocked_by(const TaskId& id) const {
    const auto found = dependents_.find(id);
    if (found == dependents_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

std::vector<TaskId> TaskStore::children_of(const TaskId& id) const {
    std::vector<TaskId> ids;
    const auto found = children_.find(id);
    if (found == children_.end()) return ids;
    for (const auto& [created, child] : found->second) ids.push_back(child);
    return ids;
}

std::vector<TaskId> TaskStore::parents() const {
    std::vector<TaskId> ids;
    for (const auto& [parent, children] : children_) ids.push_back(parent);
    return ids;
}

bool TaskStore::is_open(const TaskRecord& record) const {
    return open_by_age_.contains({record.task.created_at, record.task.id});
}

void TaskStore::index(const TaskRecord& record) {
    const auto& id = record.task.id;
    if (by_age_.emplace(record.task.created_at, id).second) ++sizes_[record.task.project];
    const bool open = !has_ended(record) || record.alarmed() || !record.notices.empty();
    if (open && open_by_age_.emplace(record.task.created_at, id).second) ++open_[record.task.project];
    if (!has_ended(record)) by_branch_[branch_key(record)].insert(id);
    const bool is_followed = record.intent || !record.runs.empty() || !record.left.empty();
    if (!has_ended(record) || is_followed) active_.insert(id);
    const auto blockers = has_ended(record) ? std::vector<TaskId>() : record.waits_for();
    for (const auto& blocker : blockers) dependents_[blocker].insert(id);
    if (!blockers.empty()) blocked_.insert(id);
    if (record.queued && blockers.empty() && !record.unapproved)
        queues_[record.task.project].emplace(record.queued_seq, id);
    if (!record.task.parent.empty()) children_[record.task.parent].emplace(record.task.created_at, id);
    if (!record.held.empty()) held_.insert(id);
    runs_.add(record);
    ids_.emplace(to_lower(id.value), id);
    records_.insert_or_assign(id, record);
}

void TaskStore::unindex(const TaskRecord& record) {
    const auto& id = record.task.id;
    if (by_age_.erase({record.task.created_at, id}) > 0) --sizes_[record.task.project];
    if (open_by_age_.erase({record.task.created_at, id}) > 0) --open_[record.task.project];
    active_.erase(id);
    blocked_.erase(id);
    held_.erase(id);
    for (const auto& blocker : record.task.blocked_by) {
        const auto found = dependents_.find(blocker);
        if (found == dependents_.end()) continue;
        found->second.erase(id);
        if (found->second.empty()) dependents_.erase(found);
    }
    if (const auto found = children_.find(record.task.parent); found != children_.end()) {
        found->second.erase({record.task.created_at, id});
        if (found->second.empty()) children_.erase(found);
    }
    runs_.remove(record);
    if (const auto found = by_branch_.find(branch_key(record)); found != by_branch_.end()) {
        found->second.erase(id);
        if (found->second.empty()) by_branch_.erase(found);
    }
    if (const auto found = queues_.find(record.task.project); found != queues_.end()) {
        found->second.erase({record.queued_seq, id});
    }
}

Result<void> TaskStore::create(const TaskRecord& record, std::string_view body) {
    const Path folder = this->folder(record);
    if (!is_id_safe(record.task.id.value)) return {ErrorCode::invalid_argument, "not a task id"};
    TRY(check_project_name(record.task.project));
    TRY(auto there, files_.list(folder));
    if (find(record.task.id) || !there.empty()) {
        return {ErrorCode::conflict, "task " + record.task.id.value + " already exists"};
    }
    auto made = files_.replace(folder / k_state, state_text(record));
    if (made) made = files_.replace(folder / k_task, task_text(record.task, body));
    if (!made) {
        if (auto removed = files_.remove(folder); !removed) return in_context(made.error().message, removed.error());
        return made;
    }
    index(record);
    notify_observers(record.task.id);
    return {};
}

Result<void> TaskStore::save(const TaskRecord& record, Durability durability) {
    const auto* old = find(record.task.id);
    if (!old) return {ErrorCode::not_found, "there is no task \"" + record.task.id.value + "\""};
    if (old->task.project != record.task.project) return {ErrorCode::invalid_argument, "a task keeps its project"};
    TRY(files_.replace(folder(record) / k_state, state_text(record), durability));
    const TaskRecord copy = record;  // `record` may be the very one that is indexed
    unindex(*old);
    index(copy);
    notify_observers(copy.task.id);
    return {};
}

int TaskStore::observe(std::function<void(const TaskId&)> observer) {
    observers_[next_observer_] = std::move(observer);
    return next_observer_++;
}

void TaskStore::notify_observers(const TaskId& id) const {
    const auto observers = observers_;  // an observer may remove itself while it is called
    for (const auto& [number, observer] : observers) observer(id);
}

Result<void> TaskStore::remove(const TaskId& id) {
    const auto* record = find(id);
    if (!record) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
    const Path folder = this->folder(*record);
    TRY(files_.list(folder));  // fails for a link, which must not be followed
    TRY(files_.remove(folder));
    known_history_.erase((folder / k_history).string());
    histories_.forget(id);
    unindex(*record);
    const TaskId gone = id;  // `id` may be the record's own
    records_.erase(gone);
    ids_.erase({to_lower(gone.value), gone});
    notify_observers(gone);
    return {};
}

Result<std::optional<HistoryEvent>> TaskStore::mend(const Path& file, const std::function<Timestamp()>& now) {
    std::optional<HistoryEvent> nothing;
    const auto end = files_.read_before(file, std::nullopt, 1);
    if (!end && end.error().code == ErrorCode::not_found) return nothing;
    if (!end) return end.error();
    if (end->bytes.empty() || end->bytes == "\n") return nothing;
    HistoryReader reader(files_, file);
    TRY(const auto line, reader.next_line());
    const auto tail = line.value_or("");
    if (event_from_line(tail)) {  // only the line end is missing
        TRY(files_.append(file, "\n"));
        return nothing;
    }
    TRY(files_.append(file.string() + ".torn", tail + "\n"));
    const HistoryEvent event{"history.repaired", now(), {{"bytes", static_cast<std::int64_t>(tail.size())}}};
    const auto told = dump(to_json(event)) + "\n";
    Result<void> done;
    if (end->from < k_rewritten) {
        TRY(const auto content, files_.read(file));
        const auto start = content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
        done = files_.replace(file, content.substr(0, start) + told);
    } else {
        done = files_.append(file, "\n" + told);
    }
    if (!done) return done.error();
    return std::optional(event);
}

Result<std::optional<HistoryEvent>> TaskStore::repair_history(const TaskId& id, const std::function<Timestamp()>& now) {
    const auto* record = find(id);
    if (!record) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
    const Path file = folder(*record) / k_history;
    const auto known = known_history_.find(file.string());
    if (known != known_history_.end() && known->second == size_of(files_, file)) return std::optional<HistoryEvent>{};
    auto mended = mend(file, now);
    if (mended) known_history_[file.string()] = size_of(files_, file);
    if (mended && *mended) histories_.note(id, (*mended)->timestamp);
    return mended;
}

Result<void> TaskStore::append_history(const TaskId& id, const HistoryEvent& event) {
    TRY(repair_history(id, [&] { return event.timestamp; }));
    const Path file = folder(*find(id)) / k_history;
    histories_.note(id, event.timestamp);
    auto appended = files_.append(file, dump(to_json(event)) + "\n");
    if (appended) {
        known_history_[file.string()] = size_of(files_, file);
    } else {
        known_history_.erase(file.string());  // look at its end again before the next one
    }
    return appended;
}

HistoryReader TaskStore::read_history(const TaskId& id) const {
    const auto* record = find(id);
    return {files_, record ? folder(*record) / k_history : Path()};
}

Result<std::vector<HistoryEvent>> TaskStore::history(const TaskId& id, std::size_t count) const {
    if (!find(id)) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
    std::vector<HistoryEvent> events;
    auto reader = read_history(id);
    while (events.size() < count && reader.read() < k_history_end) {
        TRY(const auto line, reader.next_line());
        if (!line) break;
        if (auto event = event_from_line(*line)) events.push_back(std::move(*event));
    }
    std::reverse(events.begin(), events.end());
    return events;
}

}  // namespace orange::store
