#include <algorithm>

#include "common/rpc/attempt_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/sandbox.hpp"

/// A task that several agents try, with the real daemon and agents, from its creation to the merge of one of them.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;

/// Three demo agents at one task, which are all in their human's review.
struct Tried {
    Sandbox orange;
    std::filesystem::path repo;
    rpc::TaskView parent;

    Tried() {
        repo = orange.add_project("shop", 4);
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "The whole";
        create.attempts = {"demo", "demo", "demo"};
        parent = orange.call(create).task;
        REQUIRE(parent.children.size() == 3);
        orange.eventually(
            "all attempts rest", [&] { return show(id()).needs.kind == Need::review; }, 60s);
    }
    std::string id() const { return parent.fields.id.value; }
    std::string attempt(std::size_t i) const { return parent.children.at(i); }
    rpc::TaskView show(const std::string& task) {
        rpc::TaskShow show;
        show.id = task;
        return orange.call(show).task;
    }
    /// The attempts in the order in which they were asked for.
    std::vector<rpc::ComparedAttempt> rows() {
        rpc::TaskCompare compare;
        compare.id = id();
        return orange.call(compare).rows;
    }
    Result<rpc::TaskReply> pick(const std::string& name) {
        rpc::TaskPick pick;
        pick.id = id();
        pick.attempt = name;
        return orange.try_call(pick);
    }
    Result<rpc::TaskMerge::Reply> merge(const std::string& task) {
        rpc::TaskMerge merge;
        merge.id = task;
        return orange.try_call(merge);
    }
};

}  // namespace

TEST_CASE("Three agents try a task, a human compares them and picks one, and its merge ends the task") {
    Tried tried;
    auto& orange = tried.orange;
    CHECK(orange.path_of(tried.id()) == "pending delegated");
    CHECK_FALSE(tried.merge(tried.id()));
    CHECK_FALSE(tried.merge(tried.attempt(0)));
    const auto rows = tried.rows();
    REQUIRE(rows.size() == 3);
    for (const auto& row : rows) {
        CHECK(row.harness == "demo");
        CHECK(row.verdict == "PASS");
        CHECK(row.verdict_by == "demo");
        REQUIRE(row.changes);
        CHECK(row.changes->commits > 0);
        CHECK(row.commit == orange.git({"rev-parse", tried.show(row.id).fields.branch}, tried.repo));
    }
    CHECK(rows[2].name == "demo 3");
    const auto picked = tried.pick("demo 2");
    REQUIRE(picked);
    CHECK(picked->task.picked == rows[1].id);
    for (const std::size_t i : {0, 2}) CHECK(orange.status(rows[i].id) == "cancelled");
    const auto merged = tried.merge(tried.id());
    REQUIRE(merged);
    CHECK(merged->task.fields.id.value == rows[1].id);
    orange.wait_for_status(tried.id(), "done");
    CHECK(orange.path_of(tried.id()) == "pending delegated done");
}

TEST_CASE(
    "A daemon that is killed as soon as an attempt is picked leaves it picked, and the next one ends the others") {
    Tried tried;
    auto& orange = tried.orange;
    const auto rows = tried.rows();
    REQUIRE(tried.pick("demo"));
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(tried.show(tried.id()).picked == rows[0].id);
    for (const std::size_t i : {1, 2}) orange.wait_for_status(rows[i].id, "cancelled");
    CHECK(orange.status(rows[0].id) == "reviewing");
}

}  // namespace orange::tests
