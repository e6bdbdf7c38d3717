#include "daemon/store/run_index.hpp"

namespace orange::store {

void RunIndex::add(const TaskRecord& record) {
    for (const auto& run : record.runs) {
        if (run.pid > 0) shims_.emplace(run.pid, record.task.id);
        if (run.server_pid > 0) ++servers_[run.server_pid];
    }
}

void RunIndex::remove(const TaskRecord& record) {
    for (const auto& run : record.runs) {
        shims_.erase({run.pid, record.task.id});
        const auto server = servers_.find(run.server_pid);
        if (server != servers_.end() && --server->second == 0) servers_.erase(server);
    }
}

std::vector<TaskId> RunIndex::with_shim(std::int64_t pid) const {
    std::vector<TaskId> found;
    for (auto entry = shims_.lower_bound({pid, TaskId{}}); entry != shims_.end() && entry->first == pid; ++entry) {
        found.push_back(entry->second);
    }
    return found;
}

}  // namespace orange::store
