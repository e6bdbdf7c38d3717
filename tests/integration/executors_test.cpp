#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/model/notice_kinds.hpp"
#include "common/model/record.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Executors with real processes: small definitions in place of a wall or a cluster, which start, queue, fail and stop
/// as those do.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// Writes a script into the sandbox and returns its path.
std::string script(Sandbox& orange, const std::string& name, const std::string& text) {
    const auto file = orange.root() / name;
    write_file(file, "#!/bin/sh\n" + text);
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
}

void define(Sandbox& orange, const std::string& name, const std::string& text) {
    fs::create_directories(orange.home() / "executors");
    write_file(orange.home() / "executors" / (name + ".yml"), "name: " + name + "\n" + text);
}

/// An agent that does nothing, for as long as it is let.
void define_idle(Sandbox& orange) {
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/idle.yml",
               "name: idle\nprogram: sh\nargv: {full: [-c, 'env > environment; sleep 600', --, \"{prompt}\"]}\n");
}

std::string start_in(Sandbox& orange, const std::string& executor, const std::string& harness = "idle") {
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "In " + executor;
    create.harness = harness;
    create.executor = executor;
    return orange.call(create).task.fields.id.value;
}

rpc::TaskView task_now(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task;
}

bool has_notice(const rpc::TaskView& task, NoticeKind kind) {
    return std::ranges::find(task.notices, kind, &Notice::kind) != task.notices.end();
}

std::string text_of(const rpc::TaskView& task, NoticeKind kind) {
    const auto found = std::ranges::find(task.notices, kind, &Notice::kind);
    return found == task.notices.end() ? std::string() : found->text + "\n" + found->command;
}

void wait_for_begun(Sandbox& orange, const std::string& id) {
    orange.eventually("its agent begins", [&] {
        const auto task = task_now(orange, id);
        return task.places.size() == 1 && task.places[0].state == "running";
    });
}

/// Counts the processes that have a path below the folder among their words.
int processes_below(const fs::path& folder) {
    int found = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream in(entry.path() / "cmdline", std::ios::binary);
        const std::string words{std::istreambuf_iterator<char>(in), {}};
        if (words.find(folder.string() + "/") != std::string::npos) ++found;
    }
    return found;
}

/// Counts the processes below that one.
int descendants(std::int64_t pid) {
    int found = 0;
    std::ifstream in("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
    for (std::int64_t child = 0; in >> child;) found += 1 + descendants(child);
    return found;
}

int lines_in(const fs::path& file) {
    const auto text = read_file(file);
    return static_cast<int>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_CASE("The demo agent plays its whole life in an executor, and its reviewer is there, too") {
    Sandbox orange;
    orange.add_project("shop");
    define(orange, "box", "run: [env, BOXED=yes, \"{inner}\"]\n");
    const auto id = start_in(orange, "box", "demo");
    orange.wait_for_status(id, "reviewing");
    const auto begun = orange.history(id, "agent.begun");
    REQUIRE(begun.size() == 2);
    CHECK(begun[0].at("executor") == "box");
    CHECK(begun[0].at("role") == "worker");
    CHECK(begun[1].at("role") == "reviewer");
    CHECK(orange.fields(id).at("executor") == "box");
    CHECK(task_now(orange, id).fields.crash_count() == 0);
    // The far side leaves nothing when the agents have ended.
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    for (const auto& file : fs::directory_iterator(orange.folder(id) / "run")) {
        INFO(file.path());
        CHECK_FALSE(file.is_directory());
    }
}

TEST_CASE("An agent in an executor gets its environment, and what the executor adds") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "box", "run: [env, JOB=7, ORANGE_TASK=none, \"PATH=/far/bin:/usr/bin\", \"{inner}\"]\n");
    const auto id = start_in(orange, "box");
    orange.eventually("it writes its environment", [&] { return fs::exists(orange.worktree(id) / "environment"); });
    orange.eventually("all of it", [&] {
        return ("\n" + read_file(orange.worktree(id) / "environment")).find("\nJOB=7\n") != std::string::npos;
    });
    const auto environment = "\n" + read_file(orange.worktree(id) / "environment");
    CHECK_THAT(environment, Holds("\nORANGE_TASK=" + id + "\n"));
    CHECK_THAT(environment, Holds(":/far/bin") && !Holds("PATH=/far/bin"));  // behind the folders of its own
    wait_for_begun(orange, id);
    const auto task = task_now(orange, id);
    CHECK(task.worker == "alive");
    CHECK(task.places[0].executor == "box");
    CHECK(task.places[0].name == "orange-" + orange.run_of(id, "worker").at("run").get<std::string>());
}

TEST_CASE("An executor in a session of its own leaves no process behind when its agent is stopped") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "box", "run: [setsid, --wait, \"{inner}\"]\n");
    const auto id = start_in(orange, "box");
    wait_for_begun(orange, id);
    const auto run = orange.run_of(id, "worker").at("run").get<std::string>();
    CHECK(Json::parse(read_file(orange.folder(id) / "run" / run / "started")).at("run") == run);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(processes_below(orange.folder(id)) == 0);
}

TEST_CASE("A start whose executor fails before the agent begins is undone, and no crash is counted") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    const auto fails = script(orange, "fails", "echo no room in the box\nexit 3\n");
    define(orange, "box", "run: [" + fails + ", \"{inner}\"]\n");
    const auto id = start_in(orange, "box");
    orange.eventually("it is told", [&] { return has_notice(task_now(orange, id), NoticeKind::start_failed); });
    const auto text = text_of(task_now(orange, id), NoticeKind::start_failed);
    CHECK_THAT(text,
               Holds("no room in the box") && Tells("orange executor test box") && Tells("orange task respawn " + id));
    CHECK(task_now(orange, id).needs.command.text() == "orange executor test box");
    CHECK(task_now(orange, id).fields.crash_count() == 0);
    CHECK(orange.history(id, "agent.crashed").empty());
    CHECK(orange.history(id, "agent.exited").at(0).at("not_started") == true);
    orange.eventually("its workspace is given back", [&] { return !task_now(orange, id).fields.workspace; });

    // The human mends the executor for this task, and starts it again.
    define(orange, "box", "run: [env, \"{inner}\"]\n");
    rpc::TaskUpdate update;
    update.id = id;
    update.executor = "box";
    CHECK_FALSE(has_notice(orange.call(update).task, NoticeKind::start_failed));
    rpc::TaskRespawn respawn;
    respawn.id = id;
    orange.call(respawn);
    wait_for_begun(orange, id);
    CHECK_FALSE(has_notice(task_now(orange, id), NoticeKind::start_failed));
}

TEST_CASE("A run whose executor is killed before the agent begins is undone, and no crash is counted") {
    Sandbox orange("poll_interval: 0.1\n");
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "box",
           "run: [sh, -c, \"echo waiting; sleep 600\", \"{inner}\"]\nstop: [\"true\"]\nprobe: [\"true\"]\n");
    const auto id = start_in(orange, "box");
    const auto run = orange.run_of(id, "worker");
    ::kill(static_cast<pid_t>(run.at("pid").get<int>()), SIGKILL);
    orange.eventually("it is told", [&] { return has_notice(task_now(orange, id), NoticeKind::start_failed); });
    CHECK(task_now(orange, id).fields.crash_count() == 0);
    CHECK(orange.history(id, "agent.crashed").empty());
    CHECK(orange.history(id, "agent.exited").at(0).at("not_started") == true);
}

TEST_CASE("An agent in local needs no process besides its own orange-agent") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "box", "run: [env, \"{inner}\"]\n");
    const auto processes = [&](const std::string& executor) {
        const auto id = start_in(orange, executor);
        const auto pid = orange.run_of(id, "worker").at("pid").get<std::int64_t>();
        orange.eventually("its agent works", [&] { return fs::exists(orange.worktree(id) / "environment"); });
        orange.eventually("it sleeps", [&] { return descendants(pid) >= (executor == "local" ? 2 : 3); });
        CHECK(fs::exists(orange.folder(id) / "run" / orange.run_of(id, "worker").at("run").get<std::string>()) ==
              (executor != "local"));
        return descendants(pid);
    };
    CHECK(processes("local") == 2);  // the shell and its sleep
    CHECK(processes("box") == 3);    // and the orange-agent on the far side
}

TEST_CASE("The check of an executor runs once for the call that creates a task and starts it") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    const auto checked = orange.home() / "checked";
    define(orange, "counted", "check: [sh, -c, 'echo x >> \"" + checked.string() + "\"']\nrun: [env, \"{inner}\"]\n");
    (void)start_in(orange, "counted");
    CHECK(read_file(checked) == "x\n");
    (void)start_in(orange, "counted");
    CHECK(read_file(checked) == "x\nx\n");
}

TEST_CASE("An executor that is missing, or whose check fails, is refused before anything starts") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "gone", "run: [no-such-program-here, \"{inner}\"]\ninstall: apt install box\n");
    define(orange, "ill", "check: [sh, -c, 'echo the controller is down >&2; exit 1']\nrun: [env, \"{inner}\"]\n");
    const auto refused = [&](const std::string& name) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "In " + name;
        create.harness = "idle";
        create.executor = name;
        const auto reply = orange.try_call(create);
        CHECK_FALSE(reply);
        return reply ? std::string() : reply.error().message;
    };
    CHECK_THAT(refused("gone"), Holds("apt install box"));
    CHECK_THAT(refused("ill"), Tells("orange executor test ill"));
    CHECK_THAT(refused("none"), Holds("none"));
    CHECK(orange.call(rpc::TaskList{}).tasks.empty());

    // A task that starts later, or whose executor has become unusable, is not started.
    for (const auto& [name, tells] :
         {std::pair("gone", "apt install box"), std::pair("ill", "orange executor test ill")}) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "Later";
        create.harness = "idle";
        create.executor = name;
        create.no_spawn = true;
        const auto id = orange.call(create).task.fields.id.value;
        rpc::TaskSpawn spawn;
        spawn.id = id;
        const auto started = orange.try_call(spawn);
        INFO(name);
        const auto task = task_now(orange, id);
        CHECK(orange.run_of(id, "worker").is_null());
        CHECK_FALSE(task.fields.workspace);
        const auto told = started ? text_of(task, NoticeKind::start_failed) : started.error().message;
        CHECK_THAT(told, Holds(tells));
        CHECK(orange.history(id, "agent.spawned").empty());
    }
}

TEST_CASE("A run that waits for resources is queued, begins later, and is no crash meanwhile") {
    Sandbox orange("hung_after: 1\nidle_after: 1\npoll_interval: 0.1\n");
    orange.add_project("shop");
    define_idle(orange);
    const auto waits = script(orange, "waits", "while ! test -e \"$1\"; do sleep 0.05; done\nshift\nexec \"$@\"\n");
    const auto gate = (orange.root() / "gate").string();
    const auto asks = script(orange, "asks",
                             "for run in $(ls -d " + (orange.home() / "tasks").string() +
                                 "/shop/*/run/*/ 2>/dev/null); do\n"
                                 "if test -e " +
                                 gate +
                                 "; then state='RUNNING n1'; else state=PENDING; fi\n"
                                 "echo orange-$(basename $run) $state\ndone\n");
    define(orange, "box",
           "run: [" + waits + ", " + gate + ", \"{inner}\"]\nstop: [\"true\"]\nprobe: [" + asks +
               "]\nqueued: [PENDING]\n");
    const auto id = start_in(orange, "box");
    orange.eventually("it is queued", [&] { return task_now(orange, id).worker == "queued"; });
    const auto queued = task_now(orange, id);
    CHECK(queued.places.at(0).state == "queued");
    CHECK_FALSE(queued.worker_activity);
    orange.eventually("nothing is taken for a hang", [&] { return task_now(orange, id).notices.empty(); });
    CHECK(orange.history(id, "agent.queued").size() == 1);
    CHECK(orange.history(id, "agent.begun").empty());

    // A message waits for the agent, and the next daemon knows of the queue.
    rpc::TaskSend send;
    send.id = id;
    send.text = "Hello";
    orange.call(send);
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(task_now(orange, id).worker == "queued");

    write_file(gate, "");
    wait_for_begun(orange, id);
    const auto task = task_now(orange, id);
    CHECK(task.worker == "alive");
    CHECK(task.fields.crash_count() == 0);
    CHECK(orange.history(id, "agent.begun").size() == 1);
    const auto state = Json::parse(read_file(orange.folder(id) / "state.json"));
    CHECK_FALSE(state.at("runs").at(0).at("place").contains("queued_since"));
}

TEST_CASE("A stop that fails is tried again and shown, and no agent starts before it succeeds") {
    Sandbox orange("poll_interval: 0.1\n");
    orange.add_project("shop");
    define_idle(orange);
    const auto stopped = orange.root() / "stopped";
    const auto open = orange.root() / "open";
    const auto stops = script(orange, "stops",
                              "echo $1 >> " + stopped.string() + "\ntest -e " + open.string() +
                                  " && exit 0\necho the controller is down >&2\nexit 1\n");
    define(orange, "box", "run: [env, \"{inner}\"]\nstop: [" + stops + ", \"orange-{run}\"]\n");
    const auto id = start_in(orange, "box");
    wait_for_begun(orange, id);
    const auto first = orange.run_of(id, "worker");
    ::kill(static_cast<pid_t>(first.at("pid").get<int>()), SIGKILL);
    orange.eventually("it is shown", [&] { return has_notice(task_now(orange, id), NoticeKind::executor_stop); });
    const auto text = text_of(task_now(orange, id), NoticeKind::executor_stop);
    const auto name = "orange-" + first.at("run").get<std::string>();
    CHECK_THAT(text, Tells(name) && Holds("the controller is down") && Tells("orange task ack " + id));
    orange.eventually("it is tried again", [&] { return lines_in(stopped) > 1; });
    CHECK_THAT(read_file(stopped), Holds(name + "\n"));
    // The next agent waits, because the first one may still be there.
    rpc::TaskRespawn respawn;
    respawn.id = id;
    orange.call(respawn);
    REQUIRE(task_now(orange, id).start_wait);
    CHECK(task_now(orange, id).start_wait->reason == "executor");
    CHECK(orange.run_of(id, "worker").is_null());
    // Also across a restart of the daemon.
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(orange.run_of(id, "worker").is_null());

    write_file(open, "");
    orange.eventually("the next one begins", [&] {
        const auto run = orange.run_of(id, "worker");
        return !run.is_null() && run.at("run") != first.at("run");
    });
    CHECK_FALSE(has_notice(task_now(orange, id), NoticeKind::executor_stop));
    CHECK(orange.history(id, "executor.stopped").size() == 1);
}

TEST_CASE("Whoever has ended a run by hand lets go of it with ack") {
    Sandbox orange;
    orange.add_project("shop");
    define_idle(orange);
    define(orange, "box", "run: [env, \"{inner}\"]\nstop: [\"false\"]\n");
    const auto id = start_in(orange, "box");
    wait_for_begun(orange, id);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(has_notice(task_now(orange, id), NoticeKind::executor_stop));
    CHECK(task_now(orange, id).fields.workspace);  // the run may still work there
    rpc::TaskDelete remove;
    remove.id = id;
    const auto removed = orange.try_call(remove);
    REQUIRE_FALSE(removed);
    CHECK_THAT(removed.error().message, Tells("orange task ack " + id));
    rpc::TaskAck ack;
    ack.id = id;
    orange.call(ack);
    CHECK(task_now(orange, id).notices.empty());
    CHECK(orange.try_call(remove));
}

TEST_CASE("An agent that has ended is noticed although its executor goes on") {
    Sandbox orange("poll_interval: 0.1\n");
    orange.add_project("shop");
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/brief.yml",
               "name: brief\nprogram: sh\nargv: {full: [-c, 'sleep 1; exit 3', --, \"{prompt}\"]}\n");
    const auto stays = script(orange, "stays", "\"$@\"\nsleep 600\n");
    define(orange, "box", "run: [" + stays + ", \"{inner}\"]\n");
    const auto id = start_in(orange, "box", "brief");
    orange.eventually("its end is dealt with", [&] { return !orange.history(id, "agent.exited").empty(); });
    CHECK(orange.history(id, "agent.exited")[0].at("exit_status") == 3);
}

TEST_CASE("A run is not taken for dead while its executor cannot say so") {
    Sandbox orange("poll_interval: 0.1\n");
    orange.add_project("shop");
    // The end of the window's program hangs up the terminal: an agent that it ends would have a record.
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/deaf.yml",
               "name: deaf\nprogram: sh\nargv: {full: [-c, 'trap \"\" HUP; exec sleep 600', --, \"{prompt}\"]}\n");
    const auto open = orange.root() / "open";
    const auto asked = orange.root() / "asked";
    const auto asks =
        script(orange, "asks", "echo >> " + asked.string() + "\ntest -e " + open.string() + " || exit 1\nexit 0\n");
    define(orange, "box", "run: [env, \"{inner}\"]\nstop: [\"true\"]\nprobe: [" + asks + "]\n");
    const auto id = start_in(orange, "box", "deaf");
    wait_for_begun(orange, id);
    const auto first = orange.run_of(id, "worker");
    orange.kill_daemon();
    ::kill(static_cast<pid_t>(first.at("pid").get<int>()), SIGKILL);
    orange.start_daemon();
    orange.eventually("it is asked more than once", [&] { return lines_in(asked) > 1; });
    CHECK(task_now(orange, id).worker == "unknown");
    CHECK(orange.run_of(id, "worker").at("run") == first.at("run"));
    CHECK(orange.history(id, "agent.exited").empty());
    write_file(open, "");
    orange.eventually("its end is dealt with", [&] { return !orange.history(id, "agent.exited").empty(); });
    CHECK(task_now(orange, id).worker == "dead");
}

TEST_CASE("A task keeps the definition of its executor, its sub-tasks run there, and an agent chooses none") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    define_idle(orange);
    define(orange, "box", "run: [env, BOX=old, \"{options}\", \"{inner}\"]\n");
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings = {{"executor", "box"}, {"executor_options", "SIZE='a b'"}};
    orange.call(update);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "First";
    create.harness = "idle";
    create.no_spawn = true;
    const auto id = orange.call(create).task.fields.id.value;
    define(orange, "box", "run: [env, BOX=new, \"{options}\", \"{inner}\"]\n");
    rpc::TaskSpawn spawn;
    spawn.id = id;
    orange.call(spawn);
    orange.eventually("it writes its environment", [&] {
        return ("\n" + read_file(orange.worktree(id) / "environment")).find("\nSIZE=") != std::string::npos;
    });
    wait_for_begun(orange, id);
    const auto environment = "\n" + read_file(orange.worktree(id) / "environment");
    CHECK_THAT(environment, Holds("\nBOX=old\n") && Holds("\nSIZE=a b\n"));

    create.summary = "Second";
    create.parent = id;
    const auto child = orange.call(create).task.fields;
    CHECK(child.executor_hash == orange.fields(id).at("executor_hash").get<std::string>());
    CHECK(child.executor_options == "SIZE='a b'");
    create.parent.reset();
    create.summary = "Third";
    create.executor = "local";
    const auto local = orange.call(create).task.fields;
    CHECK(local.executor.empty());
    CHECK(local.executor_options.empty());

    const auto as_agent = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"env", "ORANGE_TASK=" + id, "ORANGE_ROLE=worker", program("orange").string()});
        return orange.try_run(words, repo);
    };
    const auto out = as_agent({"task", "create", "Out", "--executor", "local"});
    CHECK(out.status != 0);
    CHECK_THAT(out.err, Tells("--executor"));
    CHECK(as_agent({"task", "update", id, "--executor", "local"}).status != 0);
    CHECK(orange.fields(id).at("executor") == "box");
}

TEST_CASE("A bad choice of an executor is refused with the way out, and changes nothing") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    define(orange, "box", "run: [env, \"{inner}\"]\n");
    define(orange, "broken", "runn: [env]\n");
    const auto refused = [&](std::vector<std::string> words) {
        const auto ran = orange.orange(std::move(words), repo);
        CHECK(ran.status != 0);
        return ran.err;
    };
    CHECK_THAT(refused({"task", "create", "x", "--executor", "bocks"}), Tells("box"));
    CHECK_THAT(refused({"task", "create", "x", "--executor", "broken"}), Tells("broken.yml:2:1"));
    CHECK_THAT(refused({"task", "create", "x", "--executor", "box", "--executor-options", "-p"}), Tells("{options}"));
    CHECK_THAT(refused({"task", "create", "x", "--executor-options", "-p"}), Tells("{options}"));
    CHECK_THAT(refused({"project", "update", "shop", "--set", "executor=bocks"}), Tells("box"));
    CHECK_THAT(refused({"project", "update", "shop", "--set", "executor_options=$(id)"}), Tells("$"));
    rpc::TaskList list;
    list.all = true;
    CHECK(orange.call(list).tasks.empty());
    const auto id = orange.create("shop", "Here", true);
    CHECK_THAT(refused({"task", "update", id, "--executor", "bocks"}), Tells("box"));
    CHECK_FALSE(orange.fields(id).contains("executor"));

    // An executor is tried only for a task that is to start at once.
    define(orange, "ill", "check: [\"false\"]\nrun: [env, \"{inner}\"]\n");
    CHECK_THAT(refused({"task", "create", "Now", "--executor", "ill"}), Tells("false"));
    CHECK(orange.orange({"task", "create", "Later", "--executor", "ill", "--blocked-by", id}, repo).status == 0);
}

TEST_CASE("The client lists executors, shows what they run, and tests one with the demo agent") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    define(orange, "box", "separates: [memory]\ncheck: [\"true\"]\nrun: [env, \"BOX={task}\", \"{inner}\"]\n");
    define(orange, "ill", "check: [\"false\"]\nrun: [env, \"{inner}\"]\n");
    define(orange, "bad", "run: [\"false\", \"{inner}\"]\n");
    const auto list = Json::parse(orange.orange({"--json", "executor", "list"}, repo).out).at("executors");
    REQUIRE(list.size() == 7);
    CHECK(list[1].at("name") == "box");
    CHECK(list[1].at("installed") == true);
    CHECK(list[1].at("separates") == Json::array({"memory"}));
    CHECK_FALSE(list[1].contains("limits"));
    CHECK_FALSE(list[1].contains("limits_network"));
    CHECK(list[2].at("name") == "bwrap");
    CHECK(list[4].at("name") == "local");
    CHECK(list[4].at("projects") == Json::array({"shop"}));
    CHECK(list[5].at("name") == "podman");
    CHECK(list[6].at("name") == "slurm");
    CHECK(list[6].at("installed") == false);  // whatever this machine has
    const auto id = orange.create("shop", "Here", true);
    const auto shown = Json::parse(orange.orange({"--json", "executor", "show", "box", "--task", id}, repo).out);
    CHECK(shown.at("run") == Json::array({"env", "BOX=" + id, "{inner}"}));
    CHECK_FALSE(shown.at("executor").contains("problem"));
    const auto ill = Json::parse(orange.orange({"--json", "executor", "show", "ill"}, repo).out);
    CHECK(ill.at("executor").contains("problem"));
    CHECK(orange.orange({"executor", "show", "bocks"}, repo).status != 0);

    const auto tested = orange.orange({"--json", "executor", "test", "box"}, repo);
    INFO(tested.out + tested.err);
    CHECK(tested.status == 0);
    const auto report = Json::parse(tested.out);
    CHECK(report.at("executor") == "box");
    CHECK(report.at("passed") == true);
    const auto failed = orange.orange({"--json", "executor", "test", "bad"}, repo);
    CHECK(failed.status == 1);
    CHECK(Json::parse(failed.out).at("passed") == false);
    const auto unusable = orange.orange({"--json", "executor", "test", "ill"}, repo);
    CHECK(unusable.status == 1);
    CHECK_THAT(unusable.out, !Holds("orange executor test"));
    CHECK_THAT(failed.out, !Holds("argv"));
}

TEST_CASE("orange executor test fails an executor that does not hold what its definition claims") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto failed_in = [&](const char* name) {
        const auto tested = orange.orange({"--json", "executor", "test", name}, repo);
        INFO(tested.out + tested.err);
        CHECK(tested.status == 1);
        std::vector<std::string> failed;
        const auto report = Json::parse(tested.out);
        for (const auto& step : report.at("steps")) {
            if (step.at("result") == "FAIL") failed.push_back(step.at("step").get<std::string>());
        }
        return failed;
    };
    SECTION("limits and a network: it takes away its own words, and those that lead to the proxy") {
        define(orange, "leaky",
               "run: [sh, -c, \"shift 2; if [ \\\"$2\\\" = --through ]; then shift 4; fi; exec \\\"$@\\\"\", sh, "
               "\"{network}\", \"{limits}\", \"{inner}\"]\n"
               "without_network: [--no-network]\nlimits: {processes: [\"--processes={processes}\"]}\n");
        const auto shown = Json::parse(orange.orange({"--json", "executor", "show", "leaky"}, repo).out);
        CHECK(shown.at("executor").at("limits") == Json::array({"processes"}));
        CHECK(shown.at("executor").at("limits_network") == true);
        CHECK(failed_in("leaky") == std::vector<std::string>{"network", "limits.processes"});
    }
    SECTION("a repository of their own: its agents use the project's") {
        define(orange, "open",
               "repository: own\nrun: [env, \"R={repository}\", \"L={link}\", \"{inner}\"]\n"
               "inside: [env, \"R={repository}\", \"{inner}\"]\n");
        const auto failed = failed_in("open");
        CHECK(std::ranges::find(failed, "git status") != failed.end());
    }
}

TEST_CASE("doctor tries the executors that projects use") {
    Sandbox orange;
    orange.add_project("shop");
    define(orange, "ill", "check: [\"false\"]\nrun: [env, \"{inner}\"]\n");
    rpc::ProjectUpdate update;
    update.name = "shop";
    const auto finds = [&] {
        const auto findings = Json::parse(orange.orange({"--json", "doctor"}).out).at("findings");
        return std::ranges::any_of(findings, [](const Json& finding) {
            return finding.at("check") == "executors" &&
                   finding.dump().find("orange executor test ill") != std::string::npos;
        });
    };
    CHECK_FALSE(finds());
    update.settings = {{"executor", "ill"}};
    orange.call(update);
    CHECK(finds());
}

TEST_CASE("a program in a folder that the executor hides is refused before there is a task") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/away.yml", "name: away\nprogram: sh\nargv: {full: [--, \"{prompt}\"]}\n");
    define(orange, "box", "run: [env, \"{inner}\"]\nhides: [/bin, /usr]\n");
    const auto refused = orange.orange({"run", "--executor", "box", "--harness", "away", "Go"}, repo);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("box") && Tells("away"));
    CHECK(orange.call(rpc::TaskList{}).tasks.empty());
}

}  // namespace orange::tests
