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

}  // namespace

TEST_CASE("Whichever hook fails first, the others run, and ack clears the mark") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 8);
    const std::vector<Failing> table = {
        {"{action: run_command, argv: [sh, -c, \"echo sour >&2; exit 3\"]}", "run_command", "sour"},
        {"{action: run_command, argv: [no-such-program]}", "run_command", "no-such-program"},
        {"{action: run_command, argv: [sleep, \"60\"], timeout: 1}", "run_command", "1.0"},
        {"{action: push_branch}", "push_branch", "origin"},
        {"{action: create_pr}", "create_pr", "orange task merge"},
    };
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

TEST_CASE("The user's own command is told once when a task needs help, and not again by the next daemon") {
    const testing::TemporaryFolder folder;
    const auto told = folder / "told";
    Sandbox orange("notify: [sh, -c, 'echo \"$1\" >> " + told.string() + "', notify, \"{needs} {task} {text}\"]\n");
    orange.add_project("shop");
    const auto id = create_with_hooks(orange, "      - {action: run_command, argv: [\"false\"]}\n");
    orange.eventually("the command is told", [&] { return std::filesystem::exists(told); });
    orange.eventually("it is remembered",
                      [&] { return Json::parse(read_file(orange.folder(id) / "state.json")).contains("notified"); });
    orange.kill_daemon();
    orange.start_daemon();
    const auto other = create_with_hooks(orange, "      - {action: run_command, argv: [\"false\"]}\n");
    orange.eventually("the other task is told", [&] { return read_file(told).find(other) != std::string::npos; });
    const auto lines = read_file(told);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
    CHECK_THAT(lines, Catch::StartsWith("help " + id + " shop: "));
    CHECK_THAT(lines, Tells("orange task show " + orange.short_id(id)));
}

TEST_CASE("A notify command that fails changes nothing of the task, and doctor shows it") {
    Sandbox orange("notify: [sh, -c, 'echo no bell >&2; exit 1', notify]\n");
    orange.add_project("shop");
    const auto id = create_with_hooks(orange, "");
    CHECK(orange.history(id, "notification").size() == 1);
    CHECK(orange.history(id, "hook.failed").empty());
    CHECK(orange.fields(id).at("attention").is_null());
    orange.eventually("doctor shows it",
                      [&] { return orange.orange({"doctor"}).out.find("no bell") != std::string::npos; });
}

TEST_CASE("A merge while a hook's failure stands is refused without --force, and names the failure") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id =
        create_with_hooks(orange, "      - {action: run_command, argv: [sh, -c, \"echo 4711 >&2; exit 3\"]}\n");
    write_file(orange.worktree(id) / "work.txt", "done");
    orange.git({"add", "work.txt"}, orange.worktree(id));
    orange.git({"commit", "-qm", "work"}, orange.worktree(id));
    const auto before = orange.git({"rev-parse", "main"}, repo);
    for (const auto& yes : {"", "--yes"}) {
        auto args = std::vector<std::string>{"task", "merge", id};
        if (*yes != '\0') args.emplace_back(yes);
        const auto refused = orange.orange(args);
        CHECK(refused.status == 1);
        CHECK_THAT(refused.err, Tells("run_command") && Holds("4711"));
        CHECK_THAT(refused.err, Tells("orange task merge " + orange.short_id(id) + " --force"));
    }
    CHECK(orange.git({"rev-parse", "main"}, repo) == before);
    const auto forced = orange.orange({"task", "merge", id, "--force", "--json"});
    REQUIRE(forced.status == 0);
    CHECK_THAT(Json::parse(forced.out).at("forced").get<std::string>(), Holds("4711"));
    CHECK(orange.status(id) == "done");
    CHECK(orange.git({"show", "main:work.txt"}, repo) == "done");
}

}  // namespace orange::tests
