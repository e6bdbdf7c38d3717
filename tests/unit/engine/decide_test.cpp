#include "daemon/engine/decide.hpp"

#include "common/base/sha256.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/engine/permissions.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;
namespace {

void refused(const Result<Decision>& decision, ErrorCode code, const std::vector<std::string>& facts) {
    REQUIRE_FALSE(decision);
    CHECK(decision.error().code == code);
    for (const auto& fact : facts) CHECK_THAT(decision.error().message, Tells(fact));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a transition carries its hooks in order, its counters as values, and the state's agent last") {
    World world("working");
    world.section("Handoff", "DONE: x");
    world.task.counters["review_round"] = 1;
    const auto decision = world.ask("review", Role::worker);
    REQUIRE(decision);
    CHECK(decision->from == "working");
    CHECK(decision->to == "review");
    CHECK(decision->counters == std::map<std::string, std::int64_t>{{"review_round", 2}});
    CHECK(names_of(*decision) == Names{"spawn_reviewer", "ensure_agent"});
    CHECK(decision->actions.back().params ==
          std::map<std::string, std::string>{{"role", "reviewer"}, {"prompt", "look"}});
    CHECK(decision->attested);
    CHECK(decision->auto_reason.empty());
}

TEST_CASE("increments of any spelling and set_field add up to one value each") {
    World world("pending");
    world.task.counters = {{"tries", 4}, {"most", INT64_MAX}};
    world.definition.transitions[0].hooks = {{"increment", {{"field", "tries"}}, {}},
                                             {"spawn_agent", {{"prompt", "again"}, {"increment", "tries"}}, {}},
                                             {"set_field", {{"field", "review_round"}, {"value", "-7"}}, {}},
                                             {"increment", {{"field", "review_round"}}, {}},
                                             {"increment", {{"field", "most"}}, {}},
                                             {"increment", {{"field", "fresh"}}, {}}};
    const auto decision = world.ask("working", Role::human);
    REQUIRE(decision);
    CHECK(decision->counters ==
          std::map<std::string, std::int64_t>{{"tries", 6}, {"review_round", -6}, {"most", INT64_MAX}, {"fresh", 1}});
    CHECK(names_of(*decision) == Names{"spawn_agent", "ensure_agent"});
    CHECK_FALSE(decision->actions[0].params.contains("increment"));
}

TEST_CASE("an exact entry wins over a list, and a list over the star") {
    World world("working");
    auto exact = edge({"working"}, "cancelled");
    exact.hooks = {{"notify", {}, {}}};
    auto list = edge({"working", "stuck"}, "cancelled");
    list.hooks = {{"kill_session", {}, {}}};
    world.definition.transitions.push_back(list);
    world.definition.transitions.push_back(exact);
    CHECK(names_of(*world.ask("cancelled", Role::human)) == Names{"notify"});
    world.task.status = "stuck";
    CHECK(names_of(*world.ask("cancelled", Role::human)) == Names{"kill_session"});
    world.task.status = "review";
    CHECK(names_of(*world.ask("cancelled", Role::human)).empty());
    CHECK(world.definition.between("done", "cancelled").empty());
    world.definition.transitions.push_back(any("stuck"));
    CHECK(world.definition.between("stuck", "stuck").empty());
}

TEST_CASE("an edge that is not in the map says what is, and the way there") {
    World world("working");
    refused(world.ask("reviewing", Role::worker), ErrorCode::illegal_transition,
            {"working → reviewing", "## Handoff", "DONE:", "review"});
    refused(world.ask("nowhere\x1b", Role::human), ErrorCode::illegal_transition,
            {"\"nowhere\\x1b\"", "pending, working, review, reviewing, stuck, done, cancelled"});
    refused(world.ask("working", Role::worker), ErrorCode::illegal_transition, {"working"});
    world.task.status = "done";
    refused(world.ask("working", Role::human), ErrorCode::illegal_transition, {"done"});
    world.task.status = "lost";
    refused(world.ask("working", Role::human), ErrorCode::illegal_transition, {"lost", "small"});
    world.task.status = "pending";
    refused(world.ask("review", Role::worker), ErrorCode::illegal_transition, {"pending"});
}

TEST_CASE("who may not ask is told who may, and the command for the human") {
    World world("stuck");
    const auto& id = world.task.id.value;
    const auto reviewing = world.ask("reviewing", Role::worker);
    const auto refusal = world.refusal("reviewing", Role::worker);
    CHECK(refusal.command == task_command("update", id, "--status reviewing"));
    CHECK_FALSE(refusal.attention.empty());
    // Its words end with the command, and programs find the same in `details`.
    refused(reviewing, ErrorCode::forbidden, {"stuck → reviewing", "human"});
    CHECK(reviewing.error().message.ends_with("\n  " + refusal.command.text()));
    CHECK(reviewing.error().details == std::map<std::string, std::string>{{"attention", refusal.attention},
                                                                          {"human_command", refusal.command.text()}});
    CHECK(world.ask("reviewing", Role::human));

    CHECK(world.refusal("cancelled", Role::worker).command == task_command("cancel", id));
    CHECK(world.refusal("cancelled", Role::worker).attention.empty());

    world.task.status = "reviewing";
    refused(world.ask("done", Role::human), ErrorCode::forbidden, {"reviewing → done", "system"});
    CHECK(world.refusal("done", Role::human).command == task_command("merge", id));
    CHECK(world.ask("done", Role::system));
    world.task.pr_url = "https://github.com/lake/shop/pull/7";
    CHECK(world.refusal("done", Role::human).command == task_command("merge", id, "--via pr"));
}

TEST_CASE("a worker never passes a verdict gate that names nobody, and unknown callers pass nothing") {
    World world("review");
    world.section("Review", "Verdict: PASS");
    refused(world.ask("reviewing", Role::worker), ErrorCode::forbidden, {"reviewer", "human", "worker"});
    CHECK(world.refusal("reviewing", Role::worker).attention.empty());
    for (const Role role : {Role::reviewer, Role::human, Role::system}) CHECK(world.ask("reviewing", role));
    for (const auto* to : {"reviewing", "cancelled", "working", "pending", "nowhere"}) {
        refused(world.ask(to, Role::unknown, true), ErrorCode::forbidden, {"orange task"});
    }
    world.definition.transitions.push_back(edge({"review"}, "pending", {Role::unknown}));
    refused(world.ask("pending", Role::unknown), ErrorCode::forbidden, {"orange task"});
    world.task.status = "working";
    CHECK(world.ask("stuck", Role::worker));
    CHECK_FALSE(world.ask("stuck", Role::unknown));
}

TEST_CASE("a forced edge needs force, and those who may ask") {
    World world("working");
    refused(world.ask("done", Role::system), ErrorCode::needs_force, {"working → done"});
    CHECK(world.refusal("done", Role::system).command == task_command("merge", world.task.id.value, "--force"));
    CHECK(world.ask("done", Role::system, true));
    CHECK(world.ask("done", Role::worker, true).error().code == ErrorCode::forbidden);
    world.definition.transitions.back().by.clear();
    CHECK(world.ask("done", Role::worker, true).error().code == ErrorCode::forbidden);
    CHECK(world.ask("done", Role::human, true));
}

TEST_CASE("exactly one guard must hold, and a failed one says what is, and what is open") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    world.task.counters["review_round"] = 2;
    refused(world.ask("working", Role::reviewer), ErrorCode::guard_failed,
            {"review → working", "review_round", "2", "orange task update --status stuck"});
    CHECK(world.ask("stuck", Role::reviewer));
    world.task.counters["review_round"] = 1;
    CHECK(world.ask("working", Role::reviewer));
    auto twin = *world.definition.between("review", "working").front();
    world.definition.transitions.push_back(twin);
    refused(world.ask("working", Role::reviewer), ErrorCode::guard_failed, {"working"});
}

TEST_CASE("a gate that does not hold says what to write, and nothing is decided") {
    World world("working");
    const auto missing = world.ask("review", Role::worker);
    refused(missing, ErrorCode::gate_failed, {"## Handoff", "missing"});
    CHECK(missing.error().details == std::map<std::string, std::string>{{"section", "Handoff"}});
    world.section("Handoff", "DONE: x");
    world.entry["Handoff"] = orange::sha256("DONE: x");
    refused(world.ask("review", Role::human), ErrorCode::gate_failed, {"## Handoff", "changed"});
    world.section("Handoff", "DONE: y");
    CHECK(world.ask("review", Role::worker));
    world.task.status = "review";
    world.section("Review", "Verdict: FAIL");
    refused(world.ask("reviewing", Role::reviewer), ErrorCode::gate_failed, {"orange task update --status working"});
}

TEST_CASE("spawning goes to the first ordinary state, or to clarification where there is no summary") {
    World world("pending");
    world.task.summary = "Fix it";
    CHECK(*spawn_target(world.definition, world.task) == "working");
    world.definition.states.push_back({"clarification", false, {}, "", Meaning::clarification});
    world.definition.transitions.insert(world.definition.transitions.begin(), edge({"pending"}, "clarification"));
    CHECK(*spawn_target(world.definition, world.task) == "working");
    world.task.summary = "  ";
    CHECK(*spawn_target(world.definition, world.task) == "clarification");
    const auto refused_in = [&](const std::string& status) {
        world.task.status = status;
        return spawn_target(world.definition, world.task).error();
    };
    for (const auto& [status, verb] : std::map<std::string, std::string>{{"working", "respawn"}, {"done", "log"}}) {
        CHECK(refused_in(status).code == ErrorCode::illegal_transition);
        CHECK(refused_in(status).message.ends_with("\n  " + task_command(verb, world.task.id.value).text()));
    }
}

TEST_CASE("explaining shows every edge, who may take it, and what is missing") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    const auto edges = explain(world.definition, world.given());
    REQUIRE(edges.size() == 5);
    CHECK_THAT(describe(edges[0]), Catch::StartsWith("→ reviewing") && Tells("reviewer, human") && Tells("## Review") &&
                                       Tells("PASS") && Tells("FAIL"));
    CHECK_THAT(describe(edges[1]), Catch::StartsWith("→ working") && Tells("reviewer, human") &&
                                       Holds("review_round < 2") && Tells("## Review") && Tells("FAIL"));
    CHECK(edges[1].open());
    CHECK_THAT(describe(edges[2]), Holds("review_round >= 2"));
    CHECK_FALSE(edges[2].open());
    CHECK_THAT(describe(edges[3]),
               Catch::StartsWith("→ cancelled") && Tells("human") && Tells("system") && !Holds("--force"));
    CHECK_THAT(describe(edges[4]), Catch::StartsWith("→ done") && Tells("system") && Tells("--force"));
}

TEST_CASE("a guard compares as it is written") {
    struct Row {
        Comparison comparison;
        std::string text;
        bool below, at, above;
    };
    const std::vector<Row> rows = {{Comparison::less, "round < 2", true, false, false},
                                   {Comparison::greater, "round > 2", false, false, true},
                                   {Comparison::less_equal, "round <= 2", true, true, false},
                                   {Comparison::greater_equal, "round >= 2", false, true, true},
                                   {Comparison::equal, "round == 2", false, true, false},
                                   {Comparison::not_equal, "round != 2", true, false, true}};
    for (const auto& row : rows) {
        const Condition condition{"round", row.comparison, 2};
        CHECK(condition.text() == row.text);
        CHECK(condition.holds_for(1) == row.below);
        CHECK(condition.holds_for(2) == row.at);
        CHECK(condition.holds_for(3) == row.above);
    }
}

TEST_CASE("the initial state is pending, or the file's first one where there is none of that name") {
    World world("pending");
    std::swap(world.definition.states[0], world.definition.states[1]);
    CHECK(world.definition.initial().name == "pending");
    std::erase_if(world.definition.states, [](const State& state) { return state.name == "pending"; });
    CHECK(world.definition.initial().name == "working");
}

TEST_CASE("where several guards fail, each is named, and each number once") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    auto& fail = world.definition.transitions[3];
    REQUIRE(fail.to == "working");
    auto other = fail;
    other.when = Condition{"review_round", Comparison::equal, 7};
    world.definition.transitions.push_back(other);
    other.when = Condition{"urgency", Comparison::greater, 3};
    world.definition.transitions.push_back(other);
    world.task.counters["review_round"] = 2;
    refused(world.ask("working", Role::human), ErrorCode::guard_failed,
            {"review → working", "7", "urgency", "3", "2", "0"});
}

TEST_CASE("a refused reviewer is offered only what it could do now") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    const auto offer = [&] {
        const auto refused = world.ask("reviewing", Role::reviewer);
        REQUIRE_FALSE(refused);
        const auto& text = refused.error().message;
        const auto at = text.find("orange task update");
        return at == std::string::npos ? std::string("nothing") : text.substr(at);
    };
    CHECK(offer() == "orange task update --status working");
    world.definition.transitions[3].force = true;  // asking for it once more would be refused once more
    CHECK(offer() == "nothing");
    world.definition.transitions[3].force = false;
    world.definition.transitions[3].gate.reset();  // open whatever was found: no answer to a failed gate
    CHECK(offer() == "nothing");
}

TEST_CASE("a value that is no integer sets a field to zero") {
    World world("pending");
    for (const char* value : {"seven", "", "1x", "1:"}) {
        world.definition.transitions[0].hooks = {{"set_field", {{"field", "weight"}, {"value", value}}, {}}};
        CHECK(world.ask("working", Role::human)->counters.at("weight") == 0);
    }
}

TEST_CASE("a way through stuck is shown where there is no other") {
    World world("working");
    std::erase_if(world.definition.transitions, [](const Transition& t) { return t.to == "review"; });
    refused(world.ask("reviewing", Role::worker), ErrorCode::illegal_transition, {"stuck"});
    std::erase_if(world.definition.transitions, [](const Transition& t) { return t.to == "reviewing"; });
    const auto nowhere = world.ask("reviewing", Role::worker);
    refused(nowhere, ErrorCode::illegal_transition, {"working → reviewing"});
}

TEST_CASE("a gate without a verdict is a worker's to pass where the transition names nobody") {
    World world("working");
    auto& review = world.definition.transitions[1];
    REQUIRE(review.to == "review");
    review.by.clear();
    world.section("Handoff", "DONE: x");
    CHECK(world.ask("review", Role::worker));
    CHECK(askers(review) == std::vector<Role>{Role::worker, Role::reviewer, Role::human, Role::system});
}

TEST_CASE("who may not ask is told what the human can run, as far as there is something") {
    World world("working");
    auto& review = world.definition.transitions[1];
    review.by = {Role::system};
    const auto refused_review = world.ask("review", Role::worker);
    refused(refused_review, ErrorCode::forbidden, {"system", "worker"});
    CHECK(refused_review.error().details.empty());
    CHECK(world.refusal("review", Role::worker).command.empty());

    review.by = {Role::human};
    CHECK_FALSE(world.refusal("review", Role::worker).attention.empty());
    world.definition.transitions.push_back(edge({"working"}, "reviewing", {Role::human}));
    CHECK_FALSE(world.refusal("reviewing", Role::worker).attention.empty());

    auto cancel = edge({"working"}, "cancelled", {Role::system});
    world.definition.transitions.push_back(cancel);
    CHECK(world.refusal("cancelled", Role::worker).command == task_command("cancel", world.task.id.value));
    world.task.id.value.clear();
    CHECK(world.refusal("cancelled", Role::human).command.verb == "task cancel");
}

TEST_CASE("a workflow whose only ways out of the first state are no beginnings cannot be spawned") {
    World world("pending");
    world.task.summary = "Fix it";
    auto& transitions = world.definition.transitions;
    transitions[0].by = {Role::human};
    const auto none = spawn_target(world.definition, world.task);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::conflict);
    CHECK_THAT(none.error().message, Tells("small") && Tells("pending") && Tells("orange task update --status"));
    transitions[0].by.clear();
    transitions[0].force = true;
    CHECK_FALSE(spawn_target(world.definition, world.task));
    transitions[0].force = false;
    transitions.insert(transitions.begin(), edge({"pending"}, "stuck"));
    transitions.insert(transitions.begin(), edge({"pending"}, "nowhere"));
    CHECK(*spawn_target(world.definition, world.task) == "working");
    world.task.summary.clear();  // there is no clarification to go to
    CHECK(*spawn_target(world.definition, world.task) == "working");
}

TEST_CASE("work that is merged already is done, whatever gate, condition or force stands before it") {
    World world("reviewing");
    for (auto& transition : world.definition.transitions) {
        if (world.definition.means(transition.to, Meaning::done)) transition.gate = verdict_gate(Verdict::pass);
    }
    refused(world.ask("done", Role::system), ErrorCode::gate_failed, {"Review"});
    const auto decision = decide_done(world.definition, world.given());
    REQUIRE(decision);
    CHECK(decision->to == "done");
    world.task.status = "done";
    refused(decide_done(world.definition, world.given()), ErrorCode::illegal_transition, {"done"});
}

TEST_CASE("A refused agent reads who it was taken for before the command for its human, which stays the last line") {
    World world("stuck");
    const Caller worker{Role::worker, world.task.id, RunId{"r"}, 7, "ancestor orange-agent 5"};
    const auto refusal = world.refusal("reviewing", Role::worker);
    const auto error = explained(refusal, world.definition, world.given(), worker);
    const auto caller = error.message.find(describe(worker));
    REQUIRE(caller != std::string::npos);
    CHECK(caller < error.message.find(refusal.lead));
    CHECK(error.message.ends_with(":\n  " + refusal.command.text()));
    CHECK(error.details.at("status") == "stuck");
    const auto of_human = explained(refusal, world.definition, world.given(), {});
    CHECK(of_human.message == worded(refusal).message);
}

TEST_CASE("a human is offered a command with the task's id, an agent one about its own task") {
    World world("review");
    world.section("Review", "Verdict: FAIL");
    const auto offered = [&](Role by) { return world.refusal("reviewing", by).why; };
    CHECK(offered(Role::human)
              .ends_with("\n  " + task_command("update", world.task.id.value, "--status working").text()));
    CHECK(offered(Role::reviewer).ends_with("\n  " + task_command("update", {}, "--status working").text()));
}

TEST_CASE("a refused caller is told who it was taken for") {
    CHECK(describe({Role::worker, TaskId{"4f2a"}, RunId{"r"}, 7, "ancestor orange-agent 5"}) ==
          "the worker of task 4f2a (ancestor orange-agent 5)");
    CHECK(describe({Role::unknown, {}, {}, 7, "another user"}) == "an unknown caller (another user)");
    CHECK(describe({Role::human, {}, {}, 7, ""}) == "the human");
}

TEST_CASE("Only the worker of a task, in its own run, creates sub-tasks of it, and not what is its human's to choose") {
    const Caller worker{Role::worker, TaskId{"4f2a"}, RunId{"r"}, 7, ""};
    TaskRecord parent;
    parent.task.id = worker.task;
    parent.runs.emplace_back();
    parent.runs.back().role = Role::worker;
    parent.runs.back().run = worker.run;
    const auto code = [&](const Caller& by, std::string_view delegation, const std::vector<std::string>& chosen = {}) {
        const auto may = may_create_subtask(parent, by, delegation, chosen);
        return may ? std::nullopt : std::optional(may.error().code);
    };
    CHECK(code(worker, "on") == std::nullopt);
    CHECK(code(worker, "ask") == std::nullopt);
    CHECK(code(worker, "off") == ErrorCode::forbidden);
    CHECK(code(worker, "on", {"--workflow"}) == ErrorCode::forbidden);
    auto other = worker;
    other.role = Role::reviewer;
    CHECK(code(other, "on") == ErrorCode::forbidden);
    other = worker;
    other.run.value = "an earlier one";
    CHECK(code(other, "on") == ErrorCode::forbidden);
    other = worker;
    other.task.value = "another";
    CHECK(code(other, "on") == ErrorCode::forbidden);
    CHECK(may_not_wait_for(TaskId{"7b1c"}, worker).code == ErrorCode::forbidden);
}

TEST_CASE("who may call a method, and what an agent may do with a task") {
    const Caller human, unknown{Role::unknown, {}, {}, 7, ""}, worker{Role::worker, TaskId{"4f2a"}, RunId{"r"}, 7, ""};
    CHECK(may_call("task.list", Access::read, unknown));
    CHECK(may_call("task.update", Access::agent, unknown).error().code == ErrorCode::forbidden);
    CHECK(may_call("task.update", Access::agent, worker));
    CHECK(may_call("task.send", Access::human, worker).error().code == ErrorCode::forbidden);
    CHECK(may_call("task.send", Access::human, human));
    TaskRecord record;
    record.task.id = worker.task;
    CHECK(may_change(record, worker, false).error().code == ErrorCode::forbidden);  // its run is over
    record.runs.emplace_back();
    record.runs.back().role = Role::worker;
    record.runs.back().run = worker.run;
    CHECK(may_change(record, worker, false));
    CHECK(may_change(record, worker, true).error().code == ErrorCode::forbidden);
    CHECK(may_change(record, human, true));
    record.task.id.value = "another";
    CHECK(may_change(record, worker, false).error().code == ErrorCode::forbidden);
    Edit edit;
    edit.summary = "mine";
    CHECK(may_set(edit, worker));
    edit.feedback = "the human's";
    CHECK(may_set(edit, worker).error().code == ErrorCode::forbidden);
    edit = {};
    edit.budget = "0";
    CHECK(may_set(edit, worker).error().code == ErrorCode::forbidden);
    CHECK(may_set(edit, human));
    CHECK(may_change_workflow(worker).error().code == ErrorCode::forbidden);
}
