#include <unistd.h>

#include "daemon/rpc/api.hpp"

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

Awaitable<Result<DaemonReload::Reply>> reload(Api& api) {
    DaemonReload::Reply reply;
    reply.notes = api.control().reload();
    co_return reply;
}

Awaitable<Result<Empty>> shutdown(Api& api) {
    api.control().shutdown();
    co_return Empty{};
}

Awaitable<Result<Json>> describe(const MethodTable& table) {
    co_return discover(table);
}

}  // namespace

void add_daemon_methods(MethodTable& table, Api& api) {
    table.add<DaemonPing>(Access::read, "Answers.", {}, [](const DaemonPing&, Call) { return ping(); });
    table.add<DaemonStatus>(Access::read, "What the daemon is doing.", {},
                            [&api](const DaemonStatus&, Call) { return status(api); });
    table.add<DaemonReload>(Access::human, "Reads config.yml anew.", {},
                            [&api](const DaemonReload&, Call) { return reload(api); });
    table.add<DaemonShutdown>(Access::human, "Ends the daemon; agents go on.", {},
                              [&api](const DaemonShutdown&, Call) { return shutdown(api); });
    table.add<RpcDiscover>(Access::read, "This document: every method, from the table that dispatches them.", {},
                           [&table](const RpcDiscover&, Call) { return describe(table); });
}

}  // namespace orange::rpc
