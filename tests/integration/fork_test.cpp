#include <algorithm>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Tasks that begin with the work of another one (`orange fork`), or with a person's files and conversation
/// (`orange create --from-session`).
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

const std::string k_talk = "9ef2943c-0000-4000-8000-000000000001";

/// A project, and `talker`, which writes its arguments into a file of the sandbox and then does nothing.
struct ForkStage {
    Sandbox orange;
    fs::path repo = orange.add_project("shop", 4);

    ForkStage() {
        fs::create_directories(orange.home() / "harnesses");
        const auto said = (orange.root() / "said-").string();
        const auto script = "printf \"%s\\n\" \"$0\" \"$@\" >" + said + "$ORANGE_TASK.tmp; mv " + said +
                            "$ORANGE_TASK.tmp " + said + "$ORANGE_TASK; sleep 600";
        write_file(orange.home() / "harnesses/talker.yml", "name: talker\nprogram: sh\nargv: {full: [-c, '" + script +
                                                               "', '{session_args}', --, '{prompt}']}\n" +
                                                               "config_binds: [~/.talker/talks]\n"
                                                               "session:\n"
                                                               "  start: [--begin, '{session}']\n"
                                                               "  resume: [--resume, '{session}']\n"
                                                               "  fork: [--copy, '{from}', '{session}']\n"
                                                               "  files: ['~/.talker/talks/{session}.jsonl']\n"
                                                               "  form: uuid\n");
    }

    std::string create(const std::string& harness = "talker", bool no_spawn = false, const std::string& executor = {}) {
        rpc::TaskCreate params;
        params.project = "shop";
        params.summary = "Round the total";
        params.branch = "total";
        params.harness = params.review_harness = harness;
        params.no_spawn = no_spawn;
        if (!executor.empty()) params.executor = executor;
        return orange.call(params).task.fields.id.value;
    }
    /// The task that the command makes; its notes in `notes`.
    std::string made(std::vector<std::string> words, const fs::path& cwd = {}) {
        words.emplace_back("--json");
        const auto ran = orange.orange(std::move(words), cwd);
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        const auto reply = Json::parse(ran.out);
        notes.clear();
        for (const auto& note : reply.at("notes")) notes += note.get<std::string>() + "\n";
        return reply.at("task").at("fields").at("id").get<std::string>();
    }
    /// The command is refused, and changes nothing; its error.
    std::string refused(std::vector<std::string> words, const fs::path& cwd = {}) {
        const auto before = traces();
        const auto ran = orange.orange(std::move(words), cwd);
        CHECK(ran.status != 0);
        CHECK(traces() == before);
        return ran.err;
    }
    /// The arguments of the task's agent behind its script, without its prompt.
    std::vector<std::string> arguments(const std::string& id) {
        const auto file = orange.root() / ("said-" + id);
        orange.eventually("its agent has begun", [&] { return fs::exists(file); });
        const auto text = read_file(file);
        std::vector<std::string> words;
        for (const auto line : split_lines(text)) {
            if (line == "--") break;
            words.emplace_back(line);
        }
        return words;
    }
    std::string traces() {
        rpc::TaskList list;
        list.all = true;
        std::string all;
        for (const auto& task : orange.call(list).tasks) all += task.fields.id.value + "\n";
        return all + orange.git({"for-each-ref"}, repo) + state_of(repo);
    }
    std::string state_of(const fs::path& tree) {
        return orange.git({"status", "--porcelain=v2", "--branch"}, tree) + orange.git({"ls-files", "--stage"}, tree) +
               orange.git({"stash", "list"}, tree);
    }
    std::string field(const std::string& id, const std::string& name) {
        const auto fields = orange.fields(id);
        const auto found = fields.find(name);
        return found == fields.end() || !found->is_string() ? std::string() : found->get<std::string>();
    }
    void talk_is_there() { write_file_below(orange.root() / ".talker/talks" / (k_talk + ".jsonl"), "{}\n"); }
    static void write_file_below(const fs::path& path, const std::string& text) {
        fs::create_directories(path.parent_path());
        write_file(path, text);
    }

    std::string notes;
};

}  // namespace

TEST_CASE("A fork begins with the files of the task and with its texts, and the task goes on as it was") {
    ForkStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    const auto talk = stage.arguments(id).at(1);
    const auto tree = orange.worktree(id);
    write_file(tree / "done.txt", "done\n");
    orange.git({"add", "done.txt"}, tree);
    orange.git({"commit", "-qm", "done"}, tree);
    write_file(tree / "new.txt", "new\n");
    write_file(tree / "TASK.md", read_file(tree / "TASK.md") + "\n## Plan\n\nAPPROACH: by hand\n");
    orange.eventually("the plan is known", [&] { return orange.body(id).find("by hand") != std::string::npos; });
    const auto before = stage.state_of(tree);

    const auto fork = stage.made({"fork", id, "--message", "Do it without the library."});
    CHECK(stage.field(fork, "branch") == "total-fork");
    CHECK(stage.field(fork, "harness") == "talker");
    CHECK(stage.field(fork, "summary") == "Round the total");
    CHECK_THAT(stage.notes, Tells(orange.short_id(id)) && Tells("talker"));
    const auto words = stage.arguments(fork);
    REQUIRE(words.size() == 3);
    CHECK(words[0] == "--copy");
    CHECK(words[1] == talk);
    CHECK(words[2] != talk);
    const auto copy = orange.worktree(fork);
    CHECK(copy != tree);
    CHECK(read_file(copy / "done.txt") == "done\n");
    CHECK(read_file(copy / "new.txt") == "new\n");
    CHECK(orange.git({"log", "-1", "--format=%s", "total-fork~1"}, stage.repo) == "done");
    CHECK_THAT(orange.body(fork),
               Holds("Do it without the library.") && Holds("### Plan") && Tells(orange.short_id(id)));
    CHECK(stage.state_of(tree) == before);
    const auto created = orange.history(fork, "task.created");
    REQUIRE(created.size() == 1);
    CHECK(created[0].at("fork_of") == id);
    CHECK(created[0].at("session") == talk);
    CHECK_THAT(orange.orange({"show", fork}).out, Holds("fork of") && Tells(orange.short_id(id)));

    const auto second = stage.made({"fork", id, "--harness", "demo", "--no-spawn"});
    CHECK(stage.field(second, "branch") == "total-fork-2");
    CHECK(stage.field(second, "harness") == "demo");
    CHECK_THAT(stage.notes, Tells("talker") && Tells("demo"));
    CHECK(orange.git({"for-each-ref", "refs/heads/total-fork-2"}, stage.repo).empty());
    REQUIRE(orange.orange({"cancel", id, "--yes"}).status == 0);
    REQUIRE(orange.orange({"spawn", second}).status == 0);
    orange.eventually("it has its branch", [&] { return fs::exists(orange.worktree(second) / "new.txt"); });
}

TEST_CASE("The work of an ended task is forked, too, and a task without work is refused") {
    ForkStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    (void)stage.arguments(id);
    write_file(orange.worktree(id) / "new.txt", "new\n");
    REQUIRE(orange.orange({"cancel", id, "--yes"}).status == 0);
    const auto fork = stage.made({"fork", id});
    (void)stage.arguments(fork);
    CHECK(read_file(orange.worktree(fork) / "new.txt") == "new\n");

    rpc::TaskCreate later;
    later.project = "shop";
    later.summary = "Later";
    later.no_spawn = true;
    const auto pending = orange.call(later).task.fields.id.value;
    CHECK_THAT(stage.refused({"fork", pending}), Tells("orange task create --like " + orange.short_id(pending)));
    CHECK_THAT(stage.refused({"fork", "nothing"}), Tells("nothing"));
    CHECK_THAT(stage.refused({"fork", id, "--harness", "nobody"}), Tells("nobody"));
}

TEST_CASE("A repeated fork makes no second task") {
    ForkStage stage;
    rpc::TaskFork params;
    params.id = stage.create();
    params.new_id = random_id(k_task_id_length);
    const auto first = stage.orange.call(params).task;
    CHECK(first.fields.id.value == *params.new_id);
    const auto before = stage.traces();
    CHECK(stage.orange.call(params).task.fields.id == first.fields.id);
    CHECK(stage.traces() == before);
}

TEST_CASE("A fork runs where its task does, as that executor was when the task began") {
    ForkStage stage;
    auto& orange = stage.orange;
    fs::create_directories(orange.home() / "executors");
    const auto file = orange.home() / "executors/sleeve.yml";
    write_file(file, "name: sleeve\nrun: [env, \"{inner}\"]\n");
    const auto id = stage.create("talker", false, "sleeve");
    (void)stage.arguments(id);
    const auto hash = stage.field(id, "executor_hash");
    REQUIRE_FALSE(hash.empty());
    write_file(file, "name: sleeve\nrun: [env, OTHER=1, \"{inner}\"]\n");
    const auto fork = stage.made({"fork", id, "--no-spawn"});
    CHECK(stage.field(fork, "executor") == "sleeve");
    CHECK(stage.field(fork, "executor_hash") == hash);
}

TEST_CASE("A conversation that was begun without Orange goes on in a task, with the files of its folder") {
    ForkStage stage;
    auto& orange = stage.orange;
    stage.talk_is_there();
    const auto begin_with = [&](const fs::path& folder) {
        write_file(folder / ".gitignore", "*.log\n");
        write_file(folder / "run.log", "noise\n");
        write_file(folder / "README.md", "changed\n");
        write_file(folder / "staged.txt", "staged\n");
        orange.git({"add", "staged.txt"}, folder);
        write_file(folder / "new.txt", "new\n");
        const auto state = stage.state_of(folder), refs = orange.git({"for-each-ref", "refs/heads"}, stage.repo);
        const auto id =
            stage.made({"create", "--harness", "talker", "--from-session", k_talk, "-b", "taken", "Go on"}, folder);
        const auto words = stage.arguments(id);
        REQUIRE(words.size() == 3);
        CHECK(words[0] == "--copy");
        CHECK(words[1] == k_talk);
        const auto tree = orange.worktree(id);
        CHECK(read_file(tree / "README.md") == "changed\n");
        CHECK(read_file(tree / "staged.txt") == "staged\n");
        CHECK(read_file(tree / "new.txt") == "new\n");
        CHECK_FALSE(fs::exists(tree / "run.log"));
        CHECK(stage.state_of(folder) == state);
        const auto head = orange.git({"rev-parse", "HEAD"}, folder);
        CHECK(orange.git({"rev-parse", "taken~1"}, stage.repo) == head);
        const auto taken = orange.git({"for-each-ref", "refs/heads/taken"}, stage.repo);
        auto now = orange.git({"for-each-ref", "refs/heads"}, stage.repo);
        const auto at = now.find(taken);
        REQUIRE(at != std::string::npos);
        now.erase(at, taken.size());
        CHECK(std::string(trim(now)) == refs);
        CHECK_THAT(stage.notes, Tells(k_talk));
    };
    SECTION("in the repository") {
        begin_with(stage.repo);
    }
    SECTION("in a worktree of one's own") {
        const auto side = orange.root() / "side";
        orange.git({"worktree", "add", "-q", "--detach", side.string()}, stage.repo);
        begin_with(side);
    }
}

TEST_CASE("A conversation that cannot be taken over is refused before anything is written") {
    ForkStage stage;
    auto& orange = stage.orange;
    stage.talk_is_there();
    write_file(stage.repo / "new.txt", "new\n");
    const auto take = [&](std::vector<std::string> more, const std::string& harness = "talker",
                          const std::string& talk = k_talk, const fs::path& cwd = {}) {
        std::vector<std::string> words = {"create", "--harness", harness, "--from-session", talk};
        words.insert(words.end(), more.begin(), more.end());
        words.emplace_back("Go on");
        return stage.refused(words, cwd.empty() ? stage.repo : cwd);
    };
    const std::string other = "9ef2943c-0000-4000-8000-000000000002";
    CHECK_THAT(take({}, "talker", other), Tells(other));
    CHECK_THAT(take({}, "talker", "../" + k_talk), Tells("talker"));
    CHECK_THAT(take({}, "demo"), Tells("demo") && Tells("orange create"));
    for (const auto* option : {"--base=main", "--on=x", "--parent=x", "--status=clarification", "--branch=main"}) {
        INFO(option);
        (void)take({option});
    }
    const auto elsewhere = orange.make_repository("pond");
    (void)take({"--project", "shop"}, "talker", k_talk, elsewhere);
    const auto id = stage.create();
    (void)stage.arguments(id);
    CHECK_THAT(take({}, "talker", k_talk, orange.worktree(id)), Tells("--from-session"));  // as its agent
}

}  // namespace orange::tests
