// Trains: several tasks that are merged onto one another, by real git and real checks.
#include <sys/stat.h>

#include <algorithm>

#include "daemon/engine/notices.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::ChildFault;
using fakes::Fuse;

namespace {

using What = TrainEnd::What;

/// Reviewed tasks of a project whose checks run on the results of merges.
struct TrainWorld {
    explicit TrainWorld(bool with_origin = true) {
        if (with_origin) origin = world.git.make_origin(world.repo(), "live/origin.git");
        (void)world.draft("", 12);
    }

    /// A task whose branch writes a file.
    TaskId task(const std::string& name, const std::string& file, const std::string& text = "x\n",
                const std::string& from = "main") {
        const auto tree = (world.git.dir / ("tree-" + name)).string();
        world.git.plain(world.repo(), {"worktree", "add", "-q", "-b", "work-" + name, tree, from});
        world.git.commit(tree, file, text);
        world.git.plain(world.repo(), {"worktree", "remove", "--force", tree});
        auto record = world.draft("work " + name);
        record.task.branch = "work-" + name;
        record.task.workflow = "default";
        record.task.status = "reviewing";
        world.create(record, "", true).value();
        ids.push_back(record.task.id);
        return record.task.id;
    }
    TaskId task(const std::string& name) { return task(name, "file-" + name); }

    /// `ran` gets a line for each check, before `script` goes on.
    void want(const std::string& script) {
        auto project = shop(world);
        project.settings.checks = {{"sh", "-c", "echo x >>'" + file("ran") + "'; " + script}};
        project.settings.checks_timeout = 60;
        project.settings.merge_checks = "result";
        world.house().world().projects.put(project).value();
    }
    std::string file(const std::string& name) { return (world.home().parent_path() / name).string(); }
    long runs() {
        if (!std::filesystem::exists(file("ran"))) return 0;
        const auto text = read_file(file("ran"));
        return std::count(text.begin(), text.end(), '\n');
    }

    Trains& trains() { return world.house().runner().trains; }
    Awaitable<std::vector<TrainEnd>> merging(MergeOrder order = {}) {
        return trains().merge(ids, std::move(order), a_human());
    }
    std::vector<TrainEnd> merge(MergeOrder order = {}) { return world.house().go(merging(std::move(order))); }
    Result<Outcome> cancel(const TaskId& id) {
        engine::Request request;
        request.goal = engine::Goal::cancelled;
        return world.house().go(world.house().runner().requests.move(id, request, a_human(), Edit{}));
    }
    /// A merge that goes on when the file is there.
    void begin(std::optional<std::vector<TrainEnd>>& ends, const std::string& until) {
        world.house().begin(merging(), ends);
        go_until([&] { return std::filesystem::exists(until); });
        REQUIRE_FALSE(ends);
    }
    template <class Done>
    void go_until(Done done) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!done() && std::chrono::steady_clock::now() < until) {
            world.house().io.restart();
            world.house().io.run_for(std::chrono::milliseconds(5));
        }
        REQUIRE(done());
    }

    std::string repository() { return origin.empty() ? world.repo() : origin; }
    bool has(const std::string& name) {
        return !world.git.plain(repository(), {"ls-tree", "main", "--", name}).empty();
    }
    /// The commits of the target that merge the task.
    std::vector<std::string> merges_of(const TaskId& id) {
        const auto log =
            world.git.plain(repository(), {"log", "--format=%H", "--grep", "^Task: " + id.value + "$", "main"});
        std::vector<std::string> all;
        for (const auto line : split_lines(log)) all.emplace_back(line);
        return all;
    }
    std::string status(const TaskId& id) { return world.record(id).task.status; }
    /// It is done, once, with the commit that the target has.
    void check_merged(const TaskId& id) {
        INFO(id.value);
        CHECK(status(id) == "done");
        const auto told = world.events(id, "task.merged");
        const auto commits = merges_of(id);
        REQUIRE(told.size() == 1);
        REQUIRE(commits.size() == 1);
        CHECK(told[0].fields.at("commit") == Scalar{commits[0]});
        CHECK(world.record(id).merge->phase == MergePhase::done);
        CHECK(world.git.ref(world.repo(), "refs/orange/" + id.value + "/merged") ==
              world.git.plain(repository(), {"rev-parse", commits[0] + "^2"}));
    }
    void check_not_merged(const TaskId& id) {
        INFO(id.value);
        CHECK(status(id) != "done");
        CHECK(world.events(id, "task.merged").empty());
        CHECK(merges_of(id).empty());
        const auto& merge = world.record(id).merge;
        CHECK((!merge || merge->phase == MergePhase::failed));
        CHECK_FALSE(world.git.ref(world.repo(), "refs/heads/" + world.record(id).task.branch).empty());
    }
    /// The user's checkout follows, and no folder of a merge is left.
    void check_clean() {
        CHECK(world.git.ref(world.repo(), "refs/heads/main") == world.git.ref(repository(), "refs/heads/main"));
        CHECK(world.git.plain(world.repo(), {"status", "--porcelain"}).empty());
        for (const auto& entry : std::filesystem::directory_iterator(world.home() / "workspaces"))
            CHECK_FALSE(entry.path().filename().string().starts_with(".merge-"));
    }
    void hook(const std::string& text) {
        write_file(origin + "/hooks/pre-receive", "#!/bin/sh\n" + text);
        ::chmod((origin + "/hooks/pre-receive").c_str(), 0755);
    }

    RunnerWorld world;
    std::string origin;
    std::vector<TaskId> ids;
};

const TrainEnd& end_of(const std::vector<TrainEnd>& ends, const TaskId& id) {
    const auto found = std::ranges::find(ends, id, &TrainEnd::id);
    if (found == ends.end()) throw std::runtime_error("nothing became of " + id.value);
    return *found;
}

}  // namespace

TEST_CASE("of ten tasks of which one breaks and one conflicts eight are merged, and two go back", "[slow]") {
    TrainWorld f;
    for (int n = 0; n < 10; ++n) {
        const auto name = std::to_string(n);
        if (n == 3) {
            f.task(name, "broken");
        } else if (n == 6) {
            f.task(name, "file-2", "otherwise\n");
        } else {
            f.task(name);
        }
    }
    f.want("test ! -e broken");
    const auto ends = f.merge();
    REQUIRE(ends.size() == 10);
    for (int n = 0; n < 10; ++n) {
        const auto& id = f.ids[static_cast<std::size_t>(n)];
        if (n == 3 || n == 6) {
            f.check_not_merged(id);
            CHECK(f.status(id) == "working");
            CHECK(end_of(ends, id).what == What::back);
        } else {
            f.check_merged(id);
            CHECK(end_of(ends, id).what == What::merged);
        }
    }
    f.check_clean();
    CHECK_FALSE(f.has("broken"));
    CHECK(f.runs() < 9);
    const auto first = f.world.house().world().tasks.short_id(f.ids[0]);
    const auto broken = end_of(ends, f.ids[3]).error->message, conflict = end_of(ends, f.ids[6]).error->message;
    CHECK_THAT(broken, Holds("test ! -e broken") && Tells(first));
    CHECK_THAT(conflict, Holds("conflicts with origin/main in file-2") && Tells(first));
    for (const auto& id : {f.ids[3], f.ids[6]}) {
        CHECK_THAT(f.world.task_text(id), Holds("could not be merged") && Tells(first));
    }
}

TEST_CASE("a result that fails is checked once more before its task goes back", "[slow]") {
    TrainWorld f;
    f.task("a");
    f.task("b");
    SECTION("once") {
        const auto flag = f.file("failed");
        f.want("test -e file-b || exit 0; test -e '" + flag + "' || { touch '" + flag + "'; exit 1; }");
        for (const auto& end : f.merge()) CHECK(end.what == What::merged);
        CHECK(f.runs() == 3);  // both, the first, and the second again, whose result is that of both
    }
    SECTION("always") {
        f.want("echo no luck; test ! -e file-b");
        const auto ends = f.merge();
        f.check_merged(f.ids[0]);
        f.check_not_merged(f.ids[1]);
        CHECK(end_of(ends, f.ids[1]).what == What::back);
        CHECK(f.runs() == 3);
        CHECK_THAT(f.world.task_text(f.ids[1]), Holds("no luck"));
        CHECK_FALSE(f.world.record(f.ids[1]).last_checked()->passed);
        CHECK(f.world.record(f.ids[0]).merge_checked->passed);
    }
    f.check_clean();
}

TEST_CASE("what a train publishes has passed, however often the target moves while the checks run", "[slow]") {
    TrainWorld f(false);
    f.task("a");
    f.task("b");
    const auto move =
        "cd '" + f.world.repo() + "' && date +%N >theirs && git add theirs && git commit -q -m theirs || exit 1";
    SECTION("once") {
        f.want("test -e theirs || { " + move + "; }");
        for (const auto& end : f.merge()) CHECK(end.what == What::merged);
        CHECK(f.runs() == 2);
        CHECK(f.has("theirs"));
        for (const auto& id : f.ids) f.check_merged(id);
        CHECK(f.world.record(f.ids[1]).merge_checked->tree ==
              f.world.git.plain(f.world.repo(), {"rev-parse", "main^{tree}"}));
    }
    SECTION("each time") {
        f.want(move);
        for (const auto& end : f.merge()) {
            CHECK(end.what == What::left);
            CHECK_THAT(end.error->message, Holds("merge_checks=worktree"));
        }
        for (const auto& id : f.ids) {
            f.check_not_merged(id);
            CHECK(f.status(id) == "reviewing");
        }
        CHECK(f.runs() < 8);
    }
    SECTION("each time that they fail") {
        f.want("(" + move + "); test ! -e file-a");
        const auto ends = f.merge();
        CHECK(end_of(ends, f.ids[0]).what == What::back);
        f.check_not_merged(f.ids[0]);
        CHECK(f.runs() < 10);
    }
}

TEST_CASE("a task that is cancelled while the checks of its train run is left out, and the others go on", "[slow]") {
    TrainWorld f;
    for (const char* name : {"a", "b", "c"}) f.task(name);
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.want("test -e file-gone || touch '" + begun + "'; while [ ! -e '" + go_on + "' ]; do sleep 0.02; done");
    const std::size_t which = GENERATE(1U, 2U);  // the checks run as the last one's
    std::optional<std::vector<TrainEnd>> ends;
    f.begin(ends, begun);
    for (const auto& id : f.ids) CHECK_FALSE(f.world.house().runner().checks.under_way(id).empty());
    CHECK(f.trains().any_under_way());
    std::optional<Result<Outcome>> cancelled;
    engine::Request request;
    request.goal = engine::Goal::cancelled;
    f.world.house().begin(f.world.house().runner().requests.move(f.ids[which], request, a_human(), Edit{}), cancelled);
    f.go_until([&] { return cancelled.has_value(); });
    CHECK(*cancelled);
    write_file(go_on, "");
    f.go_until([&] { return ends.has_value(); });
    for (std::size_t n = 0; n < 3; ++n) {
        if (n == which) {
            CHECK(f.status(f.ids[n]) == "cancelled");
            CHECK(end_of(*ends, f.ids[n]).what == What::left);
            CHECK_THAT(end_of(*ends, f.ids[n]).error->message, Holds("was cancelled meanwhile") && !Holds("orange"));
            CHECK(f.merges_of(f.ids[n]).empty());
        } else {
            f.check_merged(f.ids[n]);
        }
    }
    CHECK_FALSE(f.trains().any_under_way());
    f.check_clean();
}

TEST_CASE("a task that has gone back needs what its status says, while the checks of the others run", "[slow]") {
    TrainWorld f;
    f.task("old", "taken", "ours\n");
    f.world.git.commit(f.world.repo(), "taken", "theirs\n");
    f.world.git.plain(f.world.repo(), {"push", "-q", "origin", "main"});
    f.task("a");
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.want("touch '" + begun + "'; while [ ! -e '" + go_on + "' ]; do sleep 0.02; done");
    std::optional<std::vector<TrainEnd>> ends;
    f.begin(ends, begun);
    CHECK(f.status(f.ids[0]) == "working");
    CHECK(f.world.house().runner().checks.under_way(f.ids[0]).empty());
    CHECK_FALSE(f.world.house().runner().checks.under_way(f.ids[1]).empty());
    write_file(go_on, "");
    f.go_until([&] { return ends.has_value(); });
    CHECK(end_of(*ends, f.ids[0]).what == What::back);
    f.check_merged(f.ids[1]);
}

TEST_CASE("a task with which the setup command fails is left, and the others are merged", "[slow]") {
    TrainWorld f;
    for (const char* name : {"a", "b", "c", "d"}) f.task(name);
    f.want("true");
    auto project = shop(f.world);
    SECTION("one") {
        project.setup = {"sh", "-c", "test ! -e file-b"};
        f.world.house().world().projects.put(project).value();
        const auto ends = f.merge();
        for (const auto& id : f.ids) {
            if (id == f.ids[1]) continue;
            f.check_merged(id);
        }
        CHECK(end_of(ends, f.ids[1]).what == What::left);
        CHECK_THAT(end_of(ends, f.ids[1]).error->message, Holds("setup"));
        f.check_not_merged(f.ids[1]);
        CHECK(f.status(f.ids[1]) == "reviewing");
    }
    SECTION("all") {
        const auto runs = f.file("setups");
        project.setup = {"sh", "-c", "echo x >>'" + runs + "'; exit 1"};
        f.world.house().world().projects.put(project).value();
        for (const auto& end : f.merge()) CHECK(end.what == What::left);
        for (const auto& id : f.ids) f.check_not_merged(id);
        const auto text = read_file(runs);
        CHECK(std::ranges::count(text, '\n') < 8);
    }
}

TEST_CASE("a task that has to be confirmed since the checks of its train began is left out", "[slow]") {
    TrainWorld f;
    for (const char* name : {"a", "b"}) f.task(name);
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.want("touch '" + begun + "'; while [ ! -e '" + go_on + "' ]; do sleep 0.02; done");
    std::optional<std::vector<TrainEnd>> ends;
    f.begin(ends, begun);
    auto record = f.world.record(f.ids[0]);
    look_at(record, "a hook failed");
    REQUIRE(f.world.house().world().tasks.save(record));
    write_file(go_on, "");
    f.go_until([&] { return ends.has_value(); });
    CHECK(end_of(*ends, f.ids[0]).error->code == ErrorCode::needs_force);
    CHECK(f.status(f.ids[0]) == "reviewing");
    f.check_not_merged(f.ids[0]);
    f.check_merged(f.ids[1]);
    f.check_clean();
}

TEST_CASE("work that its human has sent back while its check failed is not sent back once more", "[slow]") {
    TrainWorld f;
    const auto id = f.task("a");
    const auto failed = f.file("failed"), begun = f.file("begun"), go_on = f.file("go-on");
    f.want("test -e '" + failed + "' || { touch '" + failed + "'; exit 1; }; touch '" + begun + "'; while [ ! -e '" +
           go_on + "' ]; do sleep 0.02; done; exit 1");
    std::optional<std::vector<TrainEnd>> ends;
    f.begin(ends, begun);
    engine::Request request;
    request.goal = engine::Goal::rejected;
    Edit edit;
    edit.feedback = "another name";
    std::optional<Result<Outcome>> rejected;
    f.world.house().begin(f.world.house().runner().requests.move(id, request, a_human(), edit), rejected);
    f.go_until([&] { return rejected.has_value(); });
    REQUIRE(*rejected);
    write_file(go_on, "");
    f.go_until([&] { return ends.has_value(); });
    CHECK(end_of(*ends, id).what == What::left);
    CHECK_THAT(end_of(*ends, id).error->message, Holds("is working now") && !Holds("orange"));
    CHECK(f.status(id) == "working");
    CHECK_THAT(f.world.task_text(id), Holds("another name") && !Holds("could not be merged"));
}

TEST_CASE("while a train publishes, its tasks are changed by nobody else", "[slow]") {
    TrainWorld f;
    f.task("a");
    f.task("b");
    f.want("true");
    const auto begun = f.file("begun"), go_on = f.file("go-on");
    f.hook("touch '" + begun + "'\nwhile [ ! -e '" + go_on + "' ]; do sleep 0.02; done\n");
    std::optional<std::vector<TrainEnd>> ends;
    f.begin(ends, begun);
    for (const auto& id : f.ids) {
        CHECK(f.trains().is_publishing(id));
        CHECK(f.world.record(id).merge->phase == MergePhase::merged);
        std::optional<Result<Outcome>> cancelled;
        engine::Request request;
        request.goal = engine::Goal::cancelled;
        f.world.house().begin(f.world.house().runner().requests.move(id, request, a_human(), Edit{}), cancelled);
        std::optional<Result<MergeOutcome>> merged;
        f.world.house().begin(f.world.house().runner().merges.merge(id, MergeOrder{}, a_human()), merged);
        std::optional<bool> resumed;
        f.world.house().begin(
            [](Runner& runner, TaskRecord record) -> Awaitable<bool> {
                co_await runner.merges.resume(std::move(record));
                co_return true;
            }(f.world.house().runner(), f.world.record(id)),
            resumed);
        f.go_until([&] { return cancelled && merged && resumed; });
        CHECK(cancelled->error().code == ErrorCode::conflict);
        CHECK(merged->error().code == ErrorCode::conflict);
        CHECK(f.world.record(id).merge->phase == MergePhase::merged);
    }
    write_file(go_on, "");
    f.go_until([&] { return ends.has_value(); });
    for (const auto& id : f.ids) {
        f.check_merged(id);
        CHECK_FALSE(f.trains().is_publishing(id));
    }
}

TEST_CASE("tasks without checks of the result are merged alone, in order, and with force, too") {
    TrainWorld f;
    f.task("a");
    f.task("b", "file-a", "otherwise\n");
    f.task("c");
    MergeOrder order;
    SECTION("no checks") {}
    SECTION("checks in the worktree") {
        f.want("true");
        auto project = shop(f.world);
        project.settings.merge_checks = "worktree";
        f.world.house().world().projects.put(project).value();
    }
    SECTION("with force") {
        f.want("false");
        order.force = true;
        order.checks = false;
    }
    const auto ends = f.merge(order);
    f.check_merged(f.ids[0]);
    f.check_merged(f.ids[2]);
    f.check_not_merged(f.ids[1]);
    CHECK(end_of(ends, f.ids[1]).what == What::left);
    CHECK(f.status(f.ids[1]) == "reviewing");
    CHECK(end_of(ends, f.ids[1]).error->details.at("files") == "file-a");
    CHECK(f.world.record(f.ids[0]).merge->train.empty());
}

TEST_CASE("a task that has to be confirmed is left, and work that is merged already is finished", "[slow]") {
    TrainWorld f;
    for (const char* name : {"a", "b", "c"}) f.task(name);
    f.want("true");
    auto record = f.world.record(f.ids[0]);
    look_at(record, "a hook failed");
    REQUIRE(f.world.house().world().tasks.save(record));
    f.world.git.plain(f.world.repo(), {"merge", "-q", "--no-ff", "-m", "by hand", "work-b"});
    f.world.git.plain(f.world.repo(), {"push", "-q", "origin", "main"});
    const auto ends = f.merge();
    CHECK(end_of(ends, f.ids[0]).error->code == ErrorCode::needs_force);
    CHECK(f.status(f.ids[0]) == "reviewing");
    CHECK(end_of(ends, f.ids[1]).what == What::merged);
    CHECK(end_of(ends, f.ids[1]).outcome.elsewhere);
    CHECK(f.status(f.ids[1]) == "done");
    f.check_merged(f.ids[2]);
    CHECK(f.runs() == 1);
}

TEST_CASE("tasks whose branches build on one another are merged in either order", "[slow]") {
    TrainWorld f;
    auto record = f.world.record(f.task("a"));
    record.branch_start = f.world.git.ref(f.world.repo(), "refs/heads/main");
    REQUIRE(f.world.house().world().tasks.save(record));
    const auto tree = (f.world.git.dir / "tree-b").string();
    f.world.git.plain(f.world.repo(), {"branch", "base-b", "work-a"});
    f.task("b");
    f.world.git.plain(f.world.repo(), {"worktree", "add", "-q", tree, "work-b"});
    f.world.git.plain(tree, {"merge", "-q", "-m", "stacked", "base-b"});
    f.world.git.plain(f.world.repo(), {"worktree", "remove", "--force", tree});
    f.want("true");
    if (GENERATE(false, true)) std::ranges::reverse(f.ids);
    for (const auto& end : f.merge()) CHECK(end.what == What::merged);
    for (const auto& id : f.ids) CHECK(f.status(id) == "done");
    CHECK(f.has("file-a"));
    CHECK(f.has("file-b"));
    f.check_clean();
}

TEST_CASE("a task that is built on another one of its train is merged after that, alone", "[slow]") {
    TrainWorld f;
    const auto a = f.task("a"), b = f.task("b", "file-b", "x\n", "work-a");
    f.want("true");
    auto record = f.world.record(b);
    record.task.on = a;
    REQUIRE(f.world.house().world().tasks.save(record));
    f.ids.clear();
    for (const auto& place : f.trains().order({b, a}, false)) f.ids.push_back(place.id);
    CHECK(f.ids == std::vector<TaskId>{a, b});
    const auto ends = f.merge();
    INFO((end_of(ends, b).error ? end_of(ends, b).error->message : ""));
    for (const auto& id : f.ids) f.check_merged(id);
    CHECK(f.runs() == 2);
}

TEST_CASE("a task that is built on another one brings no commits of that which are not merged", "[slow]") {
    TrainWorld f;
    const auto a = f.task("a"), b = f.task("b");
    const auto tree = (f.world.git.dir / "tree-b").string();
    f.world.git.plain(f.world.repo(), {"worktree", "add", "-q", tree, "work-b"});
    f.world.git.plain(tree, {"merge", "-q", "-m", "built on it", "work-a"});
    f.world.git.plain(f.world.repo(), {"worktree", "remove", "--force", tree});
    auto record = f.world.record(b);
    record.task.on = a;
    record.task.base = f.world.git.ref(f.world.repo(), "refs/heads/work-a");
    record.blockers_done.insert(a);
    REQUIRE(f.world.house().world().tasks.save(record));
    SECTION("the other one passes") {
        f.want("true");
        if (GENERATE(false, true)) std::ranges::reverse(f.ids);
        const auto ends = f.merge();
        for (const auto& end : ends) CHECK(end.what == What::merged);
        REQUIRE(ends.size() == 2);
        CHECK(ends[0].id == a);
        for (const auto& id : f.ids) f.check_merged(id);
    }
    SECTION("the other one goes back") {
        f.want("test ! -e file-a");
        const auto ends = f.merge();
        CHECK(end_of(ends, a).what == What::back);
        CHECK(end_of(ends, b).what == What::left);
        CHECK(end_of(ends, b).error->details.at("why") == "below_not_merged");
        CHECK(f.status(b) == "reviewing");
        f.check_not_merged(a);
        f.check_not_merged(b);
        CHECK_FALSE(f.has("file-a"));
    }
    f.check_clean();
}

TEST_CASE("a push that origin refuses leaves all tasks as they were") {
    TrainWorld f;
    f.task("a");
    f.task("b");
    f.want("true");
    f.hook("echo 'main is protected' >&2\nexit 1\n");
    for (const auto& end : f.merge()) {
        CHECK(end.what == What::left);
        CHECK_THAT(end.error->message, Holds("main is protected"));
    }
    for (const auto& id : f.ids) {
        f.check_not_merged(id);
        CHECK(f.status(id) == "reviewing");
    }
}

TEST_CASE("the order is oldest first, unless it is given, and a task comes after the one that it builds on") {
    TrainWorld f;
    const auto a = f.task("a"), b = f.task("b"), c = f.task("c");
    auto record = f.world.record(a);
    record.stacked_on = c;
    REQUIRE(f.world.house().world().tasks.save(record));
    const auto named = [](const std::vector<TrainPlace>& places) {
        std::vector<TaskId> all;
        for (const auto& place : places) all.push_back(place.id);
        return all;
    };
    CHECK(named(f.trains().order({c, b, a}, false)) == std::vector<TaskId>{b, c, a});
    CHECK(named(f.trains().order({a, c, b}, true)) == std::vector<TaskId>{c, a, b});
    CHECK(named(f.trains().order({b, c}, true)) == std::vector<TaskId>{b, c});
}

namespace {

/// After a daemon that ended in a train and the next one: each task is merged once, or not at all, and is merged by the
/// next train.
void check_after_death(TrainWorld& f) {
    f.world.outside.fuse.disarm();
    f.world.outside.children.disarm();
    f.world.boot();
    f.world.recover();
    for (const auto& id : f.ids) {
        INFO(f.world.state_text(id));
        if (f.status(id) == "done") {
            f.check_merged(id);
        } else {
            f.check_not_merged(id);
        }
    }
    for (const auto& end : f.merge()) CHECK(end.what == What::merged);
    for (const auto& id : f.ids) f.check_merged(id);
    f.check_clean();
}

void end_at_every_step(int stride) {
    TrainWorld f;
    for (const char* name : {"a", "b", "c"}) f.task(name);
    f.want("true");
    f.world.keep();
    f.world.back();
    f.world.outside.fuse.arm(Fuse::Ending::none, 0);
    for (const auto& end : f.merge()) REQUIRE(end.what == What::merged);
    const int steps = f.world.outside.fuse.steps();
    REQUIRE(steps > 10);
    for (int n = 1; n <= steps; n += stride) {
        INFO("step " << n << " of " << steps);
        f.world.back();
        f.world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            (void)f.merge();
        } catch (const fakes::Killed&) {
        }
        check_after_death(f);
    }
}

}  // namespace

TEST_CASE("a train whose daemon is killed is finished or undone by the next one, at some steps", "[slow]") {
    end_at_every_step(7);
}

TEST_CASE("a train whose daemon is killed is finished or undone by the next one, at every step", "[soak]") {
    end_at_every_step(1);
}

TEST_CASE("a train whose daemon is killed around its push is finished if it was published, and undone if not",
          "[slow]") {
    TrainWorld f;
    f.task("a");
    f.task("b");
    f.want("true");
    f.world.keep();
    const auto how = GENERATE(ChildFault::ends_the_daemon_before, ChildFault::ends_the_daemon_after);
    // The number of the push among the daemon's children.
    f.world.back();
    f.world.outside.children.arm(how, 1'000'000);
    (void)f.merge();
    const auto& commands = f.world.outside.children.commands;
    const auto push =
        std::ranges::find_if(commands, [](const auto& each) { return each.find(" push ") != std::string::npos; });
    REQUIRE(push != commands.end());
    const int nth = static_cast<int>(push - commands.begin()) + 1;
    f.world.back();
    f.world.outside.children.arm(how, nth);
    try {
        (void)f.merge();
    } catch (const fakes::Killed&) {
    }
    f.world.outside.children.disarm();
    f.world.boot();
    f.world.recover();
    const bool is_published = how == ChildFault::ends_the_daemon_after;
    for (const auto& id : f.ids) {
        if (is_published) f.check_merged(id);
        if (!is_published) f.check_not_merged(id);
        CHECK((engine::find_notice(f.world.record(id), NoticeKind::merge_failed) == nullptr) == is_published);
    }
    check_after_death(f);
}
