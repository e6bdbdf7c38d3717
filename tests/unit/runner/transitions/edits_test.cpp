#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// What may be changed of a task outside transitions, and what is refused: with the reason, and nothing changed.
using namespace orange;
using namespace orange::test;

namespace {

Caller human() {
    Caller by;
    by.evidence = "test";
    return by;
}

Caller agent_of(RunnerWorld& world, const TaskId& id, Role role) {
    Caller by;
    by.role = role;
    by.task = id;
    if (const auto* run = world.record(id).run_of(role)) by.run = run->run;
    return by;
}

Result<Outcome> change(RunnerWorld& world, const TaskId& id, Edit edit, Caller by = human()) {
    return world.house().go(world.house().runner().requests.edit(id, std::move(edit), std::move(by)));
}

Path worktree(RunnerWorld& world, const TaskId& id) {
    return world.house().world().pool.path_of(*world.record(id).task.workspace);
}

Edit to_branch(const std::string& name) {
    Edit edit;
    edit.branch = name;
    return edit;
}

/// Refused with that code, naming that, and everything is as it was.
void refused(RunnerWorld& world, const TaskId& id, const Edit& edit, ErrorCode code, const std::string& fact,
             const Caller& by = human()) {
    const auto state = world.state_text(id);
    const auto history = world.history_text(id);
    const auto text = world.task_text(id);
    const auto done = change(world, id, edit, by);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == code);
    INFO(done.error().message);
    CHECK_THAT(done.error().message, Tells(fact));
    CHECK(world.state_text(id) == state);
    CHECK(world.history_text(id) == history);
    CHECK(world.task_text(id) == text);
}

}  // namespace

TEST_CASE("fields that make no sense are refused, and none of them is changed", "[slow]") {
    RunnerWorld world;
    write_file(
        world.home() / "harnesses/ghost.yml",
        "name: ghost\nprogram: no-such-program\nargv:\n  full: [--, \"{prompt}\"]\ninstall_hint: call somebody\n");
    write_file(world.home() / "harnesses/eager.yml",
               "name: eager\nprogram: true\nargv:\n  full: [\"{effort_args}\", --, \"{prompt}\"]\n"
               "effort:\n  args: [--effort, \"{effort}\"]\n  values: [low, high]\n");
    const auto id = planning(world, "do it", 3);
    Edit edit;
    edit.feedback = "this neither";
    SECTION("a summary of two lines") {
        edit.summary = "two\nlines";
        refused(world, id, edit, ErrorCode::invalid_argument, "summary");
    }
    SECTION("a summary that is no text") {
        edit.summary = "\xff\xfe";
        refused(world, id, edit, ErrorCode::invalid_argument, "summary");
    }
    SECTION("a summary that is too long") {
        edit.summary = std::string(501, 'x');
        refused(world, id, edit, ErrorCode::invalid_argument, "501");
    }
    SECTION("a harness that cannot do what the task's permissions ask") {
        auto record = world.record(id);
        record.task.permissions = "reduced";
        world.house().world().tasks.save(record).value();
        edit.harness = "eager";
        refused(world, id, edit, ErrorCode::invalid_argument, "eager");
    }
    SECTION("a harness that nobody knows") {
        edit.review_harness = "nobody";
        refused(world, id, edit, ErrorCode::not_found, "nobody");
    }
    SECTION("a harness that is not installed") {
        edit.harness = "ghost";
        refused(world, id, edit, ErrorCode::not_found, "ghost");
    }
    SECTION("an effort for a harness that has none") {
        edit.effort = "high";
        refused(world, id, edit, ErrorCode::invalid_argument, "bot");
    }
    SECTION("an effort that the harness does not have") {
        edit.review_harness = "eager";
        edit.review_effort = "lazy";
        refused(world, id, edit, ErrorCode::invalid_argument, "low, high");
    }
    SECTION("a model for a harness that has none") {
        edit.model = "opus";
        refused(world, id, edit, ErrorCode::invalid_argument, "bot");
    }
    SECTION("a budget that is no number of tokens") {
        edit.budget = "3 lemons";
        refused(world, id, edit, ErrorCode::invalid_argument, "3M");
    }
    SECTION("a place to ask that there is not") {
        edit.permits = "both";
        refused(world, id, edit, ErrorCode::invalid_argument, "inbox");
    }
    SECTION("a workflow that there is not") {
        edit.workflow = "nothing";
        refused(world, id, edit, ErrorCode::not_found, "nothing");
    }
    SECTION("a workflow without the state that the task is in") {
        write_file(world.home() / "workflows/tiny.yml",
                   "name: tiny\nversion: 1\nstates: {pending: {}, done: {terminal: true}}\n"
                   "transitions:\n  - {from: pending, to: done}\n");
        edit.workflow = "tiny";
        refused(world, id, edit, ErrorCode::conflict, "pending, done");
    }
    SECTION("a workflow that an agent asks for") {
        edit.workflow = "relay";
        refused(world, id, edit, ErrorCode::forbidden, "workflow", agent_of(world, id, Role::worker));
    }
    SECTION("another task's agent") {
        const auto other = planning(world, "other", 3);
        edit.summary = "mine now";
        refused(world, id, edit, ErrorCode::forbidden, other.value, agent_of(world, other, Role::worker));
    }
    SECTION("the reviewer of a round that is over") {
        auto late = agent_of(world, id, Role::reviewer);
        late.run = RunId{"gone"};
        edit.summary = "fine as it is";
        refused(world, id, edit, ErrorCode::forbidden, "reviewer", late);
    }
    SECTION("a worker whose run is over, on the connection that it had") {
        const auto late = agent_of(world, id, Role::worker);
        auto record = world.record(id);
        record.runs.clear();
        world.house().world().tasks.save(record).value();
        edit.summary = "one more thing";
        refused(world, id, edit, ErrorCode::forbidden, "worker", late);
    }
    SECTION("a worker in whose place another was started") {
        auto late = agent_of(world, id, Role::worker);
        late.run = RunId{"gone"};
        edit.summary = "one more thing";
        refused(world, id, edit, ErrorCode::forbidden, "worker", late);
    }
}

TEST_CASE("a budget is set, and taken away by an empty one") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    Edit edit;
    edit.budget = " 1.5M ";
    REQUIRE(change(world, id, edit));
    CHECK(world.record(id).task.budget == "1.5M");
    CHECK_THAT(world.task_text(id), Holds("\nbudget: \"1.5M\"\n"));
    CHECK_THAT(world.history_text(id), Holds("budget.changed"));
    edit.budget = "0";  // no limit, whatever the setting says
    REQUIRE(change(world, id, edit));
    CHECK(world.record(id).task.budget == "0");
    edit.budget = "";
    REQUIRE(change(world, id, edit));
    CHECK(world.record(id).task.budget.empty());
    CHECK_THAT(world.task_text(id), !Holds("budget:"));
}

TEST_CASE("where programs ask is set, and taken away by an empty text") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    Edit edit;
    edit.permits = "inbox";
    const auto done = change(world, id, edit);
    REQUIRE(done);
    REQUIRE(done->notes.size() == 1);
    CHECK_THAT(done->notes.front(), Tells("inbox"));
    CHECK(world.record(id).task.permits == "inbox");
    CHECK_THAT(world.task_text(id), Holds("\npermits: inbox\n"));
    CHECK_FALSE(edit.is_an_agents());
    edit.permits = "";
    REQUIRE(change(world, id, edit));
    CHECK_FALSE(world.record(id).task.permits);
    CHECK_THAT(world.task_text(id), !Holds("permits:"));
}

TEST_CASE("an effort is set, and taken away by an empty one") {
    RunnerWorld world;
    write_file(world.home() / "harnesses/eager.yml",
               "name: eager\nprogram: true\nargv:\n  full: [\"{effort_args}\", --, \"{prompt}\"]\n"
               "effort:\n  args: [--effort, \"{effort}\"]\n");
    const auto id = planning(world, "do it", 3);
    Edit edit;
    edit.harness = edit.review_harness = "eager";
    edit.effort = "high";
    edit.review_effort = "low";
    REQUIRE(change(world, id, edit));
    CHECK(world.record(id).task.harness == "eager");
    CHECK(world.record(id).task.effort == "high");
    CHECK(world.record(id).task.review_effort == "low");
    Edit away;
    away.effort = "";
    REQUIRE(change(world, id, away));
    CHECK_FALSE(world.record(id).task.effort);
    CHECK(world.record(id).task.review_effort == "low");
    CHECK_THAT(world.task_text(id), Holds("effort: null\nreview_effort: low"));
}

TEST_CASE("a model is set, told of if the harness does not name it, and lost with its harness") {
    RunnerWorld world;
    for (const auto* name : {"eager", "keen"}) {
        write_file(world.home() / "harnesses" / (std::string(name) + ".yml"),
                   "name: " + std::string(name) +
                       "\nprogram: true\nargv:\n  full: [\"{model_args}\", --, \"{prompt}\"]\n"
                       "model:\n  args: [--model, \"{model}\"]\n  values: [small, large]\n");
    }
    const auto id = planning(world, "do it", 3);
    Edit edit;
    edit.harness = edit.review_harness = "eager";
    edit.model = "small";
    edit.review_model = "of-tomorrow";
    const auto done = change(world, id, edit);
    REQUIRE(done);
    REQUIRE(done->notes.size() == 1);
    CHECK_THAT(done->notes.front(), Tells("of-tomorrow") && Tells("small, large"));
    CHECK(world.record(id).task.model == "small");
    CHECK_THAT(world.task_text(id), Holds("model: small\nreview_model: of-tomorrow"));
    Edit other;
    other.harness = "keen";
    other.review_model = "";
    REQUIRE(change(world, id, other));
    CHECK_FALSE(world.record(id).task.model);
    CHECK_FALSE(world.record(id).task.review_model);
    CHECK_THAT(world.task_text(id), !Holds("model:"));
    other.model = "large";
    REQUIRE(change(world, id, other));
    CHECK(world.record(id).task.model == "large");
}

TEST_CASE("a task is moved to another workflow, and follows it from then on") {
    RunnerWorld world;
    const auto id = world.make_task();
    Edit edit;
    edit.workflow = "minimal";
    const auto done = change(world, id, edit);
    REQUIRE(done);
    REQUIRE(done->notes.size() == 1);
    CHECK_THAT(done->notes.front(), Tells("minimal"));
    CHECK(world.record(id).task.workflow == "minimal");
    REQUIRE(world.events(id, "workflow.changed").size() == 1);
    CHECK(world.events(id, "workflow.changed")[0].fields.at("from") == Scalar{std::string("default")});
}

TEST_CASE("a branch that would not do is refused, and the worktree stays where it is") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto other = planning(world, "other", 3);
    const auto branch = world.record(id).task.branch;
    refused(world, id, to_branch("a..b"), ErrorCode::invalid_argument, "a..b");
    refused(world, id, to_branch("-x"), ErrorCode::invalid_argument, "-x");
    refused(world, id, to_branch(world.record(other).task.branch), ErrorCode::conflict, other.value);
    refused(world, id, to_branch("main"), ErrorCode::invalid_argument, "main");
    CHECK(world.git.plain(worktree(world, id), {"branch", "--show-current"}) == branch);
    CHECK(change(world, id, to_branch(branch)));
    CHECK(world.events(id, "branch.changed").empty());
    world.house().world().projects.remove("shop").value();
    refused(world, id, to_branch("fine"), ErrorCode::not_found, "shop");
}

TEST_CASE("a branch that is there is switched to, a new name renames, and before a workspace it is only a name") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto first = world.record(id).task.branch;
    world.git.plain(world.repo(), {"branch", "there"});
    REQUIRE(change(world, id, to_branch("there")));
    CHECK(world.git.plain(worktree(world, id), {"branch", "--show-current"}) == "there");
    CHECK_FALSE(world.git.ref(world.repo(), "refs/heads/" + first).empty());
    // Somebody was faster in the worktree itself.
    world.git.plain(worktree(world, id), {"switch", "-qc", "by-hand"});
    REQUIRE(change(world, id, to_branch("by-hand")));
    CHECK(world.record(id).task.branch == "by-hand");
    const auto renamed = change(world, id, to_branch("new-name"));
    REQUIRE(renamed);
    REQUIRE(renamed->notes.size() == 1);
    CHECK_THAT(renamed->notes.front(), Tells("new-name"));
    CHECK(world.git.ref(world.repo(), "refs/heads/by-hand").empty());
    CHECK(world.events(id, "branch.changed").size() == 3);

    const auto pending = world.make_task("later", 3);
    REQUIRE(change(world, pending, to_branch("some/day")));
    CHECK(world.record(pending).task.branch == "some/day");
    CHECK(world.git.ref(world.repo(), "refs/heads/some/day").empty());
}

TEST_CASE("the branch that a worktree is on is taken over where it can be a task's") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto other = planning(world, "other", 3);
    const auto tree = worktree(world, id);
    Edit sync;
    sync.sync_branch = true;
    world.git.plain(tree, {"switch", "-qc", "by-hand"});
    REQUIRE(change(world, id, sync));
    CHECK(world.record(id).task.branch == "by-hand");
    world.git.plain(tree, {"switch", "-q", "--detach"});
    refused(world, id, sync, ErrorCode::conflict, "git switch by-hand");
    world.git.plain(world.repo(), {"switch", "-q", "--detach"});
    world.git.plain(tree, {"switch", "-q", "main"});
    refused(world, id, sync, ErrorCode::invalid_argument, "main");
    world.git.plain(tree, {"symbolic-ref", "HEAD", "refs/heads/" + world.record(other).task.branch});
    refused(world, id, sync, ErrorCode::conflict, other.value);
    world.git.plain(tree, {"symbolic-ref", "HEAD", "refs/heads/by-hand"});
    CHECK(change(world, id, sync));
    refused(world, world.make_task("later", 3), sync, ErrorCode::conflict, "branch");
    world.house().world().projects.remove("shop").value();
    refused(world, id, sync, ErrorCode::not_found, "shop");
}

TEST_CASE("a session is named after its task's branch as far as tmux lets it") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto taken = planning(world, "other", 3);
    const auto name_of = [&](const TaskId& which) { return world.record(which).task.tmux_session.value_or("none"); };
    REQUIRE(change(world, id, to_branch("one")));
    CHECK(name_of(id) == "shop/one");
    world.outside.tmux.taken_names = {"shop/two", "shop/two-2"};
    REQUIRE(change(world, id, to_branch("two")));
    CHECK(name_of(id) == "shop/two-3");
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 1);
    REQUIRE(change(world, id, to_branch("three")));
    CHECK(world.outside.tmux_faults.struck);
    CHECK(name_of(id) == "shop/two-3");  // a convenience; the branch is what counts
    CHECK(world.record(id).task.branch == "three");
    world.outside.tmux.taken_names = {"shop/four"};
    for (int n = 2; n < 200; ++n) world.outside.tmux.taken_names.push_back("shop/four-" + std::to_string(n));
    REQUIRE(change(world, id, to_branch("four")));
    CHECK(name_of(id) == "shop/two-3");
    CHECK(name_of(taken) != name_of(id));
}

TEST_CASE("a start that had failed is no alarm any more when the task would start otherwise") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto record = world.record(id);
    engine::raise(record, {NoticeKind::start_failed, "it could not be started", "", "worker", {}});
    world.house().world().tasks.save(record).value();
    const auto stands = [&] { return engine::find_notice(world.record(id), NoticeKind::start_failed) != nullptr; };
    Edit edit;
    edit.summary = "Sell limes";
    REQUIRE(change(world, id, edit));
    CHECK(stands());
    const auto changed = change(world, id, to_branch("limes"));
    REQUIRE(changed);
    CHECK_FALSE(stands());
    CHECK(std::ranges::any_of(changed->notes, [&](const auto& note) {
        return note.find("orange task spawn " + id.value) != std::string::npos;
    }));
}

TEST_CASE("whoever asks for a task that there is not is told so, whatever they ask for") {
    RunnerWorld world;
    world.make_task();
    auto& runner = world.house().runner();
    const TaskId none{"aaaaaaaaaaaaaaaaaaaaa"};
    const auto told = [&](const auto& result) {
        REQUIRE_FALSE(result);
        CHECK(result.error().code == ErrorCode::not_found);
        CHECK_THAT(result.error().message, Tells(none.value));
    };
    told(change(world, none, Edit{}));
    told(world.house().go(runner.requests.move(none, engine::Request{}, human(), Edit{})));
    told(world.house().go(runner.queue.spawn(none, human())));
    told(world.house().go(runner.respawns.respawn(none, human())));
    told(world.house().go(runner.merges.merge(none, MergeOrder{}, human())));
    told(world.house().go(runner.requests.remove(none, human())));
    told(world.house().go(runner.requests.acknowledge(none)));
    told(world.house().go(runner.outbox.send(none, Role::worker, "hello")));
    told(world.house().go(runner.transitions.explain(none)));
    // What nobody waits for says nothing.
    world.house().go(runner.recovery.resume(none));
    world.house().go(runner.turns.body_changed(none));
    world.house().go(runner.activities.update(none));
    world.house().go(runner.exits.agent_exited(none, RunId{"x"}));
    CHECK(orange::test::deliver(world, none));
    CHECK(world.house().world().tasks.size() == 1);
}

TEST_CASE("a task that lives is not removed, and one whose workflow is lost is judged by its record") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto remove = [&] { return world.house().go(world.house().runner().requests.remove(id, human())); };
    const auto living = remove();
    REQUIRE_FALSE(living);
    CHECK(living.error().code == ErrorCode::needs_force);
    CHECK_THAT(living.error().message, Tells("orange task cancel " + id.value));
    world.move(id, "cancelled").value();
    auto record = world.record(id);
    record.task.workflow = "lost";
    record.task.workflow_hash = "0123456789abcdef";
    world.house().world().tasks.save(record).value();
    REQUIRE(remove());
    CHECK_FALSE(world.house().world().tasks.brief(id));
}

TEST_CASE("a task whose record could not be read is not deleted if it can be read again when its turn comes") {
    RunnerWorld world;
    const auto id = world.make_task();
    world.move(id, "cancelled").value();
    auto& house = world.boot();
    const auto& tasks = house.world().tasks;
    REQUIRE_FALSE(tasks.awake(id));
    const auto file = tasks.folder(*tasks.brief(id)) / "state.json";
    const auto whole = read_file(file);
    write_file(file, "{");
    const auto go_on = [&] {
        house.io.restart();
        house.io.poll();
    };
    std::optional<async::Mutex::Lock> next;
    std::optional<Result<Outcome>> removed;
    auto first = house.go(house.runner().turns.lock(id));
    house.begin(house.runner().requests.remove(id, human()), removed);
    house.begin(house.runner().turns.lock(id), next);
    go_on();
    first.release();
    go_on();
    REQUIRE(next);  // the deletion has found the record broken, and waits for the lock again
    REQUIRE_FALSE(removed);
    write_file(file, whole);
    next->release();
    go_on();
    REQUIRE(removed);
    REQUIRE_FALSE(*removed);
    CHECK(removed->error().code == ErrorCode::conflict);
    CHECK(tasks.read(id));
}

TEST_CASE("a mark for attention is taken away once, and that nothing asked for any is no error") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto record = world.record(id);
    look_at(record, "look");
    world.house().world().tasks.save(record).value();
    const auto acknowledge = [&] {
        return world.house().go(world.house().runner().requests.acknowledge(id)).value().notes;
    };
    CHECK(acknowledge().empty());
    CHECK_FALSE(world.record(id).task.attention);
    CHECK_THAT(world.task_text(id), Holds("attention: null"));
    CHECK(acknowledge().size() == 1);
}

TEST_CASE("a merge that may not be is refused with the way there, and nothing is merged") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    world.git.commit(worktree(world, id), "feature", "it\n");
    const auto main = world.git.ref(world.repo(), "main");
    const auto merge = [&](bool force) {
        MergeOrder order;
        order.force = force;
        return world.house().go(world.house().runner().merges.merge(id, order, human()));
    };
    const auto unreviewed = merge(false);
    REQUIRE_FALSE(unreviewed);
    CHECK(unreviewed.error().code == ErrorCode::needs_force);
    CHECK_FALSE(unreviewed.error().details.at("question").empty());
    CHECK_THAT(unreviewed.error().message, Tells("orange task merge " + id.value + " --force"));
    auto project = *world.house().world().projects.find("shop");
    world.house().world().projects.remove("shop").value();
    CHECK(merge(true).error().code == ErrorCode::not_found);
    CHECK(world.git.ref(world.repo(), "main") == main);
    world.house().world().projects.put(project).value();
    write_file(worktree(world, id) / "draft", "unfinished\n");
    const auto merged = merge(true);
    REQUIRE(merged);
    bool told = false;
    for (const auto& note : merged->notes) {
        told = told || tells(note, "refs/orange/" + id.value);
    }
    CHECK(told);
    CHECK(world.record(id).task.status == "done");
    const auto again = merge(true);
    REQUIRE(again);
    CHECK(again->commit == merged->commit);
    CHECK(world.events(id, "task.merged").size() == 1);
}

TEST_CASE("force is a human's, whoever the agent is") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    for (const Role role : {Role::worker, Role::reviewer}) {
        engine::Request request;
        request.to = "done";
        request.by = role;
        request.force = true;
        auto by = agent_of(world, id, role);
        const auto done = world.house().go(world.house().runner().requests.move(id, request, by, Edit{}));
        REQUIRE_FALSE(done);
        CHECK(done.error().code == ErrorCode::forbidden);
        const bool worker = role == Role::worker;
        CHECK(tells(done.error().message, "--force") == worker);
        CHECK(world.record(id).task.status == "planning");
    }
}

TEST_CASE("one update of fields and status is refused as a whole, whatever part of it is wrong") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 3);
    const auto ask = [&](const Edit& edit, const Caller& by) {
        const auto state = world.state_text(id);
        engine::Request request;
        request.to = "planning";
        request.by = by.role;
        const auto done = world.house().go(world.house().runner().requests.move(id, request, by, edit));
        REQUIRE_FALSE(done);
        CHECK(world.state_text(id) == state);
        CHECK(world.outside.tmux.state.opened.empty());
        return done.error();
    };
    Edit edit;
    edit.summary = "two\nlines";
    CHECK(ask(edit, human()).code == ErrorCode::invalid_argument);
    edit.summary = "fine";
    edit.workflow = "nothing";
    CHECK_THAT(ask(edit, human()).message, Tells("nothing"));
    edit.workflow.reset();
    auto stranger = human();
    stranger.role = Role::worker;
    stranger.task = TaskId{"aaaaaaaaaaaaaaaaaaaaa"};
    CHECK(ask(edit, stranger).code == ErrorCode::forbidden);
    edit.branch = "main";
    CHECK_THAT(ask(edit, human()).message, Tells("main"));
    edit.branch = "fine/too";
    engine::Request request;
    request.to = "planning";
    REQUIRE(world.house().go(world.house().runner().requests.move(id, request, human(), edit)));
    CHECK(world.record(id).task.branch == "fine/too");
    CHECK(world.record(id).task.summary == "fine");
}

TEST_CASE("a branch that only the remote has is checked out from there") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto there = world.git.plain(world.repo(), {"commit-tree", "-m", "theirs", "main^{tree}"});
    world.git.plain(world.repo(), {"update-ref", "refs/remotes/origin/theirs", there});
    REQUIRE(change(world, id, to_branch("theirs")));
    CHECK(world.git.plain(worktree(world, id), {"rev-parse", "HEAD"}) == there);
}

TEST_CASE("a session that a human has renamed, or that there is none of, is no reason to refuse a branch") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    auto record = world.record(id);
    record.runs.front().session_id.clear();
    world.house().world().tasks.save(record).value();
    REQUIRE(change(world, id, to_branch("one")));
    CHECK(world.record(id).task.tmux_session != "shop/one");
    record = world.record(id);
    record.task.tmux_session.reset();
    world.house().world().tasks.save(record).value();
    REQUIRE(change(world, id, to_branch("two")));
    record = world.record(id);
    record.runs.clear();
    world.house().world().tasks.save(record).value();
    REQUIRE(change(world, id, to_branch("three")));
    CHECK(world.record(id).task.branch == "three");
}

TEST_CASE("a task that has ended may follow another workflow, and has ended there as well") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    world.move(id, "cancelled").value();
    Edit edit;
    edit.workflow = "relay";
    REQUIRE(change(world, id, edit));
    CHECK(world.record(id).task.workflow == "relay");
    CHECK(world.record(id).ended);
    CHECK(change(world, TaskId{"aaaaaaaaaaaaaaaaaaaaa"}, edit).error().code == ErrorCode::not_found);
}

TEST_CASE("a branch that the record could not be changed to is left again, as far as git lets that be", "[slow]") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto before = world.record(id).task.branch;
    const std::string wanted = GENERATE("there", "new-name");
    world.git.plain(world.repo(), {"branch", "there"});
    world.keep();
    const auto fails = [&](int nth_child) {
        world.back();
        world.outside.children.arm(fakes::ChildFault::does_not_start, nth_child);
        world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 1);
        REQUIRE_FALSE(change(world, id, to_branch(wanted)));
        CHECK(world.record(id).task.branch == before);
        return world.git.plain(worktree(world, id), {"branch", "--show-current"});
    };
    int left_there = 0;
    bool more = true;
    for (int n = 1; more; ++n) {
        INFO("child " << n);
        const auto on = fails(n);
        more = world.outside.children.struck;
        if (on != before) ++left_there;
        if (!more) CHECK(on == before);
        world.outside.fuse.disarm();
        world.outside.children.disarm();
        // Wherever it was left, the same call brings both together.
        REQUIRE(change(world, id, to_branch(wanted)));
        CHECK(world.git.plain(worktree(world, id), {"branch", "--show-current"}) == wanted);
    }
    CHECK(left_there > 0);
}

TEST_CASE("a branch whose record cannot be written, and whose project goes meanwhile, is an error and no crash") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    auto& house = world.house();
    std::optional<Result<Outcome>> done;
    house.begin(house.runner().requests.edit(id, to_branch("late"), human()), done);
    house.world().projects.remove("shop").value();
    world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 1);
    house.io.run();
    world.outside.fuse.disarm();
    REQUIRE(done);
    REQUIRE_FALSE(*done);
    CHECK(world.record(id).task.branch != "late");
}
