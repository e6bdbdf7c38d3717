#include "daemon/git/worktrees.hpp"
#include "daemon/process/proc_info.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

/// The checks of a project: what is tested is what is merged, by real processes in real worktrees.
using namespace orange;
using namespace orange::test;

namespace {

using Argvs = std::vector<std::vector<std::string>>;

/// A reviewed task, whose worktree is clean.
struct CheckedTask {
    CheckedTask() {
        id = ready_to_merge(world);
        tree = world.home() / "workspaces/shop--1";
        std::filesystem::remove(tree / "untracked");
        branch = world.record(id).task.branch;
        before = here("refs/heads/main");
    }

    /// `ran` gets the folder of each check, before `script` goes on.
    static std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }
    std::vector<std::string> telling(const std::string& script) {
        return shell("pwd >> '" + file("ran").string() + "'; " + script);
    }
    void want(const Argvs& checks, int seconds = 60) {
        auto project = shop(world);
        project.settings.checks = checks;
        project.settings.checks_timeout = seconds;
        project.settings.merge_checks = merge_checks;
        world.house().world().projects.put(project).value();
    }
    std::filesystem::path file(const std::string& name) { return live / name; }
    std::string ran() { return std::filesystem::exists(file("ran")) ? read_file(file("ran")) : ""; }
    std::string place() { return std::filesystem::canonical(tree).string() + "\n"; }

    Runner& runner() { return world.house().runner(); }
    Result<MergeOutcome> merge(MergeOrder order = {}) {
        return world.house().go(runner().merges.merge(id, std::move(order), a_human()));
    }
    Result<CheckReport> check() { return world.house().go(runner().checks.run(id, CheckOrder{})); }
    Error refused() {
        const auto merged = merge();
        REQUIRE_FALSE(merged);
        INFO(merged.error().message);
        CHECK(merged.error().code == ErrorCode::conflict);
        CHECK(here("refs/heads/main") == before);
        CHECK(world.record(id).task.status == "reviewing");
        return merged.error();
    }
    /// A merge whose check has made the file, and goes on.
    void begin(std::optional<Result<MergeOutcome>>& merged, const std::filesystem::path& begun) {
        auto& house = world.house();
        house.begin(runner().merges.merge(id, MergeOrder{}, a_human()), merged);
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!std::filesystem::exists(begun) && std::chrono::steady_clock::now() < until) {
            house.io.run_for(std::chrono::milliseconds(5));
        }
        REQUIRE(std::filesystem::exists(begun));
        REQUIRE_FALSE(merged);
    }
    const Notice* notice() { return engine::find_notice(world.record(id), NoticeKind::checks_failed); }
    std::string here(const std::string& ref) { return world.git.ref(world.repo(), ref); }
    std::size_t told(const std::string& type) { return world.events(id, type).size(); }
    /// Returns the record of the task's last checks.
    std::optional<CheckRecord> checked() { return world.record(id).last_checked(); }
    /// A commit on main, as somebody else makes it.
    void others_commit(const std::string& file) { world.git.commit(world.repo(), file, "theirs\n"); }
    /// Git's own folder for the place of the checks.
    std::filesystem::path admin() {
        for (const auto& entry : std::filesystem::directory_iterator(in_repo(".git/worktrees"))) {
            if (entry.path().filename().string().ends_with("checks-shop")) return entry.path();
        }
        throw std::runtime_error("there is no such worktree");
    }
    std::string own_place() {
        return (std::filesystem::canonical(world.home()) / "workspaces/.checks-shop").string() + "\n";
    }
    std::filesystem::path in_repo(const std::string& name) { return std::filesystem::path(world.repo()) / name; }
    std::filesystem::path in_place(const std::string& name) { return world.home() / "workspaces/.checks-shop" / name; }

    RunnerWorld world;
    TaskId id;
    std::filesystem::path tree, live = world.home().parent_path();
    std::string branch, before;
    std::string merge_checks = "worktree";
};

/// The merges of which are tested by their result.
struct ResultTask : CheckedTask {
    ResultTask() { merge_checks = "result"; }
    bool has(const std::string& file) {
        return !world.git.plain(world.repo(), {"ls-tree", "main", "--", file}).empty();
    }
};

}  // namespace

TEST_CASE("a merge runs the checks on the tip in the clean worktree, in order, and then merges") {
    CheckedTask f;
    f.want({f.telling("test -e feature && git status >/dev/null"), {"sh", "-c", "test \"$1\" = 'a b'", "x", "a b"}});
    const auto tip = f.here("refs/heads/" + f.branch);
    const auto merged = f.merge();
    REQUIRE(merged);
    CHECK(merged->forced.empty());
    CHECK(f.ran() == f.place());
    const auto checked = f.checked();
    REQUIRE(checked);
    CHECK(checked->passed);
    CHECK(checked->commit == tip);
    CHECK(f.told("checks.passed") == 1);
    CHECK(f.told("checks.failed") == 0);
    CHECK(f.told("checks.started") == 0);  // those are for whoever listens
    CHECK(f.world.record(f.id).task.status == "done");
    CHECK_FALSE(std::filesystem::exists(f.in_place("")));
}

TEST_CASE("a check that fails refuses the merge with its last lines, is a notice, and is run again by the next merge") {
    CheckedTask f;
    f.want({f.telling("test -e " + f.file("good").string() + " || { seq 1 500; echo the end >&2; exit 3; }"),
            f.telling("true")});
    const auto error = f.refused();
    CHECK(error.details.at("why") == "checks_failed");
    CHECK(error.details.at("exit_status") == "3");
    CHECK_THAT(error.message, Holds("\n    500\n    the end\n") && !Holds("    480\n"));
    CHECK_THAT(error.message, Tells("orange task merge " + f.id.value + " --force"));
    CHECK_THAT(error.details.at("command"), Tells("orange task merge " + f.id.value));  // nobody takes it back
    const std::filesystem::path log = error.details.at("log");
    CHECK_THAT(read_file(log), Holds("\n1\n2\n3\n") && Holds("the end\n[") && Holds("$ sh -c"));
    CHECK(log.parent_path() == f.world.house().world().tasks.folder(f.world.record(f.id)) / "logs");
    REQUIRE(f.notice());
    CHECK_FALSE(f.checked()->passed);
    CHECK(f.told("checks.failed") == 1);
    CHECK(f.ran() == f.place());  // the second was not run
    f.refused();
    CHECK(f.ran() == f.place() + f.place());
    CHECK(f.told("checks.failed") == 2);
    write_file(f.file("good"), "");
    REQUIRE(f.merge());
    CHECK_FALSE(f.notice());
}

TEST_CASE("checks that passed on a commit are not run again for it, but for another commit or other checks") {
    CheckedTask f;
    f.want({f.telling("true")});
    REQUIRE(f.check());
    CHECK(f.ran() == f.place());
    SECTION("the same") {
        f.world.boot();
        REQUIRE(f.merge());
        CHECK(f.ran() == f.place());
    }
    SECTION("another list") {
        f.want({f.telling("true; true")});
        REQUIRE(f.merge());
        CHECK(f.ran() == f.place() + f.place());
    }
    SECTION("another commit") {
        f.world.git.commit(f.tree, "more", "m\n");
        MergeOrder order;
        order.force = true;  // it came after the review
        REQUIRE(f.merge(order));
        CHECK(f.ran() == f.place() + f.place());
    }
    SECTION("whoever asks for them gets them") {
        REQUIRE(f.check());
        CHECK(f.ran() == f.place() + f.place());
    }
}

TEST_CASE("what is tested is the tip, in the checks' own place with the project's setup, if the worktree is not that") {
    CheckedTask f;
    auto project = shop(f.world);
    project.setup = {"sh", "-c", "echo x > made"};
    f.world.house().world().projects.put(project).value();
    const auto tip = f.here("refs/heads/" + f.branch);
    f.want({f.telling("test -e made && test ! -e dirt && test \"$(git rev-parse HEAD)\" = " + tip)});
    SECTION("it has a change") {
        write_file(f.tree / "dirt", "d\n");
    }
    SECTION("it is on another commit") {
        f.world.git.plain(f.tree, {"checkout", "-q", "--detach", "HEAD~1"});
    }
    SECTION("the task has none") {
        auto record = f.world.record(f.id);
        const auto released = f.world.house().go(f.world.house().world().pool.release(shop(f.world), record.task));
        REQUIRE(released);
        record.task.workspace.reset();
        f.world.house().world().tasks.save(record).value();
    }
    const auto report = f.check();
    REQUIRE(report);
    CHECK(report->passed());
    CHECK(f.ran() == f.own_place());
    REQUIRE(f.merge());
}

TEST_CASE("a setup command that fails in the checks' own place is no check that failed") {
    CheckedTask f;
    auto project = shop(f.world);
    project.setup = {"sh", "-c", "echo 4711 lemons; exit 5"};
    f.world.house().world().projects.put(project).value();
    f.want({f.telling("true")});
    write_file(f.tree / "dirt", "d\n");
    const auto refused = f.merge();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::external_failed);
    CHECK_THAT(refused.error().message, Holds("4711 lemons"));
    CHECK(f.ran().empty());
    CHECK_FALSE(f.checked());
}

TEST_CASE("a check whose time is over ends with all that it started, and so does what a good one leaves behind",
          "[slow]") {
    CheckedTask f;
    const auto pids = f.file("pids").string();
    const std::string children = "sleep 300 & echo $! >> " + pids + "; setsid sh -c 'echo $$ >> " + pids +
                                 "; trap \"\" TERM; exec sleep 300' & ";
    SECTION("its time is over") {
        f.want({f.shell(children + "while [ $(wc -l < " + pids + ") -lt 2 ]; do sleep 0.05; done; echo so far; wait")},
               1);
        const auto error = f.refused();
        CHECK(error.details.at("why") == "checks_failed");
        CHECK(error.details.at("exit_status") == "124");
        CHECK_THAT(error.message, Holds("    so far\n"));
    }
    SECTION("it succeeds") {
        f.want({f.shell(children + "while [ $(wc -l < " + pids + ") -lt 2 ]; do sleep 0.05; done")});
        CHECK(f.check().value().passed());
    }
    const auto text = read_file(pids);
    const auto lines = split_lines(text);
    REQUIRE(lines.size() == 2);
    for (const auto line : lines) {
        CAPTURE(line);
        CHECK_FALSE(process::start_time(std::stoll(std::string(line))));
    }
}

TEST_CASE("a check that there is no program for fails, and one that is a file of the repository runs") {
    CheckedTask f;
    f.want({{"no-such-program-anywhere", "x"}});
    auto error = f.refused();
    CHECK(error.details.at("exit_status") == "127");
    CHECK_THAT(error.message, Holds("no-such-program-anywhere"));
    f.want({{"./missing"}});
    CHECK(f.refused().details.at("exit_status") == "127");
    f.want({{"/dev/null"}});  // no program at all
    CHECK(f.refused().details.at("exit_status") == "127");
    f.want({{"test", "-f", "feature"}, {"/bin/true"}});
    REQUIRE(f.merge());
}

TEST_CASE("a merge that is forced runs no checks, and says which were missing") {
    CheckedTask f;
    f.want({f.telling("false")});
    auto order = forced_order();
    order.checks = false;
    const auto tip = f.here("refs/heads/" + f.branch);
    SECTION("never run") {}
    SECTION("failed") {
        f.refused();
    }
    const auto ran = f.ran();
    const auto merged = f.merge(order);
    REQUIRE(merged);
    CHECK(f.ran() == ran);
    CHECK_FALSE(merged->forced.empty());
    if (!ran.empty()) CHECK_THAT(merged->forced, Holds("false"));
    CHECK(f.told("task.merged") == 1);
    CHECK(f.world.events(f.id, "task.merged")[0].fields.at("forced") == Scalar{merged->forced});
    CHECK_THAT(f.world.git.plain(f.world.repo(), {"log", "-1", "--format=%B", "main"}), Holds("Forced: "));
}

TEST_CASE("what was confirmed on a terminal does not keep the checks from running") {
    CheckedTask f;
    f.want({f.telling("false")});
    const auto merged = f.merge(forced_order());
    REQUIRE_FALSE(merged);
    CHECK(merged.error().details.at("why") == "checks_failed");
    CHECK(f.ran() == f.place());
}

TEST_CASE("while the checks run the task is not locked, and whoever cancels it ends them") {
    CheckedTask f;
    const auto begun = f.file("begun");
    f.want({f.telling("echo $$ > " + f.file("pid").string() + "; touch " + begun.string() + "; sleep 300 & wait")});
    std::optional<Result<MergeOutcome>> merged;
    f.begin(merged, begun);
    const auto pid = std::stoll(read_file(f.file("pid")));
    CHECK(process::start_time(pid));
    CHECK_THAT(f.runner().checks.under_way(f.id), Holds("sh -c"));
    CHECK_FALSE(f.world.house().world().task_locks.busy(f.id.value));
    std::optional<Result<CheckReport>> second;
    f.world.house().begin(f.runner().checks.run(f.id, CheckOrder{}), second);
    f.world.house().io.run_for(std::chrono::milliseconds(50));
    REQUIRE_FALSE(second);  // it waits for the same run
    REQUIRE_FALSE(merged);
    engine::Request cancel;
    cancel.goal = engine::Goal::cancelled;
    REQUIRE(f.world.house().go(f.runner().requests.move(f.id, cancel, a_human(), Edit{})));
    REQUIRE(merged);
    REQUIRE_FALSE(*merged);
    REQUIRE(second);
    REQUIRE_FALSE(*second);
    CHECK_FALSE(process::start_time(pid));
    CHECK(f.world.record(f.id).task.status == "cancelled");
    CHECK_FALSE(f.world.record(f.id).task.workspace);
    CHECK(f.here("refs/heads/main") == f.before);
    CHECK(f.runner().checks.under_way(f.id).empty());
    CHECK_FALSE(f.checked());
}

TEST_CASE("of checks under which the worktree moved on nothing is remembered, and nothing is merged") {
    CheckedTask f;
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.want({f.shell("touch " + begun.string() + "; while [ ! -e " + go_on.string() + " ]; do sleep 0.02; done")});
    std::optional<Result<MergeOutcome>> merged;
    f.begin(merged, begun);
    f.world.git.commit(f.tree, "late", "l\n");
    write_file(go_on, "");
    while (!merged) f.world.house().io.run_for(std::chrono::milliseconds(5));
    REQUIRE_FALSE(*merged);
    CHECK(merged->error().code == ErrorCode::conflict);
    CHECK_FALSE(f.checked());
    CHECK(f.here("refs/heads/main") == f.before);
}

TEST_CASE("without checks there is nothing to run, and a task that has ended has none") {
    CheckedTask f;
    const auto none = f.check();
    REQUIRE_FALSE(none);
    CHECK_THAT(none.error().message, Tells("orange project update shop --check"));
    f.want({{"true"}});
    REQUIRE(f.merge());
    CHECK(f.check().error().code == ErrorCode::conflict);
    CHECK(f.world.house().go(f.runner().checks.run(TaskId{"none"}, CheckOrder{})).error().code == ErrorCode::not_found);
}

TEST_CASE("the log of the checks keeps its end, however much they print") {
    CheckedTask f;
    f.want({f.shell("yes line | head -c 3000000; echo last line")});
    for (int i = 0; i < 6; ++i) REQUIRE(f.check());
    const auto log = f.check().value().log;
    CHECK(std::filesystem::file_size(log) <= (1U << 20));
    CHECK_THAT(read_file(log), Holds("line\nlast line\n["));
}

TEST_CASE("a merge is tested by its result, in a place without the worktree's ignored files") {
    ResultTask f;
    f.world.git.commit(f.tree, ".gitignore", "built\n");
    write_file(f.tree / "built", "b\n");
    f.others_commit("theirs");
    const auto tip = f.here("refs/heads/" + f.branch);
    SECTION("they fail on it, although they pass in the worktree") {
        f.want({f.telling("test -e built")});
        REQUIRE(f.check().value().passed());
        CHECK(f.ran() == f.place());
        const auto at = f.here("refs/heads/main");
        const auto merged = f.merge(forced_order());
        REQUIRE_FALSE(merged);
        CHECK(merged.error().details.at("why") == "checks_failed");
        CHECK_THAT(merged.error().message,
                   Holds("test -e built") && Holds(".checks-shop") && Holds("merged with main"));
        CHECK(f.ran() == f.place() + f.own_place());
        CHECK(f.here("refs/heads/main") == at);
        CHECK_FALSE(f.checked()->passed);
        REQUIRE(f.notice());
        CHECK_FALSE(f.world.record(f.id).merge);
    }
    SECTION("they pass on it, and not on the branch") {
        f.want(
            {f.telling("test -e theirs && test -e feature && test ! -e TASK.md && test -z \"$(git branch --show)\"")});
        REQUIRE_FALSE(f.check().value().passed());
        REQUIRE(f.merge(forced_order()));
        CHECK(f.checked()->passed);
        CHECK(f.checked()->commit == tip);
        CHECK(f.checked()->merged_with == "main");
        CHECK(f.checked()->tree == f.world.git.plain(f.world.repo(), {"rev-parse", "main^{tree}"}));
        CHECK_FALSE(f.notice());
        const auto told = f.world.events(f.id, "checks.passed");
        REQUIRE(told.size() == 1);
        CHECK(told[0].fields.at("merged_with") == Scalar{"main"});
    }
}

TEST_CASE("a result of a merge is tested once, whatever the merge fails for afterwards") {
    ResultTask f;
    f.want({f.telling("true")});
    write_file(f.in_repo("feature"), "in the way\n");
    REQUIRE_FALSE(f.merge());
    CHECK(f.ran() == f.own_place());
    std::filesystem::remove(f.in_repo("feature"));
    REQUIRE(f.merge());
    CHECK(f.ran() == f.own_place());
}

TEST_CASE("a merge with a conflict says so, and runs no checks") {
    ResultTask f;
    f.want({f.telling("true")});
    f.others_commit("feature");
    const auto merged = f.merge();
    REQUIRE_FALSE(merged);
    CHECK(merged.error().details.at("files") == "feature");
    CHECK(f.ran().empty());
    CHECK(engine::find_notice(f.world.record(f.id), NoticeKind::merge_failed));
}

TEST_CASE("what is merged was tested, however often the target moves while the checks run") {
    ResultTask f;
    const auto move = "cd '" + f.world.repo() + "' && date +%N > theirs && git add theirs && git commit -q -m theirs";
    SECTION("once") {
        f.want({f.telling("test -e theirs || { " + move + "; }")});
        REQUIRE(f.merge());
        CHECK(f.ran() == f.own_place() + f.own_place());
        CHECK(f.has("theirs"));
        CHECK(f.has("feature"));
        CHECK(f.checked()->tree == f.world.git.plain(f.world.repo(), {"rev-parse", "main^{tree}"}));
    }
    SECTION("so that it fails then") {
        f.want({f.telling("test ! -e theirs && { " + move + "; }")});
        const auto merged = f.merge();
        REQUIRE_FALSE(merged);
        CHECK(merged.error().details.at("why") == "checks_failed");
        CHECK(f.ran() == f.own_place() + f.own_place());
        CHECK_FALSE(f.has("feature"));
    }
    SECTION("each time") {
        f.want({f.telling(move)});
        const auto merged = f.merge();
        REQUIRE_FALSE(merged);
        CHECK(merged.error().code == ErrorCode::conflict);
        CHECK_THAT(merged.error().message, Tells("orange task merge " + f.id.value) && Holds("merge_checks=worktree"));
        CHECK_FALSE(f.has("feature"));
        CHECK(split(f.ran(), '\n').size() < 10);
    }
}

TEST_CASE("merges of two tasks are tested one after the other, the second with the first") {
    ResultTask f;
    auto project = shop(f.world);
    project.pool_size = 2;
    f.world.house().world().projects.put(project).value();
    const auto second = f.world.make_task("more", 2, "relay");
    f.world.move(second, "working").value();
    f.world.git.commit(f.world.home() / "workspaces/shop--2", "more", "m\n");
    f.world.append_body(second, "\n## Handoff\nall of it\n");
    f.world.move(second, "agent-review").value();
    f.world.append_body(second, "\n## Review\nPASS\n");
    f.world.move(second, "reviewing").value();
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.want({f.telling("ls >> '" + f.file("files").string() + "'; touch '" + begun.string() + "'; while [ ! -e '" +
                      go_on.string() + "' ]; do sleep 0.02; done")});
    std::optional<Result<MergeOutcome>> first, other;
    f.begin(first, begun);
    auto& house = f.world.house();
    house.begin(f.runner().merges.merge(second, MergeOrder{}, a_human()), other);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto go_until = [&](auto done) {
        while (!done() && std::chrono::steady_clock::now() < until) {
            house.io.restart();
            house.io.run_for(std::chrono::milliseconds(5));
        }
        REQUIRE(done());
    };
    go_until([&] { return !f.runner().checks.under_way(second).empty(); });
    CHECK(f.runner().checks.running_for(second).empty());
    go_until([&] { return !house.world().task_locks.busy(second.value); });
    write_file(go_on, "");
    go_until([&] { return first && other; });
    REQUIRE(*first);
    REQUIRE(*other);
    CHECK(f.ran() == f.own_place() + f.own_place());
    const auto files = read_file(f.file("files"));
    CHECK(files.find("feature\n") < files.find("more\n"));
    CHECK(f.has("feature"));
    CHECK(f.has("more"));
}

TEST_CASE("the place of the checks keeps what git ignores from one run to the next, and nothing else") {
    ResultTask f;
    auto project = shop(f.world);
    project.setup = {"sh", "-c", "echo x >> cache-setup"};
    f.world.house().world().projects.put(project).value();
    write_file(f.in_repo(".gitignore"), "cache-*\n");
    f.world.git.plain(f.world.repo(), {"add", ".gitignore"});
    f.world.git.plain(f.world.repo(), {"commit", "-q", "-m", "ignore"});
    f.want({f.telling("echo x >> cache-built; echo d > dirt; echo changed > feature; git init -q inside; false")});
    REQUIRE_FALSE(f.merge());
    REQUIRE(std::filesystem::exists(f.in_place("dirt")));
    CHECK(f.world.git.ref(f.in_place(""), "HEAD") != f.here("refs/heads/" + f.branch));
    SECTION("as it was left") {
        f.want(
            {f.telling("test $(wc -l < cache-built) = 1 && test $(wc -l < cache-setup) = 2 && test ! -e dirt && "
                       "test ! -e inside && test \"$(cat feature)\" = it && test -z \"$(git status --porcelain)\"")});
    }
    SECTION("while a git that was killed has left its lock") {
        write_file(f.admin() / "index.lock", "");
        f.want({f.telling("test -e cache-built && test ! -e dirt")});
    }
    SECTION("damaged") {
        std::filesystem::remove(f.admin() / "HEAD");
        f.want({f.telling("test ! -e cache-built && test ! -e dirt && test -e feature")});
    }
    SECTION("removed by hand") {
        std::filesystem::remove_all(f.in_place(""));
        f.want({f.telling("test ! -e cache-built && test -e feature")});
    }
    SECTION("replaced by a link") {
        const auto elsewhere = f.file("elsewhere");
        std::filesystem::rename(f.in_place(".").parent_path(), elsewhere);
        std::filesystem::create_directory_symlink(elsewhere, f.in_place(".").parent_path());
        f.want({f.telling("test ! -e cache-built && test -e feature")});
        REQUIRE(f.merge());
        CHECK(std::filesystem::exists(elsewhere / "dirt"));
        return;
    }
    REQUIRE(f.merge());
}

TEST_CASE("the place of the checks goes with the project's checks, and holds no workspace") {
    ResultTask f;
    f.want({f.telling("false")});
    f.refused();
    REQUIRE(std::filesystem::exists(f.in_place("feature")));
    CHECK(f.world.house().world().pool.list("shop").size() == 1);
    CHECK_FALSE(f.world.house().world().pool.project_at(f.in_place("")));
    auto& workspaces = f.runner().workspaces;
    REQUIRE(f.world.house().go(workspaces.collect(shop(f.world))));
    CHECK(std::filesystem::exists(f.in_place("feature")));
    f.want({});
    REQUIRE(f.world.house().go(workspaces.collect(shop(f.world))));
    CHECK_FALSE(std::filesystem::exists(f.in_place("")));
    CHECK_THAT(f.world.git.plain(f.world.repo(), {"worktree", "list"}), !Holds(".checks-"));
    REQUIRE(f.merge());
}
