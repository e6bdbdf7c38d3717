#include "client/commands/daemon.hpp"

#include "client/connection/autostart.hpp"
#include "client/connection/ending.hpp"
#include "client/connection/start_daemon.hpp"
#include "client/connection/supervisor.hpp"
#include "client/output/listings.hpp"
#include "client/output/tasks.hpp"

namespace orange::commands {
namespace {

/// Sends one request to a daemon that already runs.
template <class Method, class Render>
int ask_running(Context& context, const Method& params, Render render) {
    auto daemon = connection::connect(context.paths);
    if (!daemon) return fail(context, daemon.error());
    auto reply = daemon->call_json(Method::k_name, rpc::written(params));
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<typename Method::Reply>(Method::k_name, *reply);
    if (!typed) return fail(context, typed.error());
    output::put(render(*typed));
    return 0;
}

int say(const Context& context, const std::string& sentence, Json json) {
    if (context.json) return put_json(json);
    output::put(sentence + "\n");
    return 0;
}

Error not_for_agents() {
    return {ErrorCode::forbidden, "an agent cannot start the daemon; ask a human to run `orange daemon restart`", {}};
}

/// Which daemon it is that answers there, and what became of it.
int say_which(const Context& context, connection::Connection& daemon, const std::string& what) {
    auto pong = daemon.call(rpc::DaemonPing{});
    if (!pong) return fail(context, pong.error());
    return say(context, "oranged " + pong->version + " " + what + ", pid " + std::to_string(pong->pid),
               rpc::written(*pong));
}

int start(const Context& context, const std::string& done) {
    if (connection::inside_agent()) return fail(context, not_for_agents());
    auto started = connection::start_daemon(context.paths);
    if (!started) return fail(context, started.error());
    return say_which(context, *started, done);
}

}  // namespace

int daemon_start(Context& context) {
    auto running = connection::connect(context.paths);
    if (running) return say_which(context, *running, "runs already");
    if (running.error().code != ErrorCode::unavailable) return fail(context, running.error());
    return start(context, "started");
}

int daemon_stop(Context& context) {
    auto ended = connection::end_daemon(context.paths);
    if (!ended) return fail(context, ended.error());
    const bool ran = *ended != connection::Ended::none_ran;
    return say(context, ran ? "oranged ended; agents go on in their tmux sessions" : "no daemon is running",
               Json{{"stopped", ran}});
}

int daemon_restart(Context& context, bool force) {
    if (connection::inside_agent()) return fail(context, not_for_agents());
    auto ended = force ? connection::end_daemon_by_force(context.paths) : connection::end_daemon(context.paths);
    if (!ended) return fail(context, ended.error());
    if (*ended == connection::Ended::by_force) {
        if (auto next = connection::wait_for_next(context.paths)) return say_which(context, *next, "restarted");
    }
    return start(context, *ended == connection::Ended::none_ran ? "started" : "restarted");
}

int daemon_status(Context& context) {
    return ask_running(context, rpc::DaemonStatus{}, [&](const rpc::DaemonStatus::Reply& reply) {
        return output::daemon_page(reply, context.style);
    });
}

int daemon_reload(Context& context) {
    return ask_running(context, rpc::DaemonReload{}, [&](const rpc::DaemonReload::Reply& reply) {
        return "settings, workflows and harnesses read anew\n" + output::notes_text(reply.notes, context.style);
    });
}

int daemon_supervise(const Context& context, const std::string& oranged) {
    return connection::supervise(oranged, context.paths.socket());
}

int version(const Context& context) {
    return say(context, "orange " ORANGE_VERSION, Json{{"version", ORANGE_VERSION}});
}

}  // namespace orange::commands
