#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Every refusal says what to do, exits non-zero, and has changed nothing.
namespace orange::tests {
namespace {

struct Snapshot {
    std::string state;
    std::string text;
    std::size_t events = 0;
    bool operator==(const Snapshot&) const = default;
};

Snapshot snapshot(Sandbox& orange, const std::string& id) {
    const auto folder = orange.folder(id);
    return {read_file(folder / "state.json"), read_file(folder / "TASK.md"), orange.history(id).size()};
}

struct Refusal {
    std::vector<std::string> args;
    int status;
    std::string names;  ///< what the message is about, or what to use instead
};

}  // namespace

TEST_CASE("Refused commands say why in words that help, exit non-zero, and change nothing") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto waiting = orange.create("shop", "Later", true);
    const auto id = orange.create("shop", "Add a greeting demo:clarify");
    orange.wait_for_status(id, "clarification");
    orange.eventually("the agent is quiet", [&] {
        const auto state = read_file(orange.folder(id) / "state.json");
        return holds(orange.body(id), "## Questions") && holds(state, "\"notified\"");
    });
    const auto branch = orange.fields(id).at("branch").get<std::string>();

    const auto brief = orange.short_id(id), waiting_brief = orange.short_id(waiting);
    const auto several = orange.orange({"task", "respawn", id, "nosuch"});
    CHECK(several.status == 1);
    CHECK_THAT(several.err, Holds("error: " + brief + ": ") && Holds("error: nosuch: "));
    const std::vector<Refusal> refusals = {
        {{"task", "update", id, "--status", "done"}, 1, "clarification"},
        {{"task", "update", id, "--status", "nonsense"}, 1, "nonsense"},
        {{"task", "update", id, "--status", "working"}, 1, "## Plan"},
        {{"task", "update", id, "--branch", "main"}, 1, "main"},
        {{"task", "update", id, "--branch", "a..b"}, 1, "a..b"},
        {{"task", "update", id, "--branch=-x"}, 1, "-x"},
        {{"task", "update", id, "--summary", "two\nlines"}, 1, "summary"},
        {{"task", "update", id, "--harness", "nosuch"}, 1, "nosuch"},
        {{"task", "update", id, "--workflow", "nosuch"}, 1, "nosuch"},
        {{"task", "update", id}, 1, "--status"},
        {{"task", "merge", id}, 1, "--force"},
        {{"task", "spawn", id}, 1, "orange task respawn"},
        {{"task", "respawn", id}, 1, "orange task attach " + brief},
        {{"task", "delete", id, "--yes"}, 1, "orange task cancel " + brief},
        {{"task", "peek", waiting}, 1, waiting_brief},
        {{"task", "send", waiting, "hello"}, 1, "orange task spawn " + waiting_brief},
        {{"task", "complete", id}, 1, "orange task update"},
        {{"task", "show", "zzzzzzzzzzzzzzzzzzzzz"}, 1, "zzzzzzzzzzzzzzzzzzzzz"},
        {{"task", "show", "a"}, 1, "a"},
        {{"task", "show", "add-a-greting"}, 1, brief},
        {{"task", "merge", "add-a-greeting"}, 1, brief},
        {{"task", "list", "--status", "frobnicated"}, 1, "agent-review"},
        {{"task", "list", "--status", "workin"}, 1, "working"},
        {{"task", "create", "--project", "nosuch", "x"}, 1, "nosuch"},
        {{"task", "create", "--project", "shop", "--branch", branch, "x"}, 1, brief},
        {{"task", "create", "--project", "shop", "--harness", "nosuch", "x"}, 1, "demo"},
        {{"task", "create", "--project", "shop", "--workflow", "nosuch", "x"}, 1, "default"},
        {{"task", "create", "--project", "shop", "--branch", "bad..name", "x"}, 1, "bad..name"},
        {{"task", "create", "x"}, 1, "--project"},
        {{"project", "add", "/nonexistent"}, 1, "/nonexistent"},
        {{"project", "add", repo.string()}, 1, repo.string()},
        {{"project", "update", "shop", "--pool-size", "0"}, 1, "64"},
        {{"project", "remove", "shop"}, 1, "shop"},
        {{"workflow", "show", "nosuch"}, 1, "default"},
        {{"task", "frobnicate"}, 2, "--help"},
        {{"frobnicate"}, 2, "--help"},
    };
    const auto before = snapshot(orange, id);
    const auto waiting_before = snapshot(orange, waiting);
    for (const auto& refusal : refusals) {
        std::string line = "orange";
        for (const auto& arg : refusal.args) line += " " + arg;
        INFO(line);
        const auto ran = orange.orange(refusal.args);
        INFO(ran.out + ran.err);
        CHECK(ran.status == refusal.status);
        CHECK(ran.out.empty());
        CHECK_THAT(ran.err, Tells(refusal.names));
    }
    CHECK(snapshot(orange, id) == before);
    CHECK(snapshot(orange, waiting) == waiting_before);
    rpc::TaskList list;
    list.all = true;
    CHECK(orange.call(list).tasks.size() == 2);
}

TEST_CASE("A refusal with --json is an error object on standard output") {
    Sandbox orange;
    const auto ran = orange.orange({"task", "show", "zzzzzzzzzzzzzzzzzzzzz", "--json"});
    CHECK(ran.status == 1);
    const auto json = Json::parse(ran.out);
    CHECK(json.at("error").at("code") == -32001);
    CHECK(json.at("error").at("data").at("name") == "not_found");
}

TEST_CASE("The commands of a refusal free the branch, also of a worktree whose folder is gone") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto tree = (orange.root() / "tree").string();
    orange.git({"worktree", "add", "-q", "-b", "taken", tree}, repo);
    SECTION("it exists, and the default branch is checked out elsewhere") {}
    SECTION("its folder is gone") {
        std::filesystem::remove_all(tree);
    }
    SECTION("its folder is gone, and it is locked") {
        orange.git({"worktree", "lock", tree}, repo);
        std::filesystem::remove_all(tree);
    }
    rpc::TaskCreate params;
    params.project = "shop";
    params.branch = "taken";
    params.summary = "x";
    params.harness = params.review_harness = "demo";
    const auto refused = orange.try_call(params);
    REQUIRE_FALSE(refused);
    for (const auto line : split_lines(refused.error().message)) {
        if (!line.starts_with("  ")) continue;
        const auto command = shell_words(trim(line)).value();
        REQUIRE(command.front() == "git");
        orange.git({command.begin() + 1, command.end()}, repo);
    }
    CHECK(orange.try_call(params));
}

TEST_CASE("A task whose workspace cannot be made is not half created") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    orange.git({"checkout", "-q", "-b", "taken"}, repo);
    rpc::TaskCreate params;
    params.project = "shop";
    params.branch = "taken";  // checked out in the human's own worktree
    params.summary = "x";
    params.harness = params.review_harness = "demo";
    const auto refused = orange.try_call(params);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("git -C " + repo.string() + " switch main"));
    CHECK(orange.call(rpc::TaskList{}).tasks.empty());
    CHECK(orange.call(rpc::WorkspaceList{}).workspaces.empty());

    // The same where the human takes the branch between creation and start.
    orange.git({"checkout", "-q", "main"}, repo);
    params.no_spawn = true;
    const auto id = orange.call(params).task.fields.id.value;
    orange.git({"checkout", "-q", "taken"}, repo);
    rpc::TaskSpawn spawn;
    spawn.id = id;
    const auto failed = orange.try_call(spawn);
    REQUIRE_FALSE(failed);
    CHECK_THAT(failed.error().message, Tells(repo.string()));
    CHECK(orange.status(id) == "pending");
    CHECK(orange.fields(id).at("workspace").is_null());
    for (const auto& workspace : orange.call(rpc::WorkspaceList{}).workspaces) CHECK(workspace.state == "free");

    orange.git({"checkout", "-q", "main"}, repo);
    REQUIRE(orange.try_call(spawn));
    orange.wait_for_status(id, "reviewing");
}

TEST_CASE("A setup command that fails keeps the task pending and gives the workspace back") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = {{"sh", "-c", "echo no such dependency >&2; exit 3"}};
    orange.call(update);
    const auto id = orange.create("shop", "Add a greeting");
    CHECK(orange.status(id) == "pending");
    CHECK_THAT(orange.fields(id).at("attention").get<std::string>(), Holds("no such dependency"));
    CHECK(orange.call(rpc::WorkspaceList{}).workspaces.at(0).state == "free");
}

TEST_CASE("In a worktree a text that is exactly another task's name is no text, a word like its beginning is one") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop", 2);
    const auto here = orange.create("shop", "Ask me demo:clarify");
    orange.wait_for_status(here, "clarification");
    const auto other = orange.create("shop", "Another one", true);
    rpc::TaskAnswer answer;
    answer.cwd = orange.worktree(here).string();
    for (const auto& name : {other, orange.short_id(other), here}) {
        answer.text = name;
        const auto refused = orange.try_call(answer);
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Tells("orange task reply " + (name == here ? here : other)));
    }
    CHECK(orange.status(here) == "clarification");
    answer.text = other.substr(0, 9);
    CHECK(orange.try_call(answer));
}

}  // namespace orange::tests
