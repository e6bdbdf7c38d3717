// `orange harness test`: plays one short life of a program in a scratch repository, with an Orange of its own, so that
// the user's projects, tasks and lists stay untouched. The program is the worker of the workflow `default`, and
// Orange's demo agent reviews. Each step is printed when its result is known.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

#include "client/commands/files.hpp"
#include "client/commands/harness.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/listener.hpp"
#include "client/commands/scratch_repository.hpp"
#include "client/commands/walls.hpp"
#include "client/connection/child.hpp"
#include "client/connection/ending.hpp"
#include "client/connection/wait.hpp"
#include "client/output/events.hpp"
#include "client/output/harnesses.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/rpc/executor_methods.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/permit_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr const char* k_summary =
    "Add the file hello.txt with the line hello and commit it. This is a test of Orange: plan in one line, run no "
    "tests, ask no questions";
constexpr seconds k_for_message{60}, k_for_idle{5}, k_for_end{10};
/// The time that a limit, or a question without an answer, must last.
constexpr seconds k_limit_stands{3}, k_question_stands{10};
constexpr milliseconds k_pause{200};
constexpr int k_window_lines = 15;

/// The observations of one trial.
struct Life {
    rpc::TaskShow::Reply last;
    std::set<std::string> busy, idle;  ///< the sources that showed it: file, title or screen
    std::string asks, limited;         ///< the line of an open dialog, or of a limit
    bool called = false;               ///< the worker called orange
    std::string begun;                 ///< the executor's name of the worker's run, and its place

    const std::string& status() const { return last.task.fields.status; }
    /// Returns true if the program ended before its work was done.
    bool ended() const { return (status() == "planning" || status() == "working") && last.task.worker == "dead"; }
    /// Returns true if an agent, perhaps the reviewer, could not be started.
    bool has_failed() const {
        return std::ranges::find(last.task.notices, NoticeKind::start_failed, &Notice::kind) != last.task.notices.end();
    }
    bool planned() const {
        const auto body = "\n" + last.body;
        return body.find("\n## Plan") != std::string::npos || body.find("\n## Handoff") != std::string::npos;
    }
    bool committed() const { return last.changes && last.changes->commits > 0; }
    bool did() const { return planned() || committed() || called; }
};

std::string listed(const std::set<std::string>& sources) {
    return join(std::vector<std::string>(sources.begin(), sources.end()), ", ");
}

struct TrialStep {
    const char* name;
    std::string (*seen)(const Life&);  ///< empty result: not seen
    Verdict otherwise;
    const char* missing;
    const char* change;  ///< the part of the definition to check
};
constexpr TrialStep k_work[] = {
    {"edit", [](const Life& life) -> std::string { return life.planned() ? "it writes sections into TASK.md" : ""; },
     Verdict::fail, "TASK.md has neither ## Plan nor ## Handoff", "argv: permissions to edit files"},
    {"commit", [](const Life& life) -> std::string { return life.committed() ? "it commits on its branch" : ""; },
     Verdict::fail, "its branch has no commit",
     "argv: permissions to run git, and to write to {git_dir} and {git_common}"},
    {"call",
     [](const Life& life) -> std::string { return life.called ? "it runs orange, and reaches the daemon" : ""; },
     Verdict::fail, "it never called orange",
     "argv: permissions to run orange, and a sandbox that permits Unix sockets"},
};
constexpr TrialStep k_busy = {
    "busy",
    [](const Life& life) { return life.busy.empty() ? std::string() : "seen at work by its " + listed(life.busy); },
    Verdict::unknown,
    "it was not seen at work. A hang is noticed only if the program shows nothing new, uses hardly "
    "any processor time and changes no file for `hung_after`",
    "screen.busy, title.busy or state_file"};
constexpr TrialStep k_idle = {
    "idle",
    [](const Life& life) { return life.idle.empty() ? std::string() : "seen idle by its " + listed(life.idle); },
    Verdict::unknown,
    "it was not seen idle. Orange does not remind it when it forgets to call orange, and tells you "
    "when its section lies ready",
    "screen.idle, title.idle, or screen.otherwise: idle"};

/// Removes the frame that a program draws around its dialogs from a line; empty for a line that is only frame.
std::string unframed(std::string_view line) {
    static constexpr std::string_view k_frame[] = {"─", "━", "│", "┃", "╭", "╮", "╰", "╯", "┌", "┐", "└", "┘", " "};
    for (bool again = true; again;) {
        again = false;
        for (const auto part : k_frame) {
            const bool begins = line.starts_with(part);
            if (begins) line.remove_prefix(part.size());
            const bool ends = line.ends_with(part);
            if (ends) line.remove_suffix(part.size());
            again = again || begins || ends;
        }
    }
    return std::string(line);
}

/// Returns the last lines that are not empty.
std::string end_of_window(const std::string& text) {
    std::vector<std::string> lines;
    for (const auto line : split_lines(text)) {
        auto inner = unframed(line);
        if (!inner.empty() && !line.starts_with("Pane is dead (")) lines.push_back(std::move(inner));
    }
    if (lines.size() > k_window_lines) lines.erase(lines.begin(), lines.end() - k_window_lines);
    return join(lines, "\n");
}

/// Returns the keys of config.yml that concern the agents themselves, each from its line to the next key.
std::string part_of_config(const std::string& text) {
    std::string out;
    bool taken = false;
    for (const auto line : split_lines(text)) {
        const bool key = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
        const auto is = [&](std::string_view name) { return line.starts_with(name); };
        if (key) taken = is("env:") || is("detach_key:") || is("cluster_address:") || is("image:");
        if (taken) out += std::string(line) + "\n";
    }
    return out + "notify: off\n";
}

Result<void> link_folder(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (fs::is_directory(from, error)) fs::create_directory_symlink(from, to, error);
    return error && fs::exists(from) ? Result<void>(io_error("making " + to.string(), error.value())) : Result<void>{};
}

/// A daemon keeps the definitions of its tasks in the same folder: a link would keep the trial's in the user's.
Result<void> copy_definitions(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (!fs::is_directory(from, error)) return {};
    fs::create_directory(to, error);
    for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".yml") fs::copy_file(at->path(), to / at->path().filename(), error);
        if (error) break;
    }
    return error ? Result<void>(io_error("copying " + from.string(), error.value())) : Result<void>{};
}

/// Makes a home with the harnesses and the executors of the user's own one, and the keys of its config.yml that concern
/// agents, so that the user's checks, limits and notifications do not apply. From then on this process and the
/// daemon that it starts use that home.
Result<void> make_home_of_trial(const Paths& own, const Paths& paths) {
    if (::mkdir(paths.home.c_str(), 0700) != 0) return io_error("making " + paths.home.string(), errno);
    TRY(link_folder(own.harnesses(), paths.harnesses()));
    TRY(copy_definitions(own.executors(), paths.executors()));
    TRY(replace_file(paths.config(), part_of_config(text_of_file(own.config()).value_or(""))));
    ::setenv("ORANGE_HOME", paths.home.c_str(), 1);
    ::unsetenv("ORANGE_NO_AUTOSTART");  // this setting is for the user's daemon
    return {};
}

/// Returns the living processes with the environment of an agent of that home; nothing if the system does not show
/// environments.
std::optional<std::vector<pid_t>> agents_in(const fs::path& home) {
    std::error_code error;
    if (!fs::exists("/proc/self/environ", error)) return std::nullopt;
    std::vector<pid_t> found;
    for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
        const auto name = at->path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
        const auto environment = '\0' + text_of_file(at->path() / "environ").value_or("");
        const bool is_agent = environment.find('\0' + ("ORANGE_HOME=" + home.string()) + '\0') != std::string::npos &&
                              environment.find(std::string("\0ORANGE_RUN=", 12)) != std::string::npos;
        if (is_agent) found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
    }
    return found;
}

class Trial {
  public:
    Trial(Context& outer, const HarnessTest& options, ScratchRepository repository)
        : outer_(outer),
          options_(options),
          repository_(std::move(repository)),
          home_(repository_.path().parent_path() / "orange"),
          inner_(Paths{home_}, outer.json) {}

    /// Returns an error only if the test could not continue; a failed step is none.
    Result<void> run() {
        TRY(make_home_of_trial(outer_.paths, inner_.paths));
        TRY(const bool began, begin());
        if (!began) return {};
        stuck_since_ = steady_clock::now();
        until_ = stuck_since_ + seconds(options_.timeout_seconds);
        TRY(watch(until_, [this] { return is_enough(); }));
        TRY(look(true));
        keep_window();
        judge_start();
        judge_place();
        judge_walls();
        judge_limits();
        if (life_.did()) {
            step("prompt", Verdict::pass, "it does what its prompt says");
            for (const auto& each : k_work) judge(each);
            judge_end_of_work();
            if (is_walled_) judge_repository();
        } else {
            step("prompt", Verdict::fail,
                 life_.busy.empty() ? "nothing came of its prompt" : "it worked, but not on what its prompt says",
                 keys("argv"));
        }
        const bool did = life_.did();
        TRY(try_message());
        TRY(try_permits());
        TRY(try_news());
        TRY(try_usage());
        const bool shows = did && options_.executor.empty();  // the demo agent does not show what it does
        if (shows) judge(k_busy);
        if (shows && !oneshot_) judge(k_idle);
        return end_task();
    }

    /// Ends and removes everything, also after an error or an interruption; with --keep it only says where everything
    /// is.
    void clean_up() {
        if (options_.keep) {
            if (!ends_ && !id_.empty()) (void)end_task();  // otherwise its agent would continue
            return say_kept();
        }
        const auto print_error = [](const Error& error) {
            output::print_error("orange: " + printable(error.message, true) + "\n");
        };
        if (const auto ended = connection::end_daemon_by_force(inner_.paths); !ended) print_error(ended.error());
        std::error_code ignored;
        if (const auto socket = inner_.paths.tmux_socket(); fs::exists(socket, ignored)) {
            (void)connection::output_of({"tmux", "-S", socket.string(), "kill-server"});
            fs::remove(socket, ignored);
            if (socket.parent_path() != home_) fs::remove(socket.parent_path(), ignored);
        }
        for (const auto pid : agents_in(home_).value_or(std::vector<pid_t>{})) ::kill(pid, SIGKILL);
        // A killed process may still be writing for a moment.
        const auto removed =
            connection::wait_until(steady_clock::now() + seconds(5), k_pause, [this] { return repository_.remove(); });
        if (!removed) print_error(removed.error());
    }

    bool failed() const { return failed_; }
    bool tried() const { return tried_; }
    /// Returns `harness`, `passed`, `steps` and, if a step failed, `window`: the end of the program's window.
    Json report() const {
        Json report{{"harness", options_.name}, {"passed", !failed_}, {"steps", steps_}};
        if (!options_.executor.empty()) report["executor"] = options_.executor;
        if (failed_ && !window_.empty()) report["window"] = window_;
        return report;
    }

  private:
    /// `detail`: the observation. `change`: the part of the definition to check.
    void step(const std::string& name, Verdict verdict, const std::string& detail, const std::string& change = {}) {
        static constexpr struct {
            std::string_view word;
            output::Look look;
        } k_verdicts[] = {{"PASS", output::k_green}, {"FAIL", output::k_red}, {"UNKNOWN", output::k_yellow}};
        failed_ = failed_ || verdict == Verdict::fail;
        const auto& [word, look] = k_verdicts[static_cast<int>(verdict)];
        Json row{{"step", name}, {"result", word}, {"detail", printable(detail, true)}};
        if (!change.empty()) row["change"] = change;
        steps_.push_back(std::move(row));
        if (outer_.json) return;
        const auto text = name + ": " + printable(detail, true) + (change.empty() ? "" : "\nlook at: " + change);
        const auto lines = output::wrapped(text, std::string(9, ' '), outer_.style.width);
        output::put_now(outer_.style.paint(word, look) + lines.substr(word.size()));
    }
    void step(const Finding& found) { step(found.step, found.verdict, found.detail, found.change); }
    /// Returns the keys to look at. In the trial of an executor, the definition of the agent is not what is tried.
    std::string keys(const std::string& of_harness) const { return options_.executor.empty() ? of_harness : "run"; }
    void judge(const TrialStep& each) {
        const auto seen = each.seen(life_);
        step(each.name, seen.empty() ? each.otherwise : Verdict::pass, seen.empty() ? each.missing : seen,
             seen.empty() ? keys(each.change) : "");
    }

    /// Returns false if the program could not be started.
    Result<bool> begin() {
        TRY(const auto reply, inner_.call(rpc::HarnessShow{options_.name}));
        const auto& harness = reply.harness;
        oneshot_ = harness.mode == "oneshot";
        tried_ = harness.tried;
        program_ = harness;
        can_ask_ = reply.permits != "window" && options_.permissions == "reduced" && !oneshot_;
        if (!reply.trust_args.empty() && !options_.trust) trust_hint_ = "--trust of this command; ";
        if (!harness.installed) {
            step("program", Verdict::fail, harness.problem.value_or(harness.program + " was not found"), "program");
            return false;
        }
        auto program = harness.program;  // the user's path, not that through the link in this home
        if (program.starts_with(home_.string() + "/"))
            program.replace(0, home_.string().size(), outer_.paths.home.string());
        step("program", Verdict::pass, program);
        if (options_.executor.empty())
            step("version", harness.version ? Verdict::pass : Verdict::unknown,
                 harness.version.value_or("it is not known"), harness.version ? "" : "version_args");
        TRY(const bool usable, try_executor());
        if (!usable) return false;
        rpc::ProjectAdd add;
        add.path = repository_.path().string();
        add.name = "scratch";
        add.pool_size = 1;
        TRY(inner_.call(add));
        TRY(const auto words, limit_project());
        rpc::TaskCreate create;
        create.project = "scratch";
        create.summary = k_summary;
        if (!words.empty()) create.context = words;
        create.harness = options_.name;
        create.review_harness = options_.permissions == "reduced" ? options_.name : "demo";  // which has only full
        create.workflow = "default";
        if (options_.trust) create.trust = {options_.name};
        create.caller = caller_environment();
        if (reply.permits == "either") create.permits = "inbox";
        if (!options_.permissions.empty()) create.permissions = options_.permissions;
        if (!options_.executor.empty()) create.executor = options_.executor;
        if (!options_.executor_options.empty()) create.executor_options = options_.executor_options;
        const auto created = inner_.call(create);
        if (!created) {
            step("start", Verdict::fail, created.error().message, keys(trust_hint_ + "argv, env, root_needs"));
            return false;
        }
        id_ = created->task.fields.id.value;
        short_id_ = printable(output::short_id(created->task));
        if (!outer_.json) {
            output::put_now("\nIt works now, for at most " + std::to_string(options_.timeout_seconds) +
                            " s. To watch it, run in another terminal:\n" + attach_command());
        }
        return true;
    }

    /// False: nothing can run in it. True without an executor.
    Result<bool> try_executor() {
        if (options_.executor.empty()) return true;
        rpc::ExecutorShow show;
        show.name = options_.executor;
        TRY(const auto reply, inner_.call(show));
        separates_ = reply.executor.separates;
        limits_ = reply.executor.limits;
        is_walled_ = !reply.inside.empty();
        no_list_ = reply.no_list.value_or("");
        if (reply.executor.limits_network) {
            for (auto& port : ports_) {
                TRY(port, Listener::open());
            }
        }
        runs_checks_outside_ = reply.checks == "outside";
        const auto& problem = reply.executor.problem;
        step("check", problem ? Verdict::fail : Verdict::pass, problem.value_or("it can be used here"),
             problem ? "check, run" : "");
        return !problem;
    }

    /// Sets limits for the agents of the project. Returns the words that have the demo agent try them, and the walls.
    Result<std::string> limit_project() {
        if (options_.executor.empty()) return std::string();
        std::string words = is_walled_ ? "demo:walls demo:trap" : "demo:walls";
        rpc::ProjectUpdate update;
        update.name = "scratch";
        for (const auto& each : k_tried_limits) {
            words += " demo:" + std::string(each.name) + "=" + std::to_string(each.tried);
            update.settings["limits." + std::string(each.name)] =
                std::to_string(each.limit) + (each.unit > 1 ? "M" : "");
        }
        if (ports_[0]) {
            update.settings["network"] = no_list_.empty() ? "127.0.0.1:" + std::to_string(ports_[0]->port()) : "none";
            constexpr const char* k_words[] = {" demo:listed=", " demo:unlisted=", " demo:direct="};
            for (int i = 0; i < 3; ++i) words += k_words[i] + std::to_string(ports_[i]->port());
        }
        TRY(inner_.call(update));
        return words;
    }

    /// Judges what the definition claims to separate. A wall that it does not claim, and that holds, is shown, too.
    void judge_walls() {
        if (options_.executor.empty()) return;
        for (const auto& wall : walls_of(separates_, walls_seen(), home_)) {
            if (wall.name == "network" && ports_[0] && wall.holds.value_or(false))
                continue;  // judge_limits() tells more
            if (!wall.holds) {
                step(wall.name, Verdict::unknown, "Orange cannot try this");
            } else if (*wall.holds) {
                const bool is_open = wall.name == "files" && runs_checks_outside_;
                step(wall.name, Verdict::pass,
                     std::string(wall.is_claimed ? "separated" : "separated, which `separates` does not say") +
                         (is_open ? ", but checks and setup run outside" : ""));
            } else {
                step(wall.name, Verdict::fail, "not separated", "separates, run");
            }
        }
    }

    std::string walls_seen() const {
        return text_of_file(fs::path(life_.last.task.worktree) / k_walls_file).value_or("");
    }

    /// Judges the limits of limit_project().
    void judge_limits() {
        if (options_.executor.empty()) return;
        const auto seen = walls_seen();
        if (ports_[0]) {
            const ReachedPorts reached{ports_[0]->was_reached(), ports_[1]->was_reached(), ports_[2]->was_reached()};
            step(network_finding(no_list_.empty(), reached, seen));
            if (!no_list_.empty()) step("network list", Verdict::unknown, no_list_);
        }
        for (const auto& each : k_tried_limits) {
            const bool is_claimed = std::ranges::find(limits_, each.name) != limits_.end();
            step(limit_finding(each, is_claimed, seen));
        }
    }

    /// Judges what a person finds of an agent that has a git repository of its own: its commit in the project's
    /// repository, and in its folder nothing that git would run.
    void judge_repository() {
        const auto& branch = life_.last.task.fields.branch;
        const auto committed =
            repository_.git({"cat-file", "-e", "refs/heads/" + branch + ":orange-demo/" + id_ + ".md"});
        step(committed ? Finding{"fetch", Verdict::pass, "its commit is in the project's repository, on " + branch}
                       : Finding{"fetch", Verdict::fail, committed.error().message, "inside, run"});
        const auto mark = home_ / "orange-demo-ran";
        std::error_code ignored;
        fs::remove(mark, ignored);  // a wall that shows this folder lets the agent's own git leave it
        const auto status = repository_.git({"-C", life_.last.task.worktree, "status", "--branch", "--porcelain"});
        const auto line = status ? std::string(first_line(*status)) + "..." : status.error().message;
        const bool has_trap = walls_seen().find("\ntrap set\n") != std::string::npos;
        Finding found{"git status", Verdict::pass, "in its folder, your git says its branch"};
        if (fs::exists(mark, ignored)) {
            found = {found.step, Verdict::fail, "in its folder, your git runs a program of the agent's", "run, inside"};
        } else if (!line.starts_with("## " + branch + "...")) {
            found = {found.step, Verdict::fail, "in its folder, your git does not say its branch: " + line, "run"};
        } else if (has_trap) {
            found.detail += ", and runs nothing that the agent has set";
        } else {
            found = {found.step, Verdict::unknown, found.detail + ". The demo agent set nothing that it could run"};
        }
        step(found);
    }

    /// Judges if Orange saw that the agent had begun, and says in which place.
    void judge_place() {
        if (options_.executor.empty()) return;
        if (life_.last.task.fields.executor.empty()) {
            return step("executor", Verdict::pass, "it adds nothing: the agent runs as without an executor");
        }
        if (life_.begun.empty()) return step("executor", Verdict::fail, "the agent did not begin in it", "run");
        step("executor", Verdict::pass, "the agent began in it: " + life_.begun);
    }

    std::string attach_command() const {
        return "  ORANGE_HOME=" + home_.string() + " orange attach " + short_id_ + "\n\n";
    }

    /// Returns false if the time was over before `enough` returned true.
    Result<bool> watch(steady_clock::time_point end, const std::function<bool()>& enough) {
        Result<void> looked;
        const bool done = connection::wait_until(end, k_pause, [&] {
            looked = interrupted() ? Result<void>(Error(ErrorCode::timeout, "interrupted")) : look(false);
            return !looked || enough();
        });
        if (!looked) return looked.error();
        return done;
    }

    Result<void> look(bool changes) {
        rpc::TaskShow show;
        show.id = id_;
        show.changes = changes;
        TRY(life_.last, inner_.call(show));
        for (auto& port : ports_) {
            if (port) port->answer();
        }
        life_.asks.clear();
        life_.limited.clear();
        if (const auto& now = life_.last.task.worker_activity) {
            if (now->activity == Activity::busy) life_.busy.insert(now->source);
            if (now->activity == Activity::idle) life_.idle.insert(now->source);
            if (now->activity == Activity::waiting)
                life_.asks = now->text.empty() ? "(its title says so)" : unframed(now->text);
            if (now->activity == Activity::limited)
                life_.limited = now->text.empty() ? "(no text)" : unframed(now->text);
        }
        for (const auto& event : life_.last.history) {
            const bool has_begun = output::text_of(event, "type") == "agent.begun";
            if (has_begun && output::text_of(event, "role") == "worker") {
                life_.begun = "orange-" + output::text_of(event, "run");
                if (const auto place = output::text_of(event, "place"); !place.empty()) life_.begun += " on " + place;
            }
            life_.called = life_.called || output::text_of(event, "by") == "worker";
        }
        return {};
    }

    /// Returns true if later looks will not show more of the agent's work.
    bool is_enough() {
        const auto now = steady_clock::now();
        const bool stands = !life_.asks.empty() || !life_.limited.empty() || life_.ended() || life_.has_failed();
        if (!stands) stuck_since_ = now;
        const bool is_person_there = !outer_.json && output::is_interactive();
        if (!life_.asks.empty() && is_person_there && !std::exchange(question_said_, true)) {
            output::put_now("The program asks: " + printable(life_.asks) +
                            "\nTo answer it, run in another terminal:\n" + attach_command());
        }
        const auto& status = life_.status();
        if (status == "reviewing" || status == "stuck" || status == "clarification") return true;
        if (!life_.asks.empty()) return !is_person_there && now - stuck_since_ > k_question_stands;
        return stands && now - stuck_since_ > k_limit_stands;
    }

    void judge_start() {
        const auto& notices = life_.last.task.notices;
        const auto failed = std::ranges::find(notices, NoticeKind::start_failed, &Notice::kind);
        if (failed != notices.end()) {
            // The text of an executor's failure ends with the command that runs here.
            const auto& text = failed->text;
            step("start", Verdict::fail, options_.executor.empty() ? text : std::string(first_line(text)),
                 keys("argv, env, wants"));
        } else if (!life_.limited.empty()) {
            step("start", Verdict::fail, "it cannot work: " + life_.limited,
                 "its login and its account: start it once by hand. Else env, wants");
        } else if (!life_.asks.empty()) {
            step("start", Verdict::fail, "it waits for an answer: " + life_.asks,
                 keys(trust_hint_ + "argv, trust. If it asks only once, start it by hand and answer"));
        } else if (life_.ended() && !life_.did()) {
            step("start", Verdict::fail, "it ended before it did anything", keys("argv, env, wants"));
        } else {
            step("start", Verdict::pass, "no question and no login was seen");
        }
    }

    void judge_end_of_work() {
        const auto& status = life_.status();
        const bool late = steady_clock::now() >= until_;
        if (status == "reviewing") return step("hand over", Verdict::pass, "its work reached the reviewer and passed");
        step("hand over", Verdict::fail,
             life_.ended() ? "it ended while its task was " + status
             : late        ? "its task is still " + status + " after " + std::to_string(options_.timeout_seconds) + " s"
                           : "its task is " + status,
             late ? "--timeout of this command, if it was only slow" : "");
    }

    Result<void> try_message() {
        if (oneshot_) {
            step("message", Verdict::unknown, "it gets none, because it ends after each turn");
            return {};
        }
        if (failed_) {
            step("message", Verdict::unknown, "not tried, because an earlier step failed");
            return {};
        }
        if (life_.last.task.worker != "alive") {
            step("message", Verdict::fail, "it ended after its turn, so nothing can be typed",
                 "mode: oneshot, or argv that keeps it running");
            return {};
        }
        TRY(const auto shown, inner_.call(rpc::HarnessShow{options_.name}));
        if (shown.messages == "none") {
            step("message", Verdict::unknown,
                 "its definition has no prompt, so Orange types nothing: you type messages in its window", "prompt");
            return {};
        }
        rpc::TaskSend send;
        send.id = id_;
        send.text = "Thank you. There is nothing more to do.";
        TRY(inner_.call(send));
        const auto state = [this] {
            const auto& messages = life_.last.messages;
            return messages.empty() ? std::string("queued") : messages.back().state;
        };
        TRY(watch(steady_clock::now() + k_for_message, [&] { return state() == "seen"; }));
        if (state() == "seen") {
            step("message", Verdict::pass, "it takes a message that is typed");
        } else if (state() == "typed") {
            step("message", Verdict::unknown,
                 "a message was typed, but its window did not show it. Orange cannot tell whether a message was lost",
                 "screen.busy, prompt");
        } else {
            step("message", Verdict::fail, "its window does not show that it takes a message",
                 "prompt, screen.busy with screen.otherwise, ready_after");
        }
        keep_window();
        // Wait for the end of the turn that the message caused.
        TRY(watch(steady_clock::now() + k_for_idle, [this] { return !life_.idle.empty(); }));
        return {};
    }

    /// Lets the program ask twice for what `reduced` does not permit, allows it once and denies it once.
    Result<void> try_permits() {
        if (!can_ask_ || failed_) return {};
        const auto allowed = home_.parent_path() / "allowed", denied = home_.parent_path() / "denied";
        const auto command = [](const fs::path& file) {
            return "`python3 -c 'open(\"" + file.string() + "\", \"w\")'`";
        };
        const auto no = [this](const char* what, const char* change) {
            step("permits", Verdict::fail, what, change);
            return Result<void>();
        };
        rpc::TaskSend send;
        send.id = id_;
        send.text = "Run these two commands, one after the other, and ask for permission for each if you need it: " +
                    command(allowed) + " and " + command(denied) + ". If you may not, say so, and try nothing else.";
        TRY(inner_.call(send));
        TRY(const auto first, request_for(allowed));
        if (first == 0) return no("it did not ask Orange for what it may not do", "permits, argv.reduced");
        rpc::TaskAllow allow;
        allow.id = id_;
        allow.number = first;
        TRY(inner_.call(allow));
        TRY(const auto second, request_for(denied));
        if (!text_of_file(allowed)) return no("it did not do what was allowed", "permits.allow");
        if (second == 0) return no("it did not ask a second time", "permits");
        rpc::TaskDeny deny;
        deny.id = id_;
        deny.number = second;
        deny.text = "Not this one.";
        TRY(inner_.call(deny));
        TRY(watch(steady_clock::now() + k_for_message, [&] { return has_answered(second); }));
        if (text_of_file(denied)) return no("it did what was denied", "permits.deny");
        step("permits", Verdict::pass, "it asks, and does what is allowed, but not what is denied");
        return {};
    }

    /// Waits for a request that names the file. Returns its number; 0 if there was none in time.
    Result<std::int64_t> request_for(const fs::path& file) {
        std::int64_t number = 0;
        TRY(watch(steady_clock::now() + k_for_message, [&] {
            for (const auto& each : life_.last.permits) {
                if (each.request.find(file.string()) != std::string::npos) number = each.number;
            }
            return number > 0;
        }));
        return number;
    }

    /// True if the program has taken the answer to that request.
    bool has_answered(std::int64_t number) const {
        return std::ranges::any_of(life_.last.history, [&](const Json& event) {
            return output::text_of(event, "type") == "permit.answered" &&
                   event.value("number", std::int64_t(0)) == number;
        });
    }

    /// Judges whether Orange would see the errors that the definition names above the prompt that this version draws.
    Result<void> try_news() {
        if (oneshot_ || !options_.executor.empty() || life_.last.task.worker != "alive") return {};
        static constexpr std::string_view k_keys[] = {"screen.login", "usage_limit.screen", "screen.limited",
                                                      "screen.failed"};
        rpc::HarnessExplain explain;
        explain.id = id_;
        explain.role = "worker";
        Result<rpc::HarnessExplain::Reply> seen = inner_.call(explain);
        connection::wait_until(steady_clock::now() + k_for_idle, k_pause, [&] {
            seen = inner_.call(explain);
            return !seen || seen->reading.activity == Activity::idle || interrupted();
        });
        if (!seen) return seen.error();
        const bool names_any = std::ranges::any_of(
            seen->texts, [](const auto& text) { return std::ranges::find(k_keys, text.key) != std::end(k_keys); });
        if (!names_any) return {};
        if (seen->reading.activity != Activity::idle) {
            step("news", Verdict::unknown, "its window was not seen idle, so no error could be tried in it", "screen");
            return {};
        }
        Json missed = Json::array();
        std::vector<std::string> names;
        for (const auto& each : seen->news) {
            if (each.seen) continue;
            missed.push_back({{"key", each.key}, {"text", each.text}});
            names.push_back(each.key + " \"" + each.text + "\"");
        }
        if (missed.empty()) {
            step("news", Verdict::pass, "Orange would see each error of the definition above its prompt");
        } else {
            step("news", Verdict::fail, "Orange would miss above its prompt: " + join(names, ", "), "prompt, screen");
        }
        return keep_news(std::move(missed));
    }

    /// Judges what Orange has read of the tokens that the program used.
    Result<void> try_usage() {
        if (!options_.executor.empty() || life_.last.task.worker != "alive") return {};
        rpc::HarnessExplain explain;
        explain.id = id_;
        explain.role = "worker";
        Result<rpc::HarnessExplain::Reply> seen = inner_.call(explain);
        connection::wait_until(steady_clock::now() + k_for_idle, k_pause, [&] {
            seen = inner_.call(explain);
            return !seen || !seen->usage || seen->usage->is_told || interrupted();
        });
        if (!seen) return seen.error();
        if (!seen->usage) {
            step("usage", Verdict::unknown,
                 "its definition does not say where the program writes how many tokens it uses, so no budget counts "
                 "them",
                 "usage");
        } else if (!seen->usage->is_told) {
            const auto& files = seen->usage->files;
            step("usage", Verdict::fail,
                 files.empty() ? "no file that its definition names is there, so its tokens are not known"
                               : "there is no record of a request in " + files.front().path,
                 files.empty() ? "usage.file" : "usage: each, id, input, output");
        } else {
            std::string from;
            for (const auto& file : seen->usage->files) from += (from.empty() ? "" : ", ") + file.path;
            step("usage", Verdict::pass, output::usage_reading_text(*seen->usage) + ", from " + from);
        }
        return {};
    }

    /// Writes the result into harness-tests.json of the user's home, which doctor reads.
    Result<void> keep_news(Json missed) const {
        const auto file = outer_.paths.home / "harness-tests.json";
        auto all = Json::parse(text_of_file(file).value_or(""), nullptr, false);
        if (!all.is_object() || !all["harnesses"].is_object()) all = {{"schema", 1}, {"harnesses", Json::object()}};
        all["harnesses"][options_.name] = {{"identity", program_.identity.value_or("")},
                                           {"version", program_.version.value_or("")},
                                           {"at", to_rfc3339(SystemClock().now())},
                                           {"missed", std::move(missed)}};
        return replace_file(file, all.dump(2) + "\n");
    }

    Result<void> end_task() {
        rpc::TaskCancel cancel;
        cancel.id = id_;
        ends_ = true;
        TRY(inner_.call(cancel));
        std::optional<std::vector<pid_t>> left;
        connection::wait_until(steady_clock::now() + k_for_end, k_pause, [&] {
            left = agents_in(home_);
            return !left || left->empty() || interrupted();
        });
        if (interrupted()) return {ErrorCode::timeout, "interrupted"};
        if (!left) {
            step("end", Verdict::unknown, "this system does not show the processes of an agent");
        } else if (left->empty()) {
            step("end", Verdict::pass, "it ends, and leaves no process behind");
        } else {
            step("end", Verdict::fail, std::to_string(left->size()) + " of its processes still run after its end",
                 keys("argv: options that start background servers"));
        }
        return {};
    }

    /// Saves the text of the agent's window, from which a human can find out why a step failed.
    void keep_window() {
        rpc::TaskPeek peek;
        rpc::TaskLog log;
        peek.id = log.id = id_;
        peek.role = log.role = "worker";
        std::string text;
        if (life_.last.task.worker == "alive") {
            if (const auto shown = inner_.call(peek)) text = shown->text;
        } else if (const auto shown = inner_.call(log)) {
            text = shown->text;
        }
        if (!text.empty()) window_ = end_of_window(printable(text, true));
    }

    void say_kept() const {
        if (outer_.json) return;
        const auto folder = home_.parent_path().string(), home = "ORANGE_HOME=" + home_.string();
        const auto look = "\nTo look at it:\n  " + home + " orange task log " + short_id_;
        output::put("\nKept: " + folder + (id_.empty() ? "" : look) + "\nTo remove it:\n  " + home +
                    " orange daemon stop\n  tmux -S " + inner_.paths.tmux_socket().string() + " kill-server\n  rm -r " +
                    folder + "\n");
    }

    Context& outer_;
    HarnessTest options_;
    ScratchRepository repository_;
    fs::path home_;
    Context inner_;
    steady_clock::time_point until_, stuck_since_;
    Json steps_ = Json::array();
    Life life_;
    std::string id_, short_id_, window_;
    rpc::HarnessView program_;
    std::string trust_hint_;
    std::vector<std::string> separates_, limits_;   ///< of the executor
    std::string no_list_;                           ///< why its network cannot be limited to a list; empty: it can be
    std::array<std::optional<Listener>, 3> ports_;  ///< as ReachedPorts; nothing if its network cannot be limited
    bool is_walled_ = false;                        ///< its agents have a git repository of their own
    bool runs_checks_outside_ = false;
    bool can_ask_ = false;  ///< its program asks for what it may not do, and Orange answers
    bool failed_ = false, tried_ = true, oneshot_ = false, question_said_ = false;
    bool ends_ = false;  ///< its task has been cancelled
};

Result<void> agree(Context& context, const HarnessTest& options) {
    TRY(context.call(rpc::HarnessShow{options.name}));
    if (!options.executor.empty()) {
        rpc::ExecutorShow executor;
        executor.name = options.executor;
        TRY(context.call(executor));
    }
    if (options.yes || options.name == "demo") return {};
    const auto permissions = options.permissions.empty() ? "full" : options.permissions;
    const std::string what =
        "This starts " + options.name + " with " + permissions + " permissions in a scratch repository" +
        (options.trust ? ", with trust in that repository" : "") + ". It calls its model, which may cost money.";
    if (context.json || !output::is_interactive()) {
        return {ErrorCode::needs_force, what + " To agree:\n  orange harness test " + options.name + " --yes"};
    }
    output::put_now(output::wrapped(what, "", context.style.width));
    if (output::confirmed("Start it?")) return {};
    return {ErrorCode::needs_force, "nothing was started"};
}

void say_result(const Context& context, const HarnessTest& options, const Trial& trial) {
    const bool of_executor = !options.executor.empty();
    const auto own = of_executor ? context.paths.executors() / (options.executor + ".yml")
                                 : context.paths.harnesses() / (options.name + ".yml");
    const auto& tried = of_executor ? options.executor : options.name;
    std::error_code ignored;
    const bool is_own = fs::exists(own, ignored);
    if (!trial.failed()) {
        const auto remove = " Remove the line \"tried: false\" from " + own.string() + ".";
        output::put("\nNothing failed." + (is_own && !trial.tried() ? remove : "") + " To use it:\n  orange run --" +
                    (of_executor ? "executor " : "harness ") + tried + " \"...\"\n");
        return;
    }
    const auto report = trial.report();
    if (const auto window = report.find("window"); window != report.end()) {
        output::put("\nThe end of its window:\n" +
                    output::wrapped(window->get_ref<const std::string&>(), "  ", context.style.width));
    }
    output::put("\nIf you have to change the definition, " +
                (is_own        ? "edit this file and run the test again:\n  " + own.string()
                 : of_executor ? "copy it to this file, edit it and run the test again:\n  " + own.string()
                               : "make a copy, edit it and run the test again:\n  orange harness new " + options.name +
                                     " --from " + options.name) +
                "\n");
}

}  // namespace

Status harness_test(Context& context, const HarnessTest& options) {
    TRY(agree(context, options));
    catch_interrupts();
    TRY(auto repository, ScratchRepository::make());
    Trial trial(context, options, std::move(repository));
    const auto done = trial.run();
    if (!done) {
        fail(context, done.error());
    } else if (context.json) {
        put_json(trial.report());
    } else {
        say_result(context, options, trial);
    }
    output::put_now("");
    trial.clean_up();
    return done && !trial.failed() ? 0 : 1;
}

}  // namespace orange::commands
