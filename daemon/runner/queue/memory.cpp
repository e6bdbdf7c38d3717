#include "daemon/runner/queue/memory.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/runner/attention/attention.hpp"

namespace orange {

Awaitable<void> Memory::update(TaskId id) {
    const auto record = world_.tasks.awake(id);
    const auto runs = record ? record->runs : std::vector<AgentRun>();
    for (const auto& run : runs) {
        const auto use = world_.launcher.use_of(run);
        if (use && use->forks_refused > 0 && !run.forks_refused && !run.ending) co_await note_refused(id, run);
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

Awaitable<void> Memory::note_refused(TaskId id, AgentRun seen) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto run = std::ranges::find(record.runs, seen.run, &AgentRun::run);
    if (run == record.runs.end() || run->forks_refused) co_return;
    run->forks_refused = true;
    const auto role = name_text(run->role);
    raise(world_, record, NoticeKind::out_of_processes,
          "the " + role +
              " and what it has started are as many processes as they may be, and the kernel lets them "
              "start no more",
          "orange task attach " + record.task.id.value, role);
    if (!turns_.save(record)) co_return;
    world_.journal.write(record, "agent.out_of_processes", {{"role", role}, {"run", seen.run.value}});
    co_await turns_.show(record);
}

bool is_unlimited(const World& world, const AgentRun& run) {
    return run.memory_limit > 0 && world.launcher.liveness(run) == agents::Liveness::alive &&
           !world.launcher.is_limited(run);
}

}  // namespace orange
