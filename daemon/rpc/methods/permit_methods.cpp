#include "common/rpc/permit_methods.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/attention/permits.hpp"

/// Requests of agents' programs, and the answers of their human (docs/permits.md).
namespace orange::rpc {
namespace {

/// The call ends with its connection: a hook that is gone asks nothing any more.
Awaitable<Result<PermitAsk::Reply>> ask(Api& api, PermitAsk params, Call call) {
    if (params.request.size() > k_largest_request) {
        co_return Error(ErrorCode::invalid_argument,
                        "a request has at most " + std::to_string(k_largest_request) + " bytes");
    }
    if (params.key.empty() || params.key.size() > 100) {
        co_return Error(ErrorCode::invalid_argument, "a key has 1 to 100 characters");
    }
    auto& permits = api.runner().permits;
    NewPermit asked{std::move(params.key), std::move(params.request), params.cut};
    CO_TRY(const auto permit, permits.begin(call.caller, std::move(asked)));
    const auto number = call.sink->on_end([permit] { Permits::end(permit, "its hook has ended"); });
    auto answer = co_await permits.wait(call.caller.task, permit);
    call.sink->forget(number);
    if (!answer) co_return answer.error();
    co_return PermitAsk::Reply{std::move(*answer)};
}

Awaitable<Result<TaskReply>> allow(Api& api, TaskAllow params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(auto done, co_await api.runner().permits.answer(id, params.number, true, std::string(), call.caller));
    co_return api.reply(id, std::move(done));
}

Awaitable<Result<TaskReply>> deny(Api& api, TaskDeny params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    auto text = std::string(trim(params.text));
    CO_TRY(auto done, co_await api.runner().permits.answer(id, params.number, false, std::move(text), call.caller));
    co_return api.reply(id, std::move(done));
}

}  // namespace

void add_permit_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<PermitAsk>(Access::agent, "Asks the human for a program of an agent, and waits for the answer.",
                         {not_found, conflict, forbidden, invalid_argument}, api, ask);
    table.add<TaskAllow>(Access::human, "Allows one request of an agent's program, once.",
                         {not_found, conflict, forbidden}, api, allow);
    table.add<TaskDeny>(Access::human, "Denies one request of an agent's program; the model gets the text.",
                        {not_found, conflict, invalid_argument}, api, deny);
}

}  // namespace orange::rpc
