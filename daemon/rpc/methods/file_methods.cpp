#include "common/rpc/file_methods.hpp"
#include "common/base/base64.hpp"
#include "common/base/try.hpp"
#include "daemon/rpc/api.hpp"

/// Files that callers give to agents.
namespace orange::rpc {
namespace {

/// Returns whose uploads those of this caller are: the human's, or of one run of an agent.
std::string sender_of(const Caller& by) {
    if (by.role == Role::human) return store::k_human;
    return by.run.empty() ? name_text(by.role) + " of " + by.task.value : by.run.value;
}

Awaitable<Result<FilePut::Reply>> put(Api& api, FilePut params, Call call) {
    constexpr auto k_most = static_cast<std::size_t>(k_largest_piece);
    auto bytes = params.data.size() <= base64_length(k_most) ? from_base64(params.data) : std::nullopt;
    if (!bytes || bytes->size() > k_most) {
        co_return Error(ErrorCode::invalid_argument,
                        "\"data\" must be at most 512 KiB in base64 (RFC 4648), with padding and without line ends");
    }
    store::Uploads::Piece piece;
    piece.upload = std::move(params.upload);
    piece.name = params.name.value_or("");
    piece.origin = params.origin.value_or("");
    piece.size = params.size.value_or(0);
    piece.offset = params.offset;
    piece.bytes = std::move(*bytes);
    piece.last = params.last;
    const auto limit = api.world().settings.file_limit;
    CO_TRY(const auto progress, api.runner().uploads.put(sender_of(call.caller), std::move(piece), limit));
    co_return FilePut::Reply{progress.upload, progress.size};
}

}  // namespace

Result<void> Api::check_files(const std::vector<std::string>& files, const Call& call) {
    return runner_.uploads.check(files, sender_of(call.caller));
}

void add_file_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<FilePut>(Access::agent, "Receives one piece of a file that an agent gets.",
                       {invalid_argument, not_found, conflict, io}, api, put);
}

}  // namespace orange::rpc
