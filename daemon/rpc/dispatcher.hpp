#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/rpc/method_table.hpp"

namespace orange::rpc {

/// Finds out who is at the other end; asked only by calls that are not free to everybody.
using WhoIs = std::function<Awaitable<Caller>()>;

/// Asked before each request of a batch but the first, with the size of the replies so far: returns when it may be
/// carried out, or false where there is no room for more replies. None: at once.
using NextOfBatch = std::function<Awaitable<bool>(std::size_t held)>;

/// JSON-RPC 2.0 over one text: single calls, batches, notifications (docs/protocol.md).
class Dispatcher {
  public:
    /// What programs are to know of every error, beside what the method says.
    using CompleteError = std::function<Error(Error)>;

    explicit Dispatcher(
        const MethodTable& table, CompleteError complete = [](Error error) { return error; })
        : table_(table), complete_(std::move(complete)) {}

    /// The reply's text, or nothing where none is due (notifications). Never throws: an escaping exception is a bug,
    /// logged and answered with -32603.
    Awaitable<std::optional<std::string>> handle(std::string text, WhoIs who, EventSink* sink, NextOfBatch next = {});

  private:
    Awaitable<std::optional<std::string>> handle_batch(Json batch, WhoIs who, EventSink* sink, NextOfBatch next);
    Awaitable<std::optional<std::string>> handle_one(Json request, WhoIs who, EventSink* sink);
    /// The result of a method that always gives the same, as text that was written once.
    Awaitable<std::string> fixed_result(const Method& method, WhoIs who, EventSink* sink);
    Awaitable<Result<Json>> invoke(const Method& method, Json params, WhoIs who, EventSink* sink);

    const MethodTable& table_;
    CompleteError complete_;
    std::map<const Method*, std::string> fixed_;
};

/// {"jsonrpc", "id", "error"} for a text that is no request at all.
Json error_reply(const Json& id, int code, const std::string& message);

}  // namespace orange::rpc
