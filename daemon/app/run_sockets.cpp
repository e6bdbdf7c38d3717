#include "daemon/app/run_sockets.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "daemon/log/log.hpp"

namespace orange {

void RunSockets::start(bool all_known) {
    check();
    std::set<RunId> runs;
    for (const auto& id : tasks_.runs().tasks()) {
        const auto record = tasks_.awake(id);
        if (!record) continue;
        for (const auto& run : record->runs) runs.insert(run.run);
    }
    // A run that continues keeps its folder: it may be mounted elsewhere, and an agent whose folder is gone is told to
    // stop.
    for (const auto& name : files_.list(paths_.sockets_of_runs()).value_or({})) {
        if (all_known && !runs.contains(RunId{name})) close(RunId{name});
    }
    observer_ = tasks_.observe([this](const TaskId& id) { follow(id); });
}

void RunSockets::check() {
    Result<void> all;
    for (const auto& id : tasks_.runs().tasks()) {
        if (auto made = make_missing(id); !made) all = made;
    }
    note(all);
}

std::string RunSockets::path_of(const RunId& run) const {
    const auto path = paths_.socket_of(run);
    return server_.listens_at(path) ? path.string() : std::string();
}

void RunSockets::follow(const TaskId& id) {
    const auto record = tasks_.awake(id);
    const auto known = known_.find(id);
    if (known != known_.end()) {
        std::erase_if(known->second, [&](const RunId& run) {
            const bool lives = record && std::ranges::find(record->runs, run, &AgentRun::run) != record->runs.end();
            if (!lives) close(run);
            return !lives;
        });
        if (known->second.empty()) known_.erase(known);
    }
    if (auto made = make_missing(id); !made) note(made);
}

Result<void> RunSockets::make_missing(const TaskId& id) {
    const auto record = tasks_.awake(id);
    Result<void> all;
    if (!record) return all;
    for (const auto& run : record->runs) {
        if (server_.listens_at(paths_.socket_of(run.run))) continue;
        if (auto opened = open(id, run.run); !opened) all = opened;
    }
    return all;
}

Result<void> RunSockets::open(const TaskId& id, const RunId& run) {
    auto& known = known_[id];
    if (std::ranges::find(known, run) == known.end()) known.push_back(run);
    const auto socket = paths_.socket_of(run);
    TRY(make_private_folder(paths_.sockets_of_runs()));
    TRY(make_private_folder(socket.parent_path()));
    return server_.listen(socket, id, run);
}

void RunSockets::close(const RunId& run) {
    const auto socket = paths_.socket_of(run);
    server_.unlisten(socket);
    // Usually nothing else is there. What remains, the next daemon removes.
    ::unlink(socket.c_str());
    if (::rmdir(socket.parent_path().c_str()) != 0) (void)files_.remove(socket.parent_path());
}

void RunSockets::note(const Result<void>& made) {
    auto problem = made ? std::string() : "an agent has no socket of its own: " + made.error().message;
    if (problem != problem_ && !problem.empty()) log::warn("rpc", problem);
    problem_ = std::move(problem);
}

}  // namespace orange
