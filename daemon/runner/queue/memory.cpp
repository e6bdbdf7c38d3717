#include "daemon/runner/queue/memory.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

/// A box counts as full if it has room for less than this many processes, or than this part of its limit: a program
/// that was refused one may end before anybody looks.
constexpr std::int64_t k_least_room = 2, k_room = 16;

}  // namespace

Awaitable<void> Memory::update(TaskId id) {
    const auto record = world_.tasks.awake(id);
    const auto runs = record ? record->runs : std::vector<AgentRun>();
    const auto folder = record ? runner_.agents.run_folder(*record) : Path();
    for (const auto& run : runs) {
        const auto use = world_.launcher.use_of(run);
        const bool is_full = co_await has_all_processes(run, folder, use);
        if (is_full) co_await note_refused(id, run, use && use->forks_refused > 0);
        const bool is_new = use && use->oom_kills > run.oom_kills && !run.ending;
        if (!is_new) {
            first_seen_.erase({id, run.run});
            continue;
        }
        const auto [seen, first] = first_seen_.try_emplace({id, run.run}, use->oom_kills);
        if (first) {
            forget_ended();
            continue;
        }
        const auto kills = seen->second;
        if (world_.launcher.liveness(run) != agents::Liveness::alive) continue;
        first_seen_.erase(seen);
        co_await note(id, run, kills);
    }
}

/// Most entries that only one call has found belong to agents that have ended since.
void Memory::forget_ended() {
    std::erase_if(first_seen_, [this](const auto& each) {
        const auto& [task, run] = each.first;
        const auto record = world_.tasks.awake(task);
        return record == nullptr || std::ranges::find(record->runs, run, &AgentRun::run) == record->runs.end();
    });
}

Awaitable<void> Memory::note(TaskId id, AgentRun seen, std::int64_t kills) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto run = std::ranges::find(record.runs, seen.run, &AgentRun::run);
    if (run == record.runs.end() || run->oom_kills >= kills) co_return;
    const auto count = static_cast<std::size_t>(kills - run->oom_kills);
    run->oom_kills = kills;
    const auto role = name_text(run->role);
    raise(world_, record, NoticeKind::out_of_memory,
          "memory was used up, and the kernel ended " + std::string(count == 1 ? "a process" : "processes") +
              " that the " + role + " had started; the " + role + " runs",
          {}, role);
    if (!turns_.save(record)) co_return;
    world_.journal.write(record, "agent.out_of_memory",
                         {{"role", role}, {"run", seen.run.value}, {"processes", static_cast<std::int64_t>(count)}});
    co_await turns_.show(record);
}

Awaitable<bool> Memory::has_all_processes(AgentRun run, Path run_folder, std::optional<GroupUse> use) {
    if (run.forks_refused || run.ending) co_return false;
    if (use && use->forks_refused > 0) co_return true;
    const bool is_counted = run.processes_limit > 0 && (!use || run.own_processes_limit() == 0);
    if (!is_counted || !world_.launcher.has_processes_limited(run, run_folder)) co_return false;
    const auto shim = world_.launcher.inner_shim_of(run, run_folder);
    if (!shim) co_return false;
    constexpr std::size_t k_at_once = 50;
    const auto enough = run.processes_limit - std::max(k_least_room, run.processes_limit / k_room);
    std::int64_t count = 1;  // the first process of the box
    std::vector<std::int64_t> open = {*shim};
    for (std::size_t i = 0; i < open.size() && count < enough; ++i) {
        if (i % k_at_once == k_at_once - 1) co_await async::yield();
        count += process::threads_of(open[i]).value_or(0);
        const auto children = process::children_of(open[i]).value_or(std::vector<std::int64_t>());
        open.insert(open.end(), children.begin(), children.end());
    }
    co_return count >= enough;
}

Awaitable<void> Memory::note_refused(TaskId id, AgentRun seen, bool is_counted_by_kernel) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto run = std::ranges::find(record.runs, seen.run, &AgentRun::run);
    if (run == record.runs.end() || run->forks_refused) co_return;
    run->forks_refused = true;
    const auto role = name_text(run->role);
    raise(world_, record, NoticeKind::out_of_processes,
          "the " + role + " and what it has started are " +
              (is_counted_by_kernel ? "as many processes as they may be, and the kernel lets them start no more"
                                    : "nearly as many processes as they may be (limits.processes)"),
          "orange task attach " + record.task.id.value, role);
    if (!turns_.save(record)) co_return;
    world_.journal.write(record, "agent.out_of_processes", {{"role", role}, {"run", seen.run.value}});
    co_await turns_.show(record);
}

std::vector<std::string> unenforced_limits(const World& world, const AgentRun& run, const Path& run_folder) {
    std::vector<std::string> names;
    if (world.launcher.liveness(run) != agents::Liveness::alive) return names;
    if (run.memory_limit > 0 && !world.launcher.is_limited(run)) names.emplace_back("limits.memory");
    const bool is_held = run.processes_limit == 0 || world.launcher.has_processes_limited(run, run_folder);
    if (!is_held) names.emplace_back("limits.processes");
    return names;
}

}  // namespace orange
