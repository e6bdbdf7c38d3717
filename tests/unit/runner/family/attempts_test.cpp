// Several agents at the same task, of which a human picks one.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/base/text.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "daemon/runner/merging/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/attempts.hpp"
#include "tests/unit/runner/given.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A task that three agents try, in as many workspaces.
struct AttemptsFixture {
    RunnerWorld world;
    Family family;
    explicit AttemptsFixture(int pool_size = 4, Json more = Json::object()) {
        prepare_attempts(world, pool_size);
        family = tried_by_three(world, std::move(more));
    }
    const TaskId& parent() const { return family.parent; }
    const TaskId& attempt(std::size_t i) const { return family.children.at(i); }
    Json view(const TaskId& id) { return call(world, "task.show", {{"id", id.value}}).value().at("task"); }
    std::string status(const TaskId& id) { return world.record(id).task.status; }
    Need need(const TaskId& id) { return needs_of(world.house().runner(), world.record(id)).kind; }
    Result<Json> merge(const TaskId& id) { return call(world, "task.merge", {{"id", id.value}, {"force", true}}); }
    bool can(const TaskId& id, const std::string& what) {
        const auto can = view(id).at("can");
        return std::ranges::find(can, Json(what)) != can.end();
    }
    void let_steps_happen() {
        world.house().go(world.house().runner().reconciler.wake_all());
        world.house().go(world.house().runner().reconciler.settle(parent()));
    }
};

Json row_of(const Json& compared, const TaskId& id) {
    for (const auto& row : compared.at("rows")) {
        if (row.at("id") == id.value) return row;
    }
    return {};
}

}  // namespace

TEST_CASE("Each attempt is a sub-task with its own agent and branch, and the task itself has none") {
    AttemptsFixture f;
    CHECK(f.status(f.parent()) == "delegated");
    CHECK(f.world.record(f.parent()).runs.empty());
    CHECK_FALSE(f.world.record(f.parent()).task.workspace);
    CHECK(f.view(f.parent()).at("children").size() == 3);
    CHECK(f.view(f.parent()).at("attempts") == 3);
    std::vector<std::string> names, programs;
    for (const auto& id : f.family.children) {
        const auto& record = f.world.record(id);
        names.push_back(record.attempt);
        programs.push_back(record.run_of(Role::worker)->harness);
        CHECK(record.task.status == "working");
        CHECK(record.task.parent == f.parent());
        CHECK(record.task.branch == "orange-tasks/" + id.value);
        CHECK_FALSE(record.task.base);
        CHECK_THAT(f.world.task_text(id), Holds("because"));
        for (const auto& other : f.family.children) {
            if (other != id) CHECK_THAT(f.world.task_text(id), !Holds(other.value));
        }
    }
    CHECK(names == std::vector<std::string>{"bot", "other", "bot 2"});
    CHECK(programs == std::vector<std::string>{"bot", "other", "bot"});
    CHECK(f.need(f.parent()) == Need::nothing);
}

TEST_CASE("A fork of an attempt is no attempt, and a fork of their parent begins with the picked one") {
    AttemptsFixture f;
    const auto fork = [&](const TaskId& id) -> Result<TaskRecord> {
        const auto made = call(f.world, "task.fork", {{"id", id.value}, {"no_spawn", true}});
        if (!made) return made.error();
        return f.world.record(TaskId{made->at("task").at("fields").at("id").get<std::string>()});
    };
    work_on(f.world, f.attempt(0));
    const auto copy = fork(f.attempt(0)).value();
    CHECK(copy.forked->task == f.attempt(0));
    CHECK(copy.task.parent.empty());
    CHECK(copy.attempt.empty());
    CHECK(f.view(f.parent()).at("attempts") == 3);
    const auto refused = fork(f.parent());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Holds("orange compare ") && Holds("orange fork "));
    hand_over_attempt(f.world, f.attempt(1));
    pick_attempt(f.world, f.parent(), f.attempt(1).value).value();
    CHECK(fork(f.parent()).value().forked->task == f.attempt(1));
}

TEST_CASE("Attempts that have no workspace yet wait in the queue, and the reply says how many") {
    RunnerWorld world;
    prepare_attempts(world, 1);
    const auto reply = call(world, "task.create", attempts_params()).value();
    const auto notes = reply.at("notes").dump();
    CHECK_THAT(notes, Tells("2") && Tells("3"));
    const TaskId parent{reply.at("task").at("fields").at("id").get<std::string>()};
    CHECK(world.record(parent).task.status == "delegated");
    std::size_t queued = 0;
    const auto& seen = world.record(parent).harness_hashes;
    CHECK(seen.contains("other"));
    for (const auto& row : world.record(parent).attempts) {
        if (!world.record(row.id).queued) continue;
        ++queued;
        CHECK(world.record(row.id).harness_hashes == seen);
    }
    CHECK(queued == 2);
}

TEST_CASE("Each attempt has a copy of the files that were given to the task, and TASK.md names it") {
    RunnerWorld world;
    prepare_attempts(world);
    const std::string content((std::size_t{2} << 20) + 1, 'x');  // several pieces
    const auto file = upload(world, "shot.png", content).value();
    const auto family = tried_by_three(world, {{"files", {file}}});
    for (const auto& id : family.children) {
        const auto copy = files_of(world, id) / "shot.png";
        const bool is_same = read_file(copy) == content;
        CHECK(is_same);
        CHECK_THAT(world.task_text(id), Holds(copy.string()));
        CHECK_THAT(world.task_text(id), !Holds(files_of(world, family.parent).string()));
    }
}

TEST_CASE("A pick does not wait for the setup commands of the others") {
    RunnerWorld world;
    prepare_attempts(world, 1);
    const auto family = tried_by_three(world);
    const auto finished = world.home() / "finished";
    auto project = shop(world);
    project.pool_size = 4;
    project.setup = {"/bin/sh", "-c", "sleep 30; touch '" + finished.string() + "'"};
    auto& house = world.house();
    house.world().projects.put(project).value();
    async::spawn(house.io.get_executor(), "queue", house.runner().queue.look("shop"));
    CHECK(pick_attempt(world, family.parent, "bot"));
    house.io.restart();
    house.io.run();
    CHECK(world.record(family.children[1]).task.status == "cancelled");
    CHECK(world.record(family.children[2]).task.status == "cancelled");
    CHECK_FALSE(std::filesystem::exists(finished));
}

TEST_CASE("A task that waits for another one gets its attempts when that is done, and with --no-spawn when it starts") {
    RunnerWorld world;
    prepare_attempts(world);
    const auto first = with_work(world);
    const auto blocked = tried_by_three(world, {{"blocked_by", {first.value}}});
    CHECK(world.record(blocked.parent).task.status == "pending");
    CHECK(world.house().world().tasks.children_of(blocked.parent).empty());
    merge_now(world, first);
    world.house().go(world.house().runner().reconciler.settle(blocked.parent));
    world.house().go(world.house().runner().queue.look("shop"));
    world.house().go(world.house().runner().reconciler.settle(blocked.parent));
    CHECK(world.record(blocked.parent).task.status == "delegated");
    CHECK(world.house().world().tasks.children_of(blocked.parent).size() == 3);

    const auto kept = tried_by_three(world, {{"no_spawn", true}});
    CHECK(world.record(kept.parent).task.status == "pending");
    CHECK(call(world, "task.spawn", {{"id", kept.parent.value}}));
    world.house().go(world.house().runner().reconciler.settle(kept.parent));
    CHECK(world.record(kept.parent).task.status == "delegated");
    CHECK(world.house().world().tasks.children_of(kept.parent).size() == 3);
}

TEST_CASE("A task with attempts that cannot be as they are asked for is not created") {
    RunnerWorld world;
    prepare_attempts(world);
    const auto refused = [&](Json more) {
        const auto before = world.house().world().tasks.active().size();
        const auto reply = call(world, "task.create", attempts_params(std::move(more)));
        REQUIRE_FALSE(reply);
        CHECK(world.house().world().tasks.active().size() == before);
        return reply.error().message;
    };
    CHECK_THAT(refused({{"attempts", {"bot"}}}), Tells("--harness"));
    CHECK_THAT(refused({{"attempts", {"bot", "nosuch"}}}), Tells("nosuch"));
    CHECK_THAT(refused({{"attempts", {"bot", ":high"}}}), Tells(":high"));
    CHECK_THAT(refused({{"attempts", {"bot", "bot:high"}}}), Tells("bot:high"));
    CHECK_THAT(refused({{"harness", "bot"}}), Tells("--harness"));
    CHECK_THAT(refused({{"branch", "mine"}}), Tells("--branch"));
    CHECK_THAT(refused({{"status", "reviewing"}}), Tells("--status"));
    CHECK_THAT(refused({{"workflow", "minimal"}}), Tells("minimal"));
    auto project = shop(world);
    project.settings.delegation_children = 2;
    world.house().world().projects.put(project).value();
    CHECK_THAT(refused(Json::object()), Tells("delegation_children=3"));
}

TEST_CASE("An attempt has no attempts, and a task with attempts no other sub-tasks and no agent") {
    AttemptsFixture f;
    const auto below = call(f.world, "task.create", attempts_params({{"parent", f.attempt(0).value}}));
    REQUIRE_FALSE(below);
    CHECK_THAT(below.error().message, Tells("--attempts"));
    CHECK_FALSE(call(f.world, "task.create", {{"summary", "x"}, {"parent", f.parent().value}}));
    const auto moved = f.world.move(f.parent(), "working");
    REQUIRE_FALSE(moved);
    CHECK_THAT(moved.error().message, Tells("orange compare " + f.parent().value));
}

TEST_CASE("When all attempts rest, the task needs its human, who is asked for nothing before") {
    AttemptsFixture f;
    hand_over_attempt(f.world, f.attempt(0));
    CHECK(f.need(f.attempt(0)) == Need::nothing);
    CHECK(f.need(f.parent()) == Need::nothing);
    hand_over_attempt(f.world, f.attempt(1));
    f.world.move(f.attempt(2), "stuck").value();
    CHECK(f.need(f.attempt(2)) == Need::help);
    const auto needs = needs_of(f.world.house().runner(), f.world.record(f.parent()));
    CHECK(needs.kind == Need::review);
    CHECK(needs.command.text() == "orange compare " + f.parent().value);
    CHECK_FALSE(notice_of(f.world, f.parent(), NoticeKind::child_needs_you));
}

TEST_CASE("An attempt is merged only after it was picked, and its task is done with it") {
    AttemptsFixture f;
    for (const auto& id : f.family.children) hand_over_attempt(f.world, id);
    for (const auto& id : {f.parent(), f.attempt(0)}) {
        const auto refused = f.merge(id);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().details.at("why") == "not_picked");
        CHECK(refused.error().details.at("parent") == f.parent().value);
        CHECK(f.can(id, "pick"));
        CHECK(f.can(id, "compare"));
    }
    CHECK_FALSE(f.can(f.parent(), "merge"));
    const auto picked = pick_attempt(f.world, f.parent(), "other").value();
    CHECK(picked.at("task").at("picked") == f.attempt(1).value);
    CHECK(picked.at("task").at("children").size() == 1);
    for (const auto& loser : {f.attempt(0), f.attempt(2)}) {
        CHECK(f.status(loser) == "cancelled");
        CHECK(f.view(loser).at("unpicked") == true);
        CHECK(is_kept(f.world, loser));
        CHECK_THAT(picked.at("notes").dump(), Holds(f.world.house().world().tasks.short_id(loser)));
    }
    CHECK(f.need(f.attempt(1)) == Need::review);
    CHECK(f.can(f.parent(), "merge"));
    CHECK_FALSE(f.can(f.parent(), "pick"));
    CHECK_FALSE(notice_of(f.world, f.parent(), NoticeKind::child_needs_you));
    const auto merged = f.merge(f.parent());
    REQUIRE(merged);
    CHECK(merged->at("task").at("fields").at("id") == f.attempt(1).value);
    f.let_steps_happen();
    CHECK(f.status(f.attempt(1)) == "done");
    CHECK(f.status(f.parent()) == "done");
    const auto main = f.world.git.plain(f.world.repo(), {"ls-tree", "--name-only", "main"});
    CHECK_THAT(main, Holds("of-" + f.attempt(1).value) && !Holds("of-" + f.attempt(0).value));
}

TEST_CASE("No attempt is merged while the files of its task cannot be read") {
    AttemptsFixture f;
    hand_over_attempt(f.world, f.attempt(0));
    const auto state = f.world.house().world().tasks.folder(f.world.record(f.parent())) / "state.json";
    f.world.stop();
    std::ofstream(state) << "{";
    f.world.outside.unreadable = true;
    f.world.boot();
    f.world.recover();
    const auto refused = f.merge(f.attempt(0));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("orange doctor"));
    CHECK(f.status(f.attempt(0)) == "reviewing");
}

TEST_CASE("A pick holds: it is repeated without harm, and no other attempt is picked after it") {
    AttemptsFixture f;
    CHECK_FALSE(pick_attempt(f.world, f.parent(), "nobody"));
    CHECK_FALSE(call(f.world, "task.pick", {{"id", f.parent().value}}));
    REQUIRE(call(f.world, "task.pick", {{"id", f.attempt(0).value}}));
    CHECK(pick_attempt(f.world, f.parent(), "bot"));
    const auto other = pick_attempt(f.world, f.parent(), "other");
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().message, Tells("orange task restore " + f.attempt(1).value + " --create"));
    CHECK(f.world.record(f.parent()).picked == f.attempt(0));
    CHECK(f.world.events(f.parent(), "attempt.picked").size() == 1);
    CHECK(f.status(f.attempt(0)) == "working");
}

TEST_CASE("Of two picks at once one counts") {
    AttemptsFixture f;
    auto& runner = f.world.house().runner();
    std::optional<Result<void>> first, second;
    f.world.house().begin(note_pick(runner, f.parent(), f.attempt(0), a_human()), first);
    f.world.house().begin(note_pick(runner, f.parent(), f.attempt(2), a_human()), second);
    f.let_steps_happen();
    REQUIRE((first && second));
    CHECK(first->has_value() != second->has_value());
    const auto picked = f.world.record(f.parent()).picked;
    for (const auto& id : f.family.children) CHECK(f.status(id) == (id == picked ? "working" : "cancelled"));
}

TEST_CASE("Attempts that are cancelled or deleted are not picked, and a task without any needs help") {
    AttemptsFixture f;
    for (const auto& id : f.family.children) hand_over_attempt(f.world, id);
    f.world.move(f.attempt(0), "cancelled").value();
    CHECK_FALSE(pick_attempt(f.world, f.parent(), "bot"));
    CHECK(needs_of(f.world.house().runner(), f.world.record(f.parent())).text.find('2') != std::string::npos);
    REQUIRE(call(f.world, "task.delete", {{"id", f.attempt(1).value}, {"force", true}}));
    f.let_steps_happen();
    CHECK(f.world.house().world().tasks.children_of(f.parent()).size() == 2);
    CHECK(f.need(f.parent()) == Need::review);
    f.world.move(f.attempt(2), "cancelled").value();
    f.let_steps_happen();
    CHECK(f.need(f.parent()) == Need::help);
    CHECK(notice_of(f.world, f.parent(), NoticeKind::child_needs_you));
    const auto asked = call(f.world, "task.cancel", {{"id", f.parent().value}, {"with_children", true}});
    INFO((asked ? "" : asked.error().message));
    REQUIRE(asked);
    CHECK(f.status(f.parent()) == "cancelled");
}

TEST_CASE("A task that is cancelled asks about its attempts, which are tasks of their own without it") {
    AttemptsFixture f;
    for (const auto& id : f.family.children) hand_over_attempt(f.world, id);
    const auto asked = call(f.world, "task.cancel", {{"id", f.parent().value}, {"ask_children", true}});
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    const auto cancelled = call(f.world, "task.cancel", {{"id", f.parent().value}});
    INFO((cancelled ? "" : cancelled.error().message));
    REQUIRE(cancelled);
    CHECK_FALSE(pick_attempt(f.world, f.parent(), "bot"));
    CHECK(f.need(f.attempt(0)) == Need::review);
    CHECK(f.merge(f.attempt(0)));
    CHECK(f.status(f.attempt(1)) == "reviewing");
}

TEST_CASE("A fork of an attempt is a task of its own") {
    AttemptsFixture f;
    hand_over_attempt(f.world, f.attempt(0));
    const auto forked = call(f.world, "task.fork", {{"id", f.attempt(0).value}, {"no_spawn", true}});
    REQUIRE(forked);
    const TaskId id{forked->at("task").at("fields").at("id").get<std::string>()};
    CHECK(f.world.record(id).task.parent.empty());
    CHECK(f.world.record(id).attempt.empty());
    CHECK(f.view(f.parent()).at("children").size() == 3);
}

TEST_CASE("If an attempt is done without a pick, no other one is picked") {
    AttemptsFixture f;
    auto record = f.world.record(f.parent());
    record.children_done.insert(f.attempt(0));
    f.world.house().world().tasks.save(record).value();
    const auto needs = needs_of(f.world.house().runner(), f.world.record(f.parent()));
    CHECK(needs.command.text() == "orange pick " + f.parent().value + " " + f.attempt(0).value);
    const auto other = pick_attempt(f.world, f.parent(), "other");
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().message, Tells(needs.command.text()));
    CHECK(f.world.record(f.parent()).picked.empty());
    REQUIRE(pick_attempt(f.world, f.parent(), "bot"));
    f.let_steps_happen();
    CHECK(f.status(f.parent()) == "done");
    CHECK(f.status(f.attempt(1)) == "cancelled");
}

TEST_CASE("If the picked attempt is given up, its task needs help and is not done") {
    AttemptsFixture f;
    REQUIRE(pick_attempt(f.world, f.parent(), "other"));
    f.world.move(f.attempt(1), "cancelled").value();
    f.let_steps_happen();
    CHECK(f.status(f.parent()) == "delegated");
    CHECK(f.need(f.parent()) == Need::help);
    CHECK(notice_of(f.world, f.parent(), NoticeKind::child_needs_you));
}

TEST_CASE("What is compared is what git says, and attempts do not clash with one another") {
    AttemptsFixture f;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto tree = worktree_of(f.world, f.attempt(i));
        f.world.git.commit(tree, "shared", "line of " + f.attempt(i).value + "\n");
        f.world.git.commit(tree, "only-" + std::to_string(i), i == 0 ? "1\n2\n3\n" : "4\n5\n6\n");
    }
    const auto compared = call(f.world, "task.compare", {{"id", f.attempt(0).value}}).value();
    CHECK(compared.at("task").at("fields").at("id") == f.parent().value);
    REQUIRE(compared.at("rows").size() == 3);
    CHECK(compared.at("common") == Json::array({"shared"}));
    for (std::size_t i = 0; i < 2; ++i) {
        const auto row = row_of(compared, f.attempt(i));
        const auto branch = "orange-tasks/" + f.attempt(i).value;
        CHECK(row.at("commit") == f.world.git.plain(f.world.repo(), {"rev-parse", branch}));
        CHECK(row.at("changes").at("commits") == 2);
        CHECK(row.at("changes").at("files") == 2);
        CHECK(row.at("changes").at("added") == 4);
        CHECK(row.at("only") == Json::array({"only-" + std::to_string(i)}));
        CHECK(row.at("checks") == "not run");
        CHECK_FALSE(row.contains("verdict"));
    }
    CHECK(row_of(compared, f.attempt(2)).at("changes").at("commits") == 0);
    const auto diff =
        call(f.world, "task.compare_diff", {{"id", f.parent().value}, {"a", "bot"}, {"b", "other"}, {"patch", true}})
            .value();
    CHECK(diff.at("changes").at("files") == 3);
    CHECK_THAT(diff.at("text").get<std::string>(), Holds("+line of " + f.attempt(1).value));
    std::vector<TaskId> ids = f.family.children;
    f.world.house().go(f.world.house().runner().committed.refresh("shop", ids)).value();
    f.world.house().go(f.world.house().runner().forecast.look("shop")).value();
    for (const auto& id : ids) CHECK(f.world.house().runner().forecast.of(id).empty());
}

TEST_CASE("The verdict that is compared is about the commit that would be merged") {
    AttemptsFixture f;
    hand_over_attempt(f.world, f.attempt(0));
    const auto row = [&] {
        return row_of(call(f.world, "task.compare", {{"id", f.parent().value}}).value(), f.attempt(0));
    };
    CHECK(row().at("verdict") == "PASS");
    CHECK(row().at("verdict_by") == "bot");
    f.world.git.commit(worktree_of(f.world, f.attempt(0)), "later", "unseen\n");
    CHECK_FALSE(row().contains("verdict"));
}
