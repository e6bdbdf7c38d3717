#include "daemon/store/history_times.hpp"

namespace orange::store {

void HistoryTimes::note(const TaskId& id, Timestamp time) {
    const auto [known, is_new] = times_.try_emplace(id, time);
    if (!is_new && known->second >= time) return;
    if (!is_new) by_time_.erase({known->second, &known->first});
    known->second = time;
    by_time_.emplace(time, &known->first);
}

void HistoryTimes::forget(const TaskId& id) {
    const auto known = times_.find(id);
    if (known == times_.end()) return;
    by_time_.erase({known->second, &known->first});
    times_.erase(known);
}

std::vector<std::pair<Timestamp, TaskId>> HistoryTimes::all() const {
    std::vector<std::pair<Timestamp, TaskId>> found;
    found.reserve(by_time_.size());
    for (auto entry = by_time_.rbegin(); entry != by_time_.rend(); ++entry) {
        found.emplace_back(entry->first, *entry->second);
    }
    return found;
}

}  // namespace orange::store
