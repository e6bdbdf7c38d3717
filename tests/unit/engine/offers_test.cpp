#include "daemon/engine/offers.hpp"

#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

struct Offered {
    explicit Offered(const std::string& status) : definition(small_definition()) {
        record.task.status = status;
        record.task.workspace = "shop--1";
        resolve_meanings(definition);
    }
    std::set<std::string> all() const {
        const auto list = offers_of(definition, record, sight);
        return {list.begin(), list.end()};
    }
    bool has(const std::string& what) const { return all().contains(what); }

    Definition definition;
    TaskRecord record;
    Offering sight;
};

}  // namespace

TEST_CASE("A merge is offered where the workflow leads to done, with force where only such an edge does") {
    Offered task("reviewing");
    CHECK(task.has("merge"));
    Offered elsewhere("working");
    elsewhere.definition.transitions.clear();
    CHECK_FALSE(elsewhere.has("merge"));
    CHECK_FALSE(elsewhere.has("force_merge"));
    auto forced = any("done", {Role::system});
    forced.force = true;
    elsewhere.definition.transitions.push_back(forced);
    CHECK(elsewhere.has("force_merge"));
    CHECK_FALSE(elsewhere.has("merge"));
}

TEST_CASE("A task that is built on one that is not merged is offered no merge and no pull request") {
    Offered task("reviewing");
    CHECK(task.has("merge"));
    CHECK(task.has("create_pr"));
    task.sight.merges_later = true;
    for (const char* what : {"merge", "force_merge", "create_pr"}) CHECK_FALSE(task.has(what));
    CHECK(task.has("cancel"));
}

TEST_CASE("The names of states do not matter to what is offered") {
    Offered task("reviewing");
    for (auto& state : task.definition.states) state.name = "x-" + state.name;
    for (auto& edge : task.definition.transitions) {
        for (auto& from : edge.from) from = "x-" + from;
        edge.to = "x-" + edge.to;
    }
    task.record.task.status = "x-reviewing";
    CHECK(task.all() == Offered("reviewing").all());
}

TEST_CASE("An agent is attached to while it lives, and respawned when it does not") {
    Offered task("working");
    CHECK(task.has("respawn"));
    CHECK_FALSE(task.has("attach"));
    task.sight.alive = task.sight.state_alive = true;
    CHECK(task.has("attach"));
    CHECK(task.has("stop"));
    CHECK(task.has("restart"));
    CHECK_FALSE(task.has("respawn"));
}

TEST_CASE("A plan is approved or sent back, and no step of the two is offered twice") {
    Offered task("reading");
    task.definition.states.push_back({"planning", false, Role::worker, "again"});
    task.definition.states.push_back({"reading", false, {}, "again"});
    task.definition.transitions.push_back(edge({"reading"}, "planning", {Role::human}));
    task.definition.transitions.push_back(edge({"reading"}, "working", {Role::human}));
    CHECK(task.has("approve"));
    CHECK(task.has("reject"));
    CHECK_FALSE(task.has("move"));
    task.sight.children_unapproved = true;
    const auto list = offers_of(task.definition, task.record, task.sight);
    CHECK(std::ranges::count(list, "approve") == 1);
    CHECK_FALSE(Offered("reviewing").has("approve"));
}

TEST_CASE("A pending task is started, an ended one restored, and neither more") {
    Offered pending("pending");
    CHECK(pending.has("spawn"));
    CHECK_FALSE(pending.has("respawn"));
    CHECK_FALSE(pending.has("create_pr"));
    Offered done("done");
    CHECK(done.all() == std::set<std::string>{"delete", "restore"});
}

TEST_CASE("While a transition runs, only its agents are offered") {
    Offered task("reviewing");
    task.sight.alive = true;
    task.record.intent.emplace();
    CHECK(task.all() == std::set<std::string>{"attach", "delete", "send", "stop"});
}

TEST_CASE("A question is answered, but not a dialog") {
    Offered task("working");
    task.sight.needs_answer = true;
    CHECK(task.has("reply"));
    task.sight.shows_dialog = true;
    CHECK_FALSE(task.has("reply"));
}

TEST_CASE("A step of a human is offered if no other name stands for it and its condition holds") {
    CHECK(Offered("stuck").has("move"));
    CHECK_FALSE(Offered("pending").has("move"));  // spawn stands for it
    CHECK_FALSE(Offered("done").has("move"));
    Offered task("reviewing");
    CHECK_FALSE(task.has("move"));  // merge and cancel
    auto back = edge({"reviewing"}, "working", {Role::human});
    task.definition.transitions.push_back(back);
    CHECK_FALSE(task.has("move"));  // reject
    CHECK(task.has("reject"));
    auto on = edge({"reviewing"}, "stuck", {Role::worker});
    task.definition.transitions.push_back(on);
    CHECK_FALSE(task.has("move"));  // a worker's
    task.definition.transitions.back().by = {Role::human};
    CHECK(task.has("move"));
    task.definition.transitions.back().when = Condition{"review_round", Comparison::greater_equal, 1};
    CHECK_FALSE(task.has("move"));
    task.record.task.counters["review_round"] = 1;
    CHECK(task.has("move"));
}

TEST_CASE("Work is tried if there is a command for it and a worktree") {
    Offered task("reviewing");
    CHECK_FALSE(task.has("try"));
    task.sight.has_dev = true;
    CHECK(task.has("try"));
    task.record.task.workspace.reset();
    CHECK_FALSE(task.has("try"));
    Offered pending("pending");
    pending.sight.has_dev = true;
    CHECK_FALSE(pending.has("try"));
}

TEST_CASE("A branch is updated while nobody works in its worktree") {
    Offered task("working");
    CHECK(task.has("update_branch"));
    task.sight.works = true;
    CHECK_FALSE(task.has("update_branch"));
    task.sight.works = false;
    task.record.task.workspace.reset();
    CHECK_FALSE(task.has("update_branch"));
}

TEST_CASE("A task that waits for its sub-tasks is merged with force only, and its human may go on without them") {
    Offered task("reviewing");
    task.definition.transitions.push_back(edge({"reviewing"}, "working", {Role::human}));
    CHECK(task.has("reject"));
    for (auto& state : task.definition.states) {
        if (state.name == "reviewing") state.children = ChildrenRule{"working", "done"};
    }
    CHECK(task.has("force_merge"));
    CHECK_FALSE(task.has("merge"));
    CHECK_FALSE(task.has("reject"));
    CHECK(task.has("move"));
}
