#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/fields.hpp"
#include "common/model/record.hpp"
#include "common/rpc/errors.hpp"
#include "daemon/async/async.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/engine/permissions.hpp"

/// The table of all methods, from which dispatch, parameter checks and rpc.discover come; docs/protocol.md is checked
/// against it. A handler is a function from typed parameters to a typed reply: JSON does not leave this folder.
namespace orange::rpc {

using engine::Access;

class Api;

/// Receives the events of one connection.
class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Queues a notification. The session drops a client that does not read its notifications.
    virtual void notify(const std::string& method, Json params) = 0;
    /// Replaces the connection's subscription, and calls the `end` of the earlier one. `end` is also called when the
    /// connection ends.
    virtual void set_subscription(std::function<void()> end) = 0;
    /// Registers `end`, which is called when the client no longer waits for replies, or the daemon is about to stop.
    /// For calls that wait for events. Returns a number for forget().
    virtual int on_end(std::function<void()> end) = 0;
    virtual void forget(int number) = 0;
};

/// A call: its caller, and the connection for its events.
struct Call {
    Caller caller;  ///< of a method that is open to everybody: nobody in particular, see `who`
    /// Finds out who calls, for a method that is open to everybody and does not tell everybody everything.
    std::function<Awaitable<Caller>()> who = nullptr;
    EventSink* sink = nullptr;
    /// The task of the run behind a wall that calls; empty: no wall is around the caller. `shows`: what it may see.
    TaskId wall = {};
    engine::BehindWall shows = engine::BehindWall::all;
    /// If it is set, a reply with pieces is written there, as text, and the method returns null.
    std::string* text = nullptr;
};

struct Method {
    std::string name;
    std::string summary;
    Access access = Access::read;
    std::vector<ErrorCode> errors;
    Json params_schema;
    Json result_schema;
    bool is_fixed = false;  ///< it has no parameters, and its result is always the same: the text is cached
    std::function<Awaitable<Result<Json>>(Json params, Call call)> invoke;
};

namespace detail {

inline std::string text_of(const Json& piece) {
    return dump(piece);
}
template <class Piece>
std::string text_of(const Piece& piece) {
    return dump(written(piece));
}

/// Returns the reply as text. Its `pieces()`, of which there may be thousands, are written with everybody's turn in
/// between.
template <class Reply>
Awaitable<std::string> text_in_pieces(Reply reply) {
    constexpr std::size_t k_at_once = 16;
    auto pieces = std::move(reply.pieces());
    reply.pieces().clear();
    auto rest = written(reply);
    rest.erase(Reply::k_pieces);
    auto text = dump(rest);
    text.back() = rest.empty() ? ' ' : ',';
    text += dump(Reply::k_pieces) + ":[";
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i % k_at_once == k_at_once - 1) co_await async::yield();
        text += (i > 0 ? "," : "") + text_of(pieces[i]);
        pieces[i] = std::decay_t<decltype(pieces[i])>();  // frees its memory
    }
    co_return text + "]}";
}

/// Runs the handler in a coroutine of its own, whose frame keeps parameters and handler alive as long as the call runs.
template <class Params, class Handler>
Awaitable<Result<Json>> invoke_typed(Handler handler, Json params, Call call) {
    auto typed = read_as<Params>(params, "");
    if (!typed) co_return typed.error();
    auto* text = call.text;
    auto reply = co_await handler(std::move(*typed), std::move(call));
    if (!reply) co_return std::move(reply).error();
    if constexpr (requires { reply->pieces(); }) {
        if (text) {
            *text = co_await text_in_pieces(std::move(*reply));
            co_return Json();
        }
    }
    co_return written(*reply);
}

}  // namespace detail

class MethodTable {
  public:
    /// Adds a method. `access` says who may call it (engine::may_call), `errors` which codes it may return besides
    /// those of every method. `handler` is Awaitable<Result<Params::Reply>>(Params, Call): a plain function, or a
    /// function object that outlives the table.
    template <class Params, class Handler>
    void add(Access access, std::string summary, std::vector<ErrorCode> errors, Handler handler) {
        Method method;
        method.name = Params::k_name;
        method.summary = std::move(summary);
        method.access = access;
        method.errors = std::move(errors);
        method.params_schema = schema_of<Params>();
        method.result_schema = schema_of<typename Params::Reply>();
        method.invoke = [handler](Json params, Call call) {
            return detail::invoke_typed<Params, Handler>(handler, std::move(params), std::move(call));
        };
        methods_.emplace(method.name, std::move(method));
    }
    /// Adds a method whose function takes the API, too, which outlives the table.
    template <class Params>
    void add(Access access, std::string summary, std::vector<ErrorCode> errors, Api& api,
             Awaitable<Result<typename Params::Reply>> (*function)(Api&, Params, Call)) {
        add<Params>(access, std::move(summary), std::move(errors), [&api, function](Params params, Call call) {
            return function(api, std::move(params), std::move(call));
        });
    }
    template <class Params>
    void add(Access access, std::string summary, std::vector<ErrorCode> errors, Api& api,
             Awaitable<Result<typename Params::Reply>> (*function)(Api&, Params)) {
        add<Params>(access, std::move(summary), std::move(errors),
                    [&api, function](Params params, Call) { return function(api, std::move(params)); });
    }

    /// Marks a method whose result is always the same.
    template <class Params>
    void fix() {
        methods_.at(Params::k_name).is_fixed = true;
    }

    const Method* find(const std::string& name) const {
        const auto found = methods_.find(name);
        return found == methods_.end() ? nullptr : &found->second;
    }
    const std::map<std::string, Method>& all() const { return methods_; }

  private:
    std::map<std::string, Method> methods_;
};

/// Returns the OpenRPC document of a table.
Json discover(const MethodTable& table);

}  // namespace orange::rpc
