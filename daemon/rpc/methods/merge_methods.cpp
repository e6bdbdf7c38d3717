#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/train_methods.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/pulls/pulls.hpp"

/// Merges of one task, and of several.
namespace orange::rpc {
namespace {

bool is_without_pull_request(const Error& error) {
    const auto why = error.details.find("why");
    return why != error.details.end() && why->second == "no_pull_request";
}

/// Opens a pull request for a task that has none, if the project merges through pull requests.
Awaitable<Result<TaskMerge::Reply>> open_instead(Api& api, TaskId id, Caller by) {
    pulls::PullText text;
    CO_TRY(auto opened, co_await create_pull_request(api.runner(), id, std::move(text), std::move(by)));
    TaskMerge::Reply reply;
    CO_TRY(reply.task, api.view(id));
    reply.notes = api.sentences(std::move(opened.notes));
    co_return reply;
}

Result<MergeOrder> order_of(const MergeOptions& options) {
    MergeOrder order;
    if (options.strategy) {
        order.strategy = git::from_name(*options.strategy, git::MergeStrategy{});
        if (!order.strategy) {
            return {ErrorCode::invalid_argument,
                    "strategy \"" + *options.strategy + "\" is unknown; use merge, ff or squash"};
        }
    }
    if (options.via && *options.via != "pr") {
        return {ErrorCode::invalid_argument, "via \"" + *options.via + "\" is unknown; use pr"};
    }
    if (options.via && options.local) {
        return {ErrorCode::invalid_argument, "via and local contradict each other; give one of them"};
    }
    order.local = options.local;
    order.via_pull = options.via.has_value();
    order.force = options.force;
    if (options.no_push) order.push = !*options.no_push;
    order.keep_branch = options.keep_branch;
    order.include_unpushed = options.include_unpushed;
    order.checks = !options.force || options.run_checks;
    return order;
}

/// Puts the result of a merge into the reply about its task.
template <class Reply>
void put_outcome(Api& api, MergeOutcome outcome, Reply& reply) {
    reply.commit = std::move(outcome.commit);
    reply.pushed = outcome.pushed;
    reply.elsewhere = outcome.elsewhere;
    reply.pull = outcome.pull;
    reply.forced = api.world().tasks.with_short_ids(std::move(outcome.forced));
    reply.notes = api.sentences(std::move(outcome.notes));
}

Awaitable<Result<TaskMerge::Reply>> merge(Api& api, TaskMerge params, Call call) {
    CO_TRY(const auto selected, api.select(params, call, store::Naming::id_or_branch));
    CO_TRY(const auto id, picked_instead(api.world(), selected));
    CO_TRY(auto order, order_of(params));
    order.tip = params.tip.value_or("");
    order.confirmed = params.confirmed.value_or("");
    const bool opens = !order.via_pull;
    auto merged = co_await api.runner().merges.merge(id, std::move(order), call.caller);
    if (opens && !merged && is_without_pull_request(merged.error())) {
        auto opened = co_await open_instead(api, id, call.caller);
        co_return opened;
    }
    if (!merged) co_return merged.error();
    TaskMerge::Reply reply;
    CO_TRY(reply.task, api.view(id));
    put_outcome(api, std::move(*merged), reply);
    co_return reply;
}

/// Returns the tasks that a call about several names, each once.
Result<std::vector<TaskId>> named_tasks(Api& api, const std::vector<std::string>& names, const Call& call) {
    if (names.empty()) return {ErrorCode::invalid_argument, "name the tasks: ids is empty"};
    std::vector<TaskId> ids;
    for (const auto& name : names) {
        TaskSelector one;
        one.id = name;
        TRY(const auto selected, api.select(one, call, store::Naming::id_or_branch));
        TRY(auto id, picked_instead(api.world(), selected));
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
    }
    return ids;
}

Awaitable<Result<TrainOrder::Reply>> train_order(Api& api, TrainOrder params, Call call) {
    CO_TRY(auto ids, named_tasks(api, params.ids, call));
    TrainOrder::Reply reply;
    for (auto& place : api.runner().trains.order(std::move(ids), params.as_given)) {
        const auto* task = api.world().tasks.brief(place.id);
        const auto summary = task ? std::string(task->summary) : std::string();
        reply.places.push_back({place.id.value, std::move(place.short_id), summary, std::move(place.reason)});
    }
    co_return reply;
}

/// Says what became of a task. Opens its pull request if the project merges through pull requests.
Awaitable<Result<TrainMerge::Car>> car_of(Api& api, TrainEnd end, bool opens, Caller by) {
    TrainMerge::Car car;
    if (opens && end.error && is_without_pull_request(*end.error)) {
        auto opened = co_await open_instead(api, end.id, std::move(by));
        if (opened) {
            car.task = std::move(opened->task);
            car.outcome = k_train_opened;
            car.notes = std::move(opened->notes);
            co_return car;
        }
        end.error = opened.error();
    }
    CO_TRY(car.task, api.view(end.id));
    car.outcome = end.what == TrainEnd::What::merged ? k_train_merged
                  : end.what == TrainEnd::What::back ? k_train_back
                                                     : k_train_left;
    put_outcome(api, std::move(end.outcome), car);
    if (end.error) {
        car.reason = api.world().tasks.with_short_ids(end.error->message);
        car.needs_force = end.error->code == ErrorCode::needs_force;
    }
    co_return car;
}

Awaitable<Result<TrainMerge::Reply>> merge_train(Api& api, TrainMerge params, Call call) {
    CO_TRY(auto ids, named_tasks(api, params.ids, call));
    CO_TRY(auto order, order_of(params));
    const bool opens = !order.via_pull;
    auto ends = co_await api.runner().trains.merge(std::move(ids), std::move(order), call.caller);
    TrainMerge::Reply reply;
    for (auto& end : ends) {
        auto car = co_await car_of(api, std::move(end), opens, call.caller);
        if (!car && car.error().code == ErrorCode::not_found) continue;  // it was deleted meanwhile
        if (!car) co_return car.error();
        reply.ends.push_back(std::move(*car));
    }
    co_return reply;
}

}  // namespace

void add_merge_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskMerge>(Access::human, "Merges a task's branch into the default branch, and the task is done.",
                         {not_found, conflict, needs_force, illegal_transition, external_failed, unavailable}, api,
                         merge);
    table.add<TrainOrder>(Access::human, "The order in which several tasks conflict least when they are merged.",
                          {not_found, invalid_argument}, api, train_order);
    table.add<TrainMerge>(Access::human,
                          "Merges several tasks, each onto the result of the one before it; tasks that cannot be "
                          "merged go back to their workers.",
                          {not_found, invalid_argument}, api, merge_train);
}

}  // namespace orange::rpc
