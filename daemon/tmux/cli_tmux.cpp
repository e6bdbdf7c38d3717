#include "daemon/tmux/cli_tmux.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/base/ids.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/fd.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/scopes.hpp"
#include "daemon/tmux/attaching.hpp"
#include "daemon/tmux/names.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_between_looks = 150ms;
constexpr int k_looks_before_enter = 20, k_looks_after_enter = 7;  // three seconds, one second
constexpr int k_enters = 2;
constexpr auto k_first_pause = 50ms;
constexpr auto k_longest_pause = 1s;
constexpr std::chrono::milliseconds k_wake_step = 25ms;
constexpr int k_wake_steps = 80;
constexpr auto k_wake_again = 500ms;
constexpr int k_open_attempts = 3;
constexpr int k_most_lines = 1'000'000;
constexpr std::size_t k_socket_limit = sizeof(sockaddr_un::sun_path) - 1;

/// The only command that may start a server.
const std::string k_start_server = "start-server";

/// Options that this code depends on. The options are set again with every window, in case another program started the
/// server.
const std::vector<std::string> k_needed = {"set-option", "-g", "exit-empty", "off", ";", "set-option", "-g",
                                           "remain-on-exit", "on", ";", "set-option", "-g", "update-environment", "",
                                           ";", "set-option", "-g", "history-limit", "50000", ";",
                                           // tmux 3.3 and later scroll the text of a dead pane away to show a line of
                                           // their own; -q: tmux 3.2 has no such option.
                                           "set-option", "-gq", "remain-on-exit-format", "", ";"};

enum class Server { absent, present };

/// Connects to the socket. A refused connection is the only proof that no server runs.
Server server_behind(const std::string& socket) {
    const UniqueFd fd(system::local_socket());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.c_str(), std::min(socket.size(), k_socket_limit));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return Server::present;
    return errno == ENOENT || errno == ECONNREFUSED ? Server::absent : Server::present;
}

Environment server_environment(const Environment& base) {
    Environment env;
    for (const auto& [name, value] : base) {
        const bool wanted = name == "HOME" || name == "USER" || name == "LOGNAME" || name == "SHELL" ||
                            name == "PATH" || name == "TMPDIR" || name == "LANG" || name.starts_with("XDG_");
        if (wanted) env[name] = value;
    }
    env["LC_ALL"] = "C.UTF-8";
    return env;
}

std::vector<std::string> window_command(const WindowSpec& spec) {
    auto args = k_needed;
    const auto add = [&args](std::initializer_list<std::string> words) { args.insert(args.end(), words); };
    if (spec.in_session.empty()) {
        add({"new-session", "-d", "-x", "200", "-y", "50", "-s", spec.session});
    } else {
        add({"new-window", "-d", "-t", spec.in_session + ":"});
    }
    add({"-n", spec.window, "-P", "-F", std::string(tmux::k_pane_format), "--"});
    args.insert(args.end(), spec.argv.begin(), spec.argv.end());
    if (spec.in_session.empty()) add({";", "set-option", "-t", "=" + spec.session + ":", tmux::k_session_mark, "1"});
    return args;
}

Result<void> check(const WindowSpec& spec) {
    TRY(tmux::check_argv(spec.argv));
    TRY(tmux::check_name("window", spec.window));
    if (spec.in_session.empty()) return tmux::check_name("session", spec.session);
    if (tmux::is_id(spec.in_session, "$")) return {};
    return Error(ErrorCode::invalid_argument, "\"" + printable(spec.in_session) + "\" is not the id of a tmux session");
}

Error bad_id(const std::string& id) {
    return {ErrorCode::invalid_argument, "\"" + printable(id) + "\" is not a tmux id"};
}

Error no_living_pane(const std::string& pane_id) {
    return {ErrorCode::not_found, "there is no living tmux pane " + pane_id};
}

Error failed(const std::string& what, const Completed& completed) {
    return command_failed({"tmux", what}, completed);
}

Result<void> checked(const std::string& what, const Completed& completed) {
    return completed.ok() ? Result<void>{} : failed(what, completed);
}

}  // namespace

CliTmux::CliTmux(ProcessRunner& runner, std::filesystem::path socket, const Environment& base,
                 std::chrono::milliseconds deadline)
    : runner_(runner),
      socket_(socket.string()),
      env_(server_environment(base)),
      deadline_(deadline),
      program_(find_program("tmux", path_in(env_))) {}

Command CliTmux::command_for(const std::vector<std::string>& args, const std::vector<std::string>& before) const {
    Command command;
    command.argv = before;
    for (const auto& word : words(program_, "-S", socket_, "-f", "/dev/null", "-u")) command.argv.push_back(word);
    // Without -N, any command might start a server if the old one has just exited: outside the scope and below no
    // keeper.
    if (args.front() != k_start_server) command.argv.emplace_back("-N");
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    command.env = env_;
    command.deadline = deadline_;
    command.output_limit = std::size_t{16} << 20;
    return command;
}

/// Runs one tmux command. Retries it if the server was exiting, or had lost its socket.
Awaitable<Result<Completed>> CliTmux::call(std::vector<std::string> args, std::string input,
                                           std::vector<std::string> before) {
    if (program_.empty()) co_return Error(ErrorCode::not_found, "tmux is not installed");
    if (socket_.size() > k_socket_limit) {
        co_return Error(ErrorCode::invalid_argument, "the path of tmux's socket has " + std::to_string(socket_.size()) +
                                                         " bytes, at most " + std::to_string(k_socket_limit) +
                                                         " are possible: " + printable(socket_) +
                                                         " (choose a shorter ORANGE_HOME)");
    }
    bool woken = false;
    for (auto pause = k_first_pause;; pause *= 2) {
        CO_TRY(allowed());
        auto command = command_for(args, before);
        command.input = input;
        auto done = co_await runner_.run(std::move(command));
        if (!done) co_return in_context("tmux", done.error());
        if (!done->ok() && !woken && server_behind(socket_) == Server::absent) {
            CO_TRY(allowed());  // the folder may have been removed meanwhile
            woken = co_await wake_lost_server();
            if (woken) continue;
        }
        const bool server_left = !done->ok() && (done->err.find("server exited") != std::string::npos ||
                                                 done->err.find("lost server") != std::string::npos);
        if (!server_left || pause > k_longest_pause) co_return std::move(*done);
        co_await async::sleep(pause);
    }
}

void CliTmux::remember_server(std::int64_t pid) {
    const auto started = process::start_time(pid);
    if (!started && pid == server_pid_) return;  // the server answered, so its known start time still holds
    server_pid_ = pid;
    server_start_ = started.value_or(0);
}

Awaitable<bool> CliTmux::succeeds(std::vector<std::string> args) {
    const auto done = co_await call(std::move(args));
    co_return done && done->ok();
}

void CliTmux::expect_server(std::int64_t pid, std::int64_t start_time) {
    if (server_lives()) return;
    server_pid_ = pid;
    server_start_ = start_time;
}

/// Returns true if the known server runs, or if that cannot be found out now.
bool CliTmux::server_lives() const {
    if (server_pid_ <= 0 || server_start_ == 0) return false;
    const auto started = process::look_up_start_time(server_pid_);
    return started ? *started == server_start_ : started.error().code != ErrorCode::not_found;
}

Error CliTmux::unreachable() const {
    const auto pid = std::to_string(server_pid_);
    return {ErrorCode::unavailable, "tmux server " + pid + " runs, but its socket " + printable(socket_) +
                                        " is missing, and the server did not create it again; try: kill -USR1 " + pid};
}

/// Makes a server whose socket was deleted create it again (USR1). The server still runs all its agents, and a second
/// server in its place would hide it for good. One signal serves all waiting calls, because each new
/// socket breaks connections that are being made. No signal is sent if the folder has been replaced: the server would
/// create its socket there.
Awaitable<bool> CliTmux::wake_lost_server() {
    bool back = false;
    for (int i = 0; i < k_wake_steps && !back && server_lives() && allowed(); ++i) {
        const auto now = async::now();
        const bool due = !woken_ || now - *woken_ > k_wake_again;
        if (due && process::start_time(server_pid_) == server_start_) {  // USR1 kills a process that does not handle it
            woken_ = now;
            ::kill(static_cast<pid_t>(server_pid_), SIGUSR1);
        }
        co_await async::sleep(k_wake_step);
        back = server_behind(socket_) == Server::present;
    }
    co_return back;
}

/// Starts the server in a scope; returns true if a server runs now. If it returns false, because there is no user
/// manager or it refuses, the server has to start as the daemon's own child in its control group, and agents depend on
/// the unit's KillMode.
Awaitable<bool> CliTmux::start_in_scope(std::vector<std::string> args) {
    std::string why;
    const std::vector<std::vector<std::string>> all = {{process::k_survive}, {}};
    for (const auto& options : all) {
        auto before = process::scope_words(env_, "orange-tmux-" + random_id(10) + ".scope", options);
        if (before.empty()) co_return false;
        before.insert(before.end(), keeper_.begin(), keeper_.end());
        auto words = args;
        const auto started = co_await call(std::move(words), std::string(), std::move(before));
        if (started && started->ok()) co_return true;
        why = started ? ellipsized(printable(trim(started->err)), 200) : started.error().message;
        if (!started) break;
    }
    if (note_) note_("the tmux server could not be started in a scope of its own, so it starts without one: " + why);
    co_return false;
}

Awaitable<Result<void>> CliTmux::start_server() {
    CO_TRY(allowed());
    const bool there = server_behind(socket_) == Server::present || co_await wake_lost_server();
    if (there) co_return Result<void>{};
    if (server_lives()) co_return unreachable();
    auto args = words(k_start_server, ";");
    args.insert(args.end(), k_needed.begin(), k_needed.end());
    const auto comfort = tmux::comfort(detach_key_);
    args.insert(args.end(), comfort.begin(), comfort.end());
    if (co_await start_in_scope(args)) co_return Result<void>{};
    auto keeper = keeper_;
    CO_TRY(const auto started, co_await call(std::move(args), std::string(), std::move(keeper)));
    co_return checked(k_start_server, started);
}

Awaitable<Result<void>> CliTmux::bind_detach_key() {
    if (server_behind(socket_) == Server::absent) co_return Result<void>{};
    CO_TRY(const auto shown, co_await call(words("show-options", "-sqv", tmux::k_bound_key)));
    if (!shown.ok()) co_return failed("show-options", shown);
    const std::string before(trim(shown.out));
    if (before == detach_key_.name) co_return Result<void>{};
    CO_TRY(const auto bound, co_await call(tmux::rebinding(before, detach_key_)));
    co_return checked("bind-key", bound);
}

/// Opens a window. If the server exits between its start and the command, it is started again.
Awaitable<Result<Completed>> CliTmux::open_window(std::vector<std::string> args) {
    for (int attempt = 1;; ++attempt) {
        CO_TRY(co_await start_server());
        auto done = co_await call(args);
        const bool server_left = done && !done->ok() && server_behind(socket_) == Server::absent;
        if (!server_left || attempt == k_open_attempts) co_return done;
    }
}

Awaitable<Result<PaneRef>> CliTmux::open(WindowSpec spec) {
    CO_TRY(check(spec));
    auto command = window_command(spec);
    CO_TRY(const auto done, co_await open_window(std::move(command)));
    if (done.ok()) {
        auto pane = tmux::pane_from(trim(done.out));
        if (pane) {
            remember_server(pane->ref.server_pid);
            pane->ref.server_start = server_start_;
            co_return pane->ref;
        }
        co_return Error(ErrorCode::external_failed, "tmux opened a window and answered " + printable(done.out));
    }
    if (spec.in_session.empty() && co_await succeeds(words("has-session", "-t", "=" + spec.session))) {
        co_return Error(ErrorCode::conflict, "there is a tmux session " + spec.session + " already");
    }
    if (!spec.in_session.empty() && !co_await succeeds(words("has-session", "-t", spec.in_session))) {
        co_return Error(ErrorCode::not_found, "there is no tmux session " + spec.in_session);
    }
    co_return failed("new-window", done);
}

/// Returns the state if no server answers at the socket: an Error if the known server still runs and is unreachable
/// together with its agents, otherwise "no server".
Result<TmuxState> CliTmux::without_server() const {
    if (server_lives()) return unreachable();
    return TmuxState{};
}

TmuxState CliTmux::answered_by(std::string_view pid) {
    remember_server(std::atoll(std::string(pid).c_str()));
    return {server_pid_, server_start_, {}};
}

/// The server itself compares its pid: another one may have the same ids for other panes.
Awaitable<Result<LastLines>> CliTmux::last_lines(PaneRef pane, int lines) {
    if (!tmux::is_id(pane.pane_id, "%")) co_return bad_id(pane.pane_id);
    const auto wanted = static_cast<std::size_t>(std::clamp(lines, 1, k_most_lines));
    const auto is_its_server = "#{==:#{pid}," + std::to_string(pane.server_pid) + "}";
    const auto capture = "capture-pane -p -J -t '" + pane.pane_id + "' -S -" + std::to_string(wanted);
    CO_TRY(const auto done,
           co_await call(words("display-message", "-p", "#{pid}", ";", "if-shell", "-F", is_its_server, capture)));
    const auto end_of_pid = done.out.find('\n');
    if (end_of_pid == std::string::npos) {
        if (done.ok() || server_behind(socket_) != Server::absent) co_return failed("display-message", done);
        CO_TRY(const auto none, without_server());
        co_return LastLines{none.server_pid, none.server_start};
    }
    // A server that is ending may answer with an error, although tmux exits with 0.
    if (done.ok() && !done.err.empty()) co_return failed("capture-pane", done);
    const auto state = answered_by(std::string_view(done.out).substr(0, end_of_pid));
    LastLines answer{state.server_pid, state.server_start};
    if (done.ok() && state.server_pid == pane.server_pid) {
        answer.text = tmux::without_padding(done.out.substr(end_of_pid + 1), wanted);
    }
    co_return answer;
}

Awaitable<Result<TmuxState>> CliTmux::list() {
    CO_TRY(const auto done, co_await call(words("display-message", "-p", "#{pid}", ";", "list-panes", "-a", "-F",
                                                std::string(tmux::k_pane_format))));
    const auto lines = split_lines(done.out);
    if (!done.ok()) {
        if (server_behind(socket_) == Server::absent) co_return without_server();
        // On a server without a session, list-panes fails for lack of a "current target".
        CO_TRY(const auto sessions, co_await call(words("list-sessions", "-F", "#{session_id}")));
        if (!sessions.ok() || !sessions.out.empty() || lines.size() != 1) co_return failed("list-panes", done);
    }
    if (lines.empty()) co_return failed("display-message", done);
    auto state = answered_by(lines[0]);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        auto pane = tmux::pane_from(lines[i]);
        // If a line were skipped, its agent would look dead.
        if (!pane) co_return Error(ErrorCode::external_failed, "tmux answered " + printable(lines[i]));
        pane->ref.server_start = state.server_start;
        state.panes.push_back(std::move(*pane));
    }
    co_return state;
}

Awaitable<Result<void>> CliTmux::kill(std::string id) {
    if (!tmux::is_id(id, "$@")) co_return bad_id(id);
    const auto* command = id.front() == '$' ? "kill-session" : "kill-window";
    CO_TRY(const auto done, co_await call(words(command, "-t", id)));
    if (done.ok()) co_return Result<void>{};
    CO_TRY(const auto state, co_await list());
    for (const auto& pane : state.panes) {
        if (pane.ref.session_id == id || pane.ref.window_id == id) co_return failed(command, done);
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> CliTmux::rename_session(std::string session_id, std::string name) {
    if (!tmux::is_id(session_id, "$")) co_return bad_id(session_id);
    CO_TRY(tmux::check_name("session", name));
    CO_TRY(const auto done, co_await call(words("rename-session", "-t", session_id, name)));
    if (done.ok()) co_return Result<void>{};
    if (!co_await succeeds(words("has-session", "-t", session_id))) {
        co_return Error(ErrorCode::not_found, "there is no tmux session " + session_id);
    }
    if (co_await succeeds(words("has-session", "-t", "=" + name))) {
        co_return Error(ErrorCode::conflict, "there is a tmux session " + name + " already");
    }
    co_return failed("rename-session", done);
}

/// Succeeds if the pane exists and its process is alive. The pane is searched in the list, because display-message
/// answers for another pane if its target is missing.
Awaitable<Result<void>> CliTmux::find_pane(std::string pane_id) {
    if (!tmux::is_id(pane_id, "%")) co_return bad_id(pane_id);
    CO_TRY(const auto state, co_await list());
    for (const auto& pane : state.panes) {
        if (pane.ref.pane_id == pane_id && !pane.dead) co_return Result<void>{};
    }
    co_return no_living_pane(pane_id);
}

Awaitable<Result<void>> CliTmux::press(std::string pane_id, std::string key) {
    CO_TRY(const auto done,
           co_await call(words("copy-mode", "-q", "-t", pane_id, ";", "send-keys", "-t", pane_id, key)));
    co_return checked("send-keys", done);
}

Awaitable<Result<void>> CliTmux::press_escape(std::string pane_id) {
    CO_TRY(co_await find_pane(pane_id));
    co_return co_await press(std::move(pane_id), "Escape");
}

Awaitable<Result<void>> CliTmux::paste(std::string pane_id, std::string text) {
    const auto line = tmux::typeable(text);
    if (line.empty()) co_return Error(ErrorCode::invalid_argument, "there is nothing to send");
    CO_TRY(co_await find_pane(pane_id));
    // Pass the text on stdin, the only way in which tmux does not interpret it. Paste it, because agents' programs take
    // fast typing for a paste anyway.
    const auto buffer = "orange-" + random_id(12);
    CO_TRY(const auto loaded, co_await call(words("load-buffer", "-b", buffer, "-"), line));
    if (!loaded.ok()) co_return failed("load-buffer", loaded);
    // A pane in copy mode (a human is scrolling) swallows keys. Pasting into a dead pane ends tmux 3.3a with all
    // agents. The pane may die at any time, so the server itself has to check immediately before.
    const auto paste = "paste-buffer -p -d -b " + buffer + " -t '" + pane_id + "'";
    const auto pasted = co_await call(words("copy-mode", "-q", "-t", pane_id, ";", "if-shell", "-F", "-t", pane_id,
                                            "#{pane_dead}", "display-message -p dead", paste));
    if (!pasted || !pasted->ok() || !pasted->out.empty()) {
        (void)co_await succeeds(words("delete-buffer", "-b", buffer));
        if (!pasted) co_return pasted.error();
        if (pasted->ok()) co_return no_living_pane(pane_id);
        co_return failed("paste-buffer", *pasted);
    }
    co_return Result<void>{};
}

/// Looks at the pane until it shows the wanted, at most so often. Returns what it showed last.
Awaitable<Result<bool>> CliTmux::shows(std::string pane_id, const std::function<bool(const PaneView&)>& holds,
                                       bool wanted, int looks) {
    bool held = !wanted;
    for (int i = 0; i < looks && held != wanted; ++i) {
        co_await async::sleep(k_between_looks);
        CO_TRY(const auto view, co_await view_pane(pane_id));
        held = holds(view);
    }
    co_return held;
}

Awaitable<Result<Entered>> CliTmux::press_enter(std::string pane_id, std::function<bool(const PaneView&)> holds) {
    CO_TRY(bool held, co_await shows(pane_id, holds, true, k_looks_before_enter));
    if (!held) co_return Entered::no;
    for (int i = 0; i < k_enters && held; ++i) {
        CO_TRY(co_await press(pane_id, "Enter"));
        CO_TRY(held, co_await shows(pane_id, holds, false, k_looks_after_enter));
    }
    co_return held ? Entered::holds : Entered::taken;
}

Awaitable<Result<std::string>> CliTmux::capture(std::string pane_id, int lines, bool colours) {
    if (!tmux::is_id(pane_id, "%")) co_return bad_id(pane_id);
    const auto wanted = static_cast<std::size_t>(std::clamp(lines, 0, k_most_lines));
    auto command = words("capture-pane", "-p", "-J", "-t", pane_id);
    if (wanted > 0) command.insert(command.end(), {"-S", "-" + std::to_string(wanted)});
    if (colours) command.emplace_back("-e");
    CO_TRY(const auto done, co_await call(std::move(command)));
    if (!done.ok()) {
        CO_TRY(const auto state, co_await list());
        const bool there = std::any_of(state.panes.begin(), state.panes.end(),
                                       [&](const PaneInfo& pane) { return pane.ref.pane_id == pane_id; });
        if (there) co_return failed("capture-pane", done);
        co_return Error(ErrorCode::not_found, "there is no tmux pane " + pane_id);
    }
    co_return tmux::without_padding(done.out, wanted);
}

Awaitable<Result<PaneView>> CliTmux::view_pane(std::string pane_id) {
    if (!tmux::is_id(pane_id, "%")) co_return bad_id(pane_id);
    CO_TRY(const auto done,
           co_await call(words("display-message", "-p", "-t", pane_id, tmux::k_view_format, ";", "capture-pane", "-p",
                               "-e", "-t", pane_id, ";", "capture-pane", "-p", "-J", "-t", pane_id)));
    if (!done.ok()) co_return failed("capture-pane", done);
    co_return tmux::view_from(done.out);
}

Awaitable<Result<std::vector<TmuxClient>>> CliTmux::clients() {
    std::vector<TmuxClient> all;
    CO_TRY(const auto done, co_await call(words("list-clients", "-F", std::string(tmux::k_client_format))));
    if (!done.ok()) {
        if (server_behind(socket_) == Server::absent) co_return all;
        co_return failed("list-clients", done);
    }
    for (const auto line : split_lines(done.out)) {
        if (auto client = tmux::client_from(line)) all.push_back(std::move(*client));
    }
    co_return all;
}

Awaitable<Result<void>> CliTmux::display_message(std::string client, std::string text) {
    const auto line = tmux::displayable(text);
    CO_TRY(const auto done, co_await call(words("display-message", "-c", client, "-d", "8000", line)));
    if (!done.ok()) co_return failed("display-message", done);
    // Ring the bell directly, because tmux has no command for it.
    const UniqueFd terminal(::open(client.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (terminal && ::isatty(terminal.get()) == 1) (void)!::write(terminal.get(), "\a", 1);
    co_return Result<void>{};
}

}  // namespace orange
