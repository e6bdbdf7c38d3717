#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/rpc/method_table.hpp"

namespace orange::rpc {

/// Returns the caller at the other end of a connection. The dispatcher calls it only for methods whose Access is not
/// `read`.
using WhoIs = std::function<Awaitable<Caller>()>;

/// Returns the task of the run behind a wall at the other end of a connection; empty if there is no wall.
using WhichWall = std::function<TaskId()>;

/// The other end of a connection.
struct Ends {
    Ends(WhoIs caller, WhichWall around = {}) : who(std::move(caller)), wall(std::move(around)) {}  // NOLINT: implicit
    WhoIs who;
    WhichWall wall;  ///< empty: no wall
};

/// Called before each request of a batch but the first, with the size of the replies so far in bytes. The call returns
/// when the request may run: true, or false if there is no room for more replies. If it is empty, requests run at once.
using NextOfBatch = std::function<Awaitable<bool>(std::size_t held)>;

/// Carries out the JSON-RPC 2.0 requests in one text: single calls, batches, notifications (docs/protocol.md).
class Dispatcher {
  public:
    /// Adds the details that programs need to every error of a method.
    using CompleteError = std::function<Error(Error)>;

    explicit Dispatcher(
        const MethodTable& table, CompleteError complete = [](Error error) { return error; })
        : table_(table), complete_(std::move(complete)) {}

    /// Carries out the requests in `text` and returns the text of the reply; nothing for notifications, which have no
    /// reply. handle() never throws: an escaping exception is a bug, which is logged and answered with -32603.
    Awaitable<std::optional<std::string>> handle(std::string text, Ends ends, EventSink* sink, NextOfBatch next = {});

  private:
    Awaitable<std::optional<std::string>> handle_batch(Json batch, Ends ends, EventSink* sink, NextOfBatch next);
    Awaitable<std::optional<std::string>> handle_one(Json request, Ends ends, EventSink* sink);
    /// Returns the result of a method that is always the same, from a cache of its text.
    Awaitable<std::string> fixed_result(const Method& method, Ends ends, EventSink* sink);
    /// `text`: see Call.
    Awaitable<Result<Json>> invoke(const Method& method, Json params, Ends ends, EventSink* sink,
                                   std::string* text = nullptr);

    const MethodTable& table_;
    CompleteError complete_;
    std::map<const Method*, std::string> fixed_;
};

/// Makes the reply {"jsonrpc", "id", "error"} to a text that is not a valid request.
Json error_reply(const Json& id, int code, const std::string& message);

}  // namespace orange::rpc
