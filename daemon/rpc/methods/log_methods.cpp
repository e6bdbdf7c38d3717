#include "common/rpc/log_methods.hpp"

#include "common/base/try.hpp"
#include "common/log/query.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

/// The daemon has one thread, so a search must not block other calls for long.
constexpr std::uint64_t k_most_read = 8u << 20;

Awaitable<Result<LogTail::Reply>> tail(Api& api, LogTail params) {
    if (params.lines < 1 || params.lines > 5000) {
        co_return Error(ErrorCode::invalid_argument, "lines must be from 1 to 5000");
    }
    log::Query query;
    query.lines = static_cast<std::size_t>(params.lines);
    query.level = params.level.value_or("");
    query.component = params.component.value_or("");
    query.grep = params.grep.value_or("");
    query.most_read = k_most_read;
    if (params.since) {
        query.since = log::time_from(*params.since, api.world().clock.now());
        if (!query.since) {
            co_return Error(ErrorCode::invalid_argument,
                            "since must be a time as 90s, 10m, 3h, 2d or 2026-01-02T03:04:05Z");
        }
    }
    CO_TRY(auto found, log::search(api.world().paths.log(), query));
    LogTail::Reply reply;
    reply.more = found.more;
    for (auto& line : found.lines) reply.lines.push_back(std::move(line.text));
    co_return reply;
}

}  // namespace

void add_log_methods(MethodTable& table, Api& api) {
    table.add<LogTail>(Access::read, "The last lines of the daemon's log.", {ErrorCode::io}, api, tail);
}

}  // namespace orange::rpc
