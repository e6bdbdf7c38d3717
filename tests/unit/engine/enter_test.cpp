#include "daemon/engine/enter.hpp"

#include "daemon/engine/notices.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

const Timestamp k_now = *from_rfc3339("2026-11-20T10:00:00Z");

Decision decision_to(const std::string& to) {
    Decision decision;
    decision.from = "working";
    decision.to = to;
    decision.counters = {{"review_round", 2}};
    decision.actions = {{"notify", {{"message", "look"}}, {}}};
    decision.auto_reason = "it ended";
    decision.attested = false;
    return decision;
}

Entrance entrance() {
    Entrance made;
    made.tx = "tx1";
    made.by.role = Role::worker;
    made.at = k_now;
    made.sections = {{"Handoff", "hash"}};
    return made;
}

/// A task with a trace of everything that belongs to the state that it leaves.
TaskRecord leaving(const World& world) {
    TaskRecord record;
    record.task = world.task;
    record.died = {Role::worker};
    record.stopped = true;
    record.queued = true;
    record.start = "reviewing";
    record.answered = "answer";
    record.entry_sections = {{"Plan", "old"}};
    return record;
}

}  // namespace

TEST_CASE("a task enters a state with the moment, the sections and the counters of then, and leaves the last behind") {
    const World world("working");
    auto record = leaving(world);
    enter(record, world.definition, decision_to("review"), entrance());
    CHECK(record.task.status == "review");
    CHECK(record.task.review_round() == 2);
    CHECK(record.task.updated_at == k_now);
    CHECK(record.entered_at == k_now);
    CHECK(record.entry_sections == std::map<std::string, std::string>{{"Handoff", "hash"}});
    CHECK_FALSE(record.stopped);
    CHECK_FALSE(record.queued);
    CHECK_FALSE(record.start);
    CHECK_FALSE(record.answered);
    CHECK_FALSE(record.ended);
    CHECK(record.died == std::set<Role>{Role::worker});  // until one is started
}

TEST_CASE("the intent of a transition says all that the next daemon needs to finish it") {
    const World world("working");
    auto record = leaving(world);
    enter(record, world.definition, decision_to("review"), entrance());
    REQUIRE(record.intent);
    const auto& intent = *record.intent;
    CHECK(intent.id == "tx1");
    CHECK(intent.from == "working");
    CHECK(intent.to == "review");
    CHECK(intent.by.role == Role::worker);
    CHECK(intent.at == k_now);
    CHECK(intent.auto_reason == "it ended");
    CHECK_FALSE(intent.attested);
    REQUIRE(intent.actions.size() == 1);
    CHECK(intent.actions[0].action.name == "notify");
    CHECK_FALSE(intent.actions[0].done);
}

TEST_CASE("a state that ends a task ends what is remembered of its agents") {
    const World world("working");
    auto record = leaving(world);
    enter(record, world.definition, decision_to("done"), entrance());
    CHECK(record.ended);
    CHECK(record.died.empty());
}

TEST_CASE("a transition ends the notices that stood before it, and not what came with the last look") {
    const World world("working");
    auto record = leaving(world);
    raise(record, {NoticeKind::hook_failed, "old", "", "", k_now});
    auto now = entrance();
    now.notices_before = record.notices;
    raise(record, {NoticeKind::task_file_conflict, "new", "", "", k_now});
    enter(record, world.definition, decision_to("review"), now);
    CHECK_FALSE(find_notice(record, NoticeKind::hook_failed));
    CHECK(find_notice(record, NoticeKind::task_file_conflict));
}

TEST_CASE("what a second reviewer has failed is remembered when the first one passes the next round") {
    const World world("review");
    TaskRecord record;
    record.task = world.task;
    auto decision = decision_to("working");
    decision.verdict = Verdict::fail;
    decision.words = "It leaks";
    enter(record, world.definition, decision, entrance());
    decision.verdict = Verdict::pass;
    decision.to = "review";
    enter(record, world.definition, decision, entrance());
    CHECK(record.failed_reviews == std::vector<std::string>{"It leaks"});
    decision.to = "reviewing";
    enter(record, world.definition, decision, entrance());
    CHECK(record.failed_reviews.empty());
}

TEST_CASE("a task that is stuck after failed reviews says what they say, until a human moves it") {
    const World world("review");
    TaskRecord record;
    record.task = world.task;
    auto decision = decision_to("working");
    decision.auto_reason.clear();
    decision.verdict = Verdict::fail;
    decision.words = "No test for a negative total";
    enter(record, world.definition, decision, entrance());
    decision.to = "stuck";
    decision.words = "Still no test";
    enter(record, world.definition, decision, entrance());
    CHECK_THAT(record.moved_because,
               Holds("the review failed twice") && Holds("No test for a negative total") && Holds("Still no test"));
    auto by_human = entrance();
    by_human.by.role = Role::human;
    enter(record, world.definition, decision_to("working"), by_human);
    CHECK(record.failed_reviews.empty());
}

TEST_CASE("what is said of working agents ends with the task") {
    const World world("working");
    TaskRecord record;
    record.task = world.task;
    raise(record, {NoticeKind::agent_hung, "no progress", "", "worker", k_now});
    raise(record, {NoticeKind::budget, "used up", "", "task 3M", k_now});
    raise(record, {NoticeKind::budget_near, "nearly used up", "", "task 3M", k_now});
    enter(record, world.definition, decision_to("stuck"), entrance());
    CHECK(find_notice(record, NoticeKind::budget) != nullptr);  // a transition ends no budget
    enter(record, world.definition, decision_to("cancelled"), entrance());
    CHECK(record.notices.empty());
}
