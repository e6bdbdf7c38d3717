#include "daemon/engine/needs.hpp"

#include <functional>

#include "daemon/engine/enter.hpp"
#include "daemon/engine/notices.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

const Timestamp k_entered = *from_rfc3339("2026-11-20T10:00:00.000Z");
const Timestamp k_later = *from_rfc3339("2026-11-20T11:00:00.000Z");

struct AskedTask {
    explicit AskedTask(const std::string& status) : definition(small_definition()) {
        record.task.id.value = "4f2a";
        record.task.status = status;
        record.entered_at = k_entered;
        definition.transitions.push_back(edge({"reviewing"}, "working", {Role::human}));
        definition.states.push_back({"asking", false, Role::worker, "again", Meaning::clarification});
    }
    Needs needs() const { return needs_of(definition, record, sight); }
    void raise(NoticeKind kind, const std::string& command = {}) {
        engine::raise(record, {kind, "it happened\nin detail", command, "", k_later});
    }

    Definition definition;
    TaskRecord record;
    NeedFacts sight;
};

}  // namespace

TEST_CASE("An agent at work needs nothing, whoever does not run has to be started") {
    AskedTask task("working");
    task.sight.agent_alive = true;
    CHECK(task.needs().kind == Need::nothing);
    CHECK(task.needs().command.empty());
    task.sight.agent_alive = false;
    CHECK(task.needs().kind == Need::start);
    CHECK(task.needs().command == task_command("respawn", "4f2a"));
    for (const auto fact : {&engine::NeedFacts::restarting, &engine::NeedFacts::ending}) {
        task.sight.*fact = true;
        CHECK(task.needs().kind == Need::nothing);
        task.sight.*fact = false;
    }
    task.record.stopped = true;
    CHECK(task.needs().command == task_command("restart", "4f2a"));
}

TEST_CASE("A review names the URL at which the work runs") {
    AskedTask task("reviewing");
    const std::string url = "http://localhost:20010";
    CHECK_THAT(task.needs().text, !Holds(url));
    task.sight.preview_url = url;
    CHECK(task.needs().kind == Need::review);
    CHECK_THAT(task.needs().text, Holds(url));
}

TEST_CASE("A task whose lower one is not merged says so, and needs help as long as that one is gone") {
    AskedTask task("reviewing");
    task.sight.below.value = "7c1dAbCdEfGhIjKlMnOpQ";
    task.sight.merged_first = "7c1d";
    CHECK(task.needs().kind == Need::review);
    CHECK_THAT(task.needs().text, Holds("merge 7c1d first"));
    for (const char* status : {"reviewing", "working"}) {
        AskedTask other(status);
        other.sight = task.sight;
        other.sight.agent_alive = true;
        other.sight.below_gone = "is deleted";
        CHECK(other.needs().kind == Need::help);
        CHECK(other.needs().command == task_command("update", "4f2a", "--unblock 7c1dAbCdEfGhIjKlMnOpQ"));
        CHECK_THAT(other.needs().text, Holds("7c1d") && Holds("is deleted"));
    }
    AskedTask ended("cancelled");
    ended.sight.below_gone = "is deleted";
    CHECK(ended.needs().kind == Need::nothing);
}

TEST_CASE("In a state that does not name its agent, as in the seed, a living agent needs nothing, a dead one a start") {
    AskedTask task("working");
    for (auto& state : task.definition.states) state.agent.reset();
    const bool by_prompt = GENERATE(true, false);
    for (auto& state : task.definition.states) {
        if (!by_prompt) state.respawn_prompt.clear();
    }
    if (!by_prompt) task.definition.exit_rules = {{"working", {}, ExitAction::crash, {}, 2, false}};
    task.sight.agent_alive = true;
    CHECK(task.needs().kind == Need::nothing);
    task.raise(NoticeKind::agent_crashed);
    CHECK(task.needs().kind == Need::nothing);
    task.sight.agent_alive = false;
    CHECK(task.needs().kind == Need::help);
    task.record.notices.clear();
    CHECK(task.needs().kind == Need::start);
    task.record.task.status = "reviewing";
    task.sight.agent_alive = true;
    CHECK(task.needs().kind == Need::review);
    task.record.task.status = "asking";
    task.record.answered = task.record.questions;
    CHECK(task.needs().kind == Need::nothing);
    task.record.questions = "one";
    CHECK(task.needs().kind == Need::answer);
}

TEST_CASE("A task that waits for its human says since when, and names the command") {
    AskedTask task("reviewing");
    CHECK(task.needs().kind == Need::review);
    CHECK(task.needs().since == k_entered);
    CHECK(task.needs().command == task_command("diff", "4f2a"));
    task.sight.under_way = "a merge";
    CHECK(task.needs().kind == Need::nothing);
}

TEST_CASE("A stuck task says why it is") {
    AskedTask task("stuck");
    CHECK(task.needs().text == "the task is stuck");
    task.record.moved_because = "crash 2 in working";
    CHECK(task.needs().text == "crash 2 in working");
    task.record.failed_reviews = {"no test", "no test"};
    CHECK(task.needs().command == task_command("respawn", "4f2a"));
    task.definition.transitions.push_back(edge({"stuck"}, "working", {Role::human}));
    CHECK(task.needs().command == task_command("reject", "4f2a", "\"...\""));
}

TEST_CASE("A question stands until it is answered, and again if it changes") {
    AskedTask task("asking");
    task.sight.agent_alive = true;
    task.record.questions = "one";
    CHECK(task.needs().kind == Need::answer);
    CHECK_THAT(task.needs().text, Holds("## Questions"));
    task.record.question = "Half up?";
    CHECK(task.needs().text == "the agent asks: Half up?");
    CHECK(task.needs().command == task_command("reply", "4f2a", "\"...\""));
    task.record.answered = "one";
    CHECK(task.needs().kind == Need::nothing);
    task.record.questions.clear();
    task.record.answered.reset();
    CHECK(task.needs().kind == Need::nothing);  // it has only begun, and asks nothing yet
    task.record.moved_because = "the worker set this status";
    CHECK(task.needs().kind == Need::answer);
    task.record.answered = "";
    CHECK(task.needs().kind == Need::nothing);
    task.record.answered.reset();
    task.record.moved_because.clear();
    task.sight.idle_long = true;
    CHECK_THAT(task.needs().text, Holds("## Questions is empty"));
    CHECK(task.needs().command == task_command("attach", "4f2a"));
    task.record.questions = "two";
    CHECK(task.needs().kind == Need::answer);
}

TEST_CASE("A spent budget needs help where Orange would go on, and nowhere else") {
    const auto kind_in = [](const std::string& status, const std::function<void(AskedTask&)>& arrange) {
        AskedTask task(status);
        task.sight.agent_alive = true;
        task.raise(NoticeKind::budget, "orange task update 4f2a --budget 5M");
        task.raise(NoticeKind::budget_near);  // which changes nothing
        if (arrange) arrange(task);
        return task.needs();
    };
    for (const auto* status : {"working", "review", "asking"}) {
        const auto needs = kind_in(status, {});
        CHECK(needs.kind == Need::help);
        CHECK(needs.command == task_command("update", "4f2a", "--budget 5M"));
        CHECK(needs.text == "it happened");
    }
    CHECK(kind_in("working", [](AskedTask& task) { task.record.stopped = true; }).kind == Need::help);
    CHECK(kind_in("pending", [](AskedTask& task) { task.record.queued = true; }).kind == Need::help);
    CHECK(kind_in("pending", {}).kind == Need::start);  // by its human, which goes through
    CHECK(kind_in("pending", [](AskedTask& task) {
              task.record.queued = task.record.unapproved = true;
              task.sight.parent_there = true;
          }).kind == Need::nothing);
    CHECK(kind_in("reviewing", {}).kind == Need::review);
    CHECK(kind_in("done", {}).kind == Need::nothing);
    CHECK(kind_in("cancelled", {}).kind == Need::nothing);
    CHECK(kind_in("stuck", {}).command == task_command("attach", "4f2a"));
    CHECK(kind_in("asking", [](AskedTask& task) { task.record.questions = "one"; }).kind == Need::answer);
    AskedTask near("working");
    near.sight.agent_alive = true;
    near.raise(NoticeKind::budget_near);
    CHECK(near.needs().kind == Need::nothing);
}

TEST_CASE("More tokens than are possible need help in whatever state the task is") {
    for (const auto* status : {"working", "reviewing", "done"}) {
        AskedTask task(status);
        task.sight.agent_alive = true;
        task.raise(NoticeKind::usage_doubtful, "orange task ack 4f2a");
        CHECK(task.needs().kind == Need::help);
        CHECK(task.needs().command == task_command("ack", "4f2a"));
    }
}

TEST_CASE("Help comes first, then an answer, and other notices change nothing") {
    AskedTask task("reviewing");
    task.raise(NoticeKind::git_config_changed);
    task.raise(NoticeKind::unverified_review);
    CHECK(task.needs().kind == Need::review);
    task.raise(NoticeKind::agent_crashed);
    CHECK(task.needs().kind == Need::review);  // no agent is needed here
    task.raise(NoticeKind::agent_dialog, "orange task attach 4f2a");
    CHECK(task.needs().kind == Need::answer);
    task.raise(NoticeKind::hook_failed, "orange task show 4f2a");
    CHECK(task.needs().kind == Need::help);
    CHECK(task.needs().text == "it happened");
    CHECK(task.needs().since == k_later);
    CHECK(task.needs().command == task_command("show", "4f2a"));
    task.record.task.status = "done";
    CHECK(task.needs().kind == Need::help);
    clear_all(task.record);
    CHECK(task.needs().kind == Need::nothing);
}

TEST_CASE("A dead agent is trouble if the state needs one and nothing restarts it") {
    AskedTask task("working");
    task.raise(NoticeKind::agent_crashed);
    CHECK(task.needs().kind == Need::help);
    CHECK(task.needs().command == task_command("respawn", "4f2a"));
    task.sight.ending = true;  // its end cannot be noted, and the notice says why
    CHECK(task.needs().kind == Need::help);
    task.sight.restarting = true;
    CHECK(task.needs().kind == Need::nothing);
}

TEST_CASE("A stuck task asks for help where its agent is, or for a new agent") {
    AskedTask task("stuck");
    task.sight.agent_alive = true;
    CHECK(task.needs().kind == Need::help);
    CHECK(task.needs().command == task_command("attach", "4f2a"));
    task.sight.agent_alive = false;
    CHECK(task.needs().command == task_command("respawn", "4f2a"));
}

TEST_CASE("A task that is stuck because its reviewer died goes to its review again, not to its living worker") {
    AskedTask task("stuck");
    task.sight.agent_alive = true;
    task.record.died = {Role::reviewer};
    task.record.moved_because = "crash 2 in review: reviewer exited with status 1";
    CHECK(task.needs().kind == Need::help);
    CHECK(task.needs().command == task_command("update", "4f2a", "--status reviewing"));
    task.definition.transitions.insert(task.definition.transitions.begin(), edge({"stuck"}, "review", {Role::human}));
    CHECK(task.needs().command == task_command("update", "4f2a", "--status review"));
    SECTION("a worker that asks for help itself is the one to talk to") {
        task.record.moved_because = cannot_go_on(Role::worker) + ", and asks: which one?";
        CHECK(task.needs().command == task_command("attach", "4f2a"));
    }
    SECTION("a human who says that it is stuck knows why") {
        task.record.moved_because.clear();
        CHECK(task.needs().command == task_command("attach", "4f2a"));
    }
    SECTION("a dead worker is started again") {
        task.sight.agent_alive = false;
        CHECK(task.needs().command == task_command("respawn", "4f2a"));
    }
    SECTION("without a way to a review there is only the worker") {
        std::erase_if(task.definition.transitions,
                      [](const Transition& each) { return each.from == std::vector<std::string>{"stuck"}; });
        CHECK(task.needs().command == task_command("attach", "4f2a"));
    }
}

TEST_CASE("A pending task has to be started, unless it waits for a workspace") {
    AskedTask task("pending");
    CHECK(task.needs().kind == Need::start);
    task.record.queued = true;
    CHECK(task.needs().kind == Need::nothing);
    task.sight.room = true;
    CHECK(task.needs().kind == Need::start);
    CHECK(task.needs().command == task_command("spawn", "4f2a"));
}

TEST_CASE("An agent that was held at a usage limit and does not go on by itself has to be started") {
    AskedTask task("pending");
    task.record.queued = true;
    task.sight.held_back = "waits for you (usage limit is over)";
    CHECK(task.needs().kind == Need::nothing);
    task.sight.held_for_human = true;
    CHECK(task.needs().kind == Need::start);
    CHECK(task.needs().command == task_command("spawn", "4f2a"));
    task.record.task.status = "working";
    CHECK(task.needs().kind == Need::start);
    CHECK(task.needs().command == task_command("respawn", "4f2a"));
}

TEST_CASE("A state may say what it needs, and a notice still needs help") {
    AskedTask task("working");
    task.sight.agent_alive = true;
    for (auto& state : task.definition.states) {
        if (state.name == "working") state.needs = Need::review;
    }
    CHECK(task.needs().kind == Need::review);
    task.raise(NoticeKind::hook_failed);
    CHECK(task.needs().kind == Need::help);
}

TEST_CASE("No name of a state counts: a workflow with its own words needs the same") {
    AskedTask task("reviewing");
    const std::map<std::string, std::string> words = {
        {"pending", "idea"}, {"working", "making"}, {"review", "checking"},       {"reviewing", "tasting"},
        {"stuck", "burnt"},  {"done", "served"},    {"cancelled", "thrown away"}, {"asking", "calling"}};
    for (auto& state : task.definition.states) state.name = words.at(state.name);
    for (auto& transition : task.definition.transitions) {
        transition.to = words.at(transition.to);
        for (auto& from : transition.from) from = words.at(from);
    }
    const auto kind_in = [&](const std::string& status) {
        task.record.task.status = status;
        return task.needs().kind;
    };
    CHECK(kind_in("idea") == Need::start);
    CHECK(kind_in("tasting") == Need::review);
    CHECK(kind_in("burnt") == Need::help);
    task.record.questions = "one";
    CHECK(kind_in("calling") == Need::answer);
    task.record.questions.clear();
    CHECK(kind_in("served") == Need::nothing);
    const Role human = Role::human;
    CHECK(target_of(task.definition, task.record.task, {"", human, false, true, Goal::cancelled}).value() ==
          "thrown away");
}

TEST_CASE("Rejected work goes back to the worker, and only from where a human decides") {
    AskedTask task("reviewing");
    CHECK(rejection_target(task.definition, task.record.task) != nullptr);
    task.record.task.status = "stuck";
    CHECK(rejection_target(task.definition, task.record.task) == nullptr);
    task.definition.transitions.push_back(edge({"stuck"}, "working", {Role::human}));
    CHECK(rejection_target(task.definition, task.record.task)->name == "working");
    task.record.task.status = "working";
    const auto refused = target_of(task.definition, task.record.task, {"", Role::human, false, true, Goal::rejected});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::illegal_transition);
}

TEST_CASE("What was handed over and is not merged from there is approved or rejected") {
    AskedTask task("reading");
    auto& definition = task.definition;
    definition.states.push_back({"planning", false, Role::worker, "again"});
    definition.states.push_back({"reading", false, {}, ""});
    auto hand_over = edge({"planning"}, "reading", {Role::worker});
    hand_over.gate = Gate{"Plan", true, {}, {}, VerdictLine::any, true};
    definition.transitions.push_back(hand_over);
    definition.transitions.push_back(edge({"reading"}, "planning", {Role::human}));
    definition.transitions.push_back(edge({"reading"}, "working", {Role::human}));
    CHECK(task.needs().kind == Need::review);
    CHECK_THAT(task.needs().text, Tells("## Plan"));
    CHECK(task.needs().command == task_command("approve", "4f2a"));
    const auto target = [&](Goal goal) {
        return target_of(definition, task.record.task, {"", Role::human, false, true, goal});
    };
    CHECK(target(Goal::rejected).value() == "planning");
    CHECK(target(Goal::approved).value() == "working");
    // Work that can be merged is approved by its merge; a stuck task has handed nothing over.
    for (const auto* status : {"reviewing", "working", "stuck", "pending", "done"}) {
        task.record.task.status = status;
        const auto refused = target(Goal::approved);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::illegal_transition);
    }
}

namespace {

/// In a state in which it waits for its sub-tasks.
AskedTask split_task(std::vector<ChildState> states) {
    AskedTask task("reviewing");
    for (auto& state : task.definition.states) {
        if (state.name == "reviewing") state.children = ChildrenRule{"working", "done"};
    }
    for (const auto state : states) task.sight.children.push_back({{"5e1f"}, "5e1f", "", "", state});
    return task;
}

}  // namespace

TEST_CASE("A task that waits for its sub-tasks needs nothing, until one needs help") {
    auto task = split_task({ChildState::done, ChildState::open});
    CHECK(task.needs().kind == Need::nothing);
    CHECK_THAT(task.needs().text, Tells("1") && Tells("2"));
    CHECK(split_task({ChildState::done, ChildState::stuck}).needs().kind == Need::help);
    CHECK(split_task({ChildState::ended}).needs().kind == Need::help);
    task = split_task({ChildState::done});
    task.record.queued = true;
    CHECK(task.needs().kind == Need::nothing);
    task.sight.room = true;
    CHECK(task.needs().kind == Need::start);
    CHECK(task.needs().command.options == "--status working");
    task.sight.held_back = "waits for a worker (1 of 1 run)";
    CHECK(task.needs().kind == Need::nothing);
    CHECK_THAT(task.needs().text, Holds("1 of 1"));
}

TEST_CASE("A spent budget needs help of a task with sub-tasks only when they are done and it would go on") {
    for (const auto state : {ChildState::open, ChildState::done}) {
        auto task = split_task({ChildState::done, state});
        task.raise(NoticeKind::budget, "orange task update 4f2a --budget 5M");
        CHECK((task.needs().kind == Need::help) == (state == ChildState::done));
    }
}

TEST_CASE("Sub-tasks that wait for an approval make their parent need help in whatever state it is") {
    for (const auto* status : {"pending", "working", "reviewing", "cancelled"}) {
        AskedTask task(status);
        task.sight.agent_alive = true;
        task.sight.children = {{{"5e1f"}, "5e1f"}, {{"6e1f"}, "6e1f"}};
        for (auto& child : task.sight.children) child.unapproved = true;
        CHECK(task.needs().kind == Need::help);
        CHECK(task.needs().command == task_command("approve", "4f2a"));
    }
    AskedTask child("pending");
    child.record.unapproved = child.record.queued = true;
    child.sight.parent_there = true;
    CHECK(child.needs().kind == Need::nothing);
    child.sight.parent_there = false;
    CHECK(child.needs().kind == Need::start);
    CHECK(child.needs().command == task_command("approve", "4f2a"));
}

TEST_CASE("A task that has ended needs nothing, and says how and when it ended") {
    AskedTask task("done");
    for (auto& state : task.definition.states) {
        if (state.name == "cancelled") state.meaning = Meaning::cancelled;
    }
    auto& merge = task.record.merge.emplace();
    merge.phase = MergePhase::done;
    merge.target = "release-2";
    merge.commit = "1a2b3c4d5e6f7a8b9c0d";
    CHECK(task.needs().kind == Need::nothing);
    CHECK(task.needs().since == k_entered);
    CHECK_THAT(task.needs().text, Holds("release-2") && Holds("1a2b3c4d5e6f") && !Holds("7a8b"));
    merge.pull = 7;
    CHECK_THAT(task.needs().text, Holds("#7") && Holds("1a2b3c4d5e6f"));
    merge.pull = 0;
    merge.elsewhere = true;
    CHECK_THAT(task.needs().text, Holds("release-2") && !Holds("1a2b"));
    task.record.merge->phase = MergePhase::failed;
    task.record.task.status = "cancelled";
    const auto by_human = task.needs().text;
    task.record.moved_because = "2 of 2 are done";
    CHECK(task.needs().text == "2 of 2 are done");
    task.sight.continued_by = "9c1d";
    CHECK_THAT(task.needs().text, Holds("9c1d"));
    task.sight.continued_by.clear();
    task.record.pull_request.emplace().number = 9;
    task.record.pull_request->state = PullState::closed;
    CHECK_THAT(task.needs().text, Holds("#9"));
    CHECK_THAT(by_human, !Holds("#") && !Holds("1a2b"));
}
