#include <algorithm>
#include <map>
#include <set>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Pending tasks that wait for a workspace: who is started next, when, and where.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::string>;

/// An agent that does nothing, so that only what the test does moves a task.
void add_sleeping_harness(Sandbox& orange) {
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/idle.yml",
               "name: idle\nprogram: sh\nargv:\n  full: [-c, \"sleep 600\", --, \"{prompt}\"]\n");
}

std::string create_idle(Sandbox& orange, const std::string& summary, bool no_spawn = false) {
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = summary;
    params.harness = params.review_harness = "idle";
    params.no_spawn = no_spawn;
    return orange.call(params).task.fields.id.value;
}

Ids create_idle(Sandbox& orange, int count) {
    Ids ids;
    for (int i = 1; i <= count; ++i) ids.push_back(create_idle(orange, "Task " + std::to_string(i)));
    return ids;
}

/// Something to merge, then the merge.
void merge_work(Sandbox& orange, const std::string& id) {
    const auto worktree = orange.worktree(id);
    write_file(worktree / (id + ".txt"), "work\n");
    orange.git({"add", id + ".txt"}, worktree);
    orange.git({"commit", "-q", "-m", "Work of " + id}, worktree);
    rpc::TaskMerge merge;
    merge.id = id;
    merge.force = true;
    orange.call(merge);
}

void cancel(Sandbox& orange, const std::string& id) {
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
}

rpc::ProjectReply resize(Sandbox& orange, int size) {
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.pool_size = size;
    return orange.call(update);
}

void set_setup(Sandbox& orange, const std::vector<std::string>& argv) {
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = argv;
    orange.call(update);
}

std::int64_t place(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task.queue_place;
}

rpc::TaskWhy::Reply why(Sandbox& orange, const std::string& id) {
    rpc::TaskWhy why;
    why.id = id;
    return orange.call(why);
}

std::vector<std::int64_t> places(Sandbox& orange, const Ids& ids) {
    std::vector<std::int64_t> all;
    for (const auto& id : ids) all.push_back(place(orange, id));
    return all;
}

int taken(Sandbox& orange) {
    int count = 0;
    for (const auto& workspace : orange.call(rpc::WorkspaceList{}).workspaces) count += workspace.state == "taken";
    return count;
}

void wait_until_started(Sandbox& orange, const std::string& id) {
    orange.wait_for_status(id, "planning");
}

}  // namespace

TEST_CASE("Twenty tasks drain through four workspaces, first in, first out, each into a clean one") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 4);
    const auto starts = orange.root() / "starts";
    const auto script = orange.root() / "setup";
    write_file(script,
               "#!/bin/sh\nset -eu\nfound=$(git status --porcelain; ls leftover* 2> /dev/null || :)\n"
               "echo \"$ORANGE_TASK ${PWD##*/} [$found]\" >> " +
                   starts.string() + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    set_setup(orange, {script.string()});

    Ids ids;
    for (int i = 1; i <= 20; ++i) ids.push_back(orange.create("shop", "Task " + std::to_string(i)));
    std::set<std::string> merged;
    int most = 0;
    // Whoever is ready is merged; nothing else is done for the others.
    const auto drained = [&] {
        most = std::max(most, taken(orange));
        for (const auto& id : ids) {
            if (merged.contains(id) || orange.status(id) != "reviewing") continue;
            rpc::TaskShow show;
            show.id = id;
            if (orange.call(show).task.in_progress) continue;
            write_file(orange.worktree(id) / "leftover.txt", "of " + id + "\n");
            rpc::TaskMerge merge;
            merge.id = id;
            orange.call(merge);
            merged.insert(id);
        }
        return merged.size() == ids.size();
    };
    orange.eventually("all are merged", drained, 500s);

    for (const auto& id : ids) CHECK(orange.status(id) == "done");
    CHECK(most <= 4);
    std::istringstream lines(read_file(starts));
    Ids order;
    for (std::string id, workspace, found; lines >> id >> workspace && std::getline(lines, found);) {
        order.push_back(id);
        CHECK(found == " []");
        CHECK(workspace.starts_with("shop--"));
        CHECK(std::stoi(workspace.substr(6)) <= 4);
    }
    // Two workspaces that come free together start two tasks side by side: their setups may change places.
    REQUIRE(order.size() == ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto at = std::find(order.begin(), order.end(), ids[i]) - order.begin();
        INFO("task " << i + 1 << " was number " << at + 1);
        CHECK(std::abs(static_cast<long>(at) - static_cast<long>(i)) < 4);
    }
    for (const auto& workspace : orange.call(rpc::WorkspaceList{}).workspaces) CHECK(workspace.state == "free");
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
}

TEST_CASE("A task that is not to be started is passed by, and a cancelled one leaves the queue") {
    Sandbox orange;
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto first = create_idle(orange, "First");
    const auto later = create_idle(orange, "Later", true);
    const auto second = create_idle(orange, "Second");
    const auto third = create_idle(orange, "Third");
    CHECK(places(orange, {later, second, third}) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(why(orange, later).hints.at(0) == "orange task spawn " + later);
    CHECK_THAT(why(orange, third).waiting_for, Tells("2"));
    cancel(orange, second);
    CHECK(place(orange, third) == 1);
    merge_work(orange, first);
    wait_until_started(orange, third);
    CHECK(orange.status(later) == "pending");
    // Asked for by hand it goes to the end.
    rpc::TaskSpawn spawn;
    spawn.id = later;
    const auto asked = orange.call(spawn);
    CHECK(asked.task.queue_place == 1);
    merge_work(orange, third);
    wait_until_started(orange, later);
}

TEST_CASE("A cancelled task starts nobody, and who waits is told how to go on") {
    Sandbox orange;
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto ids = create_idle(orange, 3);
    cancel(orange, ids[0]);
    CHECK(taken(orange) == 0);
    CHECK(places(orange, ids) == std::vector<std::int64_t>{0, 1, 2});
    const auto reasons = why(orange, ids[2]);
    CHECK(reasons.task.queue_place == 2);
    const auto next = "orange task spawn " + ids[1];
    CHECK(std::ranges::count_if(reasons.hints, [&](const auto& hint) { return hint.ends_with(next); }) == 1);
    const auto first = why(orange, ids[1]).hints;
    CHECK(std::count(first.begin(), first.end(), next) == 1);
    // Nobody is passed, whoever is asked for.
    rpc::TaskSpawn spawn;
    spawn.id = ids[2];
    const auto asked = orange.call(spawn);
    CHECK(asked.task.queue_place == 1);
    CHECK(orange.status(ids[1]) == "planning");
    CHECK(orange.status(ids[2]) == "pending");
}

TEST_CASE("A larger pool starts who waits, at once and in order") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto ids = create_idle(orange, 5);
    resize(orange, 3);
    wait_until_started(orange, ids[1]);
    wait_until_started(orange, ids[2]);
    CHECK(places(orange, ids) == std::vector<std::int64_t>{0, 0, 0, 1, 2});
    CHECK(taken(orange) == 3);
}

TEST_CASE("A larger pool that is written into projects.json by hand starts who waits") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto ids = create_idle(orange, 2);
    const auto file = orange.home() / "projects.json";
    auto projects = Json::parse(read_file(file));
    projects.at(0)["pool_size"] = 2;
    write_file(file, projects.dump());
    wait_until_started(orange, ids[1]);
    CHECK(taken(orange) == 2);
}

TEST_CASE("A smaller pool touches no task, and starts nobody before it is below its new size") {
    Sandbox orange;
    orange.add_project("shop", 4);
    add_sleeping_harness(orange);
    auto ids = create_idle(orange, 4);
    write_file(orange.worktree(ids[3]) / "draft", "mine\n");
    // Two of the lower numbers are free, and two are taken beyond the new size.
    cancel(orange, ids[0]);
    cancel(orange, ids[1]);
    const auto resized = resize(orange, 2);
    CHECK_FALSE(resized.notes.empty());
    const auto waiting = create_idle(orange, "Wait");
    CHECK(place(orange, waiting) == 1);
    CHECK(taken(orange) == 2);
    CHECK(read_file(orange.worktree(ids[3]) / "draft") == "mine\n");

    const auto listed = orange.orange({"workspace", "list"});
    CHECK_THAT(listed.out, Tells("shop"));
    merge_work(orange, ids[2]);
    wait_until_started(orange, waiting);
    CHECK(orange.fields(waiting).at("workspace") == "shop--1");
    std::map<std::string, std::string> states;
    for (const auto& workspace : orange.call(rpc::WorkspaceList{}).workspaces) states[workspace.name] = workspace.state;
    CHECK(states == std::map<std::string, std::string>{
                        {"shop--1", "taken"}, {"shop--2", "free"}, {"shop--3", "surplus"}, {"shop--4", "taken"}});
    REQUIRE(orange.orange({"workspace", "gc"}).status == 0);
    CHECK_FALSE(std::filesystem::exists(orange.home() / "workspaces/shop--3"));
    CHECK(read_file(orange.worktree(ids[3]) / "draft") == "mine\n");
    CHECK(orange.status(ids[3]) == "planning");
}

TEST_CASE("A queue outlives the daemon, with its order") {
    Sandbox orange;
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto ids = create_idle(orange, 3);
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(places(orange, ids) == std::vector<std::int64_t>{0, 1, 2});
    const auto last = create_idle(orange, "Last");
    CHECK(place(orange, last) == 3);
    merge_work(orange, ids[0]);
    wait_until_started(orange, ids[1]);
    CHECK(places(orange, {ids[2], last}) == std::vector<std::int64_t>{1, 2});
    // A workspace that came free while nobody was there is found at the start.
    cancel(orange, ids[1]);
    CHECK(orange.status(ids[2]) == "pending");
    orange.kill_daemon();
    orange.start_daemon();
    wait_until_started(orange, ids[2]);
    CHECK(place(orange, last) == 1);
}

TEST_CASE("A task that cannot be started says why, and the next one is started instead") {
    Sandbox orange;
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto ids = create_idle(orange, 3);
    const auto script = orange.root() / "setup";
    write_file(script, "#!/bin/sh\n[ \"$ORANGE_TASK\" != " + ids[1] + " ] || { echo no lemons >&2; exit 3; }\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    set_setup(orange, {script.string()});
    merge_work(orange, ids[0]);
    wait_until_started(orange, ids[2]);
    CHECK(orange.status(ids[1]) == "pending");
    CHECK(place(orange, ids[1]) == 0);
    const auto attention = orange.fields(ids[1]).at("attention").get<std::string>();
    CHECK_THAT(attention, Holds("no lemons"));
    CHECK_THAT(attention, Tells("orange task spawn " + ids[1]));
    CHECK(orange.history(ids[1], "spawn.failed").size() == 1);
    const auto reasons = why(orange, ids[1]);
    REQUIRE_FALSE(reasons.hints.empty());
    CHECK_THAT(reasons.hints[0], Holds("no lemons"));
    // Its workspace is clean and the one that the next task has.
    CHECK(orange.fields(ids[2]).at("workspace") == "shop--1");
}

TEST_CASE("An update of summary and status does both or neither where no workspace is free") {
    Sandbox orange;
    orange.add_project("shop", 1);
    add_sleeping_harness(orange);
    const auto holder = create_idle(orange, "Holds it");
    const auto id = create_idle(orange, "Old words", true);
    rpc::TaskUpdate update;
    update.id = id;
    update.summary = "New words";
    update.branch = "new-name";
    update.feedback = "Be quick.";
    update.status = "planning";
    const auto before = orange.fields(id);
    const auto state = read_file(orange.folder(id) / "state.json");
    const auto refused = orange.try_call(update);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::pool_exhausted);
    CHECK(orange.fields(id) == before);
    CHECK(read_file(orange.folder(id) / "state.json") == state);
    CHECK(orange.history(id, "summary.changed").empty());
    CHECK_THAT(orange.body(id), !Holds("Be quick."));

    merge_work(orange, holder);
    REQUIRE(orange.try_call(update));
    const auto after = orange.fields(id);
    CHECK(after.at("summary") == "New words");
    CHECK(after.at("status") == "planning");
    CHECK(after.at("branch") == "new-name");
    CHECK(orange.git({"branch", "--show-current"}, orange.worktree(id)) == "new-name");
    CHECK_THAT(orange.body(id), Holds("Be quick."));
    CHECK(orange.history(id, "workspace.acquired").size() == 1);
}

}  // namespace orange::tests
