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

/// The subcommands. Each is a function from the request's typed parameters (filled by main.cpp from the arguments) to
/// an exit status: it completes them from where the caller is, sends one request, prints the reply. Errors go to
/// standard error with status 1; with --json everything, errors too, is one JSON line on standard output.
namespace orange::commands {

/// What every command has: where the daemon is, how to print, where the caller is.
class Context {
  public:
    Context(Paths p, bool as_json);

    Paths paths;
    bool json = false;
    output::Style style;
    std::optional<std::string> cwd;  ///< nothing where the directory is gone

    /// The connection, opened (and the daemon started) on first use.
    Result<connection::Connection*> daemon();
    Result<Json> call_json(const char* method, Json params);
    /// The same for a call that does nothing twice: where the daemon ends before it answers, the next one is asked.
    Result<Json> call_json_again(const char* method, const Json& params);

  private:
    std::optional<connection::Connection> connection_;
};

using connection::caller_environment;

/// `call`, and once more without the caller's environment (and `also`) where the daemon is older than this client.
Result<Json> call_with_caller(const std::function<Result<Json>(const Json&)>& call, Json params,
                              const std::vector<std::string>& also = {});

/// Prints an error as the caller wants it; 1.
int fail(const Context& context, const Error& error);
int fail(bool json, const Error& error);
/// Prints one JSON line; 0.
int put_json(const Json& json);

/// Either a reply's JSON as it came, or the page that `render` makes of it.
template <class Method, class Render>
int print(const Context& context, const Result<Json>& reply, Render render) {
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<typename Method::Reply>(Method::k_name, *reply);
    if (!typed) return fail(context, typed.error());
    output::put(render(*typed));
    return 0;
}

/// The whole of most commands: request, then print().
template <class Method, class Render>
int answer(Context& context, const Method& params, Render render) {
    return print<Method>(context, context.call_json(Method::k_name, written(params)), render);
}

/// `-` is standard input, to its end; anything else is itself.
Result<std::string> text_argument(const std::string& argument);

/// Calls `one` for each of the tasks, or for the caller's own task if `ids` is empty. If one of them fails, the others
/// go on, and the result is 1.
template <class Params, class One>
int for_each_task(const std::vector<std::string>& ids, Params params, One one) {
    if (ids.empty()) return one(std::move(params));
    int status = 0;
    for (const auto& id : ids) {
        params.id = id;
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
