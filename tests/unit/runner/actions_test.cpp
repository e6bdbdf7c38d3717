#include <signal.h>

#include <set>

#include "daemon/engine/decide.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/workflow/actions.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/unit/runner/house.hpp"

/// Each action of the vocabulary, done and then done again by a daemon that finds it in an intent: the second time
/// changes nothing. git, files and commands are real, tmux is not.
using namespace orange;
using namespace orange::test;

namespace {

/// A task with a worker in a worktree, of a repository whose origin is a GitHub that scripts play.
struct ActionWorld : RunnerWorld {
    ActionWorld() : github(programs()) {
        git.make_origin(repo(), "programs/ssh-root/acme/shop.git");
        git.plain(repo(), {"remote", "set-url", "origin", FakeGitHub::k_url});
        id = make_task("Sell lemons");
        move(id, "planning").value();
    }

    Path worktree() { return house().world().pool.path_of(*record(id).task.workspace); }
    std::string branch() { return record(id).task.branch; }
    void commit_work() { git.commit(worktree(), "lemons.txt", "yellow\n"); }

    /// The next daemon finds a transition of which these are still to be done.
    void leave_open(const std::vector<Action>& actions, const std::string& transition = "tx-1") {
        auto changed = record(id);
        Intent intent;
        intent.id = transition;
        intent.from = intent.to = changed.task.status;
        intent.by.role = Role::system;
        for (const auto& action : actions) intent.actions.push_back({action, false});
        changed.intent = intent;
        house().world().tasks.save(changed).value();
    }
    void perform(const Action& action, const std::string& transition = "tx-1") {
        leave_open({action}, transition);
        boot();
        house().go(house().runner().recovery.resume(id));
        REQUIRE_FALSE(record(id).intent);
    }

    std::string origin_refs() { return git.plain(github.origin(), {"for-each-ref"}); }

    /// Everything that an action can have an effect on, as text.
    std::map<std::string, std::string> all() {
        std::map<std::string, std::string> seen;
        seen["origin"] = origin_refs();
        seen["refs"] = git.plain(repo(), {"for-each-ref"});
        seen["worktrees"] = git.plain(repo(), {"worktree", "list", "--porcelain"});
        seen["pool"] = read_file(home() / "workspaces/.pool.json");
        seen["state"] = state_text(id);
        seen["history"] = history_text(id);
        seen["TASK.md"] = read_file(house().world().tasks.folder(record(id)) / "TASK.md");
        seen["pull requests"] = github.prs();
        for (const auto& window : outside.tmux.state.opened) seen["opened"] += window.window + "\n";
        for (const auto& ended : outside.tmux.state.killed) seen["killed"] += ended + "\n";
        for (const auto& [pid, process] : outside.processes.alive) seen["alive"] += std::to_string(pid) + "\n";
        for (const auto& [name, text] : contents(home() / "workspaces")) seen["file " + name] = text;
        return seen;
    }

    FakeGitHub github;
    TaskId id;
};

struct Row {
    Action action;
    std::function<void(ActionWorld&)> arrange;
    std::function<void(ActionWorld&)> expect;
};

Action action(const std::string& name, std::map<std::string, std::string> params = {},
              std::vector<std::string> argv = {}) {
    return {name, std::move(params), std::move(argv)};
}

void nothing(ActionWorld&) {}

void give_reviewer(ActionWorld& world) {
    world.perform(action("spawn_reviewer", {{"prompt", "reviewer"}}), "tx-0");
    REQUIRE(world.record(world.id).run_of(Role::reviewer));
}

void end_worker(ActionWorld& world) {
    world.perform(action("kill_session"), "tx-0");
    REQUIRE(world.record(world.id).runs.empty());
}

void push_and_merge(ActionWorld& world) {
    world.commit_work();
    world.perform(action("push_branch"), "tx-0");
    world.git.plain(world.repo(), {"merge", "-q", world.branch()});
    REQUIRE_THAT(world.origin_refs(), Tells(world.branch()));
}

const std::vector<Row>& rows() {
    static const std::vector<Row> table = {
        {action("acquire_workspace"),
         [](ActionWorld& world) {
             end_worker(world);
             world.perform(action("release_workspace"), "tx-00");
             REQUIRE_FALSE(world.record(world.id).task.workspace);
         },
         [](ActionWorld& world) {
             CHECK(world.record(world.id).task.workspace == "shop--1");
             CHECK(world.git.plain(world.worktree(), {"branch", "--show-current"}) == world.branch());
         }},
        {action("release_workspace"), [](ActionWorld& world) { write_file(world.worktree() / "draft", "unfinished"); },
         [](ActionWorld& world) {
             CHECK_FALSE(world.record(world.id).task.workspace);
             CHECK_FALSE(world.git.ref(world.repo(), "refs/orange/" + world.id.value + "/wip:draft").empty());
             CHECK(world.events(world.id, "workspace.released").size() == 1);
             CHECK(world.outside.processes.alive.empty());
         }},
        {action("spawn_agent", {{"prompt", "worker"}}), end_worker,
         [](ActionWorld& world) {
             CHECK(world.outside.tmux.windows_named("worker") == 2);  // the first of them is gone
             CHECK(world.outside.processes.alive.size() == 1);
         }},
        {action("spawn_agent", {{"prompt", "stuck_fix"}}), nothing,
         [](ActionWorld& world) {
             CHECK(world.outside.tmux.windows_named("worker") == 1);
             CHECK(world.record(world.id).outbox.size() == 1);
         }},
        {action("spawn_reviewer", {{"prompt", "reviewer"}}), nothing,
         [](ActionWorld& world) {
             CHECK(world.outside.tmux.windows_named("review-0") == 1);
             CHECK(world.events(world.id, "review.started").size() == 1);
         }},
        {action(std::string(engine::k_ensure_agent), {{"role", "worker"}, {"prompt", "worker_respawn"}}), end_worker,
         [](ActionWorld& world) { CHECK(world.outside.processes.alive.size() == 1); }},
        {action("kill_session"), give_reviewer,
         [](ActionWorld& world) {
             CHECK(world.outside.processes.alive.empty());
             CHECK(world.outside.tmux.state.panes.empty());
         }},
        {action("kill_reviewer"), give_reviewer,
         [](ActionWorld& world) {
             CHECK(world.outside.processes.alive.size() == 1);
             CHECK(world.record(world.id).run_of(Role::worker));
             CHECK_FALSE(world.record(world.id).run_of(Role::reviewer));
         }},
        {action("notify_worker", {{"message", "passed"}}), nothing,
         [](ActionWorld& world) { CHECK(world.record(world.id).outbox.size() == 1); }},
        {action("notify_worker", {{"message", "passed"}}), end_worker,
         [](ActionWorld& world) { CHECK(world.record(world.id).outbox.empty()); }},
        {action("notify", {{"message", "looks good"}}), nothing,
         [](ActionWorld& world) { CHECK(world.events(world.id, "notification").size() == 1); }},
        {action("spawn_next"), nothing, nothing},  // who is started, and that it is once: queue_test.cpp
        {action("push_branch"), [](ActionWorld& world) { world.commit_work(); },
         [](ActionWorld& world) {
             CHECK(world.git.ref(world.github.origin(), "refs/heads/" + world.branch()) ==
                   world.git.ref(world.repo(), "refs/heads/" + world.branch()));
         }},
        {action("create_pr"), [](ActionWorld& world) { world.commit_work(); },
         [](ActionWorld& world) {
             CHECK(world.record(world.id).task.pr_url == "https://github.com/acme/shop/pull/1");
             CHECK(world.github.prs() == "1|" + world.branch() + "|OPEN|false\n");
             CHECK(world.events(world.id, "pr.created").size() == 1);
             CHECK_THAT(world.all()["TASK.md"], Tells("https://github.com/acme/shop/pull/1"));
         }},
        {action("delete_remote_branch"), push_and_merge,
         [](ActionWorld& world) {
             CHECK_THAT(world.origin_refs(), !Holds(world.branch()));
             CHECK_FALSE(world.git.ref(world.repo(), "refs/heads/" + world.branch()).empty());
         }},
        {action("run_command", {{"timeout", "30"}}, {"/bin/sh", "-c", "pwd > where; echo \"$ORANGE_TASK\" >> where"}),
         nothing,
         [](ActionWorld& world) {
             CHECK(read_file(world.worktree() / "where") == world.worktree().string() + "\n" + world.id.value + "\n");
         }},
    };
    return table;
}

}  // namespace

TEST_CASE("An action that is done again changes nothing", "[slow]") {
    for (std::size_t i = 0; i < rows().size(); ++i) {
        const auto& row = rows()[i];
        DYNAMIC_SECTION(i << " " << row.action.name) {
            ActionWorld world;
            row.arrange(world);
            world.perform(row.action);
            CHECK(world.events(world.id, "hook.failed").empty());
            row.expect(world);
            const auto once = world.all();
            world.perform(row.action);
            CHECK(world.events(world.id, "hook.failed").empty());
            row.expect(world);
            for (const auto& [what, text] : world.all()) {
                INFO(what);
                CHECK(text == (once.contains(what) ? once.at(what) : "(not there)"));
            }
        }
    }
}

TEST_CASE("Every action that a workflow may name has a function and is tried twice, and the runner has no others") {
    // The engine adds the first one, and the end of a merge the second one.
    std::multiset<std::string> expected = {std::string(engine::k_ensure_agent), std::string(actions::k_retire_branch)};
    for (const auto& spec : workflow::action_specs()) {
        INFO(spec.name);
        // The commit sets these numbers with the new status: nothing runs.
        if (spec.name == "set_field" || spec.name == "increment") continue;
        expected.insert(spec.name);
        CHECK(std::any_of(rows().begin(), rows().end(), [&](const Row& row) { return row.action.name == spec.name; }));
    }
    std::multiset<std::string> known;
    for (const auto& entry : actions::entries()) known.insert(std::string(entry.name));
    CHECK(known == expected);
}

TEST_CASE("A number that a transition counts is counted once, wherever the daemon ends") {
    RunnerWorld world;
    write_file(world.home() / "workflows/counting.yml",
               "name: counting\nversion: 1\nstates:\n  pending: {}\n  one: {}\n  done:\n    terminal: true\n"
               "transitions:\n"
               "  - {from: pending, to: one, hooks: [{action: increment, field: rounds}, {action: set_field, field: "
               "weight, value: 7}, {action: notify}]}\n"
               "  - {from: one, to: done}\n");
    const auto id = world.make_task();
    auto record = world.record(id);
    record.task.workflow = "counting";
    record.task.counters["rounds"] = 4;
    REQUIRE(world.house().world().tasks.save(record));
    world.keep();
    world.outside.fuse.arm(fakes::Fuse::Ending::none, 0);
    REQUIRE(world.move(id, "one"));
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, n);
        try {
            (void)world.move(id, "one");
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        const bool moved = world.record(id).task.status == "one";
        CHECK(world.record(id).task.counter("rounds") == (moved ? 5 : 4));
        CHECK(world.record(id).task.counter("weight") == (moved ? 7 : 0));
    }
}

TEST_CASE("A command at its time limit is ended with everything that it started", "[slow]") {
    ActionWorld world;
    world.perform(action("run_command", {{"timeout", "1"}},
                         {"/bin/sh", "-c", "sleep 300 & echo $! > pids; echo $$ >> pids; trap '' TERM; wait; wait"}));
    const auto failed = world.events(world.id, "hook.failed");
    REQUIRE(failed.size() == 1);
    CHECK_THAT(std::get<std::string>(failed[0].fields.at("error")), Tells("1.0"));
    std::istringstream pids(read_file(world.worktree() / "pids"));
    int seen = 0;
    for (pid_t pid = 0; pids >> pid; ++seen) CHECK(eventually([&] { return ::kill(pid, 0) != 0; }));
    CHECK(seen == 2);
}

TEST_CASE("A pull request says what the task is about, and what its repository wants to know", "[github]") {
    ActionWorld world;
    world.commit_work();
    SECTION("with a template on the default branch") {
        world.git.commit(world.repo(), "PULL_REQUEST_TEMPLATE.md", "- [ ] tested\n");
        world.git.plain(world.repo(), {"push", "-q", world.github.origin(), "main"});
        world.git.plain(world.repo(), {"update-ref", "refs/remotes/origin/main", "main"});
        world.append_body(world.id, "\n## Context\nThey are sour.\n\n## Plan\nAPPROACH: secret\n");
        world.perform(action("create_pr"));
        CHECK(world.github.pull(1).at("body") == "Sell lemons\n\n## Context\n\nThey are sour.\n\n- [ ] tested\n");
        CHECK(world.github.pull(1).at("title") == "Sell lemons");
        CHECK(world.github.pull(1).at("base") == "main");
    }
    SECTION("a link in the place of a template gives nothing away") {
        std::filesystem::create_symlink("/etc/passwd", world.git.dir / "live/repo/pull_request_template.md");
        world.git.plain(world.repo(), {"add", "-A"});
        world.git.plain(world.repo(), {"commit", "-qm", "a link"});
        world.git.plain(world.repo(), {"update-ref", "refs/remotes/origin/main", "main"});
        world.perform(action("create_pr"));
        CHECK(world.github.pull(1).at("body") == "Sell lemons\n");
    }
    SECTION("no summary") {
        auto record = world.record(world.id);
        record.task.summary.clear();
        REQUIRE(world.house().world().tasks.save(record));
        world.perform(action("create_pr"));
        CHECK(world.github.pull(1).at("title") == world.branch());
    }
    CHECK(world.events(world.id, "hook.failed").empty());
}

TEST_CASE("The text of a pull request is cut where GitHub would refuse it, between characters") {
    std::string background;
    for (int i = 0; i < 40'000; ++i) background += "ü";
    const auto body = pulls::joined_body("Summary", background, "template");
    CHECK(body.size() < 61'000);
    CHECK(is_valid_utf8(body));
    CHECK_THAT(body, Holds("cut here"));
    CHECK(pulls::joined_body("", "", "") == "\n");
}

TEST_CASE("A pull request that cannot be opened is told with the way out", "[github]") {
    ActionWorld world;
    world.commit_work();
    std::string way_out;
    bool pushed = false;
    SECTION("no remote") {
        world.git.plain(world.repo(), {"remote", "remove", "origin"});
        way_out = "origin";
    }
    SECTION("not let in") {
        write_file(world.github.refuse_ssh(), "");
        way_out = "git -C " + world.repo() + " push origin " + world.branch();
    }
    SECTION("origin has other commits of the branch") {
        const auto other = world.git.plain(world.repo(), {"commit-tree", "-m", "other", "main^{tree}"});
        world.git.plain(world.repo(), {"push", "-q", world.github.origin(), other + ":refs/heads/" + world.branch()});
        way_out = "--force-with-lease";
        pushed = true;
    }
    SECTION("refused by a hook of the other side") {
        const auto hook = world.github.origin() / "hooks/pre-receive";
        write_file(hook, "#!/bin/sh\necho no lemons here >&2\nexit 1\n");
        std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
        way_out = "no lemons here";
    }
    SECTION("not logged in") {
        world.github.log_out();
        way_out = "gh auth login";
        pushed = true;
    }
    world.perform(action("create_pr"));
    const auto& attention = world.record(world.id).task.attention;
    REQUIRE(attention);
    INFO(*attention);
    CHECK_THAT(*attention, Tells("create_pr: "));  // after the news of another origin
    CHECK_THAT(*attention, Holds(way_out));
    CHECK_FALSE(world.record(world.id).task.pr_url);
    CHECK(world.github.prs().empty());
    CHECK((world.origin_refs().find(world.branch()) != std::string::npos) == pushed);
}

TEST_CASE("An action of a project that is gone is told, and changes nothing", "[slow]") {
    for (const char* name : {"acquire_workspace", "release_workspace", "spawn_agent", "push_branch", "create_pr",
                             "delete_remote_branch"}) {
        DYNAMIC_SECTION(name) {
            ActionWorld world;
            if (std::string(name) == "spawn_agent") end_worker(world);
            if (std::string(name) == "acquire_workspace") {
                end_worker(world);
                world.perform(action("release_workspace"), "tx-00");
            }
            const auto refs = world.git.plain(world.repo(), {"for-each-ref"});
            const auto opened = world.outside.tmux.state.opened.size();
            const auto workspace = world.record(world.id).task.workspace;
            world.house().world().projects.remove("shop").value();
            world.perform(action(name, {{"prompt", "worker"}}));
            CHECK_THAT(world.record(world.id).task.attention.value_or("none"), Tells("shop"));
            REQUIRE(world.events(world.id, "hook.failed").size() == 1);
            CHECK(world.events(world.id, "hook.failed")[0].fields.at("hook") == Scalar{std::string(name)});
            CHECK(world.git.plain(world.repo(), {"for-each-ref"}) == refs);
            CHECK(world.outside.tmux.state.opened.size() == opened);
            CHECK(world.record(world.id).task.workspace == workspace);
        }
    }
}

TEST_CASE("Several actions that fail are counted, and the first is named") {
    ActionWorld world;
    world.leave_open({action("fly"), action("notify"), action("swim")});
    world.boot();
    world.house().go(world.house().runner().recovery.resume(world.id));
    CHECK_THAT(attention(world, world.id), Tells("fly") && Tells("1") && Tells("orange task show " + world.id.value));
    CHECK(world.events(world.id, "hook.failed").size() == 2);
    CHECK(world.events(world.id, "notification").size() == 1);
}

TEST_CASE("An action that failed before its daemon died is told by the next one") {
    ActionWorld world;
    world.leave_open({action("fly"), action("notify")});
    world.keep();
    bool died = true;
    for (int n = 1; died; ++n) {
        INFO("step " << n);
        world.back();
        died = false;
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, n);
        try {
            world.house().go(world.house().runner().recovery.resume(world.id));
        } catch (const fakes::Killed&) {
            died = true;
        }
        world.outside.fuse.disarm();
        world.boot();
        world.house().go(world.house().runner().recovery.resume(world.id));
        CHECK_THAT(world.record(world.id).task.attention.value_or(""), Tells("fly"));
        CHECK_FALSE(world.record(world.id).intent);
        CHECK(n < 100);
    }
}

TEST_CASE("The notify action writes one event with its sentence") {
    ActionWorld world;
    world.perform(action("notify", {{"message", "looks good"}}));
    world.perform(action("notify"), "tx-2");
    const auto events = world.events(world.id, "notification");
    REQUIRE(events.size() == 2);
    CHECK(std::get<std::string>(events[0].fields.at("message")) == "looks good");
    CHECK(std::get<std::string>(events[1].fields.at("message")) == "the status is planning");
    CHECK(world.events(world.id, "hook.failed").empty());
}

TEST_CASE("A worker is told what happened in words that say what to do") {
    ActionWorld world;
    const std::map<std::string, std::string> expected = {{"passed", "passed"},
                                                         {"failed", "failed"},
                                                         {"changes_requested", "## Feedback"},
                                                         {"mind the gap", "[orange] mind the gap."}};
    for (const auto& [name, text] : expected) {
        world.perform(action("notify_worker", {{"message", name}}), "tx-" + name);
        REQUIRE_FALSE(world.record(world.id).outbox.empty());
        CHECK_THAT(world.record(world.id).outbox.back().text, Catch::StartsWith("[orange] ") && Holds(text));
    }
    CHECK(world.record(world.id).outbox.size() == 4);
}

TEST_CASE("A command that fails is told with what it said, and without a worktree runs in the task's folder") {
    ActionWorld world;
    world.perform(action("run_command", {}, {"/bin/sh", "-c", "echo no lemons >&2; exit 3"}));
    CHECK(world.record(world.id).task.attention->find("run_command: ") == 0);
    CHECK_THAT(*world.record(world.id).task.attention, Holds("no lemons"));
    world.perform(action("run_command", {}, {"/nonexistent/program"}), "tx-2");
    CHECK(world.events(world.id, "hook.failed").size() == 2);
    end_worker(world);
    world.perform(action("release_workspace"), "tx-3");
    world.perform(action("run_command", {}, {"/bin/sh", "-c", "pwd > where"}), "tx-4");
    const auto folder = world.house().world().tasks.folder(world.record(world.id));
    CHECK(read_file(folder / "where") == folder.string() + "\n");
}

TEST_CASE("No branch is deleted on a remote that there is not, nor the default one, nor one that is not merged") {
    ActionWorld world;
    world.commit_work();
    world.perform(action("push_branch"), "tx-0");
    const auto refs = world.origin_refs();
    SECTION("not merged") {
        world.perform(action("delete_remote_branch"));
        CHECK(world.record(world.id).task.attention->find("delete_remote_branch: ") == 0);
    }
    SECTION("the default branch") {
        auto record = world.record(world.id);
        record.task.branch = "main";
        world.house().world().tasks.save(record).value();
        world.perform(action("delete_remote_branch"));
        CHECK(world.events(world.id, "hook.failed").empty());
    }
    SECTION("no remote") {
        world.git.plain(world.repo(), {"remote", "remove", "origin"});
        world.perform(action("delete_remote_branch"));
        CHECK(world.events(world.id, "hook.failed").empty());
    }
    CHECK(world.origin_refs() == refs);
}

TEST_CASE("A branch that an agent has renamed without a word is the task's when its workspace is released") {
    ActionWorld world;
    const auto before = world.record(world.id).task.branch;
    SECTION("renamed") {
        world.git.plain(world.worktree(), {"branch", "-m", "fix/total"});
        world.perform(action("release_workspace"));
        CHECK(world.record(world.id).task.branch == "fix/total");
        CHECK(world.events(world.id, "branch.changed").size() == 1);
    }
    SECTION("on another, while its own is there") {
        world.git.plain(world.worktree(), {"switch", "-q", "-c", "fix/total"});
        world.perform(action("release_workspace"));
        CHECK(world.record(world.id).task.branch == before);
        CHECK(world.events(world.id, "branch.changed").empty());
    }
    CHECK(world.events(world.id, "hook.failed").empty());
}

TEST_CASE("Commits that no branch has are kept under a name when their workspace is released") {
    ActionWorld world;
    world.git.plain(world.worktree(), {"switch", "-q", "--detach"});
    const auto lost = world.git.commit(world.worktree(), "lost.txt", "found\n");
    world.perform(action("release_workspace"));
    CHECK(world.events(world.id, "hook.failed").empty());
    const auto snapshots = world.events(world.id, "workspace.snapshot");
    REQUIRE_FALSE(snapshots.empty());
    bool kept = false;
    for (const auto& event : snapshots) {
        kept = kept || world.git.ref(world.repo(), std::get<std::string>(event.fields.at("ref"))) == lost;
    }
    CHECK(kept);
}
