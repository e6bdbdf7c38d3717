#include <map>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Tasks that wait for others, with the real daemon and agents: nobody starts them.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;

std::string create(Sandbox& orange, const std::string& summary, const std::vector<std::string>& blockers,
                   const std::string& project = "shop") {
    rpc::TaskCreate params;
    params.project = project;
    params.summary = summary;
    params.harness = params.review_harness = "demo";
    params.blocked_by = blockers;
    return orange.call(params).task.fields.id.value;
}

void merge(Sandbox& orange, const std::string& id) {
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
}

rpc::TaskView view(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task;
}

void wait_until_ready(Sandbox& orange, const std::string& id) {
    orange.eventually(
        "it is ready to be merged", [&] { return orange.status(id) == "reviewing" && !view(orange, id).in_progress; },
        60s);
}

/// The agents' work is one file for each task, which all of its commits are in.
void check_started_once_after(Sandbox& orange, const std::string& id, const std::vector<std::string>& blockers) {
    const auto begun = orange.history(id, "status.changed").at(0).at("timestamp").get<std::string>();
    for (const auto& blocker : blockers) {
        const auto changes = orange.history(blocker, "status.changed");
        CHECK(changes.back().at("to") == "done");
        CHECK(changes.back().at("at").get<std::string>() <= begun);
    }
    CHECK(orange.history(id, "blocker.done").size() == blockers.size());
    int workers = 0;
    for (const auto& event : orange.history(id, "agent.spawned")) workers += event.at("role") == "worker" ? 1 : 0;
    CHECK(workers == 1);
    CHECK(orange.path_of(id).starts_with("pending planning"));
}

}  // namespace

TEST_CASE("Three tasks that wait for each other run to their end by themselves, merge after merge") {
    Sandbox orange;
    orange.add_project("shop", 2);
    const auto a = create(orange, "Add one", {});
    const auto b = create(orange, "Add two", {a});
    const auto c = create(orange, "Add three", {orange.short_id(b)});
    CHECK(view(orange, c).blockers.at(0).state == "open");
    const auto tree = orange.orange({"task", "tree", "-p", "shop"});
    CHECK(tree.out.find(orange.short_id(a)) < tree.out.find("`-- " + orange.short_id(b)));
    CHECK_THAT(tree.out, Holds("    `-- " + orange.short_id(c) + "  pending"));
    CHECK(Json::parse(orange.orange({"task", "tree", c, "--json"}).out).at("tasks").size() == 3);
    for (const auto& id : {a, b, c}) {
        wait_until_ready(orange, id);
        merge(orange, id);
    }
    check_started_once_after(orange, b, {a});
    check_started_once_after(orange, c, {b});
    for (const auto& workspace : orange.call(rpc::WorkspaceList{}).workspaces) CHECK(workspace.state == "free");
}

TEST_CASE("A task that is built on another one starts when that is in review, and is merged after it") {
    Sandbox orange;
    orange.add_project("shop", 2);
    const auto a = create(orange, "Add one", {});
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Add two";
    params.harness = params.review_harness = "demo";
    params.on = orange.short_id(a);
    auto twice = params;
    twice.base = "main";
    const auto refused = orange.try_call(twice);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    const auto b = orange.call(params).task.fields.id.value;
    CHECK(orange.fields(b).at("on") == a);
    wait_until_ready(orange, a);
    wait_until_ready(orange, b);
    rpc::TaskMerge merge_above;
    merge_above.id = b;
    const auto too_early = orange.try_call(merge_above);
    REQUIRE_FALSE(too_early);
    CHECK(too_early.error().details.at("why") == "below_not_merged");
    const auto below = orange.fields(a).at("branch").get<std::string>();
    const auto above = orange.fields(b).at("branch").get<std::string>();
    CHECK(orange.git({"rev-list", "--count", above + ".." + below}, orange.worktree(b)) == "0");
    merge(orange, a);
    orange.eventually("it is compared with the default branch", [&] { return !orange.fields(b).contains("base"); });
    merge(orange, b);
    CHECK(orange.status(b) == "done");
}

TEST_CASE("A daemon that is killed as soon as a blocker is merged leaves the start to the next one, once") {
    Sandbox orange;
    orange.add_project("shop", 2);
    const auto a = create(orange, "Add one", {});
    const auto b = create(orange, "Add two", {a});
    wait_until_ready(orange, a);
    merge(orange, a);
    orange.kill_daemon();
    orange.start_daemon();
    wait_until_ready(orange, b);
    check_started_once_after(orange, b, {a});
}

TEST_CASE("A task of another project may be a blocker") {
    Sandbox orange;
    orange.add_project("shop", 1);
    orange.add_project("pond", 1);
    const auto a = create(orange, "Add one", {});
    const auto b = create(orange, "Add two", {a}, "pond");
    CHECK(view(orange, b).blockers.at(0).project == "shop");
    wait_until_ready(orange, a);
    CHECK(orange.status(b) == "pending");
    merge(orange, a);
    wait_until_ready(orange, b);
    check_started_once_after(orange, b, {a});
}

TEST_CASE("Tasks that would wait for each other are refused at once, and the client shows the cycle") {
    Sandbox orange;
    orange.add_project("shop", 1);
    const auto a = orange.create("shop", "One", true);
    const auto b = create(orange, "Two", {a});
    const auto refused = orange.orange({"task", "update", a, "--blocked-by", b});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Holds(orange.short_id(a) + " → " + orange.short_id(b) + " → " + orange.short_id(a)));
    CHECK(orange.orange({"task", "create", "-p", "shop", "--blocked-by", "nothing", "Three"}).status == 1);
    rpc::TaskList list;
    CHECK(orange.call(list).tasks.size() == 2);
}

}  // namespace orange::tests
