#include "daemon/runner/journal.hpp"

#include <charconv>

#include "daemon/log/log.hpp"

namespace orange {

Journal::Journal(store::TaskStore& tasks, const Clock& clock) : tasks_(tasks), clock_(clock), boot_(random_id(8)) {}

void Journal::write(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields) {
    write(record, HistoryEvent{std::move(type), clock_.now(), std::move(fields)});
}

void Journal::write(const TaskRecord& record, HistoryEvent event) {
    if (event.timestamp == Timestamp{}) event.timestamp = clock_.now();
    if (auto appended = tasks_.append_history(record.task.id, event); !appended) {
        log::error("journal", appended.error().message, {{"task", record.task.id.value}, {"event", event.type}});
    }
    log::info("journal", event.type, {{"task", record.task.id.value}, {"project", record.task.project}});
    publish(record.task.id, record.task.project, std::move(event));
}

Result<void> Journal::write_once(const TaskRecord& record, std::string type, std::map<std::string, Scalar> fields) {
    const auto history = tasks_.history(record.task.id);
    if (!history) return history.error();
    for (const auto& event : *history) {
        if (event.type == type && event.fields == fields) return {};
    }
    HistoryEvent event{std::move(type), clock_.now(), std::move(fields)};
    if (auto appended = tasks_.append_history(record.task.id, event); !appended) return appended;
    log::info("journal", event.type, {{"task", record.task.id.value}, {"project", record.task.project}});
    publish(record.task.id, record.task.project, std::move(event));
    return {};
}

void Journal::publish(const TaskId& task, const std::string& project, HistoryEvent event) {
    if (event.timestamp == Timestamp{}) event.timestamp = clock_.now();
    recent_.push_back(StreamEvent{next_++, task, project, std::move(event)});
    if (recent_.size() > k_kept) recent_.pop_front();
    const auto published = recent_.back();
    const auto listeners = listeners_;  // a listener may leave while it is called
    for (const auto& [id, listener] : listeners) {
        if (listeners_.contains(id)) listener(published);
    }
}

int Journal::listen(Listener listener) {
    listeners_[next_listener_] = std::move(listener);
    return next_listener_++;
}

void Journal::unlisten(int id) {
    listeners_.erase(id);
}

std::optional<std::vector<StreamEvent>> Journal::since(const std::string& cursor) const {
    if (!cursor.starts_with(boot_ + "-")) return std::nullopt;
    const auto digits = std::string_view(cursor).substr(boot_.size() + 1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || number < 0 || number >= next_)
        return std::nullopt;
    const auto oldest = recent_.empty() ? next_ : recent_.front().number;
    if (number + 1 < oldest) return std::nullopt;
    std::vector<StreamEvent> events;
    for (const auto& event : recent_) {
        if (event.number > number) events.push_back(event);
    }
    return events;
}

}  // namespace orange
