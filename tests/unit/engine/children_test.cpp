#include "daemon/engine/children.hpp"

#include <algorithm>

#include "daemon/engine/explain.hpp"
#include "daemon/engine/reminder.hpp"
#include "daemon/engine/start.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

/// Tasks that are split into sub-tasks.
using namespace orange;
using namespace orange::engine;

namespace {

Child kid(const std::string& name, ChildState state = ChildState::open) {
    return {{name + "56789abcdefghijk"}, name, "working", "the part " + name, state};
}

/// The small workflow with a state in which a task waits for its sub-tasks.
struct SplitWorld : World {
    explicit SplitWorld(const std::string& status = "waiting") : World(status) {
        State waiting;
        waiting.name = "waiting";
        waiting.children = ChildrenRule{"working", "done"};
        definition.states.push_back(waiting);
        auto in = edge({"working"}, "waiting", {Role::worker, Role::human});
        Gate parts;
        parts.section = "Parts";
        parts.children = true;
        in.gate = parts;
        definition.transitions.push_back(in);
        definition.transitions.push_back(edge({"waiting"}, "working", {Role::human, Role::system}));
        definition.transitions.push_back(edge({"waiting"}, "done", {Role::system}));
    }
    SplitWorld& with(std::vector<ChildState> states) {
        facts.children.clear();
        for (std::size_t i = 0; i < states.size(); ++i) {
            facts.children.push_back(kid(std::string(4, static_cast<char>('a' + i)), states[i]));
        }
        return *this;
    }
    ChildrenOutcome outcome(std::optional<bool> own_work = false) {
        facts.own_work = own_work;
        return decide_children(definition, given());
    }
};

std::string refusal(const Result<Decision>& decision) {
    REQUIRE_FALSE(decision);
    CHECK(decision.error().code == ErrorCode::gate_failed);
    return decision.error().message;
}

using S = ChildState;

}  // namespace

TEST_CASE("A task goes on when all of its sub-tasks are done, and where depends on its own work") {
    SplitWorld world;
    for (const bool own_work : {false, true}) {
        const auto outcome = world.with({S::done, S::done}).outcome(own_work);
        const auto* decision = std::get_if<Decision>(&outcome);
        REQUIRE(decision);
        CHECK(decision->to == (own_work ? "working" : "done"));
        CHECK_FALSE(decision->auto_reason.empty());
    }
    CHECK(std::holds_alternative<NothingToDo>(world.with({S::done, S::done}).outcome(std::nullopt)));
    world.task.status = "working";
    CHECK(std::holds_alternative<NothingToDo>(world.with({S::done, S::done}).outcome()));
}

TEST_CASE("As long as one is open the task waits, and says how many are done") {
    SplitWorld world;
    const auto outcome = world.with({S::done, S::open, S::done}).outcome();
    const auto* waits = std::get_if<NothingToDo>(&outcome);
    REQUIRE(waits);
    CHECK_THAT(waits->why, Tells("2") && Tells("3"));
}

TEST_CASE("One that is stuck or ends in another way needs help, whatever the others do, and the ways out are named") {
    SplitWorld world;
    for (const auto other : {S::open, S::done, S::stuck, S::ended}) {
        auto outcome = world.with({other, S::stuck}).outcome();
        const auto* trouble = std::get_if<Trouble>(&outcome);
        REQUIRE(trouble);
        CHECK_THAT(trouble->text, Tells("bbbb") && Tells("--status working") && Tells("--with-children"));
        outcome = world.with({other, S::ended}).outcome();
        trouble = std::get_if<Trouble>(&outcome);
        REQUIRE(trouble);
        CHECK_THAT(trouble->text, Tells("bbbb"));
        CHECK(trouble->with.back() == world.facts.children.back().id);
    }
    // With none left it would wait for ever.
    CHECK(std::holds_alternative<Trouble>(world.with({}).outcome()));
}

TEST_CASE("The gate wants sub-tasks, and each of them in the section, by its id or what names it") {
    SplitWorld world("working");
    CHECK_THAT(refusal(world.ask("waiting", Role::worker)), Tells("orange task create --parent"));
    world.with({S::open, S::done});
    world.section("Parts", "- aaaa: the first\n- something else\n");
    const auto missing = refusal(world.ask("waiting", Role::worker));
    CHECK_THAT(missing, Tells("bbbb") && Holds("the part bbbb") && !Tells("aaaa"));
    world.section("Parts", "AAAA56, and `bbbb56789abcdefghijk`.");
    CHECK(world.ask("waiting", Role::worker));
    world.section("Parts", "aaaab bbb");
    CHECK_THAT(refusal(world.ask("waiting", Role::worker)), Tells("aaaa") && Tells("bbbb"));
    world.section("Parts", "aaaa");
    world.facts.children.back().deleted = true;
    CHECK(world.ask("waiting", Role::worker));
    world.artifacts.sections.clear();
    world.artifacts.swallowed_by_fence = {{"Parts", 7}};
    CHECK_THAT(refusal(world.ask("waiting", Role::worker)), Tells("7"));
}

TEST_CASE("A gate without a section wants only that there are sub-tasks") {
    SplitWorld world("working");
    for (auto& transition : world.definition.transitions) {
        if (transition.to == "waiting") transition.gate->section.clear();
    }
    CHECK_FALSE(world.ask("waiting", Role::worker));
    CHECK(world.with({S::open}).ask("waiting", Role::worker));
}

TEST_CASE("What explains a way says what the decision says of its sub-tasks") {
    SplitWorld world("working");
    const auto open_now = [&] {
        const auto edges = explain(world.definition, world.given());
        return std::ranges::any_of(edges, [](const auto& each) { return each.to == "waiting" && each.open(); });
    };
    CHECK_FALSE(open_now());
    world.with({S::open}).section("Parts", "aaaa");
    CHECK(open_now());
}

TEST_CASE("Where a task waits for its sub-tasks no work is ready, and no task begins") {
    SplitWorld world;
    CHECK_FALSE(can_be_merged_from(world.definition, "waiting"));
    CHECK(can_be_merged_from(world.definition, "reviewing"));
    CHECK(rejection_target(world.definition, world.task) == nullptr);
    const auto starts = start_states(world.definition);
    CHECK(std::ranges::count(starts, std::string("waiting")) == 0);
    SplitWorld working("working");
    std::rotate(working.definition.transitions.begin(), working.definition.transitions.end() - 3,
                working.definition.transitions.end());
    const auto handed_over = target_of(working.definition, working.task, {"", Role::worker, false, true, Goal::review});
    REQUIRE(handed_over);
    CHECK(*handed_over == "review");
}

TEST_CASE("A worker that has split its task and stops is told how to wait for its sub-tasks") {
    SplitWorld world("working");
    CHECK_THAT(*forgotten(world.definition, world.with({S::done, S::done}).given()), Tells("--status review"));
    const auto text = forgotten(world.definition, world.with({S::done, S::open}).given());
    REQUIRE(text);
    CHECK_THAT(*text, Tells("orange task update --status waiting") && Tells("bbbb") && Tells("## Parts"));
    CHECK(text->find("--status review") == std::string::npos);
    world.section("Parts", "aaaa and bbbb");
    const auto written = forgotten(world.definition, world.given());
    CHECK(written == "Your ## Parts is written. Run: orange task update --status waiting");
    // Who has written more has decided.
    world.section("Handoff", "DONE: x");
    CHECK_THAT(*forgotten(world.definition, world.given()), Tells("--status review"));
    World plain("working");
    plain.facts = world.facts;
    CHECK_THAT(*forgotten(plain.definition, plain.given()), Tells("--status review"));
}

TEST_CASE("A task with attempts waits for a pick, and is done when the picked one is") {
    SplitWorld world;
    world.with({S::open, S::open, S::stuck});
    for (auto& child : world.facts.children) child.attempt = "claude";
    const auto outcome = [&] { return world.outcome(); };
    CHECK(std::holds_alternative<NothingToDo>(outcome()));
    CHECK_FALSE(trouble_of(world.definition, world.task, world.facts.children));
    for (auto& child : world.facts.children) child.state = S::done;
    CHECK(std::holds_alternative<NothingToDo>(outcome()));
    for (auto& child : world.facts.children) child.state = S::ended;
    const auto names_restore = [&] {
        return std::get<Trouble>(outcome()).text.find("orange task restore") != std::string::npos;
    };
    CHECK(names_restore());
    for (auto& child : world.facts.children) child.deleted = true;
    CHECK_FALSE(names_restore());
    world.facts.children.resize(1);
    world.facts.children.front().picked = true;
    CHECK(std::holds_alternative<Trouble>(outcome()));
    world.facts.children.front().state = S::done;
    const auto done = outcome();
    REQUIRE(std::holds_alternative<Decision>(done));
    CHECK(std::get<Decision>(done).to == "done");
}

TEST_CASE("Only a task with attempts passes the gate {attempts}, and none of its own agents works") {
    SplitWorld world("pending");
    auto start = edge({"pending"}, "waiting", {Role::human, Role::system});
    start.gate.emplace();
    start.gate->attempts = true;
    CHECK_FALSE(state_of_attempts(world.definition));
    world.definition.transitions.push_back(start);
    CHECK(state_of_attempts(world.definition).value() == "waiting");
    CHECK_FALSE(world.ask("waiting", Role::human));
    CHECK(spawn_target(world.definition, world.task).value() == "working");
    world.facts.attempts = true;
    CHECK(world.ask("waiting", Role::human));
    const auto refused = world.ask("working", Role::human);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("orange compare"));
    TaskRecord record;
    record.task = world.task;
    record.start = "waiting";
    record.attempts = {AttemptRow{TaskId{"bbbb"}, "claude", "claude"}};
    CHECK(decide_start(world.definition, record).value().to == "waiting");
}
