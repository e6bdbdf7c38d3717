#include "client/commands/daemon.hpp"

#include <iterator>

#include "client/connection/autostart.hpp"
#include "client/connection/child.hpp"
#include "client/connection/ending.hpp"
#include "client/connection/start_daemon.hpp"
#include "client/connection/supervisor.hpp"
#include "client/output/build_info.hpp"
#include "client/output/listings.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_lock.hpp"
#include "common/rpc/harness_methods.hpp"

namespace orange::commands {
namespace {

/// Sends one request to a running daemon, and prints the reply.
template <class Method, class Render>
Status ask_running(Context& context, const Method& params, Render render) {
    TRY(auto daemon, connection::connect(context.paths));
    const auto call = [&](const Json& json) { return daemon.call_json(Method::k_name, json); };
    return print<Method>(context, call_with_caller(call, written(params)), render);
}

/// Lets the daemon search the caller's PATH for agents' programs, and returns its notes. A daemon that is older than
/// this client does not know the method; then there are none.
std::vector<std::string> search_programs(connection::Connection& daemon) {
    auto reply = daemon.call(rpc::HarnessSearch{caller_environment()});
    return reply ? std::move(reply->notes) : std::vector<std::string>();
}

Status say(const Context& context, const std::string& sentence, Json json) {
    if (context.json) return put_json(json);
    output::put(sentence + "\n");
    return 0;
}

Error not_for_agents(const std::string& command) {
    return {ErrorCode::forbidden, "an agent cannot start the daemon. Ask the human to run:\n  " + command};
}

/// Checks that the next daemon can start and use config.yml, before the present one is stopped.
Result<void> check_next_daemon() {
    TRY(const auto oranged, connection::find_oranged());
    const auto said = connection::output_of({oranged.string(), "--check"});
    const std::string text(trim(said.value_or("")));
    if (text == "config.yml is valid") return {};
    return {ErrorCode::conflict,
            (text.empty() ? oranged.string() + " --check does not answer" : text) +
                ". The daemon keeps running. To restart it anyway:\n  orange daemon restart --force"};
}

/// Checks that this process may start the next daemon: a container of its own keeps it from the agents' processes.
Result<void> check_namespace(const Paths& paths) {
    if (!is_of_other_namespace(paths) || !connection::connect(paths)) return {};
    return {
        ErrorCode::conflict,
        "the daemon and its agents run in another PID namespace, for example in another container. The daemon keeps "
        "running. To restart it, run there:\n  orange daemon restart"};
}

/// Prints which daemon answers and what happened to it, the problems of its files, and new facts about agents'
/// programs.
Status say_which(const Context& context, connection::Connection& daemon, const std::string& what) {
    TRY(auto pong, daemon.call(rpc::DaemonPing{}));
    auto notes = search_programs(daemon);
    if (auto status = daemon.call(rpc::DaemonStatus{})) {
        notes.insert(notes.begin(), std::make_move_iterator(status->problems.begin()),
                     std::make_move_iterator(status->problems.end()));
    }
    auto json = written(pong);
    json["notes"] = notes;
    auto text = "oranged " + pong.version + " " + what + ", pid " + std::to_string(pong.pid) + "\n" +
                output::notes_text(notes, context.style);
    text.pop_back();
    return say(context, text, std::move(json));
}

Status start(const Context& context, const std::string& done) {
    if (connection::inside_agent()) return not_for_agents("orange daemon start");
    TRY(auto started, connection::start_daemon(context.paths));
    return say_which(context, started, done);
}

}  // namespace

Status daemon_start(Context& context) {
    auto running = connection::connect(context.paths);
    if (running) return say_which(context, *running, "is already running");
    if (running.error().code != ErrorCode::unavailable) return running.error();
    return start(context, "started");
}

Status daemon_stop(Context& context) {
    TRY(auto ended, connection::end_daemon(context.paths));
    const bool ran = ended != connection::Ended::none_ran;
    return say(
        context,
        ran ? "The daemon has stopped. Agents keep running in their tmux sessions." : "The daemon is not running.",
        Json{{"stopped", ran}});
}

Status daemon_restart(Context& context, bool force) {
    if (connection::inside_agent()) return not_for_agents("orange daemon restart");
    TRY(check_namespace(context.paths));
    if (!force && connection::connect(context.paths)) TRY(check_next_daemon());
    TRY(auto ended, force ? connection::end_daemon_by_force(context.paths) : connection::end_daemon(context.paths));
    if (ended == connection::Ended::by_force) {
        if (auto next = connection::wait_for_next(context.paths)) return say_which(context, *next, "restarted");
    }
    return start(context, ended == connection::Ended::none_ran ? "started" : "restarted");
}

Status daemon_status(Context& context) {
    return ask_running(context, rpc::DaemonStatus{}, output::daemon_page);
}

Status daemon_reload(Context& context) {
    return ask_running(context, rpc::DaemonReload{caller_environment()}, [&](const rpc::DaemonReload::Reply& reply) {
        return "Reloaded the settings, workflows, harnesses and the login shell's environment.\n" +
               output::notes_text(reply.notes, context.style);
    });
}

Status daemon_supervise(const Context& context, const std::string& oranged) {
    return connection::supervise(oranged, context.paths);
}

Status version(const Context& context) {
    const auto build = output::build_info();
    return say(context, "orange " ORANGE_VERSION,
               Json{{"version", ORANGE_VERSION},
                    {"schema", k_schema},
                    {"commit", build.commit},
                    {"build", build.type},
                    {"compiler", build.compiler},
                    {"libraries", build.libraries}});
}

}  // namespace orange::commands
