#include "daemon/store/run_index.hpp"

namespace orange::store {

void RunIndex::add(const TaskRecord& record) {
    if (!record.runs.empty()) tasks_.insert(record.task.id);
    for (const auto& run : record.runs) {
        if (run.pid > 0) shims_.emplace(run.pid, record.task.id);
        if (run.server_pid > 0) ++servers_[{run.server_pid, run.server_start}];
    }
}

void RunIndex::remove(const TaskRecord& record) {
    tasks_.erase(record.task.id);
    for (const auto& run : record.runs) {
        shims_.erase({run.pid, record.task.id});
        const auto server = servers_.find({run.server_pid, run.server_start});
        if (server != servers_.end() && --server->second == 0) servers_.erase(server);
    }
}

bool RunIndex::has_server(std::int64_t pid, std::int64_t start_time) const {
    for (auto server = servers_.lower_bound({pid, 0}); server != servers_.end(); ++server) {
        const auto [known_pid, known_start] = server->first;
        if (known_pid != pid) break;
        if (known_start == 0 || start_time == 0 || known_start == start_time) return true;
    }
    return false;
}

std::vector<TaskId> RunIndex::with_shim(std::int64_t pid) const {
    std::vector<TaskId> found;
    for (auto entry = shims_.lower_bound({pid, TaskId{}}); entry != shims_.end() && entry->first == pid; ++entry) {
        found.push_back(entry->second);
    }
    return found;
}

}  // namespace orange::store
