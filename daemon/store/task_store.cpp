#include "daemon/store/task_store.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/unfinished.hpp"
#include "daemon/store/history_chain.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_folder.hpp"

/// The daemon's persistent memory of tasks (docs/files.md).
///
/// state.json is the truth about a task, and one rename of it commits a change. The index in memory is a copy of all
/// these files and changes only after the disk. A new task exists once its TASK.md does, which is written after
/// state.json: a folder with TASK.md alone would look hand-made and be imported. TASK.md has two parts with different
/// owners. The frontmatter only shows the record, and TaskFiles restores it. The body belongs to agents and people, and
/// this file never changes it.
namespace orange::store {
namespace {

/// The bytes at a history's end that are read for its last events, and the size up to which a history is rewritten.
constexpr std::uintmax_t k_history_end = std::uintmax_t{4} << 20, k_rewritten = std::uintmax_t{16} << 20;

std::pair<std::string, std::string> branch_key(const TaskRecord& record) {
    return {record.task.project, record.task.branch};
}

/// Removes `value` from the set of `key`, and a set that is empty then.
template <class Sets, class Key, class Value>
void remove_from(Sets& sets, const Key& key, const Value& value) {
    const auto found = sets.find(key);
    if (found == sets.end()) return;
    found->second.erase(value);
    if (found->second.empty()) sets.erase(found);
}

std::uintmax_t size_of(FileSystem& files, const Path& file) {
    const auto facts = files.facts_of(file);
    return facts ? facts->size : 0;
}

/// Returns the hash of the last event of a history, of which `line` is the last line; without one, the chain's start.
Result<std::string> head_of(HistoryReader& reader, std::optional<std::string> line, const TaskId& id) {
    while (line && !event_from_line(*line) && reader.read() < k_history_end) {
        TRY(line, reader.next_line());
    }
    return line && event_from_line(*line) ? sha256(*line) : chain_start(id);
}

}  // namespace

bool is_id_safe(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
}

std::string state_text(const TaskRecord& record) {
    return dump(to_json(record)) + "\n";
}

TaskStore::TaskStore(FileSystem& files, Path root) : files_(files), root_(std::move(root)) {}

Path TaskStore::folder(const TaskRecord& record) const {
    return root_ / record.task.project / record.task.id.value;
}

Path TaskStore::folder(const Brief& brief) const {
    return root_ / brief.project.text() / brief.id.value;
}

TaskStore::Entry* TaskStore::entry_of(const TaskId& id) const {
    const auto found = entries_.find(std::string_view(id.value));
    return found == entries_.end() ? nullptr : found->get();
}

const Brief* TaskStore::brief(const TaskId& id) const {
    const auto* entry = entry_of(id);
    return entry ? &entry->brief : nullptr;
}

RecordPtr TaskStore::awake(const TaskId& id) const {
    const auto* entry = entry_of(id);
    return entry ? entry->record : nullptr;
}

Result<RecordPtr> TaskStore::read(const TaskId& id) const {
    const auto* entry = entry_of(id);
    if (!entry) return Error(ErrorCode::not_found, "there is no task " + id.value);
    if (entry->record) return entry->record;
    TRY(auto record, record_from(files_.read(folder(entry->brief) / k_state), entry->brief.project, id.value));
    if (!store::rests(record)) {
        return Error(ErrorCode::conflict,
                     (folder(record) / k_state).string() +
                         " was changed by another program, and says that the task has not ended. To read it again:\n"
                         "  orange daemon restart");
    }
    record.task.parent = entry->brief.parent;
    return RecordPtr(std::make_shared<TaskRecord>(std::move(record)));
}

void TaskStore::read_spent(const std::vector<TaskId>& ids,
                           const std::function<void(const TaskId& id, Result<Spent> spent)>& take) const {
    std::map<std::string, std::vector<std::string>> resting;  // by project
    for (const auto& id : ids) {
        const auto* entry = entry_of(id);
        if (entry == nullptr) continue;
        if (entry->record) {
            take(id, spent_of(*entry->record));
        } else {
            resting[entry->brief.project].push_back(id.value);
        }
    }
    for (const auto& [project, names] : resting) {
        files_.read_each(root_ / project, names, k_state,
                         [&](const std::string& name, const Result<std::string>& state) {
                             auto spent = state ? spent_in(*state) : std::nullopt;
                             if (spent) return take(TaskId{name}, std::move(*spent));
                             const auto record = record_from(state, project, name);
                             take(TaskId{name}, record ? Result<Spent>(spent_of(*record)) : record.error());
                         });
    }
}

std::optional<BranchHolder> TaskStore::on_branch(const std::string& project, const std::string& branch) const {
    if (const auto found = by_branch_.find({project, branch}); found != by_branch_.end()) {
        const auto& id = *found->second.begin();
        return BranchHolder{id, entry_of(id)->brief.status};
    }
    for (const auto& broken : unreadable_) {
        if (broken.project != project || !broken.shown || broken.shown->branch != branch) continue;
        if (!is_end(broken.shown->status)) return BranchHolder{{broken.id}, "cannot be read", false};
    }
    return std::nullopt;
}

void TaskStore::each(const std::function<bool(const Brief&)>& visit, const std::optional<Age>& after) const {
    auto entry = after ? std::make_reverse_iterator(by_age_.lower_bound(*after)) : by_age_.rbegin();
    for (; entry != by_age_.rend(); ++entry) {
        if (!visit((*entry)->brief)) return;
    }
}

void TaskStore::each_awake(const std::function<void(const TaskRecord&)>& visit) const {
    for (auto entry = awake_.rbegin(); entry != awake_.rend(); ++entry) visit(*(*entry)->record);
}

void TaskStore::each_open(const std::function<bool(const TaskRecord&)>& visit) const {
    for (auto entry = open_by_age_.rbegin(); entry != open_by_age_.rend(); ++entry) {
        if (!visit(*(*entry)->record)) return;
    }
}

void TaskStore::each_open_brief(const std::function<bool(const Brief&)>& visit) const {
    for (auto entry = open_by_age_.rbegin(); entry != open_by_age_.rend(); ++entry) {
        if (!visit((*entry)->brief)) return;
    }
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
    for (const auto* child : found->second) ids.push_back(child->brief.id);
    return ids;
}

std::vector<TaskId> TaskStore::parents() const {
    std::vector<TaskId> ids;
    for (const auto& [parent, children] : children_) ids.push_back(parent);
    return ids;
}

bool TaskStore::is_open(const Brief& brief) const {
    const auto* entry = entry_of(brief.id);
    return entry && entry->open;
}

TaskStore::Entry& TaskStore::add_entry(Brief brief) {
    auto made = std::make_unique<Entry>();
    made->brief = std::move(brief);
    return **entries_.insert(std::move(made)).first;
}

/// Adds the task to the parts of the index that need only the brief.
void TaskStore::index(Entry& entry) {
    by_age_.insert(&entry);
    ids_.insert(&entry);
    ++sizes_[entry.brief.project];
    if (!entry.brief.parent.empty()) children_[entry.brief.parent].insert(&entry);
}

void TaskStore::index(const RecordPtr& saved) {
    const auto& record = *saved;
    const auto& id = record.task.id;
    auto* known = entry_of(id);
    auto& entry = known ? *known : add_entry(brief_of(record));
    entry.brief = brief_of(record);
    entry.record = rests(record) ? nullptr : saved;
    index(entry);
    const bool ended = entry.brief.ended;
    entry.open = !ended || record.alarmed() || !record.notices.empty();
    if (entry.rests()) return;
    awake_.insert(&entry);
    if (entry.open) open_by_age_.insert(&entry);
    if (entry.open) ++open_[record.task.project];
    if (!ended) by_branch_[branch_key(record)].insert(id);
    if (!ended || record.intent || !record.runs.empty() || !record.left.empty()) active_.insert(id);
    const auto blockers = ended ? std::vector<TaskId>() : record.waits_for();
    for (const auto& blocker : blockers) dependents_[blocker].insert(id);
    if (!blockers.empty()) blocked_.insert(id);
    if (!ended && !record.task.on.empty()) dependents_[record.task.on].insert(id);
    if (record.queued && blockers.empty() && !record.unapproved)
        queues_[record.task.project].emplace(record.queued_seq, id);
    if (!record.held.empty()) held_.insert(id);
    runs_.add(record);
}

void TaskStore::unindex(Entry& entry) {
    const auto& id = entry.brief.id;
    by_age_.erase(&entry);
    ids_.erase(&entry);
    --sizes_[entry.brief.project];
    remove_from(children_, entry.brief.parent, &entry);
    if (entry.rests()) return;
    const auto& record = *entry.record;
    awake_.erase(&entry);
    if (entry.open) open_by_age_.erase(&entry);
    if (entry.open) --open_[record.task.project];
    active_.erase(id);
    blocked_.erase(id);
    held_.erase(id);
    for (const auto& blocker : record.task.blocked_by) remove_from(dependents_, blocker, id);
    remove_from(dependents_, record.task.on, id);
    runs_.remove(record);
    remove_from(by_branch_, branch_key(record), id);
    if (const auto found = queues_.find(record.task.project); found != queues_.end()) {
        found->second.erase({record.queued_seq, id});
    }
}

Result<void> TaskStore::create(const TaskRecord& record, std::string_view body) {
    const Path folder = this->folder(record);
    if (!is_id_safe(record.task.id.value)) return {ErrorCode::invalid_argument, "not a task id"};
    TRY(check_project_name(record.task.project));
    TRY(auto there, files_.list(folder));
    const bool has_files = std::erase(there, k_files) > 0;  // which its creator has put there
    if (entry_of(record.task.id) || !there.empty()) {
        return {ErrorCode::conflict, "task " + record.task.id.value + " already exists"};
    }
    auto made = files_.replace(folder / k_state, state_text(record));
    if (made) made = files_.replace(folder / k_task, task_text(record.task, body));
    if (!made && has_files) return made;  // the creator takes them back, and removes the folder
    if (!made) {
        if (auto removed = files_.remove(folder); !removed) return in_context(made.error().message, removed.error());
        return made;
    }
    index(std::make_shared<TaskRecord>(record));
    notify_observers(record.task.id);
    return {};
}

Result<void> TaskStore::save(const TaskRecord& record, Durability durability) {
    auto* old = entry_of(record.task.id);
    if (!old) return {ErrorCode::not_found, "there is no task \"" + record.task.id.value + "\""};
    if (old->brief.project.text() != record.task.project) {
        return {ErrorCode::invalid_argument, "a task keeps its project"};
    }
    if (!old->is_tidy) tidy(*old);  // before another program writes into the folder
    TRY(files_.replace(folder(record) / k_state, state_text(record), durability));
    const RecordPtr saved = std::make_shared<TaskRecord>(record);
    unindex(*old);
    index(saved);
    notify_observers(saved->task.id);
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
    auto* entry = entry_of(id);
    if (!entry) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
    const Path folder = this->folder(entry->brief);
    TRY(files_.list(folder));  // fails for a link, which must not be followed
    TRY(files_.remove(folder));
    known_history_.erase((folder / k_history).string());
    const TaskId gone = id;  // `id` may be the record's own
    histories_.forget(gone);
    unindex(*entry);
    entries_.erase(entries_.find(std::string_view(gone.value)));
    notify_observers(gone);
    return {};
}

/// `head` is the hash of the file's last event. If it is empty, it is read from the file. It is then that of the event
/// that was written here, if there is one.
Result<std::optional<HistoryEvent>> TaskStore::mend(const Path& file, const TaskId& id,
                                                    const std::function<Timestamp()>& now, std::string& head) {
    std::optional<HistoryEvent> nothing;
    HistoryReader reader(files_, file);
    TRY(auto line, reader.next_line());
    const auto tail = reader.is_torn() ? line.value_or("") : "";
    if (head.empty()) {
        TRY(head, head_of(reader, std::move(line), id));
    }
    if (tail.empty()) return nothing;
    if (event_from_line(tail)) {  // only the line end is missing
        TRY(files_.append(file, "\n"));
        return nothing;
    }
    TRY(files_.append(file.string() + ".torn", tail + "\n"));
    const HistoryEvent event{"history.repaired", now(), {{"bytes", static_cast<std::int64_t>(tail.size())}}};
    const auto told = chained_line(event, head);
    Result<void> done;
    if (size_of(files_, file) <= k_rewritten) {
        TRY(const auto content, files_.read(file));
        const auto start = content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
        done = files_.replace(file, content.substr(0, start) + told + "\n");
    } else {
        done = files_.append(file, "\n" + told + "\n");
    }
    if (!done) return done.error();
    head = sha256(told);
    return std::optional(event);
}

Result<std::optional<HistoryEvent>> TaskStore::repair_history(const TaskId& id, const std::function<Timestamp()>& now) {
    const auto* task = brief(id);
    if (!task) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
    const Path file = folder(*task) / k_history;
    const auto known = known_history_.find(file.string());
    if (known != known_history_.end() && known->second.size == size_of(files_, file)) {
        return std::optional<HistoryEvent>{};
    }
    auto head = chain_head(id);
    auto mended = mend(file, id, now, head);
    if (mended) known_history_[file.string()] = {size_of(files_, file), std::move(head)};
    if (mended && *mended) histories_.note(id, (*mended)->timestamp);
    return mended;
}

Result<void> TaskStore::append_history(const TaskId& id, const HistoryEvent& event) {
    TRY(repair_history(id, [&] { return event.timestamp; }));
    const Path file = folder(*brief(id)) / k_history;
    histories_.note(id, event.timestamp);
    const auto line = chained_line(event, chain_head(id));
    auto appended = files_.append(file, line + "\n");
    if (appended) {
        known_history_[file.string()] = {size_of(files_, file), sha256(line)};
    } else {
        known_history_.erase(file.string());  // look at its end again before the next one
    }
    return appended;
}

std::string TaskStore::chain_head(const TaskId& id) const {
    const auto* task = brief(id);
    const auto known = task ? known_history_.find((folder(*task) / k_history).string()) : known_history_.end();
    return known == known_history_.end() ? std::string() : known->second.head;
}

HistoryReader TaskStore::read_history(const TaskId& id) const {
    const auto* task = brief(id);
    return {files_, task ? folder(*task) / k_history : Path()};
}

Result<std::vector<HistoryEvent>> TaskStore::history(const TaskId& id, std::size_t count) const {
    if (!brief(id)) return {ErrorCode::not_found, "there is no task \"" + id.value + "\""};
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
