// The conditions of a merge, the state that a failed merge leaves, and the end of a merge whose daemon was killed.
#include <sys/stat.h>

#include "daemon/engine/notices.hpp"
#include "daemon/git/worktrees.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::ChildFault;

namespace {

/// A reviewed task in a project with a remote.
struct Fixture {
    explicit Fixture(bool with_origin = true) {
        if (with_origin) origin = world.git.make_origin(world.repo(), "live/origin.git");
        id = ready_to_merge(world);
        branch = world.record(id).task.branch;
        tree = world.home() / "workspaces/shop--1";
        tip = world.git.ref(world.repo(), "refs/heads/" + branch);
    }

    Result<MergeOutcome> merge(MergeOrder order = {}) {
        return world.house().go(world.house().runner().merges.merge(id, std::move(order), a_human()));
    }
    Result<Outcome> cancel(bool force = false) {
        engine::Request request;
        request.to = "cancelled";
        request.force = force;
        return world.house().go(world.house().runner().requests.move(id, request, a_human(), Edit{}));
    }
    Error refused(ErrorCode code, MergeOrder order = {}) {
        const auto merged = merge(std::move(order));
        REQUIRE_FALSE(merged);
        INFO(merged.error().message);
        CHECK(merged.error().code == code);
        CHECK(world.record(id).task.status == "reviewing");
        CHECK(world.events(id, "task.merged").empty());
        return merged.error();
    }
    std::string at_origin() { return world.git.ref(origin, "refs/heads/main"); }
    std::string here(const std::string& ref) { return world.git.ref(world.repo(), ref); }
    MergePhase phase() { return world.record(id).merge->phase; }
    std::filesystem::path clone() {
        const auto other = world.git.dir / "other";
        if (!std::filesystem::exists(other))
            world.git.plain(world.git.dir.path, {"clone", "-q", origin, other.string()});
        return other;
    }
    void hook(const std::string& name, const std::string& text) {
        write_file(origin + "/hooks/" + name, "#!/bin/sh\n" + text);
        ::chmod((origin + "/hooks/" + name).c_str(), 0755);
    }
    /// The daemon ends when it has run its first `git <what>` of a merge; the next one is there.
    void killed_at(const std::string& what) {
        for (int n = 1; n < 200; ++n) {
            world.back();
            world.outside.children.arm(ChildFault::ends_the_daemon_after, n);
            try {
                (void)merge();
            } catch (const fakes::Killed&) {
            }
            const bool there = world.outside.children.last == what;
            world.outside.children.disarm();
            world.boot();
            if (there) return;
        }
        FAIL("no git " << what);
    }

    RunnerWorld world;
    std::string origin, branch, tip;
    std::filesystem::path tree;
    TaskId id;
};

}  // namespace

TEST_CASE("a merge with a remote is remembered to its end, and deletes the branch that it keeps as a ref") {
    Fixture f;
    const auto merged = f.merge();
    REQUIRE(merged);
    CHECK(merged->pushed);
    CHECK(f.at_origin() == merged->commit);
    CHECK(f.here("refs/heads/main") == merged->commit);
    CHECK(f.here("refs/heads/" + f.branch).empty());
    CHECK(f.here("refs/orange/" + f.id.value + "/merged") == f.tip);
    CHECK(f.phase() == MergePhase::done);
    const auto told = f.world.events(f.id, "task.merged");
    REQUIRE(told.size() == 1);
    CHECK(told[0].fields.at("commit") == Scalar{merged->commit});
    CHECK(told[0].fields.at("pushed") == Scalar{true});
    CHECK_FALSE(told[0].fields.contains("forced"));
    // The same command again is a success that does nothing.
    const auto again = f.merge();
    REQUIRE(again);
    CHECK(again->commit == merged->commit);
    CHECK(f.world.events(f.id, "task.merged").size() == 1);
}

TEST_CASE("a project that is removed from projects.json while a merge waits leaves a merge that is refused or done") {
    int refused = 0;
    for (int waits = 0; waits < 8; ++waits) {
        INFO(waits);
        Fixture f;
        auto& world = f.world.house().world();
        async::spawn(world.executor, "edit", [](World& there, int n) -> Awaitable<void> {
            for (int i = 0; i < n; ++i) co_await async::yield();
            write_file(there.paths.projects(), "[]");
            (void)there.projects.refresh();
        }(world, waits));
        const auto merged = f.merge();
        if (merged) continue;
        ++refused;
        CHECK(merged.error().code == ErrorCode::not_found);
        CHECK(f.here("refs/heads/" + f.branch) == f.tip);
    }
    CHECK(refused > 0);
}

TEST_CASE("a merge does what the project's settings say, unless the order says otherwise") {
    Fixture f;
    const auto before = f.at_origin();
    f.world.house().world().settings.project_defaults.push = false;
    auto project = *f.world.house().world().projects.find("shop");
    project.settings.keep_branch = true;
    f.world.house().world().projects.put(project).value();
    SECTION("as the settings say") {
        const auto merged = f.merge();
        REQUIRE(merged);
        CHECK_FALSE(merged->pushed);
        CHECK_THAT(join(merged->notes, "\n"), Tells("push") && Tells("shop"));
        CHECK(f.at_origin() == before);
        CHECK(f.here("refs/heads/main") == merged->commit);
        CHECK(f.here("refs/heads/" + f.branch) == f.tip);
    }
    SECTION("otherwise") {
        MergeOrder order;
        order.push = true;
        order.keep_branch = false;
        const auto merged = f.merge(order);
        REQUIRE(merged);
        CHECK(merged->pushed);
        CHECK(f.at_origin() == merged->commit);
        CHECK(f.here("refs/heads/" + f.branch).empty());
    }
    SECTION("the project before config.yml") {
        project.settings.push = true;
        f.world.house().world().projects.put(project).value();
        CHECK(f.merge().value().pushed);
    }
}

TEST_CASE("what is to be kept, not pushed, or pushed with it, is as asked for", "[slow]") {
    Fixture f;
    const auto before = f.at_origin();
    MergeOrder order;
    SECTION("the branch") {
        order.keep_branch = true;
        REQUIRE(f.merge(order));
        CHECK(f.here("refs/heads/" + f.branch) == f.tip);
    }
    SECTION("only here") {
        order.push = false;
        const auto merged = f.merge(order);
        REQUIRE(merged);
        CHECK_FALSE(merged->pushed);
        CHECK(f.at_origin() == before);
        CHECK(f.here("refs/heads/main") == merged->commit);
        CHECK(f.phase() == MergePhase::done);
    }
    SECTION("the user's own commits stay out") {
        const auto mine = f.world.git.commit(f.world.repo(), "mine", "m\n");
        const auto merged = f.merge();
        REQUIRE(merged);
        CHECK(f.here(merged->commit + "^1") == before);
        CHECK(f.here("refs/heads/main") == mine);
        CHECK_THAT(join(merged->notes, "\n"), Tells("main") && Tells("1"));
        CHECK_THAT(join(merged->notes, "\n"), Tells("--rebase"));
    }
    SECTION("the user's own commits go along") {
        const auto mine = f.world.git.commit(f.world.repo(), "mine", "m\n");
        order.include_unpushed = true;
        const auto merged = f.merge(order);
        REQUIRE(merged);
        CHECK(f.here(merged->commit + "^1") == mine);
        CHECK(f.at_origin() == merged->commit);
    }
}

TEST_CASE("whatever a human has to look at first is confirmed with force, and the merge says so", "[slow]") {
    Fixture f;
    std::string fact;
    auto record = f.world.record(f.id);
    SECTION("commits after the review") {
        f.world.git.commit(f.tree, "late", "l\n");
        fact = f.tip.substr(0, 12);
    }
    SECTION("another branch") {
        f.world.git.plain(f.tree, {"reset", "-q", "--hard", "main"});
        f.world.git.commit(f.tree, "other", "o\n");
        fact = f.tip.substr(0, 12);
    }
    SECTION("an open warning, as of an unverified review or a failed hook") {
        look_at(record, "run_command: make test failed\nand more");
        f.world.house().world().tasks.save(record).value();
        fact = "run_command: make test failed";
    }
    const auto tip = f.here("refs/heads/" + f.branch);
    const auto error = f.refused(ErrorCode::needs_force);
    CHECK_THAT(error.message, Holds(fact));
    CHECK_THAT(error.message, Tells("orange task merge " + f.id.value + " --force"));
    CHECK_FALSE(error.details.at("question").empty());
    CHECK(error.details.at("tip") == tip);
    const auto why = f.world.house().go(f.world.house().runner().merges.check(f.world.record(f.id)));
    REQUIRE_FALSE(why);
    CHECK(why.error().message == error.message);
    auto order = forced_order();
    order.tip = std::string(40, 'a');
    CHECK_THAT(f.refused(ErrorCode::conflict, order).message, Tells(tip.substr(0, 12)));
    order.tip = tip;
    const auto merged = f.merge(order);
    REQUIRE(merged);
    CHECK_THAT(merged->forced, Holds(fact));
    CHECK(f.world.events(f.id, "task.merged")[0].fields.at("forced") == Scalar{merged->forced});
    CHECK_THAT(f.world.git.plain(f.world.repo(), {"log", "-1", "--format=%(trailers:key=Forced)", "main"}),
               Holds(fact));
}

TEST_CASE("work on another branch than the task's is named at the handover, and never left out of a merge") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "relay");
    world.move(id, "working").value();
    const auto tree = world.home() / "workspaces/shop--1";
    const auto own = world.record(id).task.branch;
    world.git.commit(tree, "one", "1\n");
    std::string command;
    SECTION("it has switched to a branch that it made") {
        world.git.plain(tree, {"switch", "-q", "-c", "my-own"});
        world.git.commit(tree, "two", "2\n");
        command = "orange task update " + id.value + " --branch my-own";
    }
    SECTION("it has renamed the branch") {
        world.git.plain(tree, {"branch", "-m", "better-name"});
        command = "orange task update " + id.value + " --branch better-name";
    }
    SECTION("HEAD is on no branch") {
        world.git.plain(tree, {"switch", "-q", "--detach"});
        world.git.commit(tree, "two", "2\n");
        command = "git -C " + tree.string() + " switch -C " + own;
    }
    SECTION("HEAD is on no branch, and lacks a commit of the task's") {
        world.git.plain(tree, {"switch", "-q", "--detach", "HEAD^"});
        world.git.commit(tree, "two", "2\n");
        command = "git -C " + tree.string() + " switch -c " + own + "-2 && orange task update " + id.value +
                  " --branch " + own + "-2";
    }
    const auto seen = world.git.plain(tree, {"rev-parse", "HEAD"});
    world.append_body(id, "\n## Handoff\nall of it\n");
    const auto handed_over = world.move(id, "agent-review").value();
    REQUIRE_FALSE(handed_over.notes.empty());
    CHECK_THAT(handed_over.notes.front(), Tells(command));
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    const auto record = world.record(id);
    const auto* notice = engine::find_notice(record, NoticeKind::other_branch);
    REQUIRE(notice);
    CHECK(notice->command == command);

    auto& runner = world.house().runner();
    const auto main = world.git.ref(world.repo(), "main");
    for (const auto& order : {MergeOrder{}, forced_order()}) {
        const auto refused = world.house().go(runner.merges.merge(id, order, a_human()));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
        CHECK_THAT(refused.error().message, Tells(command));
        CHECK(world.record(id).task.status == "reviewing");
        CHECK(world.git.ref(world.repo(), "main") == main);
    }
    Edit edit;
    if (command.starts_with("git ")) {  // what it says
        world.git.plain(tree, {"switch", "-q", command.find(" -C " + own) == std::string::npos ? "-c" : "-C",
                               command.find(own + "-2") == std::string::npos ? own : own + "-2"});
    }
    edit.branch = world.git.plain(tree, {"branch", "--show-current"});
    world.house().go(runner.requests.edit(id, edit, a_human())).value();
    CHECK(engine::find_notice(world.record(id), NoticeKind::other_branch) == nullptr);
    world.house().go(runner.merges.merge(id, forced_order(), a_human())).value();
    CHECK(world.record(id).task.status == "done");
    CHECK(world.git.plain(world.repo(), {"merge-base", seen, "main"}) == seen);
}

TEST_CASE("a worktree whose HEAD left the task's branch without a commit is merged as before") {
    Fixture f;
    f.world.git.plain(f.tree, {"switch", "-q", "--detach"});
    f.merge().value();
    CHECK(f.world.record(f.id).task.status == "done");
}

TEST_CASE("a branch without a commit of its own is not taken for merged work") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "relay");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    auto& runner = world.house().runner();
    const auto main = world.git.ref(world.repo(), "main");
    const auto refused = world.house().go(runner.merges.merge(id, MergeOrder{}, a_human()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    CHECK_THAT(refused.error().message, Tells("orange task cancel " + id.value));
    const auto forced = world.house().go(runner.merges.merge(id, forced_order(), a_human()));
    REQUIRE(forced);
    CHECK(world.record(id).task.status == "done");
    CHECK(world.git.ref(world.repo(), "main") == main);
}

TEST_CASE("a branch that is at a commit of the target's own is not taken for merged work") {
    Fixture f;
    f.world.git.commit(f.clone(), "theirs", "t\n");
    f.world.git.plain(f.clone(), {"push", "-q", "origin", "main"});
    f.world.git.plain(f.tree, {"fetch", "-q", "origin"});
    f.world.git.plain(f.tree, {"reset", "-q", "--hard", "origin/main"});
    const auto before = f.at_origin();
    const auto refused = f.refused(ErrorCode::needs_force);
    CHECK_FALSE(refused.details.at("question").empty());
    const auto merged = f.merge(forced_order());
    REQUIRE(merged);
    CHECK(merged->elsewhere);
    CHECK_FALSE(merged->forced.empty());
    CHECK(f.at_origin() == before);
}

TEST_CASE("a branch to which the user has fast-forwarded the target is merged work") {
    Fixture f;
    f.world.git.plain(f.world.repo(), {"merge", "-q", "--ff-only", f.branch});
    f.world.git.plain(f.world.repo(), {"push", "-q", "origin", "main"});
    const auto merged = f.merge();
    REQUIRE(merged);
    CHECK(merged->elsewhere);
    CHECK(merged->commit == f.tip);
    CHECK(merged->forced.empty());
    CHECK(f.world.record(f.id).task.status == "done");
}

TEST_CASE("a merge that cannot be signed is asked about before it is pushed") {
    Fixture f;
    f.world.git.plain(f.world.repo(), {"config", "--global", "commit.gpgsign", "true"});
    f.world.git.plain(f.world.repo(), {"config", "--global", "gpg.program", "/bin/false"});
    const auto before = f.at_origin();
    CHECK_FALSE(f.refused(ErrorCode::needs_force).details.at("question").empty());
    CHECK(f.at_origin() == before);
    const auto merged = f.merge(forced_order());
    REQUIRE(merged);
    CHECK(f.at_origin() == merged->commit);
    CHECK_FALSE(merged->notes.empty());
}

TEST_CASE("a repository whose core.bare was set is not merged into, so that its checkout is not left behind") {
    Fixture f;
    f.world.git.plain(f.world.repo(), {"config", "core.bare", "true"});
    const auto before = f.at_origin(), main = f.here("refs/heads/main");
    CHECK_THAT(f.refused(ErrorCode::conflict, forced_order()).message, Tells("core.bare"));
    CHECK(f.at_origin() == before);
    CHECK(f.here("refs/heads/main") == main);
}

TEST_CASE("what is merged here alone leaves origin's branch, and publishes nothing of the user's", "[slow]") {
    Fixture f;
    f.world.git.plain(f.tree, {"push", "-q", "origin", f.branch});
    const auto before = f.at_origin();
    MergeOrder local;
    local.push = false;
    SECTION("by Orange") {
        REQUIRE(f.merge(local));
        CHECK_FALSE(f.world.git.ref(f.origin, "refs/heads/" + f.branch).empty());
    }
    SECTION("by hand, on top of commits that are the user's: it is no merge of Orange's") {
        f.world.git.commit(f.world.repo(), "private", "p\n");
        f.world.git.plain(f.world.repo(), {"merge", "-q", "--no-ff", "-m", "by hand", f.branch});
        const auto merged = f.merge(local);
        REQUIRE(merged);
        CHECK(merged->elsewhere);
        const auto record = f.world.record(f.id);
        CHECK(record.merge->elsewhere);
        const auto next = ready_to_merge(f.world);
        const auto published = f.world.house().go(f.world.house().runner().merges.merge(next, MergeOrder{}, a_human()));
        REQUIRE(published);
        CHECK(f.here(published->commit + "^1") == before);
    }
}

TEST_CASE("work that somebody merged elsewhere ends its task, without another merge") {
    Fixture f;
    const auto other = f.clone();
    f.world.git.plain(f.tree, {"push", "-q", "origin", f.branch});
    f.world.git.plain(other, {"fetch", "-q"});
    SECTION("as a squash, and the file changed again") {
        f.world.git.plain(other, {"merge", "-q", "--squash", "origin/" + f.branch});
        f.world.git.plain(other, {"commit", "-qm", "squashed"});
        f.world.git.plain(other, {"tag", "brought"});
        f.world.git.commit(other, "feature", "it, and more\n");
    }
    SECTION("as a merge") {
        f.world.git.plain(other, {"merge", "-q", "--no-ff", "-m", "theirs", "origin/" + f.branch});
        f.world.git.plain(other, {"tag", "brought"});
    }
    f.world.git.plain(other, {"push", "-q", "origin", "main"});
    const auto before = f.at_origin();
    const auto merged = f.merge();
    REQUIRE(merged);
    CHECK(merged->elsewhere);
    CHECK_FALSE(merged->pushed);
    CHECK(merged->commit == f.world.git.ref(other, "brought"));
    CHECK(f.at_origin() == before);
    CHECK(f.here("refs/heads/main") == before);
    CHECK(f.world.git.ref(f.origin, "refs/heads/" + f.branch).empty());
    CHECK(f.here("refs/heads/" + f.branch).empty());
    CHECK(f.world.record(f.id).task.status == "done");
    CHECK_FALSE(f.world.record(f.id).task.attention);
    CHECK(f.world.events(f.id, "task.merged")[0].fields.at("elsewhere") == Scalar{true});
}

TEST_CASE("a conflict names the next step, and list and why show it until the next try") {
    Fixture f(false);
    f.world.git.commit(f.world.repo(), "feature", "another\n");
    const auto main = f.here("main");
    const auto error = f.refused(ErrorCode::conflict);
    CHECK(error.details.at("files") == "feature");
    CHECK_THAT(error.message, Tells(error.details.at("command")));
    CHECK(f.here("main") == main);
    CHECK(f.phase() == MergePhase::failed);
    CHECK(f.world.record(f.id).task.attention == error.message);
    CHECK_FALSE(std::filesystem::exists(f.world.home() / ("workspaces/.merge-" + f.id.value)));
    // What it failed for is not asked about again: it is found out.
    f.world.git.plain(f.world.repo(), {"reset", "-q", "--hard", "HEAD~1"});
    REQUIRE(f.merge());
    CHECK_FALSE(f.world.record(f.id).task.attention);
}

TEST_CASE("a protected branch is one line with origin's reason, and nothing has changed") {
    Fixture f;
    f.hook("pre-receive",
           "echo 'error: GH006: Protected branch update failed for refs/heads/main.' >&2\n"
           "echo 'error: Changes must be made through a pull request.' >&2\nexit 1\n");
    const auto before = f.at_origin();
    const auto main = f.here("main");
    const auto error = f.refused(ErrorCode::external_failed);
    CHECK_THAT(error.message, Holds("GH006: Protected branch update failed for refs/heads/main. Changes must be made"));
    CHECK_THAT(error.message, Holds("pull request"));
    CHECK(std::count(error.message.begin(), error.message.end(), '\n') <= 2);
    CHECK(f.at_origin() == before);
    CHECK(f.here("main") == main);
    CHECK(f.world.record(f.id).task.attention == error.message);
    REQUIRE(f.cancel());
}

TEST_CASE("a remote whose hook takes its time is waited for, and gets the merge once", "[slow]") {
    Fixture f;
    f.hook("pre-receive", "sleep 1\n");
    f.hook("post-receive", "sleep 1\necho once >>\"$PWD/pushes\"\n");
    const auto merged = f.merge();
    REQUIRE(merged);
    CHECK(merged->pushed);
    CHECK(f.at_origin() == merged->commit);
    CHECK(read_file(f.origin + "/pushes") == "once\n");
}

TEST_CASE("a race that is lost is run again until it is won, and given up in the end", "[slow]") {
    Fixture f;
    // Somebody moves main while the push is being taken, three times.
    const std::string move =
        "unset GIT_QUARANTINE_PATH\n"
        "new=$(git commit-tree -p refs/heads/main -m theirs refs/heads/main^{tree})\n"
        "git update-ref refs/heads/main $new\n";
    SECTION("won") {
        f.hook("pre-receive", "n=$(cat races 2>/dev/null | wc -l)\n[ $n -lt 3 ] || exit 0\necho x >>races\n" + move);
        const auto merged = f.merge();
        INFO((merged ? "" : merged.error().message));
        REQUIRE(merged);
        CHECK(f.world.record(f.id).merge->attempts == 4);
        CHECK(f.at_origin() == merged->commit);
        CHECK(f.world.git.plain(f.origin, {"rev-list", "--count", "--merges", "main"}) == "1");
        CHECK(f.here("refs/heads/main") == merged->commit);
    }
    SECTION("given up") {
        f.hook("pre-receive", move);
        f.world.outside.settings.push_patience = std::chrono::milliseconds(0);
        f.world.boot();
        const auto error = f.refused(ErrorCode::conflict);
        CHECK_THAT(error.message, Tells("orange task merge " + f.id.value));
        CHECK(f.phase() == MergePhase::failed);
        CHECK(f.world.git.plain(f.origin, {"rev-list", "--count", "--merges", "main"}) == "0");
    }
}

TEST_CASE("a remote that is gone refuses a merge, and nothing is remembered as begun") {
    Fixture f;
    std::filesystem::rename(f.origin, f.origin + ".away");
    f.refused(ErrorCode::unavailable);
    CHECK(f.phase() == MergePhase::failed);
    CHECK_FALSE(f.world.record(f.id).task.attention);
    MergeOrder local;
    local.push = false;
    CHECK(f.merge(local));
}

TEST_CASE("a merge that nothing was published of is undone by the next daemon, or by who cancels the task") {
    Fixture f;
    f.world.keep();
    SECTION("planned") {
        f.killed_at("merge-tree");
        CHECK(f.phase() == MergePhase::planned);
        f.world.recover();
        CHECK(f.phase() == MergePhase::failed);
        CHECK(f.world.record(f.id).task.status == "reviewing");
        REQUIRE(f.merge());
    }
    SECTION("cancelled before it was pushed") {
        f.world.back();
        f.hook("pre-receive", "exit 1\n");
        auto record = f.world.record(f.id);
        record.merge = MergeRecord{};
        record.merge->phase = MergePhase::merged;
        record.merge->target = "main";
        record.merge->tip = f.tip;
        record.merge->commit = f.world.git.plain(f.tree, {"commit-tree", "-p", "main", "-m", "m", "HEAD^{tree}"});
        f.world.house().world().tasks.save(record).value();
        REQUIRE(f.cancel());
        CHECK(f.phase() == MergePhase::failed);
        CHECK(f.world.record(f.id).task.status == "cancelled");
    }
}

TEST_CASE("a merge that is published and not finished keeps its task from anything else, and is finished by name",
          "[slow]") {
    Fixture f;
    f.world.keep();
    f.killed_at("push");
    CHECK(f.phase() == MergePhase::merged);
    const auto published = f.at_origin();
    CHECK(f.world.record(f.id).merge->commit == published);
    CHECK_THAT(Merges::under_way(f.world.record(f.id)), Tells(published.substr(0, 12)));
    SECTION("origin answers") {
        for (const bool force : {false, true}) {
            const auto refused = f.cancel(force);
            REQUIRE_FALSE(refused);
            CHECK(refused.error().code == ErrorCode::conflict);
            CHECK(refused.error().details.at("command") == "orange task merge " + f.id.value);
        }
        Edit edit;
        edit.branch = "another";
        CHECK_FALSE(f.world.house().go(f.world.house().runner().requests.edit(f.id, edit, a_human())));
        CHECK_FALSE(f.world.house().go(f.world.house().runner().requests.remove(f.id, a_human(), true)));
        // Others push on top before it goes on: its commit is its own all the same.
        f.world.git.commit(f.clone(), "theirs", "t\n");
        f.world.git.plain(f.clone(), {"push", "-q", "origin", "main"});
        SECTION("by the next daemon") {
            f.world.recover();
        }
        SECTION("by the same command") {
            REQUIRE(f.merge());
        }
        CHECK(f.world.record(f.id).task.status == "done");
        CHECK(f.phase() == MergePhase::done);
        const auto told = f.world.events(f.id, "task.merged");
        REQUIRE(told.size() == 1);
        CHECK(told[0].fields.at("commit") == Scalar{published});
    }
    SECTION("origin does not answer") {
        std::filesystem::rename(f.origin, f.origin + ".away");
        f.world.recover();
        CHECK(f.phase() == MergePhase::merged);
        const auto refused = f.cancel();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::unavailable);
        CHECK(refused.error().details.at("command") == "orange task merge " + f.id.value);
        const auto forced = f.cancel(true);
        REQUIRE(forced);
        CHECK_THAT(join(forced->notes, "\n"), Tells(published.substr(0, 12)));
        CHECK(f.world.record(f.id).task.status == "cancelled");
    }
}

TEST_CASE("a folder that a killed daemon left in a merge is removed, and no folder of another project's task") {
    Fixture f(false);
    const auto folder = f.world.home() / ("workspaces/.merge-" + f.id.value);
    const auto of_nobody = f.world.home() / "workspaces/.merge-aaaaaaaaaaaaaaaaaaaaa";
    for (const auto& left : {folder, of_nobody}) {
        std::filesystem::create_directories(left);
        write_file(left / ".gitattributes", "* -merge\n");
    }
    const auto project = shop(f.world);
    f.world.house().go(f.world.house().runner().merges.remove_left(project));
    CHECK_FALSE(std::filesystem::exists(folder));
    CHECK(std::filesystem::exists(of_nobody));
}

TEST_CASE("every kind of open notice has to be confirmed before a merge, but for those that the merge answers",
          "[slow]") {
    for (std::size_t i = 0; i < notice_rules().size(); ++i) {
        const auto kind = static_cast<NoticeKind>(i);
        DYNAMIC_SECTION(name_of(kind)) {
            Fixture f;
            auto record = f.world.record(f.id);
            engine::raise(record, {kind, "4711 lemons\nand details", "", "", f.world.outside.clock.now()});
            f.world.house().world().tasks.save(record).value();
            const auto asked = f.world.house().go(f.world.house().runner().merges.check(f.world.record(f.id)));
            const bool is_of_budget = kind == NoticeKind::budget || kind == NoticeKind::budget_near;
            CHECK(asked.has_value() == (is_of_budget || kind == NoticeKind::merge_failed ||
                                        kind == NoticeKind::checks_failed || kind == NoticeKind::merged_without ||
                                        kind == NoticeKind::other_branch));
            if (asked) continue;
            CHECK(asked.error().code == ErrorCode::needs_force);
            CHECK_THAT(asked.error().message, Holds("4711 lemons") && !Holds("and details"));
            CHECK_THAT(asked.error().message, Tells("orange task merge " + f.id.value + " --force"));
            CHECK_FALSE(asked.error().details.at("question").empty());
        }
    }
}

TEST_CASE("a commit that was removed from the default branch is named before a merge brings it back") {
    RunnerWorld world;
    const bool with_origin = GENERATE(true, false);
    const auto origin = with_origin ? world.git.make_origin(world.repo(), "live/origin.git") : world.repo();
    world.git.commit(world.repo(), "secret", "password\n");
    if (with_origin) world.git.plain(world.repo(), {"push", "-q", "origin", "main"});
    const auto removed = world.git.ref(world.repo(), "main");
    const auto id = ready_to_merge(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto merge = [&](bool force) {
        MergeOrder order;
        order.force = force;
        return world.house().go(world.house().runner().merges.merge(id, order, a_human()));
    };
    // Somebody else rewrites main.
    auto there = world.repo();
    if (with_origin) {
        there = world.git.path("other");
        world.git.plain(world.git.dir.path, {"clone", "-q", origin, there});
    }
    const auto rewrite = [&](std::vector<std::string> how) {
        world.git.plain(there, std::move(how));
        if (with_origin) world.git.plain(there, {"push", "-qf", "origin", "main"});
        return world.git.ref(origin, "refs/heads/main");
    };
    SECTION("it is gone") {
        const auto main = rewrite({"reset", "-q", "--hard", "HEAD^"});
        const auto refused = merge(false);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::needs_force);
        CHECK_THAT(refused.error().details.at("facts"), Holds("change secret"));
        CHECK(world.git.ref(origin, "refs/heads/main") == main);
        SECTION("and confirmed") {
            const auto merged = merge(true).value();
            CHECK_THAT(merged.forced, Holds("change secret"));
            CHECK(world.git.plain(origin, {"merge-base", removed, "refs/heads/main"}) == removed);
        }
        SECTION("and left out as the advice says") {
            const std::string onto = with_origin ? "origin/main" : "main";
            const auto advice = "git -C " + tree.string() + " rebase --onto " + onto + " " + removed.substr(0, 12);
            CHECK_THAT(refused.error().message, Tells(advice));
            world.git.plain(tree, {"rebase", "-q", "--onto", onto, removed.substr(0, 12)});
            const auto merged = merge(true).value();
            CHECK_THAT(merged.forced, !Holds("change secret"));
        }
    }
    SECTION("it is there with another message") {
        rewrite({"commit", "-q", "--amend", "-m", "a better message"});
        CHECK(merge(false));
    }
}

TEST_CASE("a merge for a user whom git does not know says by whom it is made, and how to change that") {
    Fixture f(false);
    const std::string name = "git config --global user.name", address = "git config --global user.email";
    const auto settings = f.world.git.dir / "home/.gitconfig";
    std::string notes;
    const auto merged_with = [&](const std::string& text) {
        write_file(settings, text);
        const auto merged = f.merge().value();
        for (const auto& note : merged.notes) notes += note + "\n";
    };
    SECTION("neither") {
        merged_with("[init]\n\tdefaultBranch = main\n");
        CHECK_THAT(notes, Tells(name + " 'Your Name' && " + address + " you@example.com"));
        CHECK(f.world.git.plain(f.world.repo(), {"log", "-1", "--format=%cn <%ce>", "main"}) ==
              "Orange <orange@localhost>");
    }
    SECTION("no address") {
        merged_with("[user]\n\tname = Ursula\n");
        CHECK_THAT(notes, Tells(address) && !Holds(name));
    }
    SECTION("both") {
        merged_with("[user]\n\tname = Ursula\n\temail = u@example.org\n");
        CHECK_THAT(notes, !Holds(name) && !Holds(address));
    }
}
