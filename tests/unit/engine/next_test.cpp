#include "daemon/engine/next.hpp"

#include <functional>

#include "daemon/engine/notices.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

/// Which step is due for a task, as a table, and when.
using namespace orange;
using namespace orange::engine;
using namespace std::chrono_literals;

namespace {

constexpr Timestamp k_start = Timestamp{} + 1000h;

/// A task that is worked on by an agent that works: nothing is due. Each row of the table changes something.
struct Scene {
    Scene() {
        definition.states[1].children = ChildrenRule{"review", "done"};
        record.task.id = TaskId{"aaaa"};
        record.task.status = "review";
        record.task.updated_at = k_start;
        record.entered_at = k_start;
        view.definition = &definition;
        view.now = k_start;
        view.unchanged_since = k_start;
        view.is_on_duty = true;
        view.agent = AgentActivity{Activity::busy, k_start, "screen", ""};
    }
    Definition definition = small_definition();
    TaskRecord record;
    View view{record};
};

void waits_for_children(Scene& scene, ChildState state) {
    scene.record.task.status = "working";
    scene.view.children = {{TaskId{"bbbb"}, "bbbb", "working", "a part", state}};
    if (state == ChildState::done) scene.record.children_done = {TaskId{"bbbb"}};
}

void fail_to_go_on(Scene& scene, const std::string& cause) {
    engine::raise(scene.record, {NoticeKind::start_failed, "it failed", "", cause, k_start});
}

Message message() {
    Message message;
    message.id = "m1";
    message.to = Role::reviewer;
    return message;
}

void type(Scene& scene, std::chrono::milliseconds ago) {
    scene.record.typed = {message()};
    scene.record.typed.front().typed_at = scene.view.now - ago;
}

void be_idle(Scene& scene, std::chrono::milliseconds time) {
    scene.view.agent = AgentActivity{Activity::idle, k_start, "screen", ""};
    scene.view.idle = {Role::reviewer};
    scene.view.now = k_start + time;
}

void be_built_on(Scene& scene, Below::State state, const std::string& seen) {
    scene.record.task.on = TaskId{"bbbb"};
    scene.record.task.base = "1111";
    scene.record.on_seen = "reviewed 1111";
    scene.view.below = Below{TaskId{"bbbb"}, state, "bbbb", seen};
}

constexpr std::size_t k_none = k_step_count;

struct Row {
    std::string name;
    std::function<void(Scene&)> arrange;
    std::size_t step = k_none;                         ///< the index of the step that is due
    std::optional<std::chrono::milliseconds> in = {};  ///< of none: how long that is so
};

template <class Step_>
constexpr std::size_t index_of = Step(Step_{}).index();

const std::vector<Row>& rows() {
    static const std::vector<Row> table = {
        {"an agent works", [](Scene&) {}},
        {"a transition is not finished",
         [](Scene& s) {
             s.record.intent = Intent{};
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::done, "bbbb"}};
         }},
        {"a blocker is open",
         [](Scene& s) {
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::open, "bbbb"}};
         }},
        {"a blocker is done",
         [](Scene& s) {
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::done, "bbbb"}};
         },
         0},
        {"a blocker is gone",
         [](Scene& s) {
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::gone, "bbbb", "is deleted"}};
         },
         0},
        {"a blocker is gone, as the human knows",
         [](Scene& s) {
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::gone, "bbbb", "is deleted"}};
             s.record.blockers_gone = {TaskId{"bbbb"}};
         }},
        {"a blocker that was cancelled is deleted, and the notice says the old",
         [](Scene& s) {
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::gone, "bbbb", "is deleted"}};
             s.record.blockers_gone = {TaskId{"bbbb"}};
             engine::raise(s.record, {NoticeKind::blocker_gone, "bbbb was cancelled", "", "", k_start});
         },
         0},
        {"a blocker of a task that has ended is gone",
         [](Scene& s) {
             s.view.ended = true;
             s.view.blockers = {{TaskId{"bbbb"}, BlockerState::gone, "bbbb", "is deleted"}};
         }},
        {"a sub-task is open", [](Scene& s) { waits_for_children(s, ChildState::open); }},
        {"a sub-task is done",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             s.record.children_done.clear();
         },
         1},
        {"another attempt was picked", [](Scene& s) { s.view.unpicked = true; }, 2},
        {"another attempt was picked, and this one has ended", [](Scene& s) { s.view.unpicked = s.view.ended = true; }},
        {"an attempt is not made yet",
         [](Scene& s) {
             waits_for_children(s, ChildState::open);
             s.record.attempts = {AttemptRow{TaskId{"bbbb"}, "claude", "claude"}};
         },
         3},
        {"an attempt is not made yet, and the task has not started",
         [](Scene& s) {
             s.record.task.status = "pending";
             s.record.attempts = {AttemptRow{TaskId{"bbbb"}, "claude", "claude"}};
         }},
        {"a sub-task is stuck", [](Scene& s) { waits_for_children(s, ChildState::stuck); }, 4},
        {"a sub-task is stuck, as the human knows",
         [](Scene& s) {
             waits_for_children(s, ChildState::stuck);
             s.record.trouble_told = {TaskId{"bbbb"}};
         }},
        {"a sub-task waits for an approval",
         [](Scene& s) {
             waits_for_children(s, ChildState::open);
             s.view.children.front().unapproved = true;
         },
         4},
        {"a queued task has got another sub-task",
         [](Scene& s) {
             waits_for_children(s, ChildState::open);
             s.record.queued = true;
         },
         5},
        {"a task that failed to go on has got another sub-task",
         [](Scene& s) {
             waits_for_children(s, ChildState::open);
             fail_to_go_on(s, k_tried_again);
         },
         5},
        {"an agent has used far more than its budget", [](Scene& s) { s.view.stops_spent = true; }, 7},
        {"all sub-tasks are done", [](Scene& s) { waits_for_children(s, ChildState::done); }, 6},
        {"all sub-tasks are done, and the task is in the queue",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             s.record.queued = true;
         }},
        {"all sub-tasks are done, and a merge is not finished",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             s.record.merge = MergeRecord{};
         }},
        {"all sub-tasks are done, and going on failed",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             fail_to_go_on(s, "");
         }},
        {"all sub-tasks are done, and going on is tried again",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             fail_to_go_on(s, k_tried_again);
         },
         6},
        {"an agent waits for room", [](Scene& s) { s.record.held = {DeferredStart{}}; }},
        {"an executor may have something of a run",
         [](Scene& s) {
             s.record.left = {LeftRun{}};
             s.record.held = {DeferredStart{}};
             s.view.has_room = true;
         },
         8},
        {"an executor may have something of a run, and the task has ended",
         [](Scene& s) {
             s.view.ended = true;
             s.record.left = {LeftRun{}};
         },
         8},
        {"an agent may start",
         [](Scene& s) {
             s.record.held = {DeferredStart{}};
             s.view.has_room = true;
         },
         10},
        {"the task that it is built on has moved",
         [](Scene& s) { be_built_on(s, Below::State::reviewed, "reviewed 2222"); }, 9},
        {"the task that it is built on is as it was",
         [](Scene& s) { be_built_on(s, Below::State::reviewed, "reviewed 1111"); }},
        {"the task that it is built on is done", [](Scene& s) { be_built_on(s, Below::State::done, "done"); }, 9},
        {"the task that it is built on was sent back before this one began",
         [](Scene& s) {
             be_built_on(s, Below::State::open, "open");
             s.record.stacked_on = s.record.task.on;
             s.record.blockers_done = {s.record.task.on};
         },
         9},
        {"the task that it is built on has moved, while this one is merged",
         [](Scene& s) {
             be_built_on(s, Below::State::done, "done");
             s.view.is_merging = true;
         }},
        {"the task that it is built on is between two states",
         [](Scene& s) {
             be_built_on(s, Below::State::open, "open");
             s.view.below->is_changing = true;
         }},
        {"the branch has followed to the end",
         [](Scene& s) {
             be_built_on(s, Below::State::done, "done");
             s.record.task.base.reset();
         }},
        {"a message waits", [](Scene& s) { s.record.outbox = {message()}; }, 11},
        {"a message waits, and the daemon is not on duty",
         [](Scene& s) {
             s.record.outbox = {message()};
             s.view.is_on_duty = false;
         }},
        {"an agent may start, and the budget is spent",
         [](Scene& s) {
             s.record.held = {DeferredStart{}};
             s.view.has_room = s.view.budget_spent = true;
         }},
        {"all sub-tasks are done, and the budget is spent",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             s.view.budget_spent = true;
         }},
        {"an agent is idle for long, and the budget is spent",
         [](Scene& s) {
             be_idle(s, 60s);
             s.view.budget_spent = true;
         }},
        {"a message of Orange waits, and the budget is spent",
         [](Scene& s) {
             s.record.outbox = {message()};
             s.view.budget_spent = true;
         }},
        {"a message of the human waits, and the budget is spent",
         [](Scene& s) {
             s.record.outbox = {message(), message()};
             s.record.outbox.back().from = Role::human;
             s.view.budget_spent = true;
         },
         11},
        {"a sub-task is done, and the budget is spent",
         [](Scene& s) {
             waits_for_children(s, ChildState::done);
             s.record.children_done.clear();
             s.view.budget_spent = true;
         },
         1},
        {"the task needs help because its budget is spent",
         [](Scene& s) {
             s.view.needs = {Need::help, "", {}, k_start};
             s.view.budget_spent = true;
         },
         15},
        {"a message was typed just now", [](Scene& s) { type(s, 0ms); }, k_none, 2000ms},
        {"a message was typed in what is the future now", [](Scene& s) { type(s, -1h); }, 12},
        {"a message was typed a while ago", [](Scene& s) { type(s, 5s); }, 12},
        {"a message was typed long ago, and the agent works", [](Scene& s) { type(s, 31s); }},
        {"a message was typed long ago, and the agent is idle",
         [](Scene& s) {
             be_idle(s, 40s);
             type(s, 31s);
         },
         12},
        {"a message was seen",
         [](Scene& s) {
             type(s, 5s);
             s.record.typed.front().seen = true;
         }},
        {"an agent that was idle works",
         [](Scene& s) {
             engine::raise(s.record, {NoticeKind::agent_idle, "it is idle", "", "", k_start});
         },
         13},
        {"an agent is idle", [](Scene& s) { be_idle(s, 10s); }, k_none, 50'000ms},
        {"an agent is idle for long", [](Scene& s) { be_idle(s, 60s); }, 14},
        {"an agent is idle for long, and its human stopped it",
         [](Scene& s) {
             be_idle(s, 60s);
             s.record.stopped = true;
         }},
        {"an agent is idle for long while checks run",
         [](Scene& s) {
             be_idle(s, 60s);
             s.view.is_checking = true;
         }},
        {"an agent's window cannot be read",
         [](Scene& s) {
             s.view.agent->activity = Activity::unknown;
             s.view.now = k_start + 60s;
         },
         k_none, 300'000ms},
        {"an agent's window cannot be read, and nothing has changed for long",
         [](Scene& s) {
             s.view.agent->activity = Activity::unknown;
             s.view.now = k_start + 360s;
         },
         14},
        {"the task needs a review",
         [](Scene& s) {
             s.view.needs = {Need::review, "", {}, k_start};
         },
         15},
        {"the task needs a start",
         [](Scene& s) {
             s.view.needs = {Need::start, "", {}, k_start};
         }},
        {"the task needs a review, as it did before",
         [](Scene& s) {
             s.view.needs = {Need::review, "", {}, k_start};
             s.view.needed_before = Need::review;
         }},
        {"the task needed a review and needs help now",
         [](Scene& s) {
             s.view.needs = {Need::help, "", {}, k_start};
             s.view.needed_before = Need::review;
         },
         15},
        {"the task needed help and needs a review now",
         [](Scene& s) {
             s.view.needs = {Need::review, "", {}, k_start};
             s.view.needed_before = Need::help;
         }},
        {"another request of its agent's program is the need now",
         [](Scene& s) {
             s.view.needs = {Need::answer, "", {}, k_start, 2};
             s.view.needed_before = Need::answer;
             s.view.permit_before = 1;
         },
         15},
        {"the same request still waits",
         [](Scene& s) {
             s.view.needs = {Need::answer, "", {}, k_start, 2};
             s.view.needed_before = Need::answer;
             s.view.permit_before = 2;
         }},
        {"the workflow has something to say", [](Scene& s) { s.view.has_untold_text = true; }, 15},
        {"the task needs help while a merge is not finished",
         [](Scene& s) {
             s.view.needs = {Need::help, "", {}, k_start};
             s.view.is_merging = true;
         }},
    };
    return table;
}

}  // namespace

TEST_CASE("One step is due for a task, or none until a time") {
    for (const auto& row : rows()) {
        INFO(row.name);
        Scene scene;
        row.arrange(scene);
        const auto next = engine::next(scene.view);
        if (const auto* step = std::get_if<Step>(&next)) {
            CHECK(step->index() == row.step);
        } else {
            CHECK(row.step == k_none);
            CHECK(std::get<Until>(next).in == row.in);
        }
    }
}

TEST_CASE("With a spent budget the human's message overtakes those of Orange, which wait") {
    Scene scene;
    scene.record.outbox = {message(), message(), message()};
    for (std::size_t i = 0; i < 3; ++i) scene.record.outbox[i].id = "m" + std::to_string(i);
    scene.record.outbox[1].from = Role::human;
    const auto due = [&] { return std::get<step::Deliver>(std::get<Step>(engine::next(scene.view))); };
    CHECK(due().message == "m0");
    CHECK_FALSE(due().without_own);
    scene.view.budget_spent = true;
    CHECK(due().message == "m1");
    CHECK(due().without_own);
}

TEST_CASE("The most urgent step is due first, and one that is held lets the others pass") {
    Scene scene;
    scene.view.blockers = {{TaskId{"bbbb"}, BlockerState::done, "bbbb"}};
    scene.record.outbox = {message()};
    scene.view.needs = {Need::help, "", {}, k_start};
    const auto due = [&] {
        const auto next = engine::next(scene.view);
        const auto* step = std::get_if<Step>(&next);
        return step ? step->index() : k_none;
    };
    CHECK(due() == index_of<step::NoteBlockers>);
    scene.view.holds[index_of<step::NoteBlockers>] = Hold{3s, "the disk is full"};
    CHECK(due() == index_of<step::Deliver>);
    scene.view.holds[index_of<step::Deliver>] = Hold{1s, "the reviewer cannot accept it yet"};
    CHECK(due() == index_of<step::Notify>);
    scene.view.holds[index_of<step::Notify>] = Hold{};  // until something changes
    const auto next = engine::next(scene.view);
    const auto& until = std::get<Until>(next);
    CHECK(until.in == 1s);
    REQUIRE(until.upcoming);
    CHECK(until.upcoming->in == 1s);
    CHECK(until.upcoming->why == "the reviewer cannot accept it yet");
}
