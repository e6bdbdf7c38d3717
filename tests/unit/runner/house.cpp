#include "tests/unit/runner/house.hpp"

#include <fstream>

#include "common/model/json.hpp"
#include "daemon/forge/github_forge.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange::test {
namespace fs = std::filesystem;

struct House::Parts {
    Parts(Outside& outside, asio::io_context& io, const fs::path& home, Environment git_environment)
        : disk({Paths{home}.tasks(), Paths{home}.workspaces()}),
          files(disk, outside.fuse),
          processes(outside.programs, outside.children),
          git(processes, git_environment, {}, Paths{home}.workspaces().string()),
          task_locks(io.get_executor()),
          repositories(io.get_executor()),
          tasks(files, Paths{home}.tasks()),
          task_files(files, outside.clock, std::chrono::milliseconds(10)),
          projects(files, Paths{home}.projects()),
          pool(files, git, processes, repositories, Paths{home}.workspaces(), home.string() + "@test"),
          workflows(files, fs::path(ORANGE_SOURCE_DIR) / "workflows", Paths{home}.workflows()),
          harnesses(fs::path(ORANGE_SOURCE_DIR) / "harnesses", Paths{home}.harnesses(),
                    agents::ProgramSearch(std::vector<agents::SearchPath>{{"/bin/sh -l", tests::tools(), {}}})),
          executors(files, fs::path(ORANGE_SOURCE_DIR) / "executors", Paths{home}.executors()),
          tmux(outside.tmux, outside.tmux_faults),
          launcher(files, tmux, outside.exits, outside.clock, "/opt/orange/bin/orange-agent",
                   [&outside](std::int64_t pid) { return outside.processes.argv_of(pid); }),
          journal(tasks, outside.clock),
          forge(processes, git_environment),
          world{io.get_executor(),
                Paths{home},
                Installation{"/opt/orange/bin", ORANGE_SOURCE_DIR},
                outside.settings,
                git_environment,
                files,
                processes,
                outside.exits,
                outside.clock,
                tmux,
                git,
                forge,
                tasks,
                task_files,
                projects,
                pool,
                workflows,
                harnesses,
                executors,
                launcher,
                journal,
                task_locks,
                repositories},
          runner(world) {}

    PosixFileSystem disk;
    fakes::MortalFileSystem files;
    fakes::FaultyProcessRunner processes;
    CliGit git;
    async::KeyedMutex task_locks;
    async::KeyedMutex repositories;
    store::TaskStore tasks;
    store::TaskFiles task_files;
    store::ProjectStore projects;
    Pool pool;
    workflow::Library workflows;
    agents::HarnessLibrary harnesses;
    agents::ExecutorLibrary executors;
    fakes::FaultyTmux tmux;
    agents::Launcher launcher;
    Journal journal;
    GitHubForge forge;
    World world;
    Runner runner;
};

House::House(Outside& outside, fs::path home, Environment git_environment)
    : parts_(std::make_unique<Parts>(outside, io, home, std::move(git_environment))) {
    for (const auto& loaded : {parts_->projects.load(), parts_->pool.load(), parts_->tasks.load()}) {
        if (!loaded) throw std::runtime_error(loaded.error().message);
    }
    if (!outside.unreadable && !parts_->tasks.unreadable().empty())
        throw std::runtime_error(parts_->tasks.unreadable().front().why);
}

House::~House() = default;

Runner& House::runner() {
    return parts_->runner;
}
World& House::world() {
    return parts_->world;
}
AgentControl& House::control() {
    return parts_->runner.agents;
}

namespace {

Awaitable<bool> ended(Awaitable<void> coroutine) {
    co_await std::move(coroutine);
    co_return true;
}

Caller caller_of(const store::TaskStore& tasks, const TaskId& id, Role role) {
    Caller caller;
    const auto record = tasks.read(id).value_or(nullptr);
    if (const auto* run = record ? record->run_of(role) : nullptr) caller.run = run->run;
    caller.role = role;
    caller.evidence = "test";
    if (role == Role::worker || role == Role::reviewer) caller.task = id;
    return caller;
}

void copy_tree(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

}  // namespace

void now_a_copy(const fs::path& home) {
    const auto file = home / "workspaces/.pool.json";
    if (!fs::exists(file)) return;
    auto pool = parse_json(read_file(file));
    if (!pool) return;
    pool->erase("root");
    write_file(file, pool->dump());
}

void House::go(Awaitable<void> coroutine) {
    run(io, ended(std::move(coroutine)));
}

RunnerWorld::RunnerWorld() : live_(git.dir / "live"), golden_(git.dir / "golden") {
    // A killed daemon's other coroutines are killed with it.
    async::set_escalation([](const std::string&, const std::string&) {});
    outside.tmux.before = [this] { outside.fuse.step(); };
    git.make_repo("live/repo");
    write_file(live_ / "home/harnesses/bot.yml",
               "name: bot\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nscreen: {composer_empty: [❯]}\n");
    outside.tmux.first_screen = "❯\n";
    fs::permissions(live_ / "home", fs::perms::owner_all);
}

House& RunnerWorld::boot() {
    house_.reset();
    auto environment = git.environment();
    environment["PATH"] = programs().string() + ":" + environment["PATH"];
    house_ = std::make_unique<House>(outside, live_ / "home", std::move(environment));
    house_->world().pool.adopt_claims(claims_of(house_->world().tasks));
    return *house_;
}

void RunnerWorld::keep() {
    house_.reset();
    copy_tree(live_, golden_);
    kept_processes_ = outside.processes;
    kept_tmux_ = outside.tmux.state;
    boot();
}

void RunnerWorld::back() {
    house_.reset();
    outside.fuse.disarm();
    outside.children.disarm();
    outside.tmux_faults.disarm();
    copy_tree(golden_, live_);
    now_a_copy(live_ / "home");
    outside.processes = kept_processes_;
    outside.tmux.state = kept_tmux_;
    boot();
}

void RunnerWorld::recover() {
    auto& world = house().world();
    house().go(house().runner().reconciler.wake_all());
    const auto active = world.tasks.active();
    for (const auto& id : active) house().go(house().runner().recovery.resume(id));
    for (const auto& id : active) {
        const auto runs = record(id).runs;
        for (const auto& run : runs) house().go(house().runner().exits.agent_exited(id, run.run));
    }
    house().go(house().runner().queue.look("shop"));
}

TaskRecord RunnerWorld::draft(const std::string& summary, int pool_size) {
    if (!house_) boot();
    auto& world = house().world();
    if (!world.projects.find("shop")) {
        Project project;
        project.name = "shop";
        project.path = repo();
        project.default_branch = "main";
        project.pool_size = pool_size;
        if (pool_size > 2) project.settings.worker_limit = project.settings.reviewer_limit = 0;
        world.projects.put(project).value();
    }
    TaskRecord record;
    record.task.id = TaskId{random_id(k_task_id_length)};
    record.task.project = "shop";
    record.task.branch = "orange-tasks/" + record.task.id.value;
    record.task.harness = record.task.review_harness = "bot";
    record.task.status = "pending";
    record.task.summary = summary;
    record.task.created_at = record.task.updated_at = outside.clock.now();
    return record;
}

Result<Outcome> RunnerWorld::create(TaskRecord record, std::string context, bool no_spawn) {
    const auto by = caller_of(house().world().tasks, record.task.id, Role::human);
    return house().go(house().runner().creation.create(std::move(record), std::move(context), no_spawn, by));
}

TaskId RunnerWorld::make_task(const std::string& summary, int pool_size, const std::string& workflow,
                              const std::string& status) {
    auto record = draft(summary, pool_size);
    record.task.workflow = workflow;
    record.task.status = status;
    create(record, "", true).value();
    return record.task.id;
}

Result<Outcome> RunnerWorld::move(const TaskId& id, const std::string& to, Role by) {
    engine::Request request;
    request.to = to;
    request.by = by;
    return house().go(house().runner().requests.move(id, request, caller_of(house().world().tasks, id, by), Edit{}));
}

void RunnerWorld::append_body(const TaskId& id, const std::string& text) {
    const auto& now = record(id);
    const auto file = now.task.workspace ? house().world().pool.path_of(*now.task.workspace) / now.task_file
                                         : house().world().tasks.folder(now) / "TASK.md";
    std::ofstream(file, std::ios::app) << text;
}

void RunnerWorld::kill_agent(const TaskId& id, Role role, int exit_status) {
    const auto run = *record(id).run_of(role);
    write_file(agents::Launcher::exit_file(house().control().run_folder(record(id)), run.run),
               "{\"run\": \"" + run.run.value + "\", \"exit_status\": " + std::to_string(exit_status) + "}\n");
    outside.processes.alive.erase(run.pid);
}

const TaskRecord& RunnerWorld::record(const TaskId& id) {
    constexpr std::size_t k_kept = 1000;
    records_.push_back(house().world().tasks.read(id).value());
    if (records_.size() > k_kept) records_.pop_front();
    return *records_.back();
}

std::vector<HistoryEvent> RunnerWorld::events(const TaskId& id, const std::string& type) {
    auto all = house().world().tasks.history(id).value();
    std::erase_if(all, [&](const HistoryEvent& event) { return event.type != type; });
    return all;
}

std::string RunnerWorld::state_text(const TaskId& id) {
    return read_file(house().world().tasks.folder(record(id)) / "state.json");
}

std::string RunnerWorld::history_text(const TaskId& id) {
    return read_file(house().world().tasks.folder(record(id)) / "history.jsonl");
}

std::string RunnerWorld::task_text(const TaskId& id) {
    return read_file(house().world().tasks.folder(record(id)) / "TASK.md");
}

namespace {

Awaitable<bool> deliver_all(Runner& runner, TaskId id, Tries& tries) {
    auto turn = co_await runner.turns.begin_turn(id);
    if (!turn) co_return true;
    while (!turn->record.outbox.empty()) {
        const auto held = co_await runner.outbox.deliver_next(turn->record, tries);
        if (!held || *held) {
            ++tries.count;
            if (held && !(*held)->counts) tries = {};
            co_return false;
        }
        tries = {};
    }
    co_return true;
}

Awaitable<bool> acknowledge_all(Runner& runner, TaskId id) {
    auto turn = co_await runner.turns.begin_turn(id);
    if (!turn) co_return true;
    const auto held = co_await runner.outbox.acknowledge(turn->record);
    co_return held && !(*held)->left;
}

}  // namespace

void go_on_duty(RunnerWorld& world) {
    const auto never = [](std::chrono::milliseconds, const std::function<void()>&) { return async::Stopper(); };
    world.house().runner().reconciler.start(never);
    world.house().go(world.house().runner().reconciler.wake_all());
}

bool deliver(RunnerWorld& world, const TaskId& id) {
    return world.house().go(deliver_all(world.house().runner(), id, world.tries[id]));
}

bool acknowledge_typed(RunnerWorld& world, const TaskId& id) {
    return world.house().go(acknowledge_all(world.house().runner(), id));
}

TaskId planning(RunnerWorld& world, const std::string& summary, int pool_size) {
    const auto id = world.make_task(summary, pool_size);
    world.move(id, "planning").value();
    return id;
}

std::string attention(RunnerWorld& world, const TaskId& id) {
    const auto record = world.record(id);
    if (record.notices.empty()) return "none";
    const auto& notice = record.notices.front();
    return notice.text + "\n" +
           (notice.command.empty() ? needs_of(world.house().runner(), record).command.text() : notice.command);
}

}  // namespace orange::test
