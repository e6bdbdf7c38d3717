#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/rpc/method_table.hpp"

namespace orange::rpc {

/// Finds out who is at the other end; asked only by calls that are not free to everybody.
using WhoIs = std::function<Awaitable<Caller>()>;

/// JSON-RPC 2.0 over one text: single calls, batches, notifications (docs/protocol.md).
class Dispatcher {
  public:
    explicit Dispatcher(const MethodTable& table) : table_(table) {}

    /// The reply's text, or nothing where none is due (notifications). Never throws: an escaping exception is a bug,
    /// logged and answered with -32603.
    Awaitable<std::optional<std::string>> handle(std::string text, WhoIs who, EventSink* sink);

  private:
    Awaitable<std::optional<Json>> handle_one(Json request, WhoIs who, EventSink* sink);
    Awaitable<Result<Json>> invoke(const Method& method, Json params, WhoIs who, EventSink* sink);

    const MethodTable& table_;
};

/// {"jsonrpc", "id", "error"} for a text that is no request at all.
Json error_reply(const Json& id, int code, const std::string& message);

}  // namespace orange::rpc
