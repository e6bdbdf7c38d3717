#include <signal.h>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Choosing workflows, editing them, moving tasks over; the life of a task on relay; all on the real daemon.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

const char* const k_idle =
    "name: idle\nprogram: sh\nargv:\n  full: [-c, \"sleep 600\", --, \"{prompt}\"]\n"
    "  review: [-c, \"sleep 600\", --, \"{prompt}\"]\n";

/// A daemon with agents that do nothing, so that the test does everything.
struct Idle {
    Sandbox orange;
    Idle() {
        fs::create_directories(orange.home() / "harnesses");
        write_file(orange.home() / "harnesses/idle.yml", k_idle);
        orange.add_project("shop", 4);
    }
    rpc::TaskCreate task(const std::string& summary, const std::string& workflow = {}, bool spawn = false) {
        rpc::TaskCreate params;
        params.project = "shop";
        params.summary = summary;
        params.harness = params.review_harness = "idle";
        params.no_spawn = !spawn;
        if (!workflow.empty()) params.workflow = workflow;
        return params;
    }
    std::string create(const std::string& summary, const std::string& workflow = {}, bool spawn = false) {
        return orange.call(task(summary, workflow, spawn)).task.fields.id.value;
    }
    Ran move_over(const std::string& id, const std::string& workflow) {
        return orange.orange({"task", "update", id, "--workflow", workflow});
    }
    fs::path file(const std::string& name) { return orange.home() / "workflows" / (name + ".yml"); }
};

std::string shipped(const std::string& name) {
    return read_file(fs::path(ORANGE_SOURCE_DIR) / "workflows" / (name + ".yml"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

const rpc::WorkflowView view_of(Sandbox& orange, const std::string& name) {
    for (auto& view : orange.call(rpc::WorkflowList{}).workflows) {
        if (view.name == name) return view;
    }
    orange.fail("no workflow " + name + " in the list");
}

}  // namespace

TEST_CASE(
    "A dead agent is dead in list, show and why on a workflow whose states name no agent, until it is respawned") {
    Idle world;
    auto& orange = world.orange;
    fs::create_directories(orange.home() / "workflows");
    fs::copy_file(fs::path(ORANGE_SOURCE_DIR) / "tests/data/workflows/default_003.yml", world.file("default"));
    const auto id = world.create("Add a greeting", {}, true);
    const auto shows_everywhere = [&](const std::string& mark) {
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"task", "list"}, {"task", "show", id}, {"task", "why", id}}) {
            const auto out = orange.orange(command).out;
            INFO(out);
            CHECK_THAT(out, Holds(mark));
        }
    };
    const auto worker_dies = [&] {
        ::kill(orange.run_of(id, "worker").at("pid").get<pid_t>(), SIGKILL);
        orange.eventually("its end is seen", [&] { return orange.run_of(id, "worker").is_null(); });
    };
    shows_everywhere("● working");
    worker_dies();
    shows_everywhere("✗ working (dead)");
    CHECK_THAT(orange.orange({"task", "why", id}).out, Tells("orange task respawn " + orange.short_id(id)));
    orange.stop_daemon();
    orange.start_daemon();
    shows_everywhere("✗ working (dead)");
    REQUIRE(orange.orange({"task", "respawn", "--all"}).status == 0);
    shows_everywhere("● working");
    worker_dies();
    orange.wait_for_status(id, "stuck");
    shows_everywhere("✗ stuck (dead)");
    REQUIRE(orange.orange({"task", "cancel", id, "--yes"}).status == 0);
    CHECK_THAT(orange.orange({"task", "show", id}).out, Holds("○ cancelled"));
}

TEST_CASE("A task follows the workflow that it names, else its project's, else default") {
    Idle world;
    auto& orange = world.orange;
    CHECK(orange.fields(world.create("a")).at("workflow") == "default");
    REQUIRE(orange.orange({"project", "update", "shop", "--workflow", "relay"}).status == 0);
    CHECK(orange.fields(world.create("b")).at("workflow") == "relay");
    CHECK(orange.fields(world.create("c", "minimal")).at("workflow") == "minimal");
    CHECK(view_of(orange, "relay").projects == std::vector<std::string>{"shop"});
    CHECK(view_of(orange, "default").projects.empty());
}

TEST_CASE("A workflow that is not there is refused wherever it is named, with those that are") {
    Idle world;
    auto& orange = world.orange;
    const auto refused = [&](const std::vector<std::string>& command) {
        const auto ran = orange.orange(command);
        INFO(ran.err);
        CHECK(ran.status == 1);
        CHECK_THAT(ran.err, Tells("nightly"));
        for (const char* name : {"careful", "default", "minimal", "pr", "relay", "two-reviewers"})
            CHECK_THAT(ran.err, Tells(name));
    };
    refused({"task", "create", "x", "--project", "shop", "--workflow", "nightly"});
    refused({"project", "update", "shop", "--workflow", "nightly"});
    refused({"project", "add", orange.make_repository("other").string(), "--workflow", "nightly"});
    CHECK(orange.call(rpc::TaskList{}).tasks.empty());
    CHECK(orange.call(rpc::ProjectList{}).projects.size() == 1);
    CHECK(orange.call(rpc::ProjectList{}).projects.at(0).workflow == "default");
}

TEST_CASE("An edited file is for new tasks, and a running one keeps what it began with, across a restart too") {
    Idle world;
    auto& orange = world.orange;
    REQUIRE(orange.orange({"workflow", "export", "minimal", "--as", "mine"}).status == 0);
    const auto before = world.create("before", "mine");
    write_file(world.file("mine"), replaced(replaced(shipped("minimal"), "name: minimal", "name: mine"),
                                            "section: \"## Handoff\"", "section: \"## Report\""));
    const auto after = world.create("after", "mine");
    CHECK(orange.fields(before).at("workflow_hash") != orange.fields(after).at("workflow_hash"));
    orange.kill_daemon();
    orange.start_daemon();
    const auto gate_of = [&](const std::string& id) {
        rpc::TaskSpawn spawn;
        spawn.id = id;
        orange.call(spawn);
        return orange.update_status(id, "reviewing").error().message;
    };
    CHECK_THAT(gate_of(before), Tells("## Handoff"));
    CHECK_THAT(gate_of(after), Tells("## Report"));
}

TEST_CASE("An edit that does not validate leaves the last good version in force, and the list and the log say so") {
    Idle world;
    auto& orange = world.orange;
    REQUIRE(orange.orange({"workflow", "export", "minimal"}).status == 0);
    CHECK(view_of(orange, "minimal").shadows);
    const auto hash = orange.fields(world.create("good", "minimal")).at("workflow_hash");
    write_file(world.file("minimal"), "name: minimal\nversion: 7\n");
    CHECK(orange.fields(world.create("still good", "minimal")).at("workflow_hash") == hash);
    const auto view = view_of(orange, "minimal");
    CHECK_FALSE(view.valid);
    CHECK(view.last_good);
    CHECK_THAT(view.problem.value_or(""), Tells("minimal.yml:2:10: "));
    const auto list = orange.orange({"workflow", "list"}).out;
    CHECK_THAT(list, Tells("minimal"));
    CHECK_THAT(orange.orange({"daemon", "reload"}).out, Tells("minimal"));
    orange.eventually("the log says so",
                      [&] { return tells(read_file(orange.home() / "orange.log"), "minimal.yml:2:10"); });
    orange.kill_daemon();
    orange.start_daemon();
    const auto refused = orange.try_call(world.task("after a restart", "minimal"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::workflow_invalid);
    CHECK_FALSE(view_of(orange, "minimal").last_good);
}

TEST_CASE("A human moves a task to another workflow where its state exists there") {
    Idle world;
    auto& orange = world.orange;
    const auto id = world.create("move me", "relay", true);
    const auto hash = orange.fields(id).at("workflow_hash");
    fs::create_directories(orange.home() / "workflows");
    fs::copy_file(fs::path(ORANGE_SOURCE_DIR) / "tests/data/workflows/three-rounds.yml", world.file("three-rounds"));
    const auto refused = world.move_over(id, "three-rounds");
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("working"));
    CHECK_THAT(refused.err, Tells("pending, drafting, checking, approved, rejected, done, cancelled"));
    CHECK(orange.fields(id).at("workflow_hash") == hash);
    CHECK(world.move_over(id, "nightly").status == 1);
    CHECK(orange.fields(id).at("workflow") == "relay");

    REQUIRE(world.move_over(id, "minimal").status == 0);
    CHECK(orange.fields(id).at("workflow") == "minimal");
    const auto moved = orange.history(id, "workflow.changed");
    REQUIRE(moved.size() == 1);
    CHECK(moved[0].at("from") == "relay");
    CHECK(moved[0].at("to") == "minimal");
    CHECK_THAT(orange.update_status(id, "agent-review").error().message, Tells("minimal"));

    // Together with a status, the new map counts; refused, neither happens.
    CHECK(orange.orange({"task", "update", id, "--workflow", "relay", "--status", "reviewing"}).status == 1);
    CHECK(orange.fields(id).at("workflow") == "minimal");
    CHECK(orange.orange({"task", "update", id, "--workflow", "relay", "--status", "stuck"}).status == 0);
    CHECK(orange.status(id) == "stuck");
    CHECK(orange.fields(id).at("workflow") == "relay");
}

TEST_CASE("On careful the demo agent waits until its plan is approved, and writes another one if it is rejected") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Add a greeting";
    create.workflow = "careful";
    CHECK(orange.orange({"inbox", "--count"}).out == "0\n");
    CHECK(orange.orange({"inbox", "--count", "--project=none"}).status == 1);
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "plan-review");
    CHECK(orange.orange({"inbox", "--count", "--project=shop"}).out == "1\n");
    const auto inbox = orange.orange({"inbox"}).out;
    CHECK_THAT(inbox, Tells("orange task approve " + orange.short_id(id)));
    const auto why = orange.orange({"task", "why", id}).out;
    for (const auto* command : {"approve", "reject"}) {
        CHECK_THAT(why, Tells("orange task " + std::string(command) + " " + orange.short_id(id)));
    }
    REQUIRE(orange.orange({"task", "reject", id, "In two files, please"}).status == 0);
    orange.eventually("the second plan is ready",
                      [&] { return orange.path_of(id) == "pending planning plan-review planning plan-review"; });
    rpc::TaskShow show;
    show.id = id;
    CHECK_THAT(orange.call(show).body, Holds("In two files, please"));
    REQUIRE(orange.orange({"task", "approve", id}).status == 0);
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.path_of(id) == "pending planning plan-review planning plan-review working agent-review reviewing");
    CHECK(orange.fields(id).at("counters").at("plan_approved") == 1);
    CHECK(orange.history(id, "agent.spawned").size() == 2);  // the worker, and its reviewer
}

TEST_CASE("On two-reviewers the demo agent is reviewed twice, and both verdicts stay") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Add a greeting";
    create.workflow = "two-reviewers";
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.path_of(id) == "pending planning working agent-review second-review reviewing");
    rpc::TaskShow show;
    show.id = id;
    const auto shown = orange.call(show);
    CHECK_THAT(shown.body, Holds("## Review\n") && Holds("## Second review\n"));
    CHECK(shown.harnesses.at("second-review") == shown.task.fields.review_harness);
    CHECK(orange.history(id, "agent.spawned").size() == 3);
    CHECK(orange.fields(id).at("attention").is_null());
}

TEST_CASE("A pinned definition that is lost leaves the task listed, with the way out") {
    Idle world;
    auto& orange = world.orange;
    REQUIRE(orange.orange({"workflow", "export", "relay", "--as", "mine"}).status == 0);
    const auto id = world.create("keep me", "mine", true);
    const auto pin =
        orange.home() / "workflows/.pinned" / (orange.fields(id).at("workflow_hash").get<std::string>() + ".yml");
    orange.kill_daemon();
    write_file(world.file("mine"), read_file(world.file("mine")) + "# edited\n");
    SECTION("gone") {
        fs::remove(pin);
    }
    SECTION("corrupt") {
        write_file(pin, "name: mine\n");
    }
    orange.start_daemon();
    CHECK_THAT(orange.orange({"task", "list"}).out, Holds("keep me"));
    const auto refused = orange.update_status(id, "stuck");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("orange task update --workflow mine"));
    CHECK(orange.status(id) == "working");
    CHECK_FALSE(orange.run_of(id, "worker").is_null());
    REQUIRE(world.move_over(id, "mine").status == 0);
    CHECK(orange.update_status(id, "stuck"));
}

TEST_CASE("A workflow is validated by its name, unless a file has that name") {
    Idle world;
    auto& orange = world.orange;
    CHECK(orange.orange({"workflow", "validate", "default"}).status == 0);
    fs::create_directories(world.file("broken").parent_path());
    write_file(world.file("broken"), "name: broken\n");
    const auto refused = orange.orange({"workflow", "validate", "broken"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.out, Tells(world.file("broken").string()));
    write_file(world.file("default"), shipped("default"));
    write_file(orange.root() / "default", "name: none\n");
    CHECK(orange.orange({"workflow", "validate", "default"}, orange.root()).status == 1);
    CHECK(orange.orange({"workflow", "validate", "nosuch"}).status == 1);
}

TEST_CASE("A valid workflow is warned of what it may have forgotten, and stays valid") {
    Idle world;
    auto& orange = world.orange;
    auto text = shipped("minimal");
    text = text.substr(0, text.find("exit_monitoring:")) + text.substr(text.find("prompts:"));
    write_file(orange.root() / "minimal.yml", text);
    const auto validated = orange.orange({"workflow", "validate", "minimal.yml", "--json"}, orange.root());
    CHECK(validated.status == 0);
    const auto reply = parse_json(validated.out).value();
    CHECK(reply.at("valid") == true);
    CHECK(reply.at("problems").empty());
    REQUIRE(reply.at("warnings").size() == 1);
    CHECK_THAT(reply.at("warnings").at(0).at("message").get<std::string>(), Tells("exit_monitoring"));
    CHECK_THAT(orange.orange({"workflow", "validate", "minimal.yml"}, orange.root()).out, Holds(": warning: "));
}

TEST_CASE("Export writes a file to edit, never over one that is there, and under another name where asked") {
    Idle world;
    auto& orange = world.orange;
    const auto first = orange.orange({"workflow", "export", "default"});
    CHECK(first.status == 0);
    CHECK_THAT(first.out, Tells(world.file("default").string()));
    CHECK(read_file(world.file("default")) == shipped("default"));
    write_file(world.file("default"), shipped("default") + "# mine\n");
    const auto again = orange.orange({"workflow", "export", "default"});
    CHECK(again.status == 1);
    CHECK_THAT(again.err, Tells("--force"));
    CHECK(read_file(world.file("default")) == shipped("default") + "# mine\n");
    REQUIRE(orange.orange({"workflow", "export", "default", "--as", "copy"}).status == 0);
    CHECK(read_file(world.file("copy")) ==
          replaced(shipped("default"), "\nname: default", "\nname: copy") + "# mine\n");
    REQUIRE(orange.orange({"workflow", "export", "default", "--force"}).status == 0);
    CHECK(read_file(world.file("default")) == shipped("default"));
    CHECK(world.create("on the copy", "copy").size() == 21);

    for (const char* name : {"../evil", "Upper", "", ".pinned", "a/b", "-x"}) {
        INFO(name);
        CHECK(orange.orange({"workflow", "export", "default", std::string("--as=") + name}).status != 0);
    }
    CHECK(orange.orange({"workflow", "export", "copy"}).status == 1);
    CHECK(orange.orange({"workflow", "export", "nightly"}).status == 1);
    CHECK_FALSE(fs::exists(orange.home() / "evil.yml"));
}

TEST_CASE("A workflow is drawn for the terminal, for Mermaid and for Graphviz") {
    Idle world;
    auto& orange = world.orange;
    const auto text = orange.orange({"workflow", "graph", "relay"});
    CHECK(text.status == 0);
    CHECK_THAT(text.out, Holds("relay: pending ──▶ working ──▶ agent-review ──▶ reviewing ──▶ done ■\n"));
    CHECK_THAT(orange.orange({"workflow", "graph", "relay", "--format", "mermaid"}).out, Holds("flowchart TD\n"));
    CHECK_THAT(orange.orange({"workflow", "graph", "relay", "--format", "dot"}).out, Holds("digraph \"relay\" {\n"));
    const auto wrong = orange.orange({"workflow", "graph", "relay", "--format", "png"});
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.err, Tells("mermaid") && Tells("dot"));
    CHECK(orange.orange({"workflow", "graph", "nightly"}).status == 1);
}

TEST_CASE("A workflow that projects.json is given by hand counts at once, and a bogus one is an error that names it") {
    Sandbox orange;
    orange.add_project("shop");
    const auto file = orange.home() / "projects.json";
    const auto with_workflow = [&](const std::string& name) {
        auto projects = Json::parse(read_file(file));
        projects.at(0)["workflow"] = name;
        write_file(file, projects.dump());
    };
    with_workflow("minimal");
    CHECK(orange.fields(orange.create("shop", "One", true)).at("workflow") == "minimal");
    with_workflow("bogus");
    const auto refused = orange.orange({"task", "create", "--project", "shop", "--no-spawn", "Two"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("bogus"));
    CHECK_THAT(refused.err, Tells(file.string()));
    CHECK_THAT(orange.orange({"daemon", "reload"}).out, Tells("bogus"));
    CHECK_THAT(orange.orange({"doctor"}).out, Tells("bogus"));
    write_file(file, "[");
    CHECK_THAT(orange.orange({"task", "create", "--project", "shop", "--no-spawn", "Three"}).err, Tells(file.string()));
    CHECK_THAT(orange.orange({"daemon", "status"}).out, Tells("projects.json"));
    CHECK(orange.call(rpc::TaskList{}).tasks.size() == 1);
}

}  // namespace orange::tests
