#include "client/commands/daemon.hpp"

#include "client/connection/autostart.hpp"
#include "client/connection/supervisor.hpp"
#include "client/output/listings.hpp"
#include "client/output/tasks.hpp"

namespace orange::commands {
namespace {

constexpr std::chrono::milliseconds k_stop_deadline{20000};

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

}  // namespace

int daemon_start(Context& context) {
    auto running = connection::connect(context.paths);
    const bool was_running = running.has_value();
    if (!was_running && running.error().code == ErrorCode::unavailable) {
        if (connection::inside_agent()) {
            return fail(context, {ErrorCode::forbidden, "an agent cannot start the daemon; ask a human"});
        }
        running = connection::start_daemon(context.paths);
    }
    if (!running) return fail(context, running.error());
    auto pong = running->call(rpc::DaemonPing{});
    if (!pong) return fail(context, pong.error());
    const auto pid = std::to_string(pong->pid);
    return say(context, "oranged " + pong->version + (was_running ? " runs already" : " started") + ", pid " + pid,
               rpc::written(*pong));
}

int daemon_stop(Context& context) {
    auto daemon = connection::connect(context.paths);
    if (!daemon && daemon.error().code == ErrorCode::unavailable) {
        return say(context, "no daemon is running", Json{{"stopped", false}});
    }
    if (!daemon) return fail(context, daemon.error());
    auto reply = daemon->call_json(rpc::DaemonShutdown::k_name, Json::object());
    // The daemon may be gone before its reply is out: that is what was asked for.
    if (!reply && reply.error().code != ErrorCode::unavailable) return fail(context, reply.error());
    if (!daemon->wait_for_end(k_stop_deadline)) {
        return fail(context, {ErrorCode::timeout, "the daemon was asked to end, but still runs after 20 s"});
    }
    return say(context, "oranged ended; agents go on in their tmux sessions", Json{{"stopped", true}});
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

int daemon_supervise(const std::string& oranged) {
    return connection::supervise(oranged);
}

int version(const Context& context) {
    return say(context, "orange " ORANGE_VERSION, Json{{"version", ORANGE_VERSION}});
}

}  // namespace orange::commands
