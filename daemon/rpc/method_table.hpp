#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/fields.hpp"
#include "common/model/record.hpp"
#include "common/rpc/errors.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/engine/permissions.hpp"

/// The one table of all methods: dispatch, parameter checking, rpc.discover and docs/protocol.md come from it. A
/// handler is a function from typed parameters to a typed reply; JSON stays here.
namespace orange::rpc {

using engine::Access;

/// Where a connection's events go.
class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Queues a notification; a sink that cannot keep up is dropped by its session.
    virtual void notify(const std::string& method, Json params) = 0;
    /// Puts `end` in place of the subscription that there was; called when the connection ends, too.
    virtual void set_subscription(std::function<void()> end) = 0;
    /// Calls `end` when nobody waits for this connection's replies any more, or the daemon is about to stop: for calls
    /// that wait. Returns a number for forget().
    virtual int on_end(std::function<void()> end) = 0;
    virtual void forget(int number) = 0;
};

/// One call: who makes it, and over which connection.
struct Call {
    Caller caller;
    EventSink* sink = nullptr;
};

struct Method {
    std::string name;
    std::string summary;
    Access access = Access::read;
    std::vector<ErrorCode> errors;
    Json params_schema;
    Json result_schema;
    bool is_fixed = false;  ///< without parameters, its result is always the same: written once, and kept as text
    std::function<Awaitable<Result<Json>>(Json params, Call call)> invoke;
};

namespace detail {

/// A coroutine of its own, so that parameters and handler live in its frame for as long as the call takes.
template <class Params, class Handler>
Awaitable<Result<Json>> invoke_typed(Handler handler, Json params, Call call) {
    auto typed = read_as<Params>(params, "");
    if (!typed) co_return typed.error();
    auto reply = co_await handler(std::move(*typed), std::move(call));
    if (!reply) co_return std::move(reply).error();
    co_return written(*reply);
}

}  // namespace detail

class MethodTable {
  public:
    /// `handler`: Awaitable<Result<Params::Reply>>(Params, Call), a plain function or a function object that outlives
    /// the table.
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

    /// Says of a method that its result is always the same.
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

/// The OpenRPC document of a table.
Json discover(const MethodTable& table);

}  // namespace orange::rpc
