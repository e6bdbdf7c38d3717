#include "common/base/text.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/watch_methods.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/background.hpp"

/// A task that is split into sub-tasks, with the real daemon and agents: nobody moves it on.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;

std::string create_part(Sandbox& orange, const std::string& parent, const std::string& summary) {
    rpc::TaskCreate params;
    params.parent = parent;
    params.summary = summary;
    params.base = "main";  // its parent's work stays its parent's
    params.harness = params.review_harness = "demo";
    return orange.call(params).task.fields.id.value;
}

rpc::TaskView task_of(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task;
}

void merge_part(Sandbox& orange, const std::string& id) {
    orange.eventually(
        "the sub-task is ready to be merged", [&] { return orange.status(id) == "reviewing"; }, 60s);
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
}

/// A task with a commit of its own that waits for two sub-tasks, of which the first is merged. What its human does, and
/// the demo agent works too slowly for, is done for it.
struct Parts {
    Sandbox orange;
    std::string parent, first, second;
    std::filesystem::path hold = orange.root() / "hold", holding = orange.root() / "holding";

    Parts() {
        orange.add_project("shop", 1);
        rpc::ProjectUpdate setup;
        setup.name = "shop";
        setup.setup = {"sh", "-c",
                       "if test -e " + hold.string() + "; then touch " + holding.string() + "; sleep 600; fi"};
        orange.call(setup);
        rpc::TaskCreate whole;
        whole.project = "shop";
        whole.summary = "The whole demo:slow=600";
        whole.branch = "whole";  // else its agent gives it another name meanwhile
        whole.harness = whole.review_harness = "demo";
        parent = orange.call(whole).task.fields.id.value;
        orange.wait_for_status(parent, "planning");
        first = create_part(orange, parent, "The first part");
        second = create_part(orange, parent, "The second part");
        const auto tree = orange.worktree(parent);
        write_file(tree / "frame", "of the whole\n");
        orange.git({"add", "frame"}, tree);
        orange.git({"commit", "-qm", "The frame"}, tree);
        // Its agent replaces TASK.md by what it read before, and would take the part that is added meanwhile away.
        orange.eventually("its agent has written its plan and sleeps",
                          [&] { return read_file(tree / "TASK.md").find("\n## Plan\n") != std::string::npos; });
        const auto text = read_file(tree / "TASK.md");
        write_file(tree / "TASK.md", text + "\n## Subtasks\n- " + first + "\n- " + second + "\n");
        // What is written into a file that the daemon replaces at this moment comes in a little later.
        orange.eventually("it is delegated", [&] { return orange.update_status(parent, "delegated").has_value(); });
        merge_part(orange, first);
    }

    void check_moved_once() {
        orange.wait_for_status(parent, "working");
        int ways_on = 0, workers = 0;
        for (const auto& event : orange.history(parent, "status.changed")) {
            ways_on += event.at("from") == "delegated" ? 1 : 0;
        }
        CHECK(ways_on == 1);
        for (const auto& event : orange.history(parent, "agent.spawned"))
            workers += event.at("role") == "worker" ? 1 : 0;
        CHECK(workers == 2);
        CHECK(orange.run_of(parent, "worker").at("prompt") == "integrate");
        CHECK(orange.history(parent, "child.done").size() == 2);
        CHECK(orange.path_of(parent) == "pending planning delegated working");
        for (const auto& part : {first, second}) {
            int started = 0;
            for (const auto& event : orange.history(part, "agent.spawned")) {
                started += event.at("role") == "worker" ? 1 : 0;
            }
            CHECK(started == 1);
        }
    }
};

}  // namespace

TEST_CASE("A daemon that is killed while the last sub-task's parent is moved on leaves it to the next one, once") {
    Parts parts;
    auto& orange = parts.orange;
    orange.eventually(
        "the sub-task is ready", [&] { return orange.status(parts.second) == "reviewing"; }, 60s);
    SECTION("in the middle of it") {
        write_file(parts.hold, "");
        merge_part(orange, parts.second);
        orange.eventually("its workspace is prepared", [&] { return std::filesystem::exists(parts.holding); });
        CHECK(orange.status(parts.parent) == "delegated");
        orange.kill_daemon();
        std::filesystem::remove(parts.hold);
    }
    SECTION("as soon as the sub-task is merged") {
        merge_part(orange, parts.second);
        orange.kill_daemon();
    }
    orange.start_daemon();
    parts.check_moved_once();
}

TEST_CASE("A worker splits its task by itself, and the task ends with its parts") {
    Sandbox orange;
    orange.add_project("shop", 2);
    const auto parent = orange.create("shop", "The whole demo:split=2");
    orange.wait_for_status(parent, "delegated");
    const auto shown = task_of(orange, parent);
    REQUIRE(shown.children.size() == 2);
    for (const auto& part : shown.children) {
        const auto fields = task_of(orange, part).fields;
        CHECK(fields.parent.value == parent);
        CHECK(fields.workflow == shown.fields.workflow);
        CHECK(fields.harness == "demo");
        CHECK_THAT(read_file(task_of(orange, part).path + "/TASK.md"), Holds("One line, in a file of its own."));
        merge_part(orange, part);
    }
    orange.wait_for_status(parent, "done");
    CHECK(orange.path_of(parent) == "pending planning delegated done");
    CHECK(task_of(orange, parent).children_done == 2);
}

TEST_CASE("A worker that has committed first puts the parts together") {
    Sandbox orange;
    orange.add_project("shop", 1);
    const auto parent = orange.create("shop", "The whole demo:split=1 demo:integrate");
    orange.wait_for_status(parent, "delegated");
    merge_part(orange, task_of(orange, parent).children.front());
    merge_part(orange, parent);
    CHECK(orange.path_of(parent) == "pending planning delegated working agent-review reviewing done");
}

TEST_CASE("If the project asks, sub-tasks of agents wait for approval, and if it is off there are none") {
    Sandbox orange;
    orange.add_project("shop", 2);
    rpc::ProjectUpdate update;
    update.name = "shop";
    SECTION("ask") {
        update.settings = {{"delegation", "ask"}};
        orange.call(update);
        const auto parent = orange.create("shop", "The whole demo:split=2");
        orange.wait_for_status(parent, "delegated");
        orange.eventually("its human is asked", [&] { return task_of(orange, parent).needs.kind == Need::help; });
        const auto parts = task_of(orange, parent).children;
        REQUIRE(parts.size() == 2);
        CHECK(orange.status(parts[0]) == "pending");
        rpc::TaskApprove approve;
        approve.id = parts[0];
        orange.call(approve);
        merge_part(orange, parts[0]);
        CHECK(orange.status(parts[1]) == "pending");
        CHECK(task_of(orange, parent).needs.kind == Need::help);
        approve.id = parent;
        orange.call(approve);
        merge_part(orange, parts[1]);
        orange.wait_for_status(parent, "done");
    }
    SECTION("off") {
        update.settings = {{"delegation", "off"}};
        orange.call(update);
        const auto parent = orange.create("shop", "The whole demo:split=2");
        orange.eventually("the refused agent has ended", [&] { return task_of(orange, parent).worker == "dead"; });
        CHECK(task_of(orange, parent).children.empty());
    }
}

TEST_CASE("A task that is in the queue after its sub-tasks calls nobody who waits for it until it goes on") {
    Parts parts;
    auto& orange = parts.orange;
    const auto other = orange.create("shop", "Something else demo:slow=600");
    merge_part(orange, parts.second);
    orange.wait_for_status(other, "planning");
    orange.eventually("it is in the queue", [&] { return task_of(orange, parts.parent).queue_place == 1; });
    rpc::TaskWait wait;
    wait.id = parts.parent;
    wait.until = {"human"};
    wait.timeout = 1;
    const auto while_full = orange.call(wait);
    CHECK(while_full.timed_out);
    CHECK_FALSE(while_full.reached);
    rpc::TaskCancel cancel;
    cancel.id = other;
    orange.call(cancel);  // which starts no other task
    const auto with_room = orange.call(wait);
    CHECK(with_room.timed_out);
    CHECK(with_room.task.fields.status == "delegated");
    Background waiting(orange, "waiting", {"task", "wait", parts.parent, "--for", "working"});
    rpc::TaskSpawn spawn;
    spawn.id = parts.parent;
    orange.call(spawn);
    CHECK(waiting.status() == 0);
    parts.check_moved_once();
}

TEST_CASE("A cancel of a task with its sub-tasks says who waited for one of them, and what is kept of their work") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop", 2);
    const auto parent = orange.create("shop", "The whole", true);
    const auto part = create_part(orange, parent, "The part demo:slow=600");
    orange.wait_for_status(part, "planning");
    rpc::TaskCreate later;
    later.project = "shop";
    later.summary = "What comes after the part";
    later.blocked_by = {part};
    const auto waiting = orange.call(later).task.fields.id.value;
    write_file(orange.worktree(part) / "begun", "not committed\n");
    rpc::TaskCancel cancel;
    cancel.id = parent;
    cancel.with_children = true;
    const auto notes = join(orange.call(cancel).notes, "\n");
    CHECK_THAT(notes, Holds("refs/orange/" + part + "/wip") && Holds("task restore " + orange.short_id(part)));
    CHECK_THAT(notes, Holds(": " + orange.short_id(waiting)) && !Holds("no work"));
    CHECK(orange.status(waiting) == "pending");
}

TEST_CASE("While a task and its sub-tasks are cancelled, new ones are refused or cancelled with them") {
    Sandbox orange;
    orange.add_project("shop", 3);
    const auto hold = orange.root() / "hold", holding = orange.root() / "holding";
    rpc::ProjectUpdate update;
    update.name = "shop";
    const auto script = "test -e " + hold.string() + " || exit 0; touch " + holding.string() + "; while test -e " +
                        hold.string() + "; do sleep 0.1; done";
    update.settings = {{"teardown", {{"sh", "-c", script}}}};
    orange.call(update);
    const auto parent = orange.create("shop", "The whole", true);
    const auto first = create_part(orange, parent, "The first part demo:slow=600");
    const auto second = create_part(orange, parent, "The second part demo:slow=600");
    for (const auto& part : {first, second}) orange.wait_for_status(part, "planning");
    write_file(hold, "");
    Background cancelling(orange, "cancelling", {"task", "cancel", parent, "--with-children", "--yes"});
    orange.eventually("the first part is being cancelled", [&] { return std::filesystem::exists(holding); });
    rpc::TaskCreate late;
    late.summary = "Too late";
    late.harness = late.review_harness = "demo";
    for (const auto& ended : {parent, first}) {
        late.parent = ended;
        const auto refused = orange.try_call(late);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
    }
    const auto below = create_part(orange, second, "Just in time demo:slow=600");
    std::filesystem::remove(hold);
    CHECK(cancelling.status() == 0);
    for (const auto& id : {parent, first, second, below}) CHECK(orange.status(id) == "cancelled");
    CHECK(task_of(orange, parent).children.size() == 2);
}

TEST_CASE("Where programs ask is the human's choice, and a sub-task's do where its parent's do") {
    Sandbox orange("permits: window\n");
    const auto repo = orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "The whole";
    create.no_spawn = true;
    create.harness = create.review_harness = "demo";
    create.permits = "both";
    const auto refused = orange.try_call(create);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    create.permits = "inbox";
    const auto id = orange.call(create).task.fields.id.value;
    CHECK(orange.fields(id).at("permits") == "inbox");
    create.permits.reset();
    create.parent = id;
    CHECK(orange.call(create).task.fields.permits == "inbox");
    create.permits = "window";
    CHECK(orange.call(create).task.fields.permits == "window");
    create.permits.reset();
    create.parent.reset();
    CHECK_FALSE(orange.call(create).task.fields.permits);
    create.like = id;
    CHECK(orange.call(create).task.fields.permits == "inbox");

    const auto as_agent = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"env", "ORANGE_TASK=" + id, "ORANGE_ROLE=worker", program("orange").string()});
        return orange.try_run(words, repo);
    };
    CHECK(as_agent({"task", "update", id, "--permits", "window"}).status != 0);
    const auto part = as_agent({"task", "create", "A part", "--permits", "window"});
    CHECK(part.status != 0);
    CHECK_THAT(part.err, Tells("--permits") && Tells("human"));
    CHECK(orange.fields(id).at("permits") == "inbox");
    CHECK(orange.orange({"task", "update", id, "--permits", ""}, repo).status == 0);
    CHECK_FALSE(orange.fields(id).contains("permits"));
    CHECK(orange.orange({"project", "update", "shop", "--set", "permits=inbox"}, repo).status == 0);
    CHECK_THAT(orange.orange({"project", "update", "shop", "--set", "permits=both"}, repo).err, Tells("window"));
}

TEST_CASE("A budget is the human's choice, for a task, a project and all projects") {
    Sandbox orange("budget: {task: 3M, day_stop: never}\n");
    const auto repo = orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "The whole";
    create.no_spawn = true;
    create.harness = create.review_harness = "demo";
    create.budget = "5M";
    const auto id = orange.call(create).task.fields.id.value;
    CHECK(orange.fields(id).at("budget") == "5M");
    create.budget = "5 lemons";
    const auto refused = orange.try_call(create);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Holds("400k"));
    create.budget.reset();
    create.like = id;
    CHECK(orange.call(create).task.fields.budget == "5M");

    CHECK(orange.orange({"task", "update", id, "--budget", "8M"}, repo).status == 0);
    CHECK(orange.fields(id).at("budget") == "8M");
    const auto as_agent = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"env", "ORANGE_TASK=" + id, "ORANGE_ROLE=worker", program("orange").string()});
        return orange.try_run(words, repo);
    };
    CHECK(as_agent({"task", "update", id, "--budget", "900M"}).status != 0);
    CHECK(orange.fields(id).at("budget") == "8M");
    const auto part = as_agent({"task", "create", "A part", "--budget", "900M"});
    CHECK(part.status != 0);
    CHECK_THAT(part.err, Tells("--budget") && Tells("human"));
    CHECK(orange.orange({"task", "update", id, "--budget", ""}, repo).status == 0);
    CHECK_FALSE(orange.fields(id).contains("budget"));

    const auto settings = [&] {
        return parse_json(orange.orange({"project", "list", "--json"}, repo).out).value()["projects"][0]["settings"];
    };
    CHECK(settings()["budget.task"]["value"] == "3M");
    CHECK(settings()["budget.task"]["from"] == "config.yml");
    CHECK(settings()["budget.day"]["value"] == "0");
    CHECK(orange.orange({"project", "update", "shop", "--set", "budget.day=40M"}, repo).status == 0);
    CHECK(settings()["budget.day"]["value"] == "40M");
    CHECK(settings()["budget.day"]["from"] == "project");
    CHECK_THAT(orange.orange({"project", "update", "shop", "--set", "budget.day=much"}, repo).err, Tells("400k"));
    CHECK(settings()["budget.day"]["value"] == "40M");
}

}  // namespace orange::tests
