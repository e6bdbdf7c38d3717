#include "daemon/runner/queue/disks.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/signal_process.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::chrono::minutes k_between_measurements{1}, k_longest_measurement{10};

/// After an agent was ended, the next one may use this part of the limit more than was in use: it has to be able to
/// remove something.
constexpr std::int64_t k_part_more = 10;

bool is_limited(const World& world, const AgentRun& run) {
    return run.disk_limit > 0 && !run.ending && world.launcher.liveness(run) == agents::Liveness::alive;
}

}  // namespace

void Disks::look(const TaskId& id) {
    const auto record = world_.tasks.awake(id);
    const auto has_limit = [this](const AgentRun& run) { return is_limited(world_, run); };
    if (!record || !record->task.workspace || std::ranges::none_of(record->runs, has_limit)) return;
    const auto& with_runs = world_.tasks.runs().tasks();
    std::erase_if(measured_,
                  [&](const auto& each) { return !each.second.is_under_way && !with_runs.contains(each.first); });
    auto& measured = measured_[id];
    const bool is_due = measured.at == async::Moment{} || async::now() - measured.at >= k_between_measurements;
    if (!is_due || std::exchange(measured.is_under_way, true)) return;
    async::spawn(world_.executor, "disk", measure(id));
}

std::int64_t Disks::last_of(const TaskId& id) const {
    const auto found = measured_.find(id);
    return found == measured_.end() ? 0 : found->second.bytes;
}

Awaitable<void> Disks::measure(TaskId id) {
    auto slot = co_await slots_.take();
    const auto record = world_.tasks.awake(id);
    std::vector<std::string> folders;
    if (record && record->task.workspace) {
        folders.push_back(world_.pool.path_of(*record->task.workspace).string());
        if (walls::wall_of(world_, record->task)) folders.push_back(walls::repository_of(world_, id.value));
    }
    const auto bytes = co_await size_of(std::move(folders));
    slot.reset();
    auto& measured = measured_[id];
    if (bytes > 0) measured.bytes = bytes;
    measured.at = async::now();
    measured.is_under_way = false;
    co_await end_if_over(std::move(id), bytes);
}

/// Returns 0 if the folders cannot be measured. Files that vanish meanwhile let `du` fail, but its sums are right.
Awaitable<std::int64_t> Disks::size_of(std::vector<std::string> folders) {
    if (folders.empty()) co_return 0;
    Command command;
    command.argv = words("nice", "-n", "19", "du", "-skx", "--");
    command.argv.insert(command.argv.end(), folders.begin(), folders.end());
    command.deadline = k_longest_measurement;
    const auto done = co_await world_.processes.run(std::move(command));
    if (!done) log::warn("disk", done.error().message);
    std::int64_t kib = 0;
    const auto lines = done ? split_lines(done->out) : std::vector<std::string_view>();
    for (const auto line : lines) kib += whole_number(line.substr(0, line.find('\t'))).value_or(0);
    co_return kib * 1024;
}

/// The agents of a task have one worktree: the one that works now is ended, and the other one stays.
AgentRun* Disks::agent_to_end(TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    AgentRun* found = nullptr;
    for (auto& run : record.runs) {
        const bool works = state && engine::role_of_state(**definition, *state) == run.role;
        if (is_limited(world_, run) && (!found || works)) found = &run;
    }
    return found;
}

Awaitable<void> Disks::end_if_over(TaskId id, std::int64_t used) {
    const auto seen = world_.tasks.awake(id);
    const auto is_news = [&](const AgentRun& run) {
        return run.disk_limit > 0 && (used > run.disk_limit || run.disk_used > 0 || seen->disk_over > 0);
    };
    if (!seen || used == 0 || std::ranges::none_of(seen->runs, is_news)) co_return;
    auto turn = co_await turns_.begin_turn(std::move(id));
    if (!turn) co_return;
    auto& record = turn->record;
    for (const auto& run : record.runs) {  // a daemon that died had no time to end it
        if (run.disk_used == 0 || !is_limited(world_, run)) continue;
        signal_process(run.pid, run.start_time, SIGTERM);
        co_return;
    }
    auto* run = agent_to_end(record);
    if (!run) co_return;
    if (used <= run->disk_limit) {
        if (std::exchange(record.disk_over, 0) != 0) (void)turns_.save(record);
        co_return;
    }
    if (used <= std::max(run->disk_limit, record.disk_over + run->disk_limit / k_part_more)) co_return;
    run->disk_used = record.disk_over = used;
    if (!turns_.save(record)) co_return;
    log::warn("disk", "ending an agent beyond limits.disk", {{"run", run->run.value}});
    signal_process(run->pid, run->start_time, SIGTERM);
}

}  // namespace orange
