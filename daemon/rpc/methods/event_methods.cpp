#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

Json notification_of(Journal& journal, const StreamEvent& event) {
    EventNotification notification;
    notification.cursor = journal.cursor_of(event.number);
    notification.task = event.task.value;
    notification.project = event.project;
    notification.event = to_json(event.event);
    return written(notification);
}

Awaitable<Result<EventsSubscribe::Reply>> subscribe(Api& api, EventsSubscribe params, Call call) {
    auto& journal = api.world().journal;
    std::optional<TaskId> task;
    if (params.task) {
        auto id = api.world().tasks.resolve(*params.task);
        if (!id) co_return id.error();
        task = *id;
    }
    const auto wanted = [task, project = params.project](const StreamEvent& event) {
        return (!task || event.task == *task) && (!project || event.project == *project);
    };
    EventsSubscribe::Reply reply;
    reply.cursor = journal.cursor();
    auto* sink = call.sink;
    if (params.since) {
        const auto missed = journal.since(*params.since);
        reply.resync = !missed;
        if (missed) {
            for (const auto& event : *missed) {
                if (wanted(event)) sink->notify(EventNotification::k_name, notification_of(journal, event));
            }
        }
    }
    const int listener = journal.listen([sink, wanted, &journal](const StreamEvent& event) {
        if (wanted(event)) sink->notify(EventNotification::k_name, notification_of(journal, event));
    });
    sink->set_subscription([&journal, listener] { journal.unlisten(listener); });
    co_return reply;
}

Awaitable<Result<Empty>> unsubscribe(Call call) {
    call.sink->set_subscription([] {});
    co_return Empty{};
}

}  // namespace

void add_event_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<EventsSubscribe>(
        Access::read, "Sends an `event` notification for whatever happens from now on.", {not_found},
        [&api](EventsSubscribe params, Call call) { return subscribe(api, std::move(params), std::move(call)); });
    table.add<EventsUnsubscribe>(Access::read, "Ends this connection's subscription.", {},
                                 [](const EventsUnsubscribe&, Call call) { return unsubscribe(std::move(call)); });
}

}  // namespace orange::rpc
