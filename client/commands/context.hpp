#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/caller_environment.hpp"
#include "client/connection/connection.hpp"
#include "client/output/terminal.hpp"
#include "common/config/paths.hpp"
#include "common/rpc/caller_environment.hpp"

/// The commands of `orange`. Each is a function from the parameters of a request, filled in from the arguments, to an
/// exit status: it adds the caller's directory, sends one request to the daemon, and prints the reply. main.cpp runs it
/// through the tables of client/arguments, and prints the error of one that fails: to standard error, and the status is
/// 1. With --json all output, including errors, is one JSON line on standard output.
namespace orange::commands {

/// The state that all commands share: the daemon's paths and connection, the output style, the caller's directory.
class Context {
  public:
    Context(Paths p, bool as_json);

    Paths paths;
    bool json = false;
    output::Style style;
    std::optional<std::string> cwd;  ///< unset if the directory no longer exists
    std::string about;               ///< of several tasks the one that is tried now; an error begins with it

    /// Returns the connection. The first call connects, and starts the daemon if none runs.
    Result<connection::Connection*> daemon();
    /// Closes the connection, and the next call opens another one: before a pause in which the daemon may restart.
    void disconnect() { connection_.reset(); }
    /// Sends a request and returns the `result` of its reply.
    Result<Json> call_json(const char* method, Json params);
    /// Sends a request that has no effect when repeated: if the daemon ends before it replies, the next daemon gets it,
    /// too, and the one after that. Gives up if daemons have ended for half a minute.
    Result<Json> call_json_again(const char* method, const Json& params);
    /// Sends a request and returns its reply.
    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        const auto reply = call_json(Method::k_name, written(params));
        if (!reply) return reply.error();
        return connection::reply_as<typename Method::Reply>(Method::k_name, *reply);
    }

  private:
    std::optional<connection::Connection> connection_;
};

using connection::caller_environment;

/// The exit status of a command, or the error that its caller prints.
using Status = Result<int>;

/// Calls `call`. If the daemon is older than this client and does not know a parameter of the caller's environment or
/// of `also`, calls `call` again without that parameter.
Result<Json> call_with_caller(const std::function<Result<Json>(const Json&)>& call, Json params,
                              const std::vector<std::string>& also = {});

/// Prints an error in the caller's format, and returns 1.
int fail(const Context& context, const Error& error);
int fail(bool json, const Error& error);
/// Prints one JSON line, and returns 0.
int put_json(const Json& json);

/// Prints the reply: its JSON unchanged, or the page that `render` makes of it, which may also take the style.
template <class Method, class Render>
Status print(const Context& context, const Result<Json>& reply, Render render) {
    if (!reply) return reply.error();
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<typename Method::Reply>(Method::k_name, *reply);
    if (!typed) return typed.error();
    if constexpr (std::invocable<Render, typename Method::Reply&, const output::Style&>) {
        output::put(render(*typed, context.style));
    } else {
        output::put(render(*typed));
    }
    return 0;
}

/// Sends a request and prints its reply: the whole of most commands.
template <class Method, class Render>
Status answer(Context& context, const Method& params, Render render) {
    return print<Method>(context, context.call_json(Method::k_name, written(params)), render);
}

/// Returns the text of an argument; for `-`, the whole of standard input.
Result<std::string> text_argument(const std::string& argument);

/// Calls `one` for each of the tasks, or for the caller's own task if `ids` is empty. If one of them fails, the others
/// go on, and the result is 1.
template <class Params, class One>
Status for_each_task(Context& context, const std::vector<std::string>& ids, Params params, One one) {
    if (ids.empty()) return one(std::move(params));
    int status = 0;
    for (const auto& id : ids) {
        params.id = id;
        if (ids.size() > 1) context.about = id;
        const Status done = one(params);
        status = std::max(status, done ? *done : fail(context, done.error()));
    }
    return status;
}

/// Selects the caller's own task or project where none was named.
template <class Params>
void complete_with_cwd(const Context& context, Params& params, bool named) {
    if (!named) params.cwd = context.cwd;
}

}  // namespace orange::commands
