#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/support/pseudo_terminal.hpp"
#include "tests/unit/runner/limits.hpp"

/// What agents do, as the runner sees it, and what follows from it.
using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

struct ActiveWorld : RunnerWorld {
    ActiveWorld() {
        write_file(home() / "harnesses/shy.yml",
                   "name: shy\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nscreen:\n  waiting: [\"Really?\"]\n"
                   "  busy: [working]\n  limited: [You've hit your]\n  retrying: [retrying in]\n  otherwise: "
                   "idle\ntitle:\n  waiting: [\"[!]\"]\n");
        write_file(home() / "harnesses/mute.yml", "name: mute\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\n");
    }
    TaskId start(const std::string& harness = "shy") {
        const auto id = make_task("do it", 2);
        house().world().journal.listen([this](const StreamEvent& event) {
            if (event.event.type != "agent.activity") return;
            heard.push_back(std::get<std::string>(event.event.fields.at("role")) + " " +
                            std::get<std::string>(event.event.fields.at("activity")));
        });
        auto record = this->record(id);
        record.task.harness = harness;
        house().world().tasks.save(record).value();
        move(id, "planning").value();
        ids.push_back(id);
        return id;
    }
    void show(const TaskId& id, const std::string& screen) {
        outside.tmux.screens[record(id).run_of(Role::worker)->pane_id] = screen;
    }
    void look(const TaskId& id) { house().go(house().runner().activities.update(id)); }
    std::string activity(const TaskId& id) {
        const auto seen = house().runner().activities.of(record(id), Role::worker);
        return seen ? name_text(seen->activity) : "none";
    }
    Needs needs(const TaskId& id) { return needs_of(house().runner(), record(id)); }
    std::vector<std::string> heard;
    std::vector<TaskId> ids;
};

}  // namespace

TEST_CASE("each change of what an agent does is an event, and since when is known") {
    ActiveWorld world;
    const auto id = world.start();
    CHECK(world.activity(id) == "none");
    world.look(id);
    CHECK(world.heard.empty());  // a window that shows nothing yet
    world.show(id, "working\n");
    world.look(id);
    const auto since = world.house().runner().activities.of(world.record(id), Role::worker)->since;
    world.outside.clock.pass(1min);
    const auto state = world.state_text(id);
    world.look(id);
    CHECK(world.house().runner().activities.of(world.record(id), Role::worker)->since == since);
    CHECK(world.state_text(id) == state);
    CHECK_THAT(world.needs(id).text, Tells("works"));
    world.show(id, "> \n");
    world.look(id);
    CHECK_THAT(world.needs(id).text, Tells("idle"));
    CHECK(world.heard == std::vector<std::string>{"worker busy", "worker idle"});
    CHECK(world.events(id, "agent.activity").empty());  // of the stream alone: a history is not filled with turns

    world.kill_agent(id, Role::worker, 1);
    CHECK(world.activity(id) == "none");
}

TEST_CASE("a dialog needs an answer, a limit needs help, and both are over when they are gone") {
    ActiveWorld world;
    const auto id = world.start();
    world.show(id, "Delete everything? Really?\n");
    world.look(id);
    CHECK(world.needs(id).kind == Need::answer);
    CHECK(world.needs(id).command == task_command("attach", id.value));
    world.show(id, "working\n");
    world.look(id);
    CHECK(world.needs(id).kind == Need::nothing);
    // The dialog of a limit is no question: an answer does not lift it.
    world.show(id, "You've hit your session limit · resets 11:36am (UTC)\nReally?\n");
    world.look(id);
    CHECK(world.activity(id) == "limited");
    CHECK(world.needs(id).kind == Need::help);
    CHECK_THAT(world.needs(id).text, Holds("resets 11:36am (UTC)"));
    world.show(id, "working\n");
    world.look(id);
    CHECK(attention(world, id) == "none");
    CHECK(world.heard == std::vector<std::string>{"worker waiting", "worker busy", "worker limited", "worker busy"});
}

TEST_CASE("an agent that cannot work is told as such, and not as one at its usage limit") {
    ActiveWorld world;
    write_file(world.home() / "harnesses/shy.yml",
               "name: shy\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\nscreen:\n  busy: [working]\n"
               "  limited: [Please log in]\n  failed: [\"# \"]\n  otherwise: idle\n"
               "usage_limit: {screen: [You've hit your]}\n");
    const auto id = world.start();
    const auto kind_of = [&](const std::string& screen) {
        world.show(id, screen);
        world.look(id);
        const auto notices = world.record(id).notices;
        return notices.empty() ? std::string() : std::string(name_of(notices.front().kind));
    };
    CHECK(kind_of("working\n").empty());
    CHECK(kind_of("Please log in\n") == "agent_cannot_work");
    CHECK(world.needs(id).kind == Need::help);
    CHECK(kind_of("# status 402: no credit\n") == "agent_cannot_work");
    CHECK_THAT(world.needs(id).text, Holds("# status 402: no credit"));
    CHECK(world.record(id).notices.size() == 1);
    CHECK(kind_of("You've hit your limit\n") == "usage_limit");
    CHECK(world.record(id).notices.size() == 1);
    CHECK(kind_of("# status 500\n") == "agent_cannot_work");
    CHECK(kind_of("working\n").empty());
    CHECK(world.needs(id).kind == Need::nothing);
}

namespace {

/// A program whose definition was measured with an older version.
struct NewerWorld : ActiveWorld {
    explicit NewerWorld(const std::string& version = "2.0.1") {
        const auto agent = home() / "harnesses/newer-agent";
        write_file(agent, "#!/bin/sh\necho " + version + "\n");
        std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
        write_file(home() / "harnesses/newer.yml",
                   "name: newer\nprogram: ./newer-agent\nmeasured: \"2.0.0\"\nversion_args: [--version]\n"
                   "argv: {full: [--, \"{prompt}\"]}\nscreen:\n  busy: [working]\n  composer_empty: [\">\"]\n"
                   "  limited: [API Error]\n  otherwise: idle\n");
    }
    TaskId start_known() {
        const auto id = start("newer");
        const auto entry = house().world().harnesses.find("newer").value();
        REQUIRE(comes_true(*this, [&] { return !house().runner().versions.known(entry, {}).empty(); }));
        look(id);
        return id;
    }
    /// Waits until a file that is written now has another time than those that were written before.
    void wait_for_file_time() {
        const auto probe = home() / "probe";
        write_file(probe, "");
        const auto before = std::filesystem::last_write_time(probe);
        while (std::filesystem::last_write_time(probe) == before) write_file(probe, "");
    }
    /// Plays one turn with that end.
    const Notice* turn(const TaskId& id, const std::string& end = "Server melted\n",
                       const std::function<void()>& work = {}) {
        show(id, "working\n");
        look(id);
        wait_for_file_time();
        if (work) work();
        show(id, "> [orange] go on\n\n" + end + "\n>\n\n  status\n");
        look(id);
        kept = record(id);
        return engine::find_notice(*kept, NoticeKind::agent_unknown_error);
    }
    std::optional<TaskRecord> kept;
};

}  // namespace

TEST_CASE("a turn without progress of a program that is newer than its definition is told once for each version") {
    NewerWorld world;
    const auto id = world.start_known();
    const auto* notice = world.turn(id);
    REQUIRE(notice);
    CHECK(notice->cause == "worker");
    CHECK_THAT(notice->text, Holds("2.0.1") && Holds("2.0.0") && Holds("\n  Server melted") && !Holds("status"));
    CHECK(world.needs(id).kind == Need::help);
    CHECK(world.needs(id).command == task_command("attach", id.value));
    SECTION("it is over when the agent works again, and is not repeated") {
        world.show(id, "working\n");
        world.look(id);
        CHECK(world.needs(id).kind == Need::nothing);
        CHECK(world.turn(id) == nullptr);
        CHECK(world.turn(world.start_known()) == nullptr);
    }
    SECTION("a human who has seen it is not told again, also by the next daemon") {
        world.house().go(world.house().runner().requests.acknowledge(id)).value();
        world.look(id);
        CHECK(world.needs(id).kind == Need::nothing);
        world.boot();
        CHECK(world.turn(world.start_known()) == nullptr);
    }
    SECTION("another version is another program") {
        write_file(world.home() / "harnesses/newer-agent", "#!/bin/sh\necho 2.1.0 of another size\n");
        CHECK(world.turn(world.start_known()) != nullptr);
    }
}

TEST_CASE("a turn that left anything, or whose error is known, is not told as an unknown error") {
    NewerWorld world;
    const auto id = world.start_known();
    const auto worktree = world.house().control().worktree_of(world.record(id));
    CHECK(world.turn(id, "Done.\n", [&] { write_file(worktree / "new.txt", "x"); }) == nullptr);
    CHECK(world.turn(id, "Done.\n", [&] { world.append_body(id, "\n## Plan\nAPPROACH: x\n"); }) == nullptr);
    CHECK(world.turn(id, "Done.\n", [&] { world.move(id, "working").value(); }) == nullptr);
    CHECK(world.turn(id, "API Error: 500\n") == nullptr);
    CHECK(engine::find_notice(world.record(id), NoticeKind::agent_cannot_work));
    // A question is no error.
    CHECK(world.turn(id, "Which one?\n", [&] {
        world.append_body(id, "\n## Questions\nWhich one?\n");
        world.move(id, "clarification").value();
    }) == nullptr);
}

TEST_CASE("a program of the measured version, or of an older one, meets no unknown error") {
    for (const std::string version : {"2.0.0", "1.9.9", "unknown"}) {
        INFO(version);
        NewerWorld world(version);
        const auto id = world.start("newer");
        world.look(id);
        CHECK(world.turn(id) == nullptr);
        CHECK(world.turn(id) == nullptr);
    }
}

TEST_CASE("a program that tries again for a while needs help although it is busy, and not once it gets on") {
    ActiveWorld world;
    const auto id = world.start();
    const auto tries = [&](std::chrono::seconds later) {
        world.outside.clock.pass(later);
        world.show(id, "Rate limit reached [retrying in 5s attempt #2]\nworking\n");
        world.look(id);
        return world.activity(id);
    };
    CHECK(tries(0s) == "busy");
    CHECK(tries(9s) == "busy");
    world.show(id, "working\n");  // a try
    world.look(id);
    CHECK(tries(9s) == "busy");
    CHECK(tries(3s) == "limited");
    CHECK(world.needs(id).kind == Need::help);
    CHECK_THAT(world.needs(id).text, Holds("attempt #2"));
    world.show(id, "working\n");
    world.look(id);
    CHECK(world.activity(id) == "limited");
    CHECK_THAT(world.needs(id).text, Holds("attempt #2"));
    // The next tries are no news: since when it needs help stays.
    const auto since = world.needs(id).since;
    world.outside.clock.pass(5s);
    world.show(id, "Rate limit reached [retrying in 4s attempt #3]\nworking\n");
    world.look(id);
    CHECK(world.needs(id).since == since);
    CHECK_THAT(world.needs(id).text, Holds("attempt #2"));
    world.show(id, "working\n");
    world.outside.clock.pass(11s);
    world.look(id);
    CHECK(world.activity(id) == "busy");
    CHECK(world.needs(id).kind == Need::nothing);
    CHECK(tries(60s) == "busy");
    world.show(id, "> \n");
    world.look(id);
    CHECK(world.activity(id) == "idle");
    CHECK(world.heard == std::vector<std::string>{"worker busy", "worker limited", "worker busy", "worker idle"});
}

TEST_CASE("a busy agent whose window only counts seconds hangs, and one that uses a processor does not", "[slow]") {
    ActiveWorld world;
    const auto waits = [&] { return attention(world, world.ids.front()); };
    SECTION("its window") {
        world.start();
        const auto at = [&](const std::string& screen) {
            world.outside.clock.pass(4min);
            world.show(world.ids.front(), screen);
            world.look(world.ids.front());
            return waits();
        };
        CHECK(at("reading a.cpp\n⠋ working 1s\n") == "none");
        CHECK(at("reading a.cpp\n⠙ working 4m\n") == "none");
        CHECK(at("reading a.cpp\n⠹ working 8m\n") == "none");
        CHECK_THAT(at("reading a.cpp\n⠹ working 12m\n"), Holds("no progress for 10 minutes"));
        CHECK(world.needs(world.ids.front()).kind == Need::help);
        CHECK(at("reading a.cpp\nwriting b.cpp\n⠹ working 16m\n") == "none");
        CHECK(world.needs(world.ids.front()).kind == Need::nothing);
    }
    SECTION("what it runs") {
        const pid_t busy = ::fork();
        if (busy == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::setpgid(0, 0);  // as a command that an agent runs; the window's own program does not count
            while (::getppid() > 0) {
            }
        }
        world.outside.processes.next = busy;
        const auto id = world.start();
        TestTime time;
        time.stand_still();
        world.show(id, "make test\nworking\n");
        world.look(id);
        world.outside.clock.pass(9min);
        world.look(id);
        const auto before = process::cpu_ms_of(busy).value();
        CHECK(eventually([&] { return process::cpu_ms_of(busy).value() > before + 300; }));
        time.advance(600ms);
        world.outside.clock.pass(9min);
        world.look(id);
        CHECK(waits() == "none");
        ::kill(busy, SIGSTOP);
        int status = 0;
        ::waitpid(busy, &status, WUNTRACED);
        world.outside.clock.pass(6min);
        world.look(id);
        CHECK(waits() == "none");
        time.advance(1h);
        world.outside.clock.pass(5min);
        world.look(id);
        CHECK_THAT(waits(), Holds("no progress"));
        ::kill(busy, SIGKILL);
        ::waitpid(busy, nullptr, 0);
    }
    SECTION("the program that draws its window, which turns a sign") {
        const PseudoTerminal terminal(true);
        CHECK(eventually([&] { return process::is_in_foreground(terminal.process()); }));
        world.outside.processes.next = terminal.process();
        const auto id = world.start();
        TestTime time;
        time.stand_still();
        world.show(id, "thinking\nworking\n");
        world.look(id);
        world.outside.clock.pass(9min);
        world.look(id);
        const auto before = process::cpu_ms_of(terminal.process()).value();
        CHECK(eventually([&] { return process::cpu_ms_of(terminal.process()).value() > before + 300; }));
        time.advance(600ms);
        world.outside.clock.pass(9min);
        world.look(id);
        CHECK_THAT(waits(), Holds("no progress"));
    }
}

TEST_CASE("an agent whose window cannot be read and that leaves no trace for a while is told to its human") {
    ActiveWorld world;
    const auto id = world.start("mute");
    const auto worktree = world.house().control().worktree_of(world.record(id));
    TestTime time;
    const auto at = [&](const std::string& screen) {
        world.outside.clock.pass(5min);
        time.advance(5min);
        world.show(id, screen);
        world.look(id);
        return world.needs(id).kind;
    };
    SECTION("nothing happens") {
        CHECK(at("> ") == Need::nothing);
        CHECK(at("> ") == Need::nothing);
        CHECK(at("> ") == Need::help);
        REQUIRE(engine::find_notice(world.record(id), NoticeKind::agent_hung) != nullptr);
        CHECK(at("> ") == Need::help);
        world.house().go(world.house().runner().requests.acknowledge(id)).value();
        CHECK(at("> ") == Need::nothing);  // its human has just seen it
        CHECK(at("> ") == Need::help);
        CHECK(at("> reading\n") == Need::nothing);
    }
    SECTION("it writes to its window") {
        for (const char* screen : {"a", "ab", "abc", "abcd"}) CHECK(at(screen) == Need::nothing);
    }
    SECTION("it changes files") {
        for (const char* text : {"1", "2", "3", "4"}) {
            write_file(worktree / ".orange" / "deep" / "file", text);
            CHECK(at("> ") == Need::nothing);
        }
    }
    SECTION("it waits for its human, as its status says") {
        auto record = world.record(id);
        record.task.status = "clarification";
        world.house().world().tasks.save(record).value();
        const auto need = at("> ");
        for (int i = 0; i < 4; ++i) CHECK(at("> ") == need);
        CHECK(engine::find_notice(world.record(id), NoticeKind::agent_hung) == nullptr);
    }
}

TEST_CASE("an agent whose window cannot be read is not silent while it uses a processor", "[slow]") {
    ActiveWorld world;
    const PseudoTerminal terminal(true);
    world.outside.processes.next = terminal.process();
    const auto id = world.start("mute");
    TestTime time;
    time.stand_still();
    auto project = *world.house().world().projects.find("shop");
    project.settings.hung_after = 20;  // of which the processor may be idle for 98 %
    world.house().world().projects.put(project).value();
    for (int i = 0; i < 4; ++i) {
        world.outside.clock.pass(10s);
        time.advance(5s);
        const auto before = process::cpu_ms_of(terminal.process()).value();
        CHECK(eventually([&] { return process::cpu_ms_of(terminal.process()).value() > before + 150; }));
        world.look(id);
        CHECK(world.needs(id).kind == Need::nothing);
    }
}

TEST_CASE("a limit that only the worker of a reviewed task has leaves the review to its human") {
    ActiveWorld world;
    const auto id = world.start();
    world.show(id, "You've hit your session limit\n");
    auto record = world.record(id);
    record.task.status = "reviewing";
    world.house().world().tasks.save(record).value();
    world.look(id);
    CHECK(world.needs(id).kind == Need::review);
}

namespace {

/// A shim, and the program below it that has a state file.
class Shim {
  public:
    explicit Shim(const std::filesystem::path& states) {
        int pipe[2];
        if (::pipe(pipe) != 0) throw std::runtime_error("pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            const pid_t child = ::fork();
            if (child != 0 && ::write(pipe[1], &child, sizeof child) != sizeof child) ::_exit(1);
            for (;;) ::pause();
        }
        if (::read(pipe[0], &program_, sizeof program_) != sizeof program_) throw std::runtime_error("no program");
        ::close(pipe[0]);
        ::close(pipe[1]);
        write_file(states / (std::to_string(program_) + ".json"), "{\"status\": \"busy\"}");
    }
    ~Shim() {
        ::kill(program_, SIGKILL);
        end();
    }
    Shim(const Shim&) = delete;
    Shim& operator=(const Shim&) = delete;

    pid_t pid() const { return pid_; }
    /// Its program outlives it.
    void end() {
        if (std::exchange(ended_, true)) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

  private:
    pid_t pid_ = 0;
    pid_t program_ = 0;
    bool ended_ = false;
};

}  // namespace

TEST_CASE("a shim that has the pid of an earlier one is not taken to have that one's program") {
    ActiveWorld world;
    const auto states = world.home() / "states";
    write_file(world.home() / "harnesses/stating.yml",
               "name: stating\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\nstate_file:\n  path: " +
                   (states / "{pid}.json").string() + "\n  key: status\n  values: {idle: [idle], busy: [busy]}\n");
    Shim shim(states);
    const auto runs_as_shim = [&](const TaskId& id) {
        auto record = world.record(id);
        auto& run = *record.run_of(Role::worker);
        run.pid = shim.pid();
        world.outside.processes.alive[run.pid].start_time = run.start_time;
        world.house().world().tasks.save(record).value();
        world.look(id);
        return world.activity(id);
    };
    const auto first = world.start("stating");
    CHECK(runs_as_shim(first) == "busy");
    CHECK(runs_as_shim(first) == "busy");
    shim.end();
    const auto second = world.start("stating");
    CHECK(runs_as_shim(second) == "unknown");
}

TEST_CASE("of tasks without agents nothing is remembered once another agent is seen") {
    ActiveWorld world;
    for (int n = 0; n < 3; ++n) {
        const auto id = world.start();
        world.look(id);
        CHECK(world.house().runner().activities.remembered() == 1);
        world.move(id, "cancelled").value();
    }
}

TEST_CASE("an executor that does not begin its agent is told to its human, and one that waits for resources is not") {
    ActiveWorld world;
    const auto id = world.start();
    const auto change = [&](const std::function<void(RunPlace&)>& what) {
        auto record = world.record(id);
        auto& place = record.runs.at(0).place;
        if (!place) place.emplace();
        place->executor = "box";
        what(*place);
        world.house().world().tasks.save(record).value();
    };
    const auto hangs_after = [&](std::chrono::minutes time) {
        world.outside.clock.pass(time);
        world.look(id);
        return engine::find_notice(world.record(id), NoticeKind::agent_hung) != nullptr;
    };
    change([](RunPlace&) {});
    CHECK_FALSE(hangs_after(9min));
    CHECK(hangs_after(2min));
    CHECK(engine::find_notice(world.record(id), NoticeKind::agent_hung)->command == "orange task attach " + id.value);
    change([&](RunPlace& place) { place.queued_since = world.outside.clock.now(); });
    CHECK_FALSE(hangs_after(60min));
    change([](RunPlace& place) { place.queued_since.reset(); });
    CHECK_FALSE(hangs_after(9min));
    CHECK(hangs_after(2min));
    // It waited while the clock was a year ahead.
    world.outside.clock.pass(24h * 366);
    change([&](RunPlace& place) { place.queued_since = world.outside.clock.now(); });
    CHECK_FALSE(hangs_after(1min));
    change([](RunPlace& place) { place.queued_since.reset(); });
    world.outside.clock.pass(-24h * 366);
    world.house().runner().activities.end_times_at(world.outside.clock.now());
    CHECK_FALSE(hangs_after(9min));
    CHECK(hangs_after(2min));
    change([&](RunPlace& place) { place.started_at = world.outside.clock.now(); });
    world.show(id, "working\n");
    CHECK_FALSE(hangs_after(1min));
}

TEST_CASE("a shim on another machine that gives no sign any more is told to its human, until it gives one") {
    ActiveWorld world;
    const auto id = world.start();
    auto record = world.record(id);
    auto& run = record.runs.at(0);
    run.place.emplace();
    run.place->executor = "slurm";
    run.place->place = "n2";
    run.place->token = "token";
    run.place->started_at = run.spawned_at;
    run.place->probe = {"echo", "orange-" + run.run.value + " SUSPENDED n2"};
    world.house().world().tasks.save(record).value();
    const auto sign = agents::Launcher::inner_folder(world.house().control().run_folder(record), run.run) / "alive";
    const auto after = [&](std::chrono::minutes time) {
        world.outside.clock.pass(time);
        world.look(id);
        return engine::find_notice(world.record(id), NoticeKind::agent_hung);
    };
    CHECK_FALSE(after(6min));  // an orange-agent that gives no signs
    write_file(sign, "1\n");
    CHECK_FALSE(after(1min));
    CHECK_FALSE(after(4min));
    const auto* notice = after(2min);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells("n2") && Tells("SUSPENDED"));
    CHECK(notice->command == "orange task restart " + id.value);
    write_file(sign, "2\n");
    CHECK_FALSE(after(1min));
}

TEST_CASE("a hung agent is told of after a restart of the daemon, too, until it shows progress") {
    ActiveWorld world;
    const auto id = world.start();
    const auto at = [&](const std::string& screen) {
        world.outside.clock.pass(4min);
        world.show(id, screen);
        world.look(id);
        return attention(world, id);
    };
    for (const char* screen : {"a.cpp\n⠋ working 1s\n", "a.cpp\n⠙ working 4m\n", "a.cpp\n⠹ working 8m\n"}) at(screen);
    CHECK_THAT(at("a.cpp\n⠹ working 12m\n"), Holds("no progress"));
    world.boot();
    world.recover();
    CHECK_THAT(at("a.cpp\n⠹ working 16m\n"), Holds("no progress"));
    CHECK(at("a.cpp\nb.cpp\n⠹ working 20m\n") == "none");
}
