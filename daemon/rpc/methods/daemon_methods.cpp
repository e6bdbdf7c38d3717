#include <unistd.h>

#include "common/base/try.hpp"
#include "common/rpc/caller_methods.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/doctor_methods.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"

namespace orange::rpc {
namespace {

Awaitable<Result<DaemonPing::Reply>> ping() {
    DaemonPing::Reply reply;
    reply.version = ORANGE_VERSION;
    reply.pid = ::getpid();
    co_return reply;
}

Awaitable<Result<DaemonStatus::Reply>> status(Api& api) {
    co_return api.control().status();
}

Awaitable<Result<DaemonCaller::Reply>> caller(Caller by) {
    DaemonCaller::Reply reply;
    reply.role = name_text(by.role);
    reply.evidence = std::move(by.evidence);
    co_return reply;
}

Awaitable<Result<DaemonReload::Reply>> reload(Api& api, DaemonReload params) {
    const auto before = programs_of(api.world());
    api.take_path_of(params.caller);
    DaemonReload::Reply reply;
    CO_TRY(reply.notes, co_await api.control().reload());
    for (auto& note : search_notes(api.world(), before, params.caller)) reply.notes.push_back(std::move(note));
    co_return reply;
}

Awaitable<Result<Empty>> shutdown(Api& api) {
    api.control().shutdown();
    co_return Empty{};
}

Awaitable<Result<DaemonDoctor::Reply>> examine(Api& api, DaemonDoctor params) {
    if (params.project) CO_TRY(co_await api.select_project(params.project, std::nullopt));
    auto facts = api.control().facts ? api.control().facts() : doctor::Facts();
    DaemonDoctor::Reply reply;
    reply.findings =
        co_await doctor::examine(api.runner(), std::move(facts), std::move(params.project), params.histories);
    for (auto& finding : reply.findings) {
        finding.text = api.world().tasks.with_short_ids(std::move(finding.text));
        if (finding.command) finding.command = api.world().tasks.with_short_ids(std::move(*finding.command));
    }
    co_return reply;
}

Awaitable<Result<Json>> describe(const MethodTable& table) {
    co_return discover(table);
}

}  // namespace

void add_daemon_methods(MethodTable& table, Api& api) {
    table.add<DaemonPing>(Access::read, "Answers.", {}, [](const DaemonPing&, Call) { return ping(); });
    table.add<DaemonStatus>(Access::read, "What the daemon is doing.", {},
                            [&api](const DaemonStatus&, Call) { return status(api); });
    table.add<DaemonDoctor>(Access::read, "Finds problems, and the command that fixes each.", {ErrorCode::not_found},
                            api, examine);
    table.add<DaemonCaller>(Access::agent, "Who the caller is.", {},
                            [](const DaemonCaller&, Call call) { return caller(std::move(call.caller)); });
    table.add<DaemonReload>(Access::human, "Reloads config.yml, the workflows and the login shell's environment.",
                            {ErrorCode::invalid_argument}, api, reload);
    table.add<DaemonShutdown>(Access::human, "Ends the daemon; agents go on.", {},
                              [&api](const DaemonShutdown&, Call) { return shutdown(api); });
    table.add<RpcDiscover>(Access::read, "This document: every method, from the table that dispatches them.", {},
                           [&table](const RpcDiscover&, Call) { return describe(table); });
    table.fix<RpcDiscover>();
}

}  // namespace orange::rpc
