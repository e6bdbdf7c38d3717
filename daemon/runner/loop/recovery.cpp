
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

Awaitable<void> Recovery::resume(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const bool young = record.runs.empty() && !record.task.workspace;
    if (auto told = young ? runner_.creation.tell_created(record) : Result<void>{}; !told)
        log::warn("runner", told.error().message);
    co_await runner_.agents.settle_starting(record);
    runner_.tokens.look_at_all(record);
    if (record.intent) {
        log::info("runner", "resuming an interrupted transition",
                  {{"task", id.value}, {"from", record.intent->from}, {"to", record.intent->to}});
        const auto definition = turns_.definition_of(record.task);
        if (definition) {
            co_await runner_.transitions.finish(record, *definition);
        } else {
            raise(world_, record, NoticeKind::transition_unfinished,
                  "an interrupted transition cannot be finished: " + definition.error().message);
            turns_.save(record);
        }
        co_return;
    }
    co_await turns_.show(record);
    if (record.asked) runner_.gates.go_on(id);
    if (record.merge && record.merge->unfinished()) co_await runner_.merges.resume(std::move(record));
}

Awaitable<void> Recovery::settle_starting(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (turn && !turn->record.intent) co_await runner_.agents.settle_starting(turn->record);
}

}  // namespace orange
