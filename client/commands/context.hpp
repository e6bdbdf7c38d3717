#pragma once

#include <algorithm>
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
/// through the tables of client/arguments. On a failure the error goes to standard error, and the status is 1. With
/// --json all output, including errors, is one JSON line on standard output.
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
    /// Sends a request and returns the `result` of its reply.
    Result<Json> call_json(const char* method, Json params);
    /// Sends a request that has no effect when repeated: if the daemon ends before it replies, the next daemon gets it,
    /// too.
    Result<Json> call_json_again(const char* method, const Json& params);

  private:
    std::optional<connection::Connection> connection_;
};

using connection::caller_environment;

/// Calls `call`. If the daemon is older than this client and does not know a parameter of the caller's environment or
/// of `also`, calls `call` again without that parameter.
Result<Json> call_with_caller(const std::function<Result<Json>(const Json&)>& call, Json params,
                              const std::vector<std::string>& also = {});

/// Prints an error in the caller's format, and returns 1.
int fail(const Context& context, const Error& error);
int fail(bool json, const Error& error);
/// Prints one JSON line, and returns 0.
int put_json(const Json& json);

/// Prints the reply: its JSON unchanged, or the page that `render` makes of it. Returns the exit status.
template <class Method, class Render>
int print(const Context& context, const Result<Json>& reply, Render render) {
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<typename Method::Reply>(Method::k_name, *reply);
    if (!typed) return fail(context, typed.error());
    output::put(render(*typed));
    return 0;
}

/// Sends a request and prints its reply: the whole of most commands.
template <class Method, class Render>
int answer(Context& context, const Method& params, Render render) {
    return print<Method>(context, context.call_json(Method::k_name, written(params)), render);
}

/// Returns the text of an argument; for `-`, the whole of standard input.
Result<std::string> text_argument(const std::string& argument);

/// Calls `one` for each of the tasks, or for the caller's own task if `ids` is empty. If one of them fails, the others
/// go on, and the result is 1.
template <class Params, class One>
int for_each_task(Context& context, const std::vector<std::string>& ids, Params params, One one) {
    if (ids.empty()) return one(std::move(params));
    int status = 0;
    for (const auto& id : ids) {
        params.id = id;
        if (ids.size() > 1) context.about = id;
        status = std::max(status, one(params));
    }
    return status;
}

/// Selects the caller's own task or project where none was named.
template <class Params>
void complete_with_cwd(const Context& context, Params& params, bool named) {
    if (!named) params.cwd = context.cwd;
}

}  // namespace orange::commands
