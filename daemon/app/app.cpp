#include "daemon/app/app.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/config/disk.hpp"
#include "common/config/home_check.hpp"
#include "common/config/home_lock.hpp"
#include "daemon/app/callers.hpp"
#include "daemon/app/cluster_socket.hpp"
#include "daemon/app/home.hpp"
#include "daemon/app/home_files.hpp"
#include "daemon/app/other_namespace.hpp"
#include "daemon/app/reload.hpp"
#include "daemon/app/run_sockets.hpp"
#include "daemon/app/service.hpp"
#include "daemon/app/settings.hpp"
#include "daemon/app/shells.hpp"
#include "daemon/app/ssh_agent.hpp"
#include "daemon/app/status.hpp"
#include "daemon/app/sweeper.hpp"
#include "daemon/async/use_tuple.hpp"
#include "daemon/files/native_file_watcher.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/files/unfinished.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/git/cli_git.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/log/log.hpp"
#include "daemon/monitor/monitor.hpp"
#include "daemon/process/pidfd_exit_watcher.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "daemon/process/scopes.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/process/umask.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/dispatcher.hpp"
#include "daemon/rpc/server.hpp"
#include "daemon/runner/attention/notification.hpp"
#include "daemon/runner/attention/replies.hpp"
#include "daemon/shim/keeper.hpp"
#include "daemon/tmux/cli_tmux.hpp"

/// The composition root. Every part of the daemon is a member here, and is made after the parts that it needs. All of
/// them run on the one thread of the one io_context. The daemon's end does not end the agents: they live in the tmux
/// server, and the next daemon adopts them.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr int k_exit_other_daemon = 75;  // EX_TEMPFAIL: try again later
constexpr auto k_shutdown_patience = 4s;
constexpr auto k_shutdown_step = 20ms;
constexpr std::chrono::milliseconds k_between_looks = 2s;
constexpr std::chrono::milliseconds k_news_together = 2s;

/// Stands in for a watcher that the kernel refused.
class NoFileWatcher final : public FileWatcher {
  public:
    Result<WatchId> watch(Path, std::function<void(const std::string&)>) override {
        return Error(ErrorCode::unavailable, "no file notification");
    }
    Result<WatchId> watch_once(Path, std::function<void()>) override {
        return Error(ErrorCode::unavailable, "no file notification");
    }
    void unwatch(WatchId) override {}
};

/// Destroys the frames of suspended coroutines before the parts of the daemon to which they refer.
class DaemonContext : public asio::io_context {
  public:
    using asio::io_context::io_context;
    void destroy_coroutines() { shutdown(); }

    /// Runs as run() does, and counts the time of the processor that each turn of the loop takes: while one lasts, all
    /// others wait. Other programs on a busy machine do not make this time longer.
    void run_counted() {
        for (auto before = used(); run_one() > 0;) {
            const auto now = used();
            longest_turn_ = std::max(longest_turn_, now - before);
            before = now;
        }
    }
    std::chrono::nanoseconds longest_turn() const { return longest_turn_; }

  private:
    static std::chrono::nanoseconds used() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    std::chrono::nanoseconds longest_turn_{};
};

/// Adds the user's ssh variables: those of the terminal that started the daemon, otherwise those of the login shell.
Environment environment_of_git(const Environment& login) {
    auto env = scrubbed_environment();
    const auto own = current_environment();
    for (const char* name : {"GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT"}) {
        for (const auto* source : {&login, &own}) {
            if (const auto found = source->find(name); found != source->end()) env[name] = found->second;
        }
    }
    return env;
}

constexpr const char* k_ssh_agent = "SSH_AUTH_SOCK";

/// Returns the ssh-agent of the terminal that started the daemon, or else that of the login shell.
std::string ssh_agent_of(const Environment& login) {
    const char* own = std::getenv(k_ssh_agent);
    const auto found = login.find(k_ssh_agent);
    if (found == login.end() || (own && is_listening(own))) return own ? own : "";
    return found->second;
}

Awaitable<void> call_later(std::function<void()> then) {
    const bool slept = co_await async::sleep(k_news_together);
    if (slept) then();
}

class App {
  public:
    App(const Home& home, const Paths& paths, const Installation& installation, FirstSettings first, Shells shells)
        : file_watcher_(native_file_watcher(io_.get_executor())),
          home_watch_(home),
          paths_(paths),
          files_(disk_, home),
          sweeper_(io_.get_executor(), files_, processes_, installation.bin / "orange-agent"),
          process_table_(paths.home.string()),
          git_(processes_, environment_of_git(shells.login.variables), {{process::k_daemon_variable, mark_}},
               paths.workspaces().string()),
          tmux_(processes_, paths.tmux_socket(), scrubbed_environment()),
          task_locks_(io_.get_executor()),
          repositories_(io_.get_executor()),
          tasks_(files_, paths.tasks()),
          task_files_(files_, clock_),
          projects_(files_, paths.projects()),
          pool_(files_, git_, processes_, repositories_, paths.workspaces(), mark_),
          workflows_(files_, installation.share / "workflows", paths.workflows()),
          harnesses_(installation.share / "harnesses", paths.harnesses(),
                     agents::ProgramSearch(std::move(shells.paths), files_, paths.programs(), paths.workspaces())),
          executors_(files_, installation.share / "executors", paths.executors()),
          launcher_(files_, tmux_, exits_, clock_, installation.bin / "orange-agent"),
          journal_(tasks_, clock_),
          callers_(process_table_, tasks_, pool_, task_locks_,
                   [this] {
                       return agents::ProcessId{tmux_.server_pid(), tmux_.server_start()};
                   }),
          login_(std::move(shells.login)),
          forge_(make_forge(processes_, login_.variables)),
          world_{io_.get_executor(),
                 paths,
                 installation,
                 std::move(first.settings),
                 login_.variables,
                 files_,
                 processes_,
                 exits_,
                 clock_,
                 tmux_,
                 git_,
                 *forge_,
                 tasks_,
                 task_files_,
                 projects_,
                 pool_,
                 workflows_,
                 harnesses_,
                 executors_,
                 launcher_,
                 journal_,
                 task_locks_,
                 repositories_},
          reload_(world_, tmux_, *forge_, login_, std::move(first.problem)),
          runner_(world_),
          delivery_(world_),
          replies_(
              runner_, [this](std::string method, Json params) { return answer(std::move(method), std::move(params)); },
              [this](std::string text) { tell("An answer was refused", std::move(text)); }),
          notifier_(
              runner_, [this](std::vector<News> news) { return deliver(std::move(news)); },
              [this](std::function<void()> then) {
                  async::spawn(io_.get_executor(), "notifications", call_later(std::move(then)));
              }),
          monitor_(runner_, watcher()),
          api_(runner_, daemon_control()),
          dispatcher_(table_, [this](Error error) { return explained(std::move(error)); }),
          server_(
              io_.get_executor(), dispatcher_, [this](rpc::Peer peer) { return identify(peer); },
              rpc::Limits::of_process(), [this](const rpc::Peer& peer) { return wall_of(peer); }),
          signals_(io_, SIGTERM, SIGINT, SIGHUP) {
        world_.job_environment = variables_of_job(current_environment());
        git_.remove_with(remover_);
        git_.use_ssh_agent([this] { return ssh_agent_.living(); });
        callers_.on_ssh_agent([this](const std::string& socket) { ssh_agent_.heard_of(socket); });
        ssh_agent_.on_change([this](const std::string& socket) { use_ssh_agent(socket); });
        git_.trust_ssh([this] {
            std::vector<std::string> commands;
            for (const auto& project : projects_.list()) {
                if (auto command = git::trusted_ssh(project); !command.empty()) commands.push_back(std::move(command));
            }
            return join(commands, "\n");
        });
        world_.socket_of_run = [this](const RunId& run) -> Result<std::string> {
            const auto served = cluster_.serves(run);
            if (!served) return served.error();
            return run_sockets_.path_of(run);
        };
        world_.check_programs = [this] { return check_programs(); };
        if (home.is_first_since_boot() && world_.settings.resume_after_reboot) monitor_.resume_agents();
    }

    int run() {
        async::set_escalation([](const std::string& name, const std::string& what) {
            log::error("daemon", "a coroutine failed: " + what, {{"coroutine", name}});
        });
        tmux_.ask_first([this] { return check_tmux_folder(); });
        tmux_.keep_below({world_.installation.bin / "orange-agent", std::string(k_keep_option), paths_.home});
        if (auto adopting = processes_.adopt_orphans(io_.get_executor()); !adopting) {
            problems_.push_back(adopting.error().message);
        }
        launcher_.start_in(run_scopes_);
        tmux_.on_note([](const std::string& what) { log::warn("tmux", what); });
        tmux_.set_detach_key(world_.settings.detach_key);
        reload_.apply_umask();
        load();
        reload_.on_settings([this] {
            runner_.usage.lift_all();
            runner_.budgets.look();
            runner_.reconciler.room_changed();
            replies_.settings_changed();
            cluster_.check();
        });
        api_.add_to(table_);
        if (auto listening = server_.listen(paths_.socket()); !listening) {
            std::fprintf(stderr, "oranged: %s\n", listening.error().message.c_str());
            return 1;
        }
        run_sockets_.start(tasks_loaded_ && tasks_.unreadable().empty());
        cluster_.start();
        monitor_.on_poll([this] {
            look_at_home();
            sweep();
        });
        sweep();
        monitor_.on_written([this](const TaskId& task) { api_.screens().wrote(task); });
        async::spawn(io_.get_executor(), "signals", handle_signals());
        async::spawn(io_.get_executor(), "home watch", watch_home());
        async::spawn(io_.get_executor(), "monitor", monitor_.run());
        async::spawn(io_.get_executor(), "replies", replies_.run());
        async::spawn(io_.get_executor(), "tidy", tidy_resting_tasks());
        runner_.pull_sync.start();
        async::spawn(io_.get_executor(), "detach key", reload_.bind_detach_key());
        if (!reload_.problem().empty()) tell_of_config();
        log::info("daemon", "started", {{"version", ORANGE_VERSION}, {"pid", std::to_string(::getpid())}});
        tell_service_manager("READY=1");
        io_.run_counted();
        io_.destroy_coroutines();
        log::info("daemon", "stopped");
        return 0;
    }

    /// Returns, after run(), the program that replaces this process; nullopt if the daemon just ends.
    std::optional<OwnProgram> restarts_as() const { return restarts_ ? std::optional(program_) : std::nullopt; }

  private:
    /// Removes what an earlier daemon, or an interrupted child, has left.
    void sweep() {
        if (stopping_) return;
        for (auto& place : paths_.removed()) sweeper_.sweep(std::move(place));
    }

    /// A package manager may remove the folder of the version that runs. Programs that the link to the present version
    /// leads to are found by program_path().
    Result<void> check_programs() const {
        const auto& place = world_.installation;
        const auto shim = place.bin / "orange-agent", workflow = place.share / "workflows" / "default.yml";
        for (const auto& file : {shim, workflow}) {
            if (::access(file.c_str(), F_OK) == 0 || errno != ENOENT) continue;
            return Error(ErrorCode::unavailable,
                         file.string() +
                             " is gone: Orange was upgraded, moved or removed while this daemon "
                             "runs. Agents keep running. To go on with the installed version:\n"
                             "  orange daemon restart");
        }
        return {};
    }

    /// Without its files, the daemon finds no shipped workflow, harness or executor, and starts no program of its own.
    Error explained(Error error) const {
        error = tasks_.with_short_ids(std::move(error));
        const bool may_be_why = error.code == ErrorCode::not_found || error.code == ErrorCode::invalid_argument ||
                                error.code == ErrorCode::io || error.code == ErrorCode::external_failed;
        if (const auto checked = check_programs(); may_be_why && !checked) {
            error.message += "\n" + checked.error().message;
        }
        for (const auto& project : projects_.list()) {
            const bool is_gone = runner_.missing_repositories.contains(project.path);
            if (!is_gone || error.message.find(printable(project.path)) == std::string::npos) continue;
            error.message += "\nIf the repository of " + project.name + " was moved:\n  orange project update " +
                             project.name + " --path NEW_PATH";
        }
        return error;
    }

    /// Returns the task of the run through whose socket the peer calls, if its executor hides files from it.
    TaskId wall_of(const rpc::Peer& peer) {
        if (peer.run.empty()) return {};
        const auto record = tasks_.awake(peer.task);
        const auto is_its = [&](const AgentRun& run) { return run.run == peer.run && run.place && run.place->hides; };
        return record && std::ranges::any_of(record->runs, is_its) ? peer.task : TaskId();
    }

    /// Gives agents that start later, gh and the shells that a reload asks the ssh-agent that took another's place. An
    /// environment that has none, or another one that answers, keeps what it has.
    void use_ssh_agent(const std::string& socket) {
        log::info("daemon", "the ssh-agent of the last login is used", {{"socket", printable(socket)}});
        ::setenv(k_ssh_agent, socket.c_str(), 1);
        const auto found = login_.variables.find(k_ssh_agent);
        if (found == login_.variables.end() || is_listening(found->second)) return;
        found->second = socket;
        world_.base_environment = login_.variables;
        forge_->set_base(login_.variables);
    }

    Awaitable<Caller> identify(rpc::Peer peer) {
        auto caller = co_await callers_.identify(peer);
        if (!caller.run.empty()) async::spawn(io_.get_executor(), "session", runner_.agents.learn_session(caller));
        co_return caller;
    }

    /// Notifies the human, who may have started the machine and looks at no status.
    void tell_of_config() { tell("config.yml cannot be used", reload_.problem()); }

    /// Notifies the human of a problem that is about no task.
    void tell(std::string summary, std::string text) {
        News news;
        news.summary = std::move(summary);
        news.text = printable(text);
        async::spawn(io_.get_executor(), "notifications", deliver({std::move(news)}));
    }

    Awaitable<void> deliver(std::vector<News> news) {
        std::string input;
        if (!world_.settings.notify_command.empty()) {
            auto copy = news;
            input = co_await replies_.input_of(std::move(copy));
        }
        co_await delivery_.deliver(std::move(news), std::move(input));
    }

    /// An answer to a notification counts as the human's call.
    Awaitable<Result<void>> answer(std::string method, Json params) {
        const auto* found = table_.find(method);
        if (!found) co_return Error(ErrorCode::internal, "there is no method " + method);
        rpc::Call call;
        call.caller.evidence = k_reply_evidence;
        const auto done = co_await found->invoke(std::move(params), std::move(call));
        if (!done) co_return tasks_.with_short_ids(done.error());
        co_return Result<void>{};
    }

    /// Another user who owned the folder could create the socket there, and would get the text that is typed.
    Result<void> check_tmux_folder() {
        auto here = files_.check();
        return here ? make_tmux_folder(paths_) : here;
    }

    /// Orange works on a network disk as long as only one machine uses the home, which cannot be checked.
    void warn_of_network_disk() {
        const auto kind = network_file_system(paths_.home);
        if (kind.empty()) return;
        problems_.push_back(paths_.home.string() + " is on a network disk (" + kind +
                            "), where locks and appends are not reliable; set ORANGE_HOME to a folder on a local disk");
        log::warn("daemon", problems_.back());
    }

    void load() {
        warn_of_network_disk();
        const auto note = [this](const Result<void>& loaded) {
            if (loaded) return;
            problems_.push_back(loaded.error().message);
            log::error("daemon", loaded.error().message);
        };
        const auto own_workflows = paths_.workflows();
        for (const auto& folder : {paths_.home, paths_.workspaces(), own_workflows, own_workflows / ".pinned",
                                   paths_.executors() / ".pinned"}) {
            note(files::remove_unfinished(files_, folder));
        }
        (void)projects_.load();  // status() and the monitor's log report problems
        note(pool_.load());
        const auto loaded = tasks_.load();
        tasks_loaded_ = loaded.has_value();
        note(loaded);
        pool_.adopt_claims(claims_of(tasks_));
        expect_tmux_server();
        workflows_.on_change([](const std::string& name, const std::string& what) {
            log::warn("workflows", "the workflow " + name + " " + what, {{"workflow", name}});
        });
        workflows_.list();  // so that a file that becomes invalid later has a valid version before it
    }

    /// Tidies the folders of tasks that rest, one at a time, beside all other work. The start reads only the briefs of
    /// these tasks (TaskStore::load()).
    Awaitable<void> tidy_resting_tasks() {
        while (!stopping_ && tasks_.tidy_next()) co_await async::yield();
    }

    /// Tells tmux_ of the server of living agents: its socket may have been removed while no daemon ran.
    void expect_tmux_server() {
        tasks_.each_awake([&](const TaskRecord& record) {
            for (const auto& run : record.runs) {
                if (const auto start = launcher_.server_start(run)) tmux_.expect_server(run.server_pid, *start);
            }
        });
    }

    rpc::DaemonControl daemon_control() {
        rpc::DaemonControl control;
        control.status = [this] { return status(); };
        control.reload = [this] { return reload_.all(); };
        control.facts = [this] {
            doctor::Facts facts;
            facts.login = login_;
            facts.config = [this]() -> Result<void> {
                const auto loaded = load_settings(files_, paths_.config());
                return loaded ? Result<void>{} : Result<void>{loaded.error()};
            };
            if (auto problem = watch_problem(); !problem.empty()) facts.problems.push_back(std::move(problem));
            if (!delivery_.problem().empty()) facts.problems.push_back(delivery_.problem());
            if (auto unheard = delivery_.why_unheard(); !unheard.empty()) facts.problems.push_back(std::move(unheard));
            if (auto problem = replies_.problem(); !problem.empty()) facts.problems.push_back(std::move(problem));
            for (const auto& problem : socket_problems()) facts.problems.push_back(problem);
            if (program_.was_replaced()) facts.problems.push_back(program_.note());
            return facts;
        };
        control.shutdown = [this] { async::spawn(io_.get_executor(), "shutdown", shut_down()); };
        return control;
    }

    rpc::DaemonStatus::Reply status() {
        auto problems = problems_;
        if (auto problem = watch_problem(); !problem.empty()) problems.push_back(std::move(problem));
        if (!reload_.problem().empty()) problems.push_back(reload_.problem());
        if (!login_.problem.empty()) problems.push_back("login shell: " + login_.problem);
        for (auto& problem : socket_problems()) problems.push_back(std::move(problem));
        if (program_.was_replaced()) problems.push_back(program_.note());
        auto reply = status_of(runner_, std::move(problems));
        reply.uptime_seconds = std::chrono::duration_cast<std::chrono::seconds>(async::now() - began_).count();
        reply.connections = static_cast<std::int64_t>(server_.connections());
        reply.longest_turn_us = std::chrono::duration_cast<std::chrono::microseconds>(io_.longest_turn()).count();
        if (monitor_.last_poll()) reply.last_poll = to_rfc3339(*monitor_.last_poll());
        return reply;
    }

    std::string watch_problem() const {
        return file_watcher_ ? (*file_watcher_)->problem() : file_watcher_.error().message;
    }

    std::vector<std::string> socket_problems() const {
        std::vector<std::string> problems;
        for (const auto* problem : {&run_sockets_.problem(), &cluster_.problem()}) {
            if (!problem->empty()) problems.push_back(*problem);
        }
        return problems;
    }

    Awaitable<void> handle_signals() {
        for (;;) {
            const auto [error, signal] = co_await signals_.async_wait(use_tuple);
            if (error) co_return;
            if (signal == SIGHUP) {
                const auto notes = co_await reload_.all();
                if (!notes) log::error("daemon", notes.error().message);
                for (const auto& note : notes.value_or({})) log::info("daemon", note);
                continue;
            }
            log::info("daemon", "stopping", {{"signal", std::to_string(signal)}});
            co_await shut_down();
            co_return;
        }
    }

    /// Lets running calls finish and sends the last notifications (4 s). The next daemon finishes interrupted
    /// transitions. The agents continue.
    Awaitable<void> shut_down() {
        if (stopping_) co_return;
        stopping_ = true;
        if (!restarts_) tell_service_manager("STOPPING=1");
        monitor_.stop();
        runner_.reconciler.stop();
        runner_.gates.stop();
        runner_.checks.stop_all();
        runner_.previews.stop_all();
        runner_.pull_sync.stop();
        replies_.stop();
        cluster_.stop();
        server_.stop();
        async::spawn(io_.get_executor(), "last notifications", notifier_.send_waiting());
        const auto is_busy = [this] {
            return server_.busy() > 0 || !notifier_.is_idle() || runner_.previews.any_running();
        };
        for (std::chrono::milliseconds waited{}; waited < k_shutdown_patience && is_busy(); waited += k_shutdown_step) {
            co_await async::sleep(k_shutdown_step);
        }
        co_await async::sleep(k_shutdown_step);  // until the last replies are sent
        io_.stop();
    }

    /// Looks more often than the poll, because no client can connect to a socket that was removed.
    Awaitable<void> watch_home() {
        const bool watched = has_watchdog();
        while (!stopping_) {
            if (watched) tell_service_manager("WATCHDOG=1");
            const bool slept = co_await async::sleep(k_between_looks);
            if (!slept) co_return;
            look_at_home();
            server_.check_clients();
            if (co_await should_restart()) co_await restart();
        }
    }

    /// Returns true if no transition, merge, check, try or preparation is under way and the new program prints its
    /// version.
    Awaitable<bool> should_restart() {
        if (stopping_ || !world_.settings.auto_restart || !program_.may_be_restarted()) co_return false;
        const auto is_quiet = [this] {
            bool intents = false;
            tasks_.each_awake([&](const TaskRecord& record) { intents = intents || record.intent; });
            return !intents && task_locks_.idle() && repositories_.idle() && !runner_.checks.any_under_way() &&
                   !runner_.trains.any_under_way() && !runner_.previews.any_running() && notifier_.is_idle();
        };
        if (!is_quiet()) co_return false;
        Command ask;
        ask.argv = {program_.path(), "--version"};
        ask.cwd = "/";
        const auto answer = co_await processes_.run(std::move(ask));
        if (!answer || !answer->ok() || !answer->out.starts_with("oranged ")) co_return false;
        log::info("daemon", "restarting as the installed program", {{"version", first_line(answer->out)}});
        co_return is_quiet() && !stopping_;
    }

    /// Tells the service manager nothing: for it the daemon stays the same process.
    Awaitable<void> restart() {
        restarts_ = true;
        co_await shut_down();
    }

    void look_at_home() {
        if (stopping_) return;
        const auto found = home_watch_.check(async::now());
        if (found.over) {
            log::error("daemon", found.note);
            std::fprintf(stderr, "oranged: %s\n", found.note.c_str());
            async::spawn(io_.get_executor(), "shutdown", shut_down());
            return;
        }
        if (!found.note.empty()) log::warn("daemon", found.note);
        if (!found.here) return;
        server_.check_socket();
        run_sockets_.check();
        cluster_.check();
    }

    /// If the kernel refuses notifications, the poll still finds every change, but later.
    FileWatcher& watcher() {
        if (file_watcher_) return **file_watcher_;
        return no_watcher_;
    }

    DaemonContext io_{1};
    Result<std::unique_ptr<FileWatcher>> file_watcher_;
    NoFileWatcher no_watcher_;
    std::vector<std::string> problems_;
    const OwnProgram program_;
    HomeWatch home_watch_;
    Paths paths_;
    const std::string mark_ = paths_.home.string() + "@" + random_id(10);
    async::Moment began_ = async::now();
    const Clock& clock_ = async::time();
    const posix::Remover remover_{paths_.removed(), [this](Path place) { sweeper_.sweep(std::move(place)); }};
    PosixFileSystem disk_{{paths_.tasks(), paths_.workspaces()}, remover_};
    HomeFiles files_;
    PosixProcessRunner processes_;
    Sweeper sweeper_;
    PidfdExitWatcher exits_;
    agents::ProcProcessTable process_table_;
    CliGit git_;
    CliTmux tmux_;
    async::KeyedMutex task_locks_;
    async::KeyedMutex repositories_;
    store::TaskStore tasks_;
    store::TaskFiles task_files_;
    store::ProjectStore projects_;
    Pool pool_;
    workflow::Library workflows_;
    agents::HarnessLibrary harnesses_;
    agents::ExecutorLibrary executors_;
    process::RunScopes run_scopes_{processes_, scrubbed_environment()};
    agents::Launcher launcher_;
    Journal journal_;
    Callers callers_;
    agents::LoginEnvironment login_;
    SshAgent ssh_agent_{ssh_agent_of(login_.variables), [](const std::string& socket) { return is_listening(socket); }};
    std::unique_ptr<Forge> forge_;
    World world_;
    Reload reload_;
    Runner runner_;
    Delivery delivery_;
    Replies replies_;
    Notifier notifier_;
    Monitor monitor_;
    rpc::MethodTable table_;
    rpc::Api api_;
    rpc::Dispatcher dispatcher_;
    rpc::Server server_;
    RunSockets run_sockets_{paths_, files_, tasks_, server_};
    ClusterSocket cluster_{world_, server_};
    asio::signal_set signals_;
    bool stopping_ = false;
    bool restarts_ = false;
    bool tasks_loaded_ = false;
};

void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_daemon(const Paths& paths, const Installation& installation) {
    (void)process::umask_at_start();
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error of the write, not our end
    raise_descriptor_limit();
    auto home = Home::acquire(paths);
    if (!home) {
        std::fprintf(stderr, "oranged: %s\n", home.error().message.c_str());
        return home.error().code == ErrorCode::conflict ? k_exit_other_daemon : 1;
    }
    // The kernel reports callers' directories with links resolved, so the home's path needs that, too.
    const Paths resolved{home->path()};
    log::open(resolved.log().string(), log::Level::info);
    if (home->was_closed()) {
        const auto note = resolved.home.string() + " was open to other users; Orange has made it private (mode 700)";
        log::warn("daemon", note);
        std::fprintf(stderr, "oranged: %s\n", note.c_str());
    }
    PosixFileSystem files;
    if (auto taken = take_pid_namespace(files, resolved); !taken) {
        log::error("daemon", taken.error().message);
        std::fprintf(stderr, "oranged: %s\n", taken.error().message.c_str());
        return taken.error().code == ErrorCode::conflict ? k_exit_other_daemon : 1;
    }
    auto first = first_settings(files, resolved);
    log::set_level(first.settings.log_level);
    if (!first.problem.empty()) {
        log::error("daemon", first.problem);
        std::fprintf(stderr, "oranged: %s\n", first.problem.c_str());
    }
    std::optional<OwnProgram> next;
    int status = 0;
    {
        App app(*home, resolved, installation, std::move(first), ask_shells_first());
        status = app.run();
        next = app.restarts_as();
    }
    if (!next) return status;
    process::use_umask(process::umask_at_start());
    next->restart();
    return 1;
}

}  // namespace orange
