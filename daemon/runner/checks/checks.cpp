#include "daemon/runner/checks/checks.hpp"

#include <algorithm>

#include "common/base/in_set.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/worktree_status.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_kept_output = 256 << 10;  ///< bytes of output of one command
constexpr std::size_t k_log_size = 1 << 20;
constexpr std::chrono::milliseconds k_setup_deadline = std::chrono::minutes(10);  ///< the minimum

/// Keeps the newest part that fits, from the beginning of a line.
std::string bounded(std::string text) {
    if (text.size() <= k_log_size) return text;
    const auto line = text.find('\n', text.size() - k_log_size / 2);
    return line == std::string::npos ? text.substr(text.size() - k_log_size / 2) : text.substr(line + 1);
}

/// `merge` is the command that waited for the checks, if one did.
Error has_changed(const TaskId& id, bool asked_by_agent, const std::string& merge) {
    const auto again = merge.empty() ? "Run them again:\n  orange task check " + id.value : "Try again:\n  " + merge;
    return {ErrorCode::conflict,
            "task " + id.value + " has changed while its checks ran. " +
                (asked_by_agent ? "Ask for the status again:\n  orange task update --status STATUS" : again)};
}

Error was_edited(const std::vector<std::string>& files) {
    return {ErrorCode::conflict,
            "the worktree was changed while the checks ran, so that nothing is known of its commit: " +
                printable(join(files, ", ")) + ". Commit or remove these files; git must ignore what the checks make"};
}

Error were_stopped(const TaskId& id) {
    return {ErrorCode::conflict, "the checks of task " + id.value + " were stopped"};
}

std::int64_t seconds_since(async::Moment begun) {
    return std::chrono::round<std::chrono::seconds>(async::now() - begun).count();
}

}  // namespace

/// The checks that are to be run, with the state of the task when that was decided.
struct Checks::Job {
    TaskRecord record;
    Project project;
    std::string commit;
    engine::Argvs checks;
    MergeResult result;
    std::string merge;
    bool for_merge = false;
    bool has_place = false;
    bool beside_agent = false;
    std::chrono::milliseconds time_limit{};
    std::map<std::string, std::string> env;
    std::string place;
    std::shared_ptr<const UniqueFd> folder;    ///< `place`, opened
    bool in_worktree = false;                  ///< false: in the checks' own place
    std::vector<std::string> inside;           ///< the wall around the commands, with {inner}; empty: none
    std::optional<walls::WalledWorktree> own;  ///< what the wall shows in the checks' own place
    Path log;

    const TaskId& id() const { return record.task.id; }
    /// Identifies what is tested, and so tells this run from one of the same commands on something else.
    const std::string& tested() const { return result.commit.empty() ? commit : result.tree; }
    /// Adds the tested commits to the fields of an event.
    std::map<std::string, Scalar> told(std::map<std::string, Scalar> fields) const {
        fields["commit"] = commit;
        if (!result.merged_with.empty()) fields["merged_with"] = result.merged_with;
        return fields;
    }
};

/// Registers the running checks as long as it lives, and wakes those that wait for their result at the end.
class Checks::AtWork {
  public:
    AtWork(std::shared_ptr<AllRunning> all, TaskId id, std::shared_ptr<Running> running)
        : all_(std::move(all)), id_(std::move(id)) {
        (*all_)[id_] = std::move(running);
    }
    ~AtWork() {
        const auto running = all_->extract(id_).mapped();
        for (const auto& waiting : running->waiting) waiting->notify();
    }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

  private:
    std::shared_ptr<AllRunning> all_;
    TaskId id_;
};

std::string Checks::mark() const {
    const auto& own = world_.pool.mark();
    return own.substr(0, own.rfind('@') + 1) + "checks";
}

bool Checks::have_passed(const TaskRecord& record, const std::string& hash, const std::string& tree) {
    const auto& last = record.merge_checked;
    return last && last->passed && last->checks == hash && last->tree == tree;
}

std::string Checks::missing(const TaskRecord& record, const Project& project, const std::string& commit) const {
    const auto settings = settings_of(world_, project);
    if (settings.checks->empty()) return {};
    const bool by_result = *settings.merge_checks == "result";
    const CheckRecord* last = nullptr;
    for (const auto* each : {&record.checked, &record.merge_checked}) {
        if (!*each || (*each)->commit != commit || !engine::is_hash_of((*each)->checks, *settings.checks)) continue;
        if ((*each)->tree.empty() != by_result && (!last || (*each)->at > last->at)) last = &**each;
    }
    if (!last) return "the checks were not run";
    return last->passed ? std::string() : "the check `" + last->failed + "` failed";
}

Awaitable<Result<CheckReport>> Checks::run(TaskId id, CheckOrder order) {
    CO_TRY(const auto job, co_await prepare(id, std::move(order)));
    const std::string all;
    auto beginning = co_await beginning_.acquire(all);
    while (true) {
        const auto found = running_->find(id);
        if (found == running_->end()) break;
        const auto other = found->second;
        const bool same = other->tested == job.tested() && other->checks == engine::hash_of(job.checks);
        // An agent may have asked for checks and then committed again: their result is of no use any more.
        const bool stale = other->beside_agent && other->commit != job.commit;
        if (!same && !stale && !job.beside_agent) {
            co_return Error(ErrorCode::conflict, "other checks of task " + id.value + " are already running" +
                                                     (other->command.empty() ? "" : ": " + other->command) +
                                                     ". Wait for them:\n  orange task show " + id.value);
        }
        if (stale) other->stop->request();
        beginning.release();
        auto result = co_await result_of(other);
        if (same) co_return result;
        beginning = co_await beginning_.acquire(all);
    }
    if (ended_) co_return Error(ErrorCode::conflict, "the daemon ends");
    if (!is_as_prepared(job)) co_return has_changed(id, job.beside_agent, job.merge);
    const auto running = std::make_shared<Running>();
    running->commit = job.commit;
    running->tested = job.tested();
    running->checks = engine::hash_of(job.checks);
    running->beside_agent = job.beside_agent;
    const AtWork at_work(running_, id, running);
    beginning.release();
    running->result = co_await run_and_remember(job, *running);
    co_return *running->result;
}

/// The task may have been cancelled since prepare(), and its worktree may belong to another task.
bool Checks::is_as_prepared(const Job& job) const {
    const auto record = turns_.record_of(job.id());
    return record && record->task.status == job.record.task.status &&
           record->task.workspace == job.record.task.workspace;
}

Awaitable<Result<CheckReport>> Checks::result_of(std::shared_ptr<Running> running) {
    const auto ended = std::make_shared<async::Wakeup>(world_.executor);
    running->waiting.push_back(ended);
    co_await ended->wait();
    if (!running->result) co_return Error(ErrorCode::conflict, "the checks were stopped");
    co_return *running->result;
}

Awaitable<Result<CheckReport>> Checks::run_and_remember(Job job, Running& running) {
    async::Mutex::Lock place;
    if (!job.in_worktree && !job.has_place) {
        place = co_await take_place(job.id(), job.project.name);
        if (!is_as_prepared(job)) co_return has_changed(job.id(), job.beside_agent, job.merge);
    }
    auto report = co_await run_all(job, running);
    if (job.own) {  // what files of an agent left there runs outside of its wall for no other task
        const auto removed = co_await world_.pool.remove_checks_place(job.project);
        Result<void> gone;
        if (removed) gone = co_await walls::remove(world_, std::move(*job.own));
        if (!removed || !gone) {
            const auto& why = removed ? gone.error() : removed.error();
            log::warn("runner", why.message, {{"task", job.id().value}});
        }
    }
    if (!report) co_return report;
    CO_TRY(co_await remember(job, *report));
    co_return report;
}

Awaitable<async::Mutex::Lock> Checks::take_place(TaskId id, std::string project) {
    const auto waiting = waiting_;  // a cancelled coroutine may outlive its owner
    const InSet<TaskId> waits(*waiting, std::move(id));
    co_return co_await world_.pool.take_checks_place(std::move(project));
}

Awaitable<Result<void>> Checks::pass(TaskId id, CheckOrder order) {
    const auto merge = order.merge;
    CO_TRY(const auto report, co_await run(id, std::move(order)));
    if (report.passed()) co_return Result<void>{};
    CO_TRY(const auto record, turns_.record_of(id));
    co_return refusal(record, report, merge);
}

Awaitable<Result<Checks::Job>> Checks::prepare(TaskId id, CheckOrder order) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    Job job;
    job.record = turn.record;
    job.result = std::move(order.result);
    job.merge = std::move(order.merge);
    job.for_merge = order.for_merge;
    job.has_place = order.has_place;
    job.beside_agent = order.beside_agent;
    const auto& task = job.record.task;
    if (store::has_ended(job.record)) {
        co_return Error(ErrorCode::conflict, "task " + id.value + " is " + task.status + "; there is nothing to check");
    }
    CO_TRY(job.project, registered_project(world_, task.project));
    const auto settings = settings_of(world_, job.project);
    job.checks = order.checks.empty() ? *settings.checks : std::move(order.checks);
    if (job.checks.empty()) {
        co_return Error(ErrorCode::conflict, "project " + task.project +
                                                 " has no checks. Add one, for example:\n  orange project update " +
                                                 task.project + " --check 'make test'");
    }
    job.time_limit = std::chrono::seconds(*settings.checks_timeout);
    job.commit = std::move(order.commit);
    if (job.commit.empty()) {
        CO_TRY(job.commit, co_await git::branch_tip(world_.git, job.project.path, task.branch));
    }
    job.env = runner_.agents.environment(job.record, {}, Role::system, RunId{});
    job.env[process::k_daemon_variable] = mark();
    job.log = world_.tasks.folder(job.record) / "logs" / "checks.log";
    const auto record = job.record;
    if (job.result.commit.empty()) job.in_worktree = co_await is_in_worktree(record, job);
    if (!job.in_worktree) {
        job.place = world_.pool.checks_place(job.project.name).string();
        job.env["PWD"] = job.env["ORANGE_WORKSPACE"] = job.place;
    }
    co_return job;
}

/// In a clean worktree at the commit, the tested files are those that are merged. An agent must not change them
/// meanwhile.
Awaitable<bool> Checks::is_in_worktree(TaskRecord record, Job& job) {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    const bool is_an_agents = state && state->agent && runner_.agents.alive(record, *state->agent);
    if (!record.task.workspace || !state || (is_an_agents && !job.beside_agent)) co_return false;
    const auto worktree = co_await open_worktree(world_, record);
    if (!worktree) co_return false;
    const auto standing = co_await git::worktree_status(world_.git, *worktree);
    if (!standing || !standing->known || !standing->clean || standing->head != job.commit) co_return false;
    job.place = worktree->path();
    job.folder = worktree->folder();
    const auto place = walls::place_of(world_, record.task, *worktree);
    if (place && place->executor.has_commands_inside()) {
        if (!walls::check_network(world_, *place)) co_return false;  // as that of the checks' own place says
        if (const auto made = co_await walls::make_ready(world_, *place, *worktree); !made) co_return false;
        job.inside = walls::inside(world_, *place, true);
    }
    co_return true;
}

/// Prepares the checks' own place like a workspace, and returns the setup command that has to run first.
Awaitable<Result<std::vector<std::string>>> Checks::make_ready(Job& job, std::shared_ptr<Stop> stop) {
    auto commit = job.result.commit.empty() ? job.commit : job.result.commit;
    CO_TRY(walls::check(world_, job.record.task));
    const auto own = walls::repository_of(world_, walls::key_of_checks(job.project.name));
    const bool is_unclean = is_folder(world_.files, own);  // a killed daemon's
    if (is_unclean) CO_TRY(co_await world_.pool.remove_checks_place(job.project));
    std::vector<std::string> missed;
    CO_TRY(const auto worktree, co_await world_.pool.open_checks_place(job.project, std::move(commit), missed, stop));
    job.folder = worktree.folder();
    if (!missed.empty())
        write_log(job, "git submodule update --init", {1, "the checks run without them", join(missed, "\n")});
    auto place = walls::place_of_checks(world_, job.record.task, worktree);
    if (place && place->executor.has_commands_inside()) {
        CO_TRY(walls::check_network(world_, *place));
        CO_TRY(co_await walls::remove(world_, *place));
        CO_TRY(co_await walls::make_ready(world_, *place, worktree));
        job.inside = walls::inside(world_, *place, true);
        job.own = std::move(place);
    }
    auto notes = co_await world_.pool.include(job.project, worktree, true, stop);
    notes.insert(notes.begin(), missed.begin(), missed.end());
    auto setup =
        job.project.setup.empty() ? Pool::consented(job.project, worktree, ".orange/setup", notes) : job.project.setup;
    for (const auto& note : notes) log::warn("runner", note, {{"task", job.id().value}});
    co_return setup;
}

/// Runs one command, and ends the processes that it left behind.
Awaitable<Result<Completed>> Checks::run_one(const Job& job, std::vector<std::string> argv,
                                             std::chrono::milliseconds deadline, Running& running) {
    Command command;
    command.argv = job.inside.empty() ? std::move(argv) : walls::around(job.inside, argv);
    command.cwd = job.place;
    command.folder = job.folder;
    command.env = job.env;
    command.deadline = deadline;
    command.output_limit = k_kept_output;
    command.as_log = true;
    command.stop = running.stop;
    auto done = co_await world_.processes.run(std::move(command));
    co_await agents::end_left_by_daemons(job.place, world_.pool.mark());
    co_return done;
}

Awaitable<Result<CheckReport>> Checks::run_all(Job& job, Running& running) {
    CheckReport report{job.commit};
    report.log = job.log;
    report.merged_with = job.result.merged_with;
    if (!job.in_worktree) report.place = job.place;
    const auto began = async::now();
    auto commands = job.checks;
    if (job.in_worktree) {
        co_await agents::end_left_by_daemons(job.place, world_.pool.mark());
    } else if (running.stop->requested()) {  // the checks were stopped while others used the place
        co_return were_stopped(job.id());
    } else {
        running.command = "git -C " + shell_word(job.place) + " checkout " + job.commit.substr(0, 12);
        CO_TRY(auto setup, co_await make_ready(job, running.stop));
        if (!setup.empty()) commands.insert(commands.begin(), std::move(setup));
    }
    const auto first = commands.size() - job.checks.size();
    for (std::size_t i = 0; i < commands.size() && report.passed(); ++i) {
        running.command = checked::spoken(commands[i]);
        publish(job, "checks.started", job.told({{"command", running.command}}));
        const auto begun = async::now();
        const auto deadline = i < first ? std::max(k_setup_deadline, job.time_limit) : job.time_limit;
        auto done = co_await run_one(job, commands[i], deadline, running);
        if (running.stop->requested()) {
            co_return were_stopped(job.id());
        }
        CO_TRY(const auto end, checked::end_of(std::move(done), deadline));
        publish(job, "checks.ended",
                {{"command", running.command}, {"exit_status", end.status}, {"seconds", seconds_since(begun)}});
        write_log(job, running.command, end);
        report.tail = checked::last_lines(end.output);
        if (end.status == 0) continue;
        report.failed = running.command;
        report.exit_status = static_cast<int>(end.status);
        report.why = end.why;
        if (i < first) co_return checked::setup_failed(report);
    }
    report.seconds = seconds_since(began);
    co_return report;
}

void Checks::write_log(const Job& job, const std::string& command, const checked::CommandEnd& end) {
    std::string text;
    if (auto before = world_.files.read_before(job.log, std::nullopt, k_log_size)) text = std::move(before->bytes);
    text += to_rfc3339(world_.clock.now()) + " " + job.commit.substr(0, 12) +
            (job.result.merged_with.empty() ? "" : " merged with " + job.result.merged_with) + " $ " + command + "\n" +
            end.output;
    if (!end.output.empty() && !end.output.ends_with('\n')) text += '\n';
    text += "[" + end.why + "]\n";
    const auto written = world_.files.replace(job.log, bounded(std::move(text)), Durability::atomic);
    if (!written) log::warn("runner", written.error().message, {{"task", job.id().value}});
}

/// Publishes an event to subscribers only; the history gets the result.
void Checks::publish(const Job& job, const char* type, std::map<std::string, Scalar> fields) {
    HistoryEvent event;
    event.type = type;
    event.fields = std::move(fields);
    world_.journal.publish(job.id(), job.project.name, std::move(event));
}

Awaitable<Result<void>> Checks::remember(const Job& job, const CheckReport& report) {
    CO_TRY(auto turn, co_await turns_.begin_turn(job.id()));
    auto& record = turn.record;
    bool same = !store::has_ended(record);
    if (same && job.in_worktree) {
        const auto worktree = co_await open_worktree(world_, record);
        Result<git::WorktreeStatus> standing = git::WorktreeStatus();
        if (worktree) standing = co_await git::worktree_status(world_.git, *worktree);
        same = worktree && record.task.status == job.record.task.status && standing && standing->head == job.commit;
        // Files have changed while the checks ran: the tested files may differ from the commit.
        if (same && job.beside_agent && !standing->clean) co_return was_edited(standing->uncommitted);
    }
    if (!same) co_return has_changed(job.id(), job.beside_agent, job.merge);
    auto& last = job.for_merge ? record.merge_checked : record.checked;
    last = checked::record_of(report, engine::hash_of(job.checks), world_.clock.now());
    last->tree = job.result.tree;
    auto fields = job.told({{"seconds", report.seconds}});
    if (report.passed()) {
        (void)clear(record, NoticeKind::checks_failed);
    } else {
        fields["command"] = report.failed;
        fields["exit_status"] = std::int64_t{report.exit_status};
        if (!job.merge.empty()) {
            const auto refused = refusal(record, report, job.merge);
            raise(world_, record, NoticeKind::checks_failed,
                  "the check `" + report.failed + "` " + report.why + "\n" + report.log.string(),
                  refused.details.at("command"));
        }
    }
    CO_TRY(turns_.try_save(record));
    world_.journal.write(record, report.passed() ? "checks.passed" : "checks.failed", std::move(fields));
    co_return Result<void>{};
}

Error Checks::refusal(const TaskRecord& record, const CheckReport& report, const std::string& merge) const {
    const auto definition = turns_.definition_of(record.task);
    return checked::refusal(record.task.id, report, merge,
                            definition && engine::rejection_target(**definition, record.task));
}

void Checks::stop(const TaskId& id) {
    const auto found = running_->find(id);
    if (found == running_->end()) return;
    const auto running = found->second;
    running->stop->request();
}

void Checks::stop_all() {
    ended_ = true;
    const auto all = *running_;
    for (const auto& [id, running] : all) running->stop->request();
}

std::string Checks::running_for(const TaskId& id) const {
    const auto found = running_->find(id);
    return found == running_->end() ? std::string() : found->second->command;
}

std::string Checks::under_way(const TaskId& id) const {
    if (waiting_->contains(id)) return "its checks wait until those of another task have ended";
    const auto found = running_->find(id);
    if (found == running_->end()) return runner_.trains.under_way(id);
    return "its checks run" + (found->second->command.empty() ? "" : ": " + found->second->command);
}

Awaitable<void> Checks::end_left() {
    const std::string all;
    const auto beginning = co_await beginning_.acquire(all);
    if (running_->empty()) co_await agents::end_left_by_daemons(world_.paths.workspaces(), world_.pool.mark());
}

}  // namespace orange
