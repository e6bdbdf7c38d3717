#include "daemon/runner/checks/previews.hpp"

#include "common/base/text.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/support/local_listener.hpp"
#include "tests/unit/runner/changes.hpp"

/// A human tries the work of a task: real processes in real worktrees. The test listens on the port in place of the
/// command, so that no test needs a program with a server.
using namespace orange;
using namespace orange::test;

namespace {

/// Keeps a command running until it is told to end.
constexpr const char* k_stays = "; while :; do sleep 0.1; done";

struct TriedTask {
    TriedTask() {
        world.outside.settings.port_base = free_ports(2 * k_ports_each);
        world.boot();
        (void)world.draft("makes the project", 2);
        id = ready_to_merge(world);
        tree = world.home() / "workspaces/shop--1";
    }

    Previews& previews() { return world.house().runner().previews; }
    void dev(const std::string& script) {
        auto project = shop(world);
        project.dev = {"sh", "-c", script};
        world.house().world().projects.put(project).value();
    }
    /// Runs the coroutine to its end, while what is tried goes on: House::go() waits for that, too.
    template <class T>
    T within(Awaitable<T> coroutine) {
        std::optional<T> result;
        world.house().begin(std::move(coroutine), result);
        until([&] { return result.has_value(); });
        return std::move(*result);
    }
    Result<std::vector<std::string>> start(const TaskId& task) { return within(previews().start(task)); }
    Result<std::vector<std::string>> start() { return start(id); }
    Error refused() {
        const auto started = start();
        REQUIRE_FALSE(started);
        CHECK(previews().of(id) == nullptr);
        return started.error();
    }
    bool end(const TaskId& task) { return within(previews().end(task)); }
    bool end() { return end(id); }
    Preview preview(const TaskId& task) {
        const auto* known = previews().of(task);
        return known != nullptr ? *known : Preview{"none", {}, 0, {}, {}, {}, {}};
    }
    Preview preview() { return preview(id); }
    std::string output() { return previews().output_of(id, 100, std::nullopt).text; }
    void until(const std::function<bool()>& holds) {
        auto& io = world.house().io;
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!holds() && std::chrono::steady_clock::now() < patience) {
            io.restart();
            io.run_for(std::chrono::milliseconds(5));
        }
        INFO("its state is " << preview().state << ", its output " << output());
        REQUIRE(holds());
    }
    /// The command has written the pid of a process.
    std::int64_t pid_in(const std::string& name) {
        until([&] { return std::filesystem::exists(file(name)) && read_file(file(name)).ends_with('\n'); });
        return std::stoll(read_file(file(name)));
    }
    std::filesystem::path file(const std::string& name) { return world.home().parent_path() / name; }
    std::string needed() { return needs_of(world.house().runner(), world.record(id)).text; }

    RunnerWorld world;
    TaskId id;
    std::filesystem::path tree;
};

}  // namespace

TEST_CASE("a tried command starts until something listens on its port, and then its URL is in the task's need") {
    TriedTask f;
    f.dev(std::string("echo port $ORANGE_PORT in $(pwd)") + k_stays);
    REQUIRE(f.start());
    f.until([&] { return f.output().ends_with('\n'); });
    CHECK(f.preview().state == "starting");
    CHECK(f.preview().url.empty());
    const auto port = f.preview().port;
    CHECK(port == f.world.outside.settings.port_base);
    CHECK(f.output() == "port " + std::to_string(port) + " in " + std::filesystem::canonical(f.tree).string() + "\n");
    const auto url = "http://localhost:" + std::to_string(port);
    CHECK_THAT(f.needed(), !Holds(url));
    const LocalListener server(port);
    f.until([&] { return f.preview().state == "running"; });
    CHECK(f.preview().url == url);
    CHECK_THAT(f.needed(), Holds(url));
    const auto since = f.preview().since;
    CHECK(f.start());  // it runs already
    CHECK(f.preview().since == since);
    CHECK(f.end());
    CHECK(f.preview().state == "ended");
    CHECK(f.preview().url.empty());
    CHECK_FALSE(f.preview().exit_status);
    CHECK_THAT(f.needed(), !Holds(url));
    CHECK_FALSE(f.end());
    CHECK(f.world.events(f.id, "preview.started").empty());  // those are for whoever listens
}

TEST_CASE("a tried command that prints its own URL runs when something listens there") {
    TriedTask f;
    const auto port = f.world.outside.settings.port_base + 3;
    const auto url = "http://127.0.0.1:" + std::to_string(port) + "/app/";
    f.dev("echo ready at " + url + k_stays);
    REQUIRE(f.start());
    f.until([&] { return f.output().ends_with('\n'); });
    CHECK(f.preview().state == "starting");
    const LocalListener server(port);
    f.until([&] { return f.preview().state == "running"; });
    CHECK(f.preview().url == url);
    CHECK(f.end());
}

TEST_CASE("a tried command that dies has its status and its last lines, and can be started again") {
    TriedTask f;
    f.dev("echo first; printf '\\033[31mred\\033[0m\\n'; echo broken >&2; exit 3");
    REQUIRE(f.start());
    f.until([&] { return f.preview().state == "ended"; });
    CHECK(f.preview().exit_status == 3);
    CHECK(f.output() == "first\nred\nbroken\n");
    CHECK(f.previews().output_of(f.id, 1, std::nullopt).text == "broken\n");
    CHECK(f.previews().output_of(f.id, 1, 6).text == "red\nbroken\n");
    CHECK_FALSE(f.previews().any_running());
    f.dev("exec no-such-program-at-all");
    REQUIRE(f.start());
    f.until([&] { return f.preview().state == "ended"; });
    CHECK(f.preview().exit_status == 127);
    CHECK_THAT(f.output(), !Holds("first"));
}

TEST_CASE("a tried command that is no program has ended, and says why") {
    TriedTask f;
    auto project = shop(f.world);
    project.dev = {"no-such-program-at-all"};
    f.world.house().world().projects.put(project).value();
    REQUIRE(f.start());
    f.until([&] { return f.preview().state == "ended"; });
    CHECK(f.preview().exit_status == 127);
    CHECK_THAT(f.preview().why, Holds("no-such-program-at-all"));
}

TEST_CASE("what a tried command leaves in the background ends with it") {
    TriedTask f;
    f.dev("sleep 300 & echo $! >'" + f.file("pid").string() + "'; exit 0");
    REQUIRE(f.start());
    const auto pid = f.pid_in("pid");
    f.until([&] { return f.preview().state == "ended"; });
    CHECK(f.preview().exit_status == 0);
    CHECK_FALSE(process::start_time(pid));
}

TEST_CASE("a tried command is ended with its children, also if it ignores that") {
    TriedTask f;
    f.dev("trap '' TERM; sleep 300 & echo $! >'" + f.file("pid").string() + "'" + k_stays);
    REQUIRE(f.start());
    const auto pid = f.pid_in("pid");
    CHECK(process::start_time(pid));
    CHECK(f.end());
    CHECK_FALSE(process::start_time(pid));
}

TEST_CASE("the work of two tasks is tried at once, each on its own port") {
    TriedTask f;
    const auto other = ready_to_merge(f.world);
    f.dev(std::string("echo $ORANGE_PORT") + k_stays);
    REQUIRE(f.start());
    REQUIRE(f.start(other));
    CHECK(f.preview(other).port == f.preview().port + k_ports_each);
    const LocalListener server(f.preview(other).port);
    f.until([&] { return f.preview(other).state == "running"; });
    CHECK(f.preview().state == "starting");
    CHECK(f.end());
    CHECK(f.preview(other).state == "running");
    CHECK(f.end(other));
}

TEST_CASE("a tried command ends with its task, before the workspace is released") {
    TriedTask f;
    f.dev("echo $$ >'" + f.file("pid").string() + "'" + k_stays);
    REQUIRE(f.start());
    const auto pid = f.pid_in("pid");
    REQUIRE(f.world.move(f.id, "cancelled"));
    CHECK_FALSE(f.world.record(f.id).task.workspace);
    CHECK_FALSE(process::start_time(pid));
    f.until([&] { return f.previews().of(f.id) == nullptr; });
    CHECK(f.refused().code == ErrorCode::conflict);
}

TEST_CASE("a workspace that is released outside of a transition ends what is tried there first") {
    TriedTask f;
    f.dev("echo $$ >'" + f.file("pid").string() + "'" + k_stays);
    REQUIRE(f.start());
    const auto pid = f.pid_in("pid");
    const auto released =
        f.world.house().go(f.world.house().world().pool.release(shop(f.world), f.world.record(f.id).task));
    REQUIRE(released);
    CHECK_FALSE(process::start_time(pid));
    CHECK(f.preview().state == "ended");
}

TEST_CASE("nothing is tried without a command, a workspace or a free port, and the refusal says what to do") {
    TriedTask f;
    auto error = f.refused();
    CHECK(error.code == ErrorCode::conflict);
    CHECK_THAT(error.message, Tells("orange project update shop --dev npm run dev"));
    f.dev(std::string("true") + k_stays);
    const auto pending = f.world.make_task("later", 2);
    const auto started = f.start(pending);
    REQUIRE_FALSE(started);
    CHECK(started.error().code == ErrorCode::conflict);
    CHECK_THAT(started.error().message, Tells("orange task why " + pending.value));
    const auto port = f.world.outside.settings.port_base;
    const LocalListener server(port);
    error = f.refused();
    CHECK(error.code == ErrorCode::conflict);
    CHECK_THAT(error.message, Tells(std::to_string(port)));
}

TEST_CASE("the repository's own command is tried only if a human has agreed to its text") {
    TriedTask f;
    const auto file = f.tree / ".orange/dev";
    std::filesystem::create_directories(file.parent_path());
    write_file(file, "#!/bin/sh\necho its own\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    CHECK_THAT(f.refused().message, Tells("orange harness trust .orange/dev"));
    auto project = shop(f.world);
    project.trusted = {git::repository_command(f.tree.string(), ".orange/dev")->consent()};
    f.world.house().world().projects.put(project).value();
    REQUIRE(f.start());
    f.until([&] { return f.preview().state == "ended"; });
    CHECK(f.output() == "its own\n");
    write_file(file, "#!/bin/sh\necho another\n");
    const auto again = f.start();
    REQUIRE_FALSE(again);
    CHECK_THAT(again.error().message, Tells("orange harness trust .orange/dev"));
}

TEST_CASE("checks in the worktree do not end what is tried there") {
    TriedTask f;
    std::filesystem::remove(f.tree / "untracked");
    f.dev("echo $$ >'" + f.file("pid").string() + "'" + k_stays);
    auto project = shop(f.world);
    project.settings.checks = std::vector<std::vector<std::string>>{{"true"}};
    f.world.house().world().projects.put(project).value();
    REQUIRE(f.start());
    const auto pid = f.pid_in("pid");
    const auto checked = f.within(f.world.house().runner().checks.run(f.id, CheckOrder{}));
    REQUIRE(checked);
    CHECK(checked->passed());
    CHECK(process::start_time(pid));
    CHECK(f.preview().state == "starting");
    CHECK(f.end());
}

TEST_CASE("a try that begins does not end the checks that run in the worktree") {
    TriedTask f;
    std::filesystem::remove(f.tree / "untracked");
    f.dev(std::string("true") + k_stays);
    const auto go_on = f.file("go-on").string();
    auto project = shop(f.world);
    project.settings.checks = std::vector<std::vector<std::string>>{
        {"sh", "-c", "echo $$ >'" + f.file("pid").string() + "'; while [ ! -e '" + go_on + "' ]; do sleep 0.02; done"}};
    f.world.house().world().projects.put(project).value();
    std::optional<Result<CheckReport>> checked;
    f.world.house().begin(f.world.house().runner().checks.run(f.id, CheckOrder{}), checked);
    const auto pid = f.pid_in("pid");
    REQUIRE(f.start());
    CHECK(process::start_time(pid));
    write_file(go_on, "");
    f.until([&] { return checked.has_value(); });
    REQUIRE(*checked);
    CHECK((*checked)->passed());
    CHECK(f.preview().state == "starting");
    CHECK(f.end());
}

TEST_CASE("nobody waits for a tried command once its client is gone") {
    TriedTask f;
    f.dev(std::string("true") + k_stays);
    REQUIRE(f.start());
    auto& house = f.world.house();
    const auto waiter = std::make_shared<Previews::Waiter>(house.world().executor);
    std::optional<bool> is_over;
    const auto waiting = [](Previews& previews, TaskId id, std::shared_ptr<Previews::Waiter> by) -> Awaitable<bool> {
        co_await previews.wait(std::move(id), std::nullopt, std::move(by));
        co_return true;
    };
    house.begin(waiting(f.previews(), f.id, waiter), is_over);
    house.io.run_for(std::chrono::milliseconds(50));
    CHECK_FALSE(is_over);
    waiter->is_gone = true;
    waiter->woken.notify();
    f.until([&] { return is_over.has_value(); });
    CHECK(f.preview().state == "starting");
    CHECK(f.end());
}

TEST_CASE("a try first ends what it left under a killed daemon, and can be stopped meanwhile") {
    TriedTask f;
    f.dev("touch '" + f.file("begun").string() + "'" + k_stays);
    auto& house = f.world.house();
    const auto own = house.world().pool.mark();
    Command left;
    left.argv = {"sh", "-c", "echo $$ >'" + f.file("pid").string() + "'; exec sleep 300"};
    left.env = house.world().base_environment;
    (*left.env)[process::k_daemon_variable] = own.substr(0, own.rfind('@')) + "@killed/try-" + f.id.value;
    std::optional<Result<Completed>> is_left;
    house.begin(house.world().processes.run(std::move(left)), is_left);
    const auto pid = f.pid_in("pid");
    std::optional<Result<std::vector<std::string>>> started;
    house.begin(f.previews().start(f.id), started);
    CHECK(f.end());
    f.until([&] { return started.has_value() && is_left.has_value(); });
    CHECK_FALSE(*started);
    CHECK(f.previews().of(f.id) == nullptr);
    CHECK_FALSE(process::start_time(pid));
    CHECK_FALSE(std::filesystem::exists(f.file("begun")));
}

TEST_CASE("of the output of a tried command the last part is kept") {
    TriedTask f;
    f.dev(std::string("seq 1 100000; echo the end") + k_stays);
    REQUIRE(f.start());
    f.until([&] { return f.output().ends_with("the end\n"); });
    const auto kept = f.previews().output_of(f.id, 100'000, std::nullopt);
    CHECK(kept.text.size() <= std::size_t{128} << 10);
    CHECK(kept.printed > 500'000);
    CHECK(f.previews().output_of(f.id, 0, kept.printed).text.empty());
    CHECK(f.previews().output_of(f.id, 0, kept.printed + 1000).text.empty());
    CHECK(f.previews().output_of(f.id, 0, -5).text == kept.text);
    CHECK(f.end());
}

TEST_CASE("a daemon that ends tells what is tried to end, and starts no more") {
    TriedTask f;
    f.dev(std::string("true") + k_stays);
    REQUIRE(f.start());
    CHECK(f.previews().any_running());
    f.previews().stop_all();
    f.until([&] { return !f.previews().any_running(); });
    CHECK_FALSE(f.start());
}
