// events.*: a connection subscribes to events, or lists recent ones.
#include "common/rpc/event_methods.hpp"

#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

EventNotification notification_of(World& world, const StreamEvent& event) {
    EventNotification notification;
    notification.cursor = world.journal.cursor_of(event);
    notification.task = event.task.value;
    notification.short_id = world.tasks.short_id(event.task);
    notification.project = event.project;
    if (const auto* task = world.tasks.brief(event.task)) notification.summary = task->summary;
    notification.event = to_json(event.event);
    return notification;
}

/// Behind a wall, events are those of its own task, or of another one that it may see.
Result<EventFilter> filter_of(Api& api, const EventSelector& selector, const Call& call) {
    EventFilter filter;
    if (selector.task || !call.wall.empty()) {
        TRY(filter.task, api.select({selector.task, {}}, call));
    }
    filter.project = selector.project;
    filter.types = selector.types;
    filter.behind_wall = !call.wall.empty();
    return filter;
}

Awaitable<Result<void>> check_project(Api& api, std::optional<std::string> project, const Call& call) {
    const auto* own = call.wall.empty() ? nullptr : api.world().tasks.brief(call.wall);
    const bool is_hidden = project && !call.wall.empty() && (own == nullptr || own->project.text() != *project);
    if (is_hidden) co_return engine::hidden_by_wall("every other project");
    if (!project || api.world().projects.find(*project)) co_return Result<void>{};
    CO_TRY(co_await api.select_project(project, std::nullopt));
    co_return Result<void>{};
}

/// After a start the daemon looks for the times of histories in the background. A query that needs the times of all
/// histories helps, and lets others have their turns.
Awaitable<void> find_histories(World& world) {
    constexpr int k_at_once = 16;
    for (int seen = 1; world.tasks.tidy_next(); ++seen) {
        if (seen % k_at_once == 0) co_await async::yield();
    }
}

Awaitable<Result<EventsSubscribe::Reply>> subscribe(Api& api, EventsSubscribe params, Call call) {
    auto project = params.project;
    CO_TRY(co_await check_project(api, std::move(project), call));
    CO_TRY(const auto filter, filter_of(api, params, call));
    std::optional<TaskId> seen;
    if (params.screen) {
        CO_TRY(seen, api.select({params.screen, {}}, call));
        if (!call.wall.empty() && *seen != call.wall) co_return engine::hidden_by_wall("the screen of " + seen->value);
    }
    auto& world = api.world();
    auto* sink = call.sink;
    EventsSubscribe::Reply reply;
    std::optional<std::vector<StreamEvent>> missed;
    if (params.since) {  // a later call of the connection may be quicker
        const auto is_wanted = std::make_shared<bool>(true);
        sink->set_subscription([is_wanted] { *is_wanted = false; });
        if (!filter.task) co_await find_histories(world);
        auto task = filter.task;
        missed = co_await world.journal.since(*params.since, std::move(task));
        if (!*is_wanted) {
            co_return Error(ErrorCode::conflict, "the connection has ended or replaced this subscription already");
        }
        reply.resync = !missed;
    }
    reply.cursor = world.journal.cursor();
    const auto tell = [sink, wanted = filter, &world](const StreamEvent& event) {
        if (wanted.wants(event)) sink->notify(EventNotification::k_name, written(notification_of(world, event)));
    };
    if (missed) {
        for (const auto& event : *missed) tell(event);
    }
    const int listener = world.journal.listen(tell);
    const int viewer = seen ? api.screens().listen(*seen,
                                                   [sink, text = written(ScreenNotification{seen->value})] {
                                                       sink->notify(ScreenNotification::k_name, text);
                                                   })
                            : 0;
    sink->set_subscription([&api, &world, listener, viewer] {
        world.journal.unlisten(listener);
        api.screens().unlisten(viewer);
    });
    co_return reply;
}

Awaitable<Result<EventsList::Reply>> list(Api& api, EventsList params, Call call) {
    auto project = params.project;
    CO_TRY(co_await check_project(api, std::move(project), call));
    if (params.limit < 1 || params.limit > 4096) {
        co_return Error(ErrorCode::invalid_argument, "limit must be from 1 to 4096");
    }
    CO_TRY(const auto filter, filter_of(api, params, call));
    auto& world = api.world();
    if (!filter.task) co_await find_histories(world);
    EventsList::Reply reply;
    reply.cursor = world.journal.cursor();
    std::optional<std::vector<StreamEvent>> events;
    if (params.since) {
        auto task = filter.task;
        events = co_await world.journal.since(*params.since, std::move(task));
        reply.resync = !events;
        reply.cursor = world.journal.cursor();
    }
    if (!events) events = co_await world.journal.recent(filter, static_cast<std::size_t>(params.limit));
    for (const auto& event : *events) {
        if (filter.wants(event)) reply.events.push_back(notification_of(world, event));
    }
    co_return reply;
}

Awaitable<Result<Empty>> unsubscribe(Call call) {
    call.sink->set_subscription([] {});
    co_return Empty{};
}

}  // namespace

void add_event_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<EventsSubscribe>(Access::read, "Sends an `event` notification for whatever happens from now on.",
                               {not_found, conflict}, api, subscribe);
    table.add<EventsUnsubscribe>(Access::read, "Ends this connection's subscription.", {},
                                 [](const EventsUnsubscribe&, Call call) { return unsubscribe(std::move(call)); });
    table.add<EventsList>(Access::read, "What has happened lately.", {not_found}, api, list);
}

}  // namespace orange::rpc
