#include <algorithm>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/integration/sandbox.hpp"

/// Hooks that fail: the others run, the human is told, nothing is undone.
namespace orange::tests {
namespace {

struct Failing {
    std::string hook;       ///< as the workflow says it
    std::string name;       ///< of the action
    std::string attention;  ///< part of what the human reads
};

std::string workflow(const std::string& hooks) {
    return "name: hooks\nversion: 1\nstates:\n  pending: {}\n  working: {}\n  done:\n    terminal: true\n"
           "transitions:\n"
           "  - from: pending\n    to: working\n    hooks:\n      - {action: acquire_workspace}\n" +
           hooks +
           "      - {action: run_command, argv: [sh, -c, \"echo ran >> ran\"]}\n"
           "      - {action: notify, message: \"is under way\"}\n"
           "  - from: working\n    to: done\n    hooks:\n      - {action: release_workspace}\n";
}

std::string create_with_hooks(Sandbox& orange, const std::string& hooks) {
    std::filesystem::create_directories(orange.home() / "workflows");
    write_file(orange.home() / "workflows/hooks.yml", workflow(hooks));
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Try hooks";
    params.workflow = "hooks";
    params.harness = params.review_harness = "demo";
    return orange.call(params).task.fields.id.value;
}

std::string config_with_notify(const std::filesystem::path& told) {
    return "notify: [sh, -c, 'echo \"$1\" >> " + told.string() + "', notify]\n";
}

}  // namespace

TEST_CASE("Whichever hook fails first, the others run, the user's command is told, and ack clears the mark") {
    const testing::TemporaryFolder folder;
    const auto told = folder / "told";
    Sandbox orange(config_with_notify(told));
    const auto repo = orange.add_project("shop", 8);
    const std::vector<Failing> table = {
        {"{action: run_command, argv: [sh, -c, \"echo sour >&2; exit 3\"]}", "run_command", "sour"},
        {"{action: run_command, argv: [no-such-program]}", "run_command", "no-such-program"},
        {"{action: run_command, argv: [sleep, \"60\"], timeout: 1}", "run_command", "1.0"},
        {"{action: push_branch}", "push_branch", "origin"},
        {"{action: create_pr}", "create_pr", "orange task merge"},
    };
    std::size_t calls = 0;
    for (const auto& row : table) {
        INFO(row.hook);
        const auto id = create_with_hooks(orange, "      - " + row.hook + "\n");
        CHECK(orange.status(id) == "working");
        const auto failed = orange.history(id, "hook.failed");
        REQUIRE(failed.size() == 1);
        CHECK(failed[0].at("hook") == row.name);
        const auto attention = orange.fields(id).at("attention").get<std::string>();
        CHECK_THAT(attention, Catch::StartsWith(row.name + ": ") && Tells(row.attention));
        // The hooks after it.
        CHECK(read_file(orange.worktree(id) / "ran") == "ran\n");
        CHECK(orange.history(id, "notification").size() == 1);
        const auto lines = read_file(told);
        CHECK(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')) == ++calls);
        CHECK_THAT(lines, Tells(orange.fields(id).at("branch").get<std::string>()));
        CHECK(orange.history(id, "status.changed").size() == 1);
        REQUIRE(orange.orange({"task", "ack", id}).status == 0);
        CHECK(orange.fields(id).at("attention").is_null());
    }
}

TEST_CASE("Several hooks that fail are all in the history, and the next good transition clears the mark") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id =
        create_with_hooks(orange, "      - {action: run_command, argv: [\"false\"]}\n      - {action: push_branch}\n");
    CHECK(orange.history(id, "hook.failed").size() == 2);
    const auto attention = orange.fields(id).at("attention").get<std::string>();
    CHECK_THAT(attention, Catch::StartsWith("run_command: "));
    CHECK_THAT(attention, Tells("1"));
    REQUIRE(orange.update_status(id, "done"));
    CHECK(orange.fields(id).at("attention").is_null());
}

TEST_CASE("A notify command that fails is a failed hook like any other, and the event is out all the same") {
    Sandbox orange("notify: [sh, -c, 'echo no bell >&2; exit 1', notify]\n");
    orange.add_project("shop");
    const auto id = create_with_hooks(orange, "");
    CHECK(orange.history(id, "notification").size() == 1);
    CHECK_THAT(orange.fields(id).at("attention").get<std::string>(), Holds("no bell"));
    CHECK(orange.history(id, "hook.failed").at(0).at("hook") == "notify");
}

}  // namespace orange::tests
