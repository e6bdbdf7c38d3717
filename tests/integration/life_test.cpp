#include <csignal>
#include <thread>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// The life of a task with the demo agent: work, merge, workspaces, cancellation, restored work. The transcripts in
/// tests/data/flows test the ways through a workflow.
namespace orange::tests {

TEST_CASE("A task whose review passes is merged and done, and its workspace is free again") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.path_of(id) == "pending planning working agent-review reviewing");
    CHECK(orange.fields(id).at("review_round") == 1);
    CHECK(orange.fields(id).at("branch") != "orange-tasks/" + id);
    CHECK(orange.run_of(id, "reviewer").is_null());
    CHECK(orange.history(id, "agent.spawned").size() == 2);
    const auto worktree = orange.worktree(id);

    rpc::TaskMerge merge;
    merge.id = id;
    const auto merged = orange.call(merge);
    CHECK(orange.status(id) == "done");
    CHECK(orange.git({"rev-parse", "main"}, repo) == merged.commit);
    CHECK_THAT(orange.git({"log", "-1", "--format=%P", "main"}, repo), Holds(" "));
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
    CHECK(orange.fields(id).at("workspace").is_null());
    CHECK(orange.fields(id).at("tmux_session").is_null());
    CHECK(orange.call(rpc::WorkspaceList{}).workspaces.at(0).state == "free");
    CHECK_FALSE(std::filesystem::exists(worktree / "TASK.md"));
    CHECK(orange.tmux({"list-sessions"}).out.empty());
    CHECK(orange.history(id, "task.merged").size() == 1);
}

TEST_CASE("A task can be cancelled in every state, and nothing of its work is lost") {
    Sandbox orange("poll_interval: 1\n");
    const auto repo = orange.add_project("shop", 5);
    rpc::TaskCancel cancel;

    const auto check_ended = [&](const std::string& id) {
        CHECK(orange.status(id) == "cancelled");
        // At once, but where a git that was killed in the middle takes its time to die.
        orange.eventually("its workspace is free", [&] { return orange.fields(id).at("workspace").is_null(); });
        CHECK(orange.run_of(id, "worker").is_null());
        CHECK(orange.run_of(id, "reviewer").is_null());
    };
    const auto cancel_in = [&](const std::string& id, const std::string& status) {
        orange.wait_for_status(id, status);
        const auto file = orange.worktree(id) / "unsaved.txt";
        write_file(file, "work of " + id);
        cancel.id = id;
        orange.call(cancel);
        check_ended(id);
        CHECK(orange.git({"show", "refs/orange/" + id + "/wip:unsaved.txt"}, repo) == "work of " + id);
        CHECK_FALSE(std::filesystem::exists(file));
    };

    const auto pending = orange.create("shop", "Later", true);
    cancel.id = pending;
    orange.call(cancel);
    check_ended(pending);
    // Beside each other: those that stay in their states.
    const auto one = orange.create("shop", "One demo:slow=30");
    const auto two = orange.create("shop", "Two demo:clarify");
    const auto five = orange.create("shop", "Five");
    const auto six = orange.create("shop", "Six demo:fail-twice");
    cancel_in(one, "planning");
    cancel_in(orange.create("shop", "Three demo:slow=3"), "working");
    cancel_in(orange.create("shop", "Four demo:slow=2"), "agent-review");
    cancel_in(two, "clarification");
    cancel_in(five, "reviewing");
    cancel_in(six, "stuck");

    const auto again = orange.try_call(cancel);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::illegal_transition);
    CHECK(orange.tmux({"list-sessions"}).out.empty());
}

TEST_CASE("Two tasks of one repository go on at the same time, and a third waits and starts by itself") {
    Sandbox orange;
    orange.add_project("shop", 2);
    const auto first = orange.create("shop", "First");
    const auto second = orange.create("shop", "Second");
    const auto third = orange.create("shop", "Third");
    CHECK(orange.status(third) == "pending");
    rpc::TaskShow show;
    show.id = third;
    CHECK(orange.call(show).task.queue_place == 1);
    orange.wait_for_status(first, "reviewing");
    orange.wait_for_status(second, "reviewing");
    CHECK(orange.worktree(first) != orange.worktree(second));
    CHECK(orange.status(third) == "pending");

    rpc::TaskMerge merge;
    merge.id = first;
    orange.call(merge);
    orange.wait_for_status(third, "reviewing");
    merge.id = second;
    orange.call(merge);
    merge.id = third;
    orange.call(merge);
    CHECK(orange.status(third) == "done");
}

TEST_CASE("A worktree has the files, the ports and the commands that its project needs to run") {
    Sandbox orange("port_base: 23450\n");
    const auto repo = orange.add_project("shop");
    const auto log = orange.root() / "log";
    const auto says = [&](const std::string& what) {
        return "#!/bin/sh\necho " + what + " $(cat .env) $ORANGE_PORT $ORANGE_WORKSPACE >>" + log.string() + "\n";
    };
    write_file(repo / ".gitignore", ".env\n");
    write_file(repo / ".worktreeinclude", ".env\n");
    std::filesystem::create_directories(repo / ".orange");
    for (const std::string name : {"setup", "teardown"}) {
        write_file(repo / ".orange" / name, says(name));
        std::filesystem::permissions(repo / ".orange" / name, std::filesystem::perms::owner_all);
    }
    orange.git({"add", "."}, repo);
    orange.git({"commit", "-q", "-m", "what a worktree needs"}, repo);
    write_file(repo / ".env", "KEY=lemons\n");

    CHECK(orange.orange({"harness", "trust", ".orange/setup"}, repo).status == 1);  // nobody has agreed
    const auto agreed = orange.orange({"harness", "trust", ".orange/teardown", "--yes"}, repo);
    CHECK_THAT(agreed.out, Holds("$ORANGE_PORT"));
    CHECK(agreed.status == 0);
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] = Json::array({{"sh", "-c", says("check")}});
    orange.call(update);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Add a greeting";
    create.ask_trust = true;
    const auto asked = orange.try_call(create);
    REQUIRE(!asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    CHECK_THAT(asked.error().details.at("question"), Holds(".orange/setup"));
    create.trust = {asked.error().details.at("trust")};
    const auto first = orange.call(create).task.fields.id.value;
    const auto second = orange.create("shop", "Add a farewell");
    orange.wait_for_status(first, "reviewing");
    orange.wait_for_status(second, "reviewing");
    const auto worktree = orange.worktree(first), other = orange.worktree(second);
    const auto has = [&](const std::string& what, const std::string& port, const std::filesystem::path& where) {
        return holds(read_file(log), what + " KEY=lemons " + port + " " + where.string() + "\n");
    };
    CHECK(has("setup", "23450", worktree));
    CHECK(has("setup", "23460", other));
    CHECK(read_file(worktree / ".env") == "KEY=lemons\n");
    rpc::TaskMerge merge;
    merge.id = first;
    orange.call(merge);
    INFO(read_file(log));
    CHECK(has("check", "23450", worktree));
    CHECK(has("teardown", "23450", worktree));
    CHECK_FALSE(has("teardown", "23460", other));

    // One that fails is told, and the task ends all the same.
    update.settings = {{"teardown", "false"}};
    orange.call(update);
    CHECK(orange.orange({"task", "cancel", second, "--yes"}).status == 0);
    CHECK(orange.status(second) == "cancelled");
    CHECK(orange.fields(second).at("workspace").is_null());
    CHECK(orange.fields(second).at("attention").is_string());
    CHECK(orange.history(second, "hook.failed").at(0).at("hook") == "teardown");
}

TEST_CASE("A slow setup of one task holds up no other") {
    Sandbox orange;
    orange.add_project("shop", 2);
    rpc::ProjectUpdate update;
    update.name = "shop";
    // The first to come waits for the second: one after the other they would never get there.
    const auto flag = (orange.root() / "second").string();
    update.setup = {{"sh", "-c",
                     "if mkdir '" + flag + ".first' 2>/dev/null; then while [ ! -e '" + flag +
                         "' ]; do sleep 0.05; done; else : >'" + flag + "'; fi"}};
    orange.call(update);
    std::thread first([&] { orange.orange({"task", "create", "--project", "shop", "--harness", "demo", "First"}); });
    orange.eventually("the first setup runs", [&] { return std::filesystem::exists(flag + ".first"); });
    const auto second = orange.create("shop", "Second");
    first.join();
    orange.wait_for_status(second, "reviewing");
    orange.eventually("both are reviewed", [&] {
        rpc::TaskList list;
        list.status = "reviewing";
        return orange.call(list).tasks.size() == 2;
    });
}

TEST_CASE("Whoever cancels a task does not wait for its setup command") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::ProjectUpdate update;
    update.name = "shop";
    const auto flag = orange.root() / "begun";
    update.setup = {{"sh", "-c", "echo $$ >'" + flag.string() + "'; exec sleep 300"}};
    orange.call(update);
    std::thread creating([&] { orange.orange({"task", "create", "--project", "shop", "--harness", "demo", "First"}); });
    orange.eventually("the setup runs", [&] { return !read_file(flag).empty(); });
    rpc::TaskList list;
    const auto id = orange.call(list).tasks.at(0).fields.id.value;
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    creating.join();
    CHECK(orange.status(id) == "cancelled");
    CHECK(orange.fields(id).at("workspace").is_null());
    CHECK(::kill(std::stoi(read_file(flag)), 0) != 0);
}

TEST_CASE("What somebody makes git run stands beside the task wherever it is shown, until a human has looked") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK_THAT(orange.orange({"task", "show", id}).out, !Holds("alarm"));  // the agents did nothing
    orange.git({"config", "filter.evil.clean", "cat"}, repo);
    CHECK_THAT(orange.orange({"task", "diff", id}).err, Tells("filter.evil.clean"));
    CHECK_THAT(orange.orange({"doctor"}).out, Tells("filter.evil.clean"));
    CHECK_THAT(orange.orange({"task", "merge", id, "--yes"}).err, Tells("filter.evil.clean"));
    const std::vector<std::vector<std::string>> pages = {
        {"task", "show", id}, {"task", "list"}, {"task", "why", id}, {"doctor"}, {"task", "show", id, "--json"}};
    for (const auto& page : pages) CHECK_THAT(orange.orange(page).out, Tells("filter.evil.clean"));
    CHECK(orange.fields(id).at("attention").is_null());
    CHECK(orange.history(id, "repository.changed").size() == 1);
    CHECK(orange.call(rpc::DaemonStatus{}).attention == 1);  // its review, which the notice stands beside
    REQUIRE(orange.orange({"task", "ack", id}).status == 0);
    CHECK_THAT(orange.orange({"task", "list"}).out, !Holds("filter.evil"));
    // It outlives its task: the repository is as it is.
    orange.git({"config", "filter.evil.clean", "sh"}, repo);
    REQUIRE(orange.orange({"task", "merge", id, "--yes", "--force"}).status == 0);
    CHECK_THAT(orange.orange({"task", "list"}).out, Tells("filter.evil.clean"));
    CHECK(orange.orange({"task", "ack", id}).status == 0);
    CHECK_THAT(orange.orange({"task", "list"}).out, !Holds("filter.evil"));
}

TEST_CASE("Cancelling says what is kept, and the command that it names brings it back") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Try demo:clarify");
    orange.wait_for_status(id, "clarification");
    const auto active = orange.orange({"task", "restore", id});
    CHECK(active.status == 1);
    CHECK_THAT(active.err, Tells("orange task diff " + orange.short_id(id)));
    const std::string branch = "saved";  // its agent has named it, but not yet told
    orange.git({"branch", "-m", branch}, orange.worktree(id));
    write_file(orange.worktree(id) / "saved.txt", "saved");
    orange.git({"add", "saved.txt"}, orange.worktree(id));
    orange.git({"commit", "-qm", "saved"}, orange.worktree(id));
    write_file(orange.worktree(id) / "unsaved.txt", "unsaved");

    const auto cancelled = orange.orange({"task", "cancel", id, "--yes"});
    REQUIRE(cancelled.status == 0);
    CHECK_THAT(cancelled.out, Tells(branch) && Tells("1") && Tells("refs/orange/" + id + "/wip"));
    CHECK_THAT(cancelled.out, Tells("orange task restore " + orange.short_id(id)));

    for (int n = 0; n < 2; ++n) {  // the second time, nothing is left to do
        const auto restored = orange.orange({"task", "restore", id});
        REQUIRE(restored.status == 0);
        CHECK_THAT(restored.out, Tells(branch + "-restored"));
        CHECK_THAT(restored.out, Tells("orange task restore " + orange.short_id(id) + " --create"));
    }
    CHECK(orange.git({"show", branch + "-restored:saved.txt"}, repo) == "saved");
    CHECK(orange.git({"show", branch + "-restored:unsaved.txt"}, repo) == "unsaved");
    CHECK(orange.orange({"task", "restore", id, "--branch", "main"}).status == 1);
    CHECK(orange.orange({"task", "restore", id, "--branch", "mine"}).status == 0);
    CHECK(orange.git({"rev-parse", "mine"}, repo) == orange.git({"rev-parse", branch + "-restored"}, repo));
}

TEST_CASE("The work of a cancelled task goes on in a new one, with its plan and handoff") {
    Sandbox orange;
    orange.add_project("shop");
    const auto old = orange.create("shop", "Round the total");
    orange.wait_for_status(old, "reviewing");
    const auto ok = [&](std::vector<std::string> words) {
        const auto ran = orange.orange(std::move(words));
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        return ran.out;
    };
    ok({"task", "cancel", old, "--yes"});
    const auto refused = orange.orange({"task", "respawn", old});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("orange task restore " + orange.short_id(old) + " --create"));
    CHECK_THAT(ok({"task", "why", old}), Tells("orange task restore " + orange.short_id(old) + " --create"));
    const auto reply = ok({"task", "restore", old, "--create", "--json"});
    const auto json = Json::parse(reply);
    const auto id = json.at("task").at("fields").at("id").get<std::string>();
    const auto fields = orange.fields(id);
    CHECK(id != old);
    CHECK(fields.at("branch") == json.at("branch"));
    CHECK(fields.at("summary") == "Round the total");
    CHECK(fields.at("harness") == orange.fields(old).at("harness"));
    const auto body = orange.body(id);
    CHECK_THAT(body, Holds("### Plan") && Holds("### Handoff"));
    CHECK(body.find("### Handoff") < body.find("\n## "));  // in its context
    CHECK_THAT(body, Holds("goes on with task " + orange.short_id(old)));
    CHECK_THAT(ok({"task", "why", old}), Tells(orange.short_id(id)) && !Holds("restore"));
    const auto again = Json::parse(ok({"task", "restore", old, "--create", "--json"}));
    CHECK(again.at("task").at("fields").at("id") == json.at("task").at("fields").at("id"));
    orange.wait_for_status(id, "reviewing");
    // One like it begins anew.
    const auto like = Json::parse(ok({"task", "create", "--like", old, "--no-spawn", "--json"}));
    const auto fresh = like.at("task").at("fields").at("id").get<std::string>();
    CHECK(orange.fields(fresh).at("summary") == "Round the total");
    CHECK_THAT(orange.body(fresh), !Holds("### Plan"));
    CHECK(orange.orange({"task", "create", "--like", "nothing", "--no-spawn"}).status == 1);
}

TEST_CASE("The work of a cancelled sub-task goes on in a sub-task of the same parent, as long as that lives") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto parent = orange.create("shop", "Ask first demo:clarify");
    orange.wait_for_status(parent, "clarification");
    const auto part = orange.orange({"task", "create", "Round the total", "--parent", parent, "--no-spawn", "--json"});
    INFO(part.err);
    REQUIRE(part.status == 0);
    const auto old = Json::parse(part.out).at("task").at("fields").at("id").get<std::string>();
    REQUIRE(orange.orange({"task", "spawn", old}).status == 0);
    orange.wait_for_status(old, "reviewing");
    REQUIRE(orange.orange({"task", "cancel", old, "--yes"}).status == 0);
    const auto next = orange.orange({"task", "restore", old, "--create", "--json"});
    INFO(next.err);
    REQUIRE(next.status == 0);
    const auto fields = Json::parse(next.out).at("task").at("fields");
    CHECK(fields.at("parent") == parent);
    const auto again = orange.orange({"task", "restore", old, "--create"});
    CHECK(again.status == 0);
    CHECK_THAT(again.out, Tells(fields.at("branch").get<std::string>()) && !Holds(" is at "));
}

TEST_CASE("A task that has no work says so when it is cancelled, and without its branch nothing is restored") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Later", true);
    const auto cancelled = orange.orange({"task", "cancel", id, "--yes"});
    REQUIRE(cancelled.status == 0);
    CHECK(cancelled.out.find("orange task restore") == std::string::npos);
    CHECK(orange.orange({"task", "cancel", id, "--yes"}).status != 0);
    const auto again = orange.orange({"task", "cancel", id, "--yes", "--force"});
    CHECK(again.status == 0);
    const auto refs = orange.git({"for-each-ref"}, repo);
    CHECK(orange.orange({"task", "restore", id}).status == 1);
    CHECK(orange.git({"for-each-ref"}, repo) == refs);
}

}  // namespace orange::tests
