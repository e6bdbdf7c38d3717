#include <algorithm>
#include <functional>
#include <future>

#include "tests/catch.hpp"
#include "tests/integration/background.hpp"

/// How a task begins: in another state than usual, on a branch that is there or at a base of its own; and that nothing
/// is left of what was refused.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A registered repository, and `idle`, an agent that does nothing until it is ended.
struct Shop {
    Sandbox orange;
    fs::path repo = orange.add_project("shop");

    Shop() {
        fs::create_directories(orange.home() / "harnesses");
        write_file(orange.home() / "harnesses" / "idle.yml",
                   "name: idle\nprogram: sh\nargv:\n  full: [-c, sleep 600, --, \"{prompt}\"]\n");
    }

    rpc::TaskCreate params(const std::string& summary = "Add a greeting", const std::string& harness = "demo") const {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = summary;
        create.harness = create.review_harness = harness;
        return create;
    }
    std::string create(const rpc::TaskCreate& wanted) {
        const auto reply = orange.call(wanted);
        notes.clear();
        for (const auto& note : reply.notes) notes += note + "\n";
        return reply.task.fields.id.value;
    }
    std::string field(const std::string& id, const std::string& name) {
        const auto fields = orange.fields(id);
        const auto found = fields.find(name);
        if (found == fields.end() || found->is_null()) return "";
        return found->is_string() ? found->get<std::string>() : dump(*found);
    }
    fs::path add_origin() {
        const auto remote = orange.add_origin(repo);
        orange.git({"fetch", "-q"}, repo);
        return remote;
    }
    /// A branch with one commit on top of main, checked out nowhere.
    std::string add_branch(const std::string& name, const fs::path& where) {
        orange.git({"checkout", "-q", "-b", name, "main"}, where);
        fs::create_directories((where / name).parent_path());
        write_file(where / (name + ".txt"), name + "\n");
        orange.git({"add", "-A"}, where);
        orange.git({"commit", "-q", "-m", "Work of " + name}, where);
        const auto commit = orange.git({"rev-parse", "HEAD"}, where);
        orange.git({"checkout", "-q", "main"}, where);
        return commit;
    }
    /// A branch that somebody else has pushed, and that nobody has fetched here.
    std::string add_pushed(const std::string& name, const fs::path& remote) {
        const auto theirs = orange.root() / "theirs";
        orange.git({"clone", "-q", remote.string(), theirs.string()}, orange.root());
        const auto commit = add_branch(name, theirs);
        orange.git({"push", "-q", "origin", name}, theirs);
        return commit;
    }
    /// Everything that a creation could leave.
    std::string traces() {
        std::string all;
        std::error_code error;
        std::vector<std::string> files;
        for (const auto& entry : fs::recursive_directory_iterator(orange.home() / "tasks", error)) {
            // Texts that were exchanged away stay for some seconds.
            const auto name = entry.path().filename().string();
            const bool is_put_away = name.ends_with(".tmp") || name.starts_with(".TASK.md.orange-");
            if (!is_put_away) files.push_back(entry.path().string());
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) all += file + "\n";
        all += orange.git({"for-each-ref"}, repo) + orange.git({"worktree", "list"}, repo);
        all += read_file(orange.home() / "projects.json") + read_file(orange.home() / "workspaces" / ".pool.json");
        return all + orange.git({"status", "--porcelain", "--branch"}, repo);
    }

    std::string notes;
};

}  // namespace

TEST_CASE("A task for clarification begins by talking") {
    Shop shop;
    auto wanted = shop.params("Add a greeting", "idle");
    wanted.status = "clarification";
    const auto id = shop.create(wanted);
    CHECK(shop.orange.path_of(id) == "pending clarification");
    const auto run = shop.orange.run_of(id, "worker");
    REQUIRE(run.is_object());
    CHECK(run.at("prompt") == "clarification");
    CHECK(shop.orange.git({"branch", "--show-current"}, shop.orange.worktree(id)) == "orange-tasks/" + id);
}

TEST_CASE("A task for a review has a reviewer and no worker, who comes when the review fails") {
    Shop shop;
    const auto commit = shop.add_branch("theirs", shop.repo);
    auto wanted = shop.params("Add a greeting demo:fail-once");
    wanted.status = "agent-review";
    wanted.branch = "theirs";
    const auto id = shop.create(wanted);
    CHECK_THAT(shop.notes, Tells("theirs"));
    shop.orange.wait_for_status(id, "reviewing");
    CHECK(shop.orange.path_of(id) == "pending agent-review working agent-review reviewing");
    const auto spawned = shop.orange.history(id, "agent.spawned");
    REQUIRE(spawned.size() == 3);
    CHECK(spawned[0].at("window") == "review-1");
    CHECK(spawned[1].at("window") == "worker-2");  // named by its round, as everywhere
    CHECK(spawned[2].at("window") == "review-2");
    CHECK(shop.field(id, "review_round") == "2");
    rpc::TaskMerge merge;
    merge.id = id;
    const auto merged = shop.orange.call(merge);
    shop.orange.git({"merge-base", "--is-ancestor", commit, merged.commit}, shop.repo);
}

TEST_CASE("Only the reviewer of a branch is there while it reviews, in the first round") {
    Shop shop;
    shop.add_branch("theirs", shop.repo);
    auto wanted = shop.params("Look at it", "idle");
    wanted.status = "agent-review";
    wanted.branch = "theirs";
    const auto id = shop.create(wanted);
    CHECK(shop.field(id, "status") == "agent-review");
    CHECK(shop.field(id, "review_round") == "1");
    CHECK(shop.orange.run_of(id, "worker").is_null());
    CHECK(shop.orange.run_of(id, "reviewer").at("window_name") == "review-1");
    CHECK(shop.orange.git({"branch", "--show-current"}, shop.orange.worktree(id)) == "theirs");
}

TEST_CASE("Work that is there already is merged without agent and workspace, even where another checkout has it") {
    Shop shop;
    const auto commit = shop.add_branch("mine", shop.repo);
    shop.orange.git({"worktree", "add", "-q", (shop.orange.root() / "elsewhere").string(), "mine"}, shop.repo);
    auto wanted = shop.params("Done by hand");
    wanted.status = "reviewing";
    wanted.branch = "mine";
    wanted.context = "## Review\nVerdict: PASS\n";
    const auto id = shop.create(wanted);
    CHECK(shop.orange.path_of(id) == "pending reviewing");
    CHECK(shop.orange.history(id, "task.created").size() == 1);
    CHECK(shop.field(id, "workspace").empty());
    CHECK(shop.orange.history(id, "agent.spawned").empty());
    CHECK_THAT(shop.orange.body(id), Holds("### Review"));
    rpc::TaskMerge merge;
    merge.id = id;
    const auto merged = shop.orange.call(merge);
    CHECK(merged.commit == shop.orange.git({"rev-parse", "main"}, shop.repo));
    shop.orange.git({"merge-base", "--is-ancestor", commit, "main"}, shop.repo);
    CHECK(shop.orange.status(id) == "done");
}

TEST_CASE("A branch that only origin has is merged from there, as it is by then") {
    Shop shop;
    const auto remote = shop.add_origin();
    shop.add_pushed("theirs", remote);
    auto wanted = shop.params("Their pull request");
    wanted.status = "reviewing";
    wanted.branch = "theirs";
    const auto id = shop.create(wanted);
    CHECK_THAT(shop.notes, Tells("theirs") && Tells("origin"));
    const auto theirs = shop.orange.root() / "theirs";
    shop.orange.git({"checkout", "-q", "theirs"}, theirs);
    write_file(theirs / "more.txt", "more\n");
    shop.orange.git({"add", "-A"}, theirs);
    shop.orange.git({"commit", "-q", "-m", "More"}, theirs);
    shop.orange.git({"push", "-q", "origin", "theirs"}, theirs);
    rpc::TaskMerge merge;
    merge.id = id;
    const auto merged = shop.orange.call(merge);
    CHECK(merged.pushed);
    shop.orange.git({"merge-base", "--is-ancestor", shop.orange.git({"rev-parse", "HEAD"}, theirs), "main"}, remote);
    CHECK(shop.orange.git({"branch", "--list", "theirs"}, remote).empty());
    CHECK(shop.field(id, "attention").empty());
}

TEST_CASE("Changes that are requested of work without a workspace get a worker in one") {
    Shop shop;
    shop.add_branch("mine", shop.repo);
    auto wanted = shop.params("Done by hand");
    wanted.status = "reviewing";
    wanted.branch = "mine";
    const auto id = shop.create(wanted);
    rpc::TaskUpdate update;
    update.id = id;
    update.status = "working";
    update.feedback = "Name the columns";
    shop.orange.call(update);
    shop.orange.wait_for_status(id, "reviewing");
    CHECK(shop.orange.path_of(id) == "pending reviewing working agent-review reviewing");
    CHECK(shop.orange.git({"branch", "--show-current"}, shop.orange.worktree(id)) == "mine");
}

TEST_CASE("A review waits for a workspace like every other task, and begins as one") {
    Shop shop;
    shop.add_branch("theirs", shop.repo);
    std::vector<std::string> holders;
    for (int i = 0; i < 2; ++i) holders.push_back(shop.create(shop.params("Hold it", "idle")));
    auto wanted = shop.params("Look at it", "idle");
    wanted.status = "agent-review";
    wanted.branch = "theirs";
    const auto id = shop.create(wanted);
    CHECK_THAT(shop.notes, Tells("orange project update shop --pool-size 3"));
    CHECK(shop.orange.status(id) == "pending");
    shop.orange.kill_daemon();
    shop.orange.start_daemon();
    rpc::ProjectUpdate grow;
    grow.name = "shop";
    grow.pool_size = 3;
    shop.orange.call(grow);
    shop.orange.wait_for_status(id, "agent-review");
    CHECK(shop.orange.run_of(id, "worker").is_null());
    CHECK(shop.field(id, "review_round") == "1");
}

TEST_CASE("A task that is only created begins where it was to when it is started") {
    Shop shop;
    auto wanted = shop.params("Add a greeting", "idle");
    wanted.status = "clarification";
    wanted.no_spawn = true;
    const auto id = shop.create(wanted);
    CHECK(shop.orange.status(id) == "pending");
    rpc::TaskSpawn spawn;
    spawn.id = id;
    shop.orange.call(spawn);
    CHECK(shop.orange.status(id) == "clarification");
}

TEST_CASE("A new branch begins at its base, is reviewed against it, and is merged into the default branch") {
    Shop shop;
    const auto feature = shop.add_branch("feature", shop.repo);
    auto wanted = shop.params("Add a greeting", "idle");
    wanted.branch = "on-top";
    wanted.base = "feature";
    const auto id = shop.create(wanted);
    CHECK_THAT(shop.notes, Tells("feature"));
    CHECK(shop.field(id, "base") == "refs/heads/feature");
    CHECK(shop.orange.git({"rev-parse", "on-top"}, shop.repo) == feature);
    const auto worktree = shop.orange.worktree(id);
    write_file(worktree / "top.txt", "top\n");
    shop.orange.git({"add", "top.txt"}, worktree);
    shop.orange.git({"commit", "-q", "-m", "On top"}, worktree);
    rpc::TaskMerge merge;
    merge.id = id;
    merge.force = true;
    shop.orange.call(merge);
    shop.orange.git({"merge-base", "--is-ancestor", "refs/orange/" + id + "/merged", "main"}, shop.repo);
    CHECK(shop.orange.git({"log", "-1", "--format=%s", "refs/orange/" + id + "/merged"}, shop.repo) == "On top");
    CHECK(shop.orange.git({"rev-parse", "feature"}, shop.repo) == feature);
}

TEST_CASE("A branch that is there is gone on with, one of origin's is fetched and tracked") {
    Shop shop;
    const auto remote = shop.add_origin();
    const auto local = shop.add_branch("mine", shop.repo);
    const auto pushed = shop.add_pushed("theirs", remote);
    auto wanted = shop.params("Go on", "idle");
    wanted.branch = "mine";
    const auto mine = shop.create(wanted);
    CHECK(shop.orange.git({"rev-parse", "HEAD"}, shop.orange.worktree(mine)) == local);
    wanted.branch = "theirs";
    const auto theirs = shop.create(wanted);
    CHECK(shop.orange.git({"rev-parse", "HEAD"}, shop.orange.worktree(theirs)) == pushed);
    CHECK(shop.orange.git({"rev-parse", "--abbrev-ref", "theirs@{upstream}"}, shop.repo) == "origin/theirs");
}

TEST_CASE("A branch that is named with refs/heads/ is the same branch, wherever a person names one") {
    Shop shop;
    // The reply says which branch that is.
    const auto says_branch = [](const std::vector<std::string>& notes, const std::string& name) {
        return std::ranges::any_of(notes, [&](const auto& note) { return note.ends_with(" " + name); });
    };
    const auto local = shop.add_branch("mine", shop.repo);
    auto wanted = shop.params("Go on", "idle");
    wanted.branch = "refs/heads/mine";
    const auto created = shop.orange.call(wanted);
    const auto id = created.task.fields.id.value;
    CHECK(says_branch(created.notes, "mine"));
    CHECK(shop.field(id, "branch") == "mine");
    CHECK(shop.orange.git({"rev-parse", "HEAD"}, shop.orange.worktree(id)) == local);

    auto stacked = shop.params("Go on with that", "idle");
    stacked.blocked_by = {id};
    stacked.base = "refs/heads/mine";
    CHECK(shop.field(shop.create(stacked), "base") == "refs/heads/mine");

    rpc::TaskUpdate rename;
    rename.id = "refs/heads/mine";
    rename.branch = "refs/heads/yours";
    CHECK(says_branch(shop.orange.call(rename).notes, "yours"));
    CHECK(shop.field(id, "branch") == "yours");
    CHECK(shop.orange.git({"rev-parse", "refs/heads/yours"}, shop.repo) == local);

    rpc::TaskCancel cancel;
    cancel.id = id;
    shop.orange.call(cancel);
    rpc::TaskRestore restore;
    restore.id = id;
    restore.branch = "refs/heads/again";
    const auto restored = shop.orange.call(restore);
    CHECK(restored.branch == "again");
    CHECK(says_branch(restored.notes, "again"));
    CHECK(shop.orange.git({"for-each-ref", "refs/heads/refs"}, shop.repo).empty());

    rpc::ProjectUpdate update;
    update.name = "shop";
    update.default_branch = "refs/heads/main";
    const auto updated = shop.orange.call(update);
    CHECK(updated.project.default_branch == "main");
    CHECK(says_branch(updated.notes, "main"));
    rpc::ProjectAdd add;
    add.path = shop.orange.make_repository("pond").string();
    add.default_branch = "refs/heads/main";
    CHECK(shop.orange.call(add).project.default_branch == "main");
}

TEST_CASE("A program that ends at once is told by the call that starts it, and leaves its workspace free") {
    Shop shop;
    auto& orange = shop.orange;
    write_file(
        orange.home() / "harnesses" / "broken.yml",
        "name: broken\nprogram: sh\nargv:\n  full: [-c, \"echo no such option >&2; exit 3\", --, \"{prompt}\"]\n");
    // A workflow in which the call is answered when the program has ended.
    REQUIRE(orange.orange({"workflow", "export", "default", "--as", "late"}).status == 0);
    const auto file = orange.home() / "workflows" / "late.yml";
    auto text = read_file(file);
    const std::string spawn = "        permissions: full\n";
    const auto at = text.find(spawn);
    REQUIRE(at != std::string::npos);
    text.insert(at + spawn.size(), "      - action: run_command\n        argv: [sh, -c, \"until ls " +
                                       orange.home().string() +
                                       "/tasks/*/*$ORANGE_TASK*/run/*.exit; do sleep 0.05; done\"]\n");
    write_file(file, text);
    const auto created = orange.orange({"task", "create", "--project", "shop", "--workflow", "late", "--harness",
                                        "broken", "--review-harness", "broken", "Add a greeting"});
    CHECK(created.status == 1);
    CHECK_THAT(created.err, Holds("no such option"));
    rpc::TaskList list;
    const auto tasks = orange.call(list).tasks;
    REQUIRE(tasks.size() == 1);
    CHECK_FALSE(tasks[0].fields.workspace);
    CHECK(orange.history(tasks[0].fields.id.value, "workspace.released").size() == 1);
}

TEST_CASE("A project's models are for new tasks of its usual harness, unless others are chosen") {
    Shop shop;
    auto& orange = shop.orange;
    const std::vector<std::string> settings = {"project", "update",    "shop",  "--harness",         "demo",
                                               "--set",   "model=big", "--set", "review_model=small"};
    REQUIRE(orange.orange(settings).status == 0);
    auto usual = shop.params();
    usual.harness.reset();
    usual.review_harness.reset();
    const auto id = shop.create(usual);
    CHECK(shop.field(id, "model") == "big");
    CHECK(shop.field(id, "review_model") == "small");
    orange.wait_for_status(id, "reviewing");
    const auto started = orange.history(id, "agent.spawned");
    REQUIRE(started.size() == 2);
    CHECK(started[0].at("model") == "big");
    CHECK(started[1].at("model") == "small");
    CHECK_THAT(orange.orange({"task", "show", id}).out, Holds("demo (big)") && Holds("demo (small)"));

    auto chosen = usual;
    chosen.no_spawn = true;
    chosen.model = "other";
    chosen.review_model = "";
    const auto second = shop.create(chosen);
    CHECK(shop.field(second, "model") == "other");
    CHECK(shop.field(second, "review_model").empty());

    auto elsewhere = shop.params("Of another harness", "idle");
    elsewhere.no_spawn = true;
    CHECK(shop.field(shop.create(elsewhere), "model").empty());
    CHECK_THAT(shop.notes, !Holds("big"));

    REQUIRE(orange.orange({"project", "update", "shop", "--harness", "idle"}).status == 0);
    usual.no_spawn = true;
    CHECK(shop.field(shop.create(usual), "model").empty());
    CHECK_THAT(shop.notes, Tells("idle") && Tells("big"));
}

TEST_CASE("What is refused leaves nothing behind, and says what to do") {
    Shop shop;
    shop.add_origin();
    shop.add_branch("mine", shop.repo);
    shop.add_branch("fix/total", shop.repo);
    shop.add_branch("open", shop.repo);
    const auto elsewhere = (shop.orange.root() / "elsewhere").string();
    shop.orange.git({"worktree", "add", "-q", elsewhere, "open"}, shop.repo);
    auto holder = shop.params("Hold it", "idle");
    holder.branch = "taken";
    const auto holding = shop.create(holder);
    struct Refusal {
        std::string what;
        std::function<void(rpc::TaskCreate&)> ask;
        ErrorCode code;
        std::string names;
    };
    const std::vector<Refusal> refusals = {
        {"a state in the middle", [](auto& p) { p.status = "working"; }, ErrorCode::invalid_argument,
         "clarification, agent-review, reviewing"},
        {"the end", [](auto& p) { p.status = "done"; }, ErrorCode::invalid_argument, "done"},
        {"an unknown state", [](auto& p) { p.status = "nonsense"; }, ErrorCode::invalid_argument, "pending, planning"},
        {"a review of nothing", [](auto& p) { p.status = "agent-review"; }, ErrorCode::invalid_argument, "--branch"},
        {"a review of no branch", [](auto& p) { p.status = "agent-review", p.branch = "none"; }, ErrorCode::not_found,
         "none"},
        {"a merge of no branch", [](auto& p) { p.status = "reviewing", p.branch = "none"; }, ErrorCode::not_found,
         "none"},
        {"the default branch", [](auto& p) { p.branch = "main"; }, ErrorCode::invalid_argument, "main"},
        {"a task's branch", [](auto& p) { p.branch = "taken"; }, ErrorCode::conflict, holding},
        {"another checkout's branch", [](auto& p) { p.branch = "open"; }, ErrorCode::conflict,
         "git -C " + elsewhere + " switch --detach"},
        {"a name beside a folder of names", [](auto& p) { p.branch = "fix"; }, ErrorCode::conflict, "fix/total"},
        {"a name below a branch", [](auto& p) { p.branch = "mine/too"; }, ErrorCode::conflict, "mine"},
        {"no branch name", [](auto& p) { p.branch = "a..b"; }, ErrorCode::invalid_argument, "a..b"},
        {"an unknown base", [](auto& p) { p.base = "nowhere"; }, ErrorCode::not_found, "nowhere"},
        {"a base of an old branch", [](auto& p) { p.branch = "mine", p.base = "main"; }, ErrorCode::invalid_argument,
         "mine"},
        {"an unknown workflow", [](auto& p) { p.workflow = "nonsense"; }, ErrorCode::not_found, "nonsense"},
        {"an unknown harness", [](auto& p) { p.harness = "nonsense"; }, ErrorCode::not_found, "nonsense"},
        {"an unknown reviewer", [](auto& p) { p.review_harness = "nonsense"; }, ErrorCode::not_found, "nonsense"},
        {"an effort that idle lacks", [](auto& p) { p.harness = "idle", p.effort = "high"; },
         ErrorCode::invalid_argument, "effort"},
        {"a reviewer's effort", [](auto& p) { p.review_harness = "idle", p.review_effort = "high"; },
         ErrorCode::invalid_argument, "effort"},
        {"a model that idle lacks", [](auto& p) { p.harness = "idle", p.model = "opus"; }, ErrorCode::invalid_argument,
         "idle"},
        {"a reviewer's model", [](auto& p) { p.review_harness = "idle", p.review_model = "opus"; },
         ErrorCode::invalid_argument, "idle"},
        {"two lines", [](auto& p) { p.summary = "a\nb"; }, ErrorCode::invalid_argument, "summary"},
        {"an unknown project", [](auto& p) { p.project = "nonsense"; }, ErrorCode::not_found, "nonsense"},
    };
    const auto before = shop.traces();
    for (const auto& refusal : refusals) {
        INFO(refusal.what);
        auto wanted = shop.params();
        refusal.ask(wanted);
        const auto refused = shop.orange.try_call(wanted);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == refusal.code);
        CHECK_THAT(refused.error().message, Tells(refusal.names));
        CHECK(shop.traces() == before);
    }
}

TEST_CASE("A creation that is asked for again with its id is answered with the task that it made") {
    Shop shop;
    auto wanted = shop.params("Hold it", "idle");
    wanted.id = "abcdefghijABCDEFGHIJ0";
    CHECK(shop.create(wanted) == *wanted.id);
    const auto before = shop.traces();
    CHECK(shop.create(wanted) == *wanted.id);
    CHECK_FALSE(shop.notes.empty());
    shop.orange.kill_daemon();
    shop.orange.start_daemon();
    CHECK(shop.create(wanted) == *wanted.id);
    CHECK(shop.traces() == before);
    CHECK(shop.orange.history(*wanted.id, "task.created").size() == 1);

    wanted.id = "../../abcdefghijABCDE";
    const auto refused = shop.orange.try_call(wanted);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Tells("21"));
}

TEST_CASE("The same text as an id makes one task in a project, and another one in another project") {
    Shop shop;
    auto& orange = shop.orange;
    orange.add_project("garden");
    const auto create = [&](const std::string& project, const std::string& id, const std::string& summary) {
        const auto ran =
            orange.orange({"task", "create", "--json", "--no-spawn", "--project", project, "--id", id, summary});
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        return Json::parse(ran.out).at("task").at("fields").at("id").get<std::string>();
    };
    const auto first = create("shop", "deps 2026-W48", "Update the dependencies");
    CHECK(is_task_id(first));
    CHECK(create("shop", "deps 2026-W48", "Another summary") == first);
    CHECK(shop.field(first, "summary") == "Update the dependencies");
    CHECK(create("shop", "deps 2026-W49", "Update the dependencies") != first);
    CHECK(create("garden", "deps 2026-W48", "Update the dependencies") != first);
    // By the repository, too, and again after the task is deleted.
    const auto here = orange.orange({"task", "create", "--json", "--id", "deps 2026-W48", "Again"}, shop.repo);
    CHECK(Json::parse(here.out).at("task").at("fields").at("id") == first);
    REQUIRE(orange.orange({"task", "delete", first, "--yes", "--force"}).status == 0);
    CHECK(create("shop", "deps 2026-W48", "Once more") == first);
    CHECK(shop.field(first, "summary") == "Once more");
    CHECK(orange.orange({"task", "create", "--project", "shop", "--id", "", "Empty"}).status == 1);
    CHECK(orange.call(rpc::TaskList{}).tasks.size() == 3);
}

TEST_CASE("Two calls at once with the same id make one task, and both are told of it") {
    Shop shop;
    auto wanted = shop.params("Hold it", "idle");
    wanted.id = "abcdefghijABCDEFGHIJ1";
    wanted.branch = "held";
    const auto ask = [&] {
        auto own = connection::Connection::open(shop.orange.home() / "orange.sock", std::chrono::seconds(5));
        auto reply = own ? own->call(wanted) : Result<rpc::TaskReply>(own.error());
        return reply ? reply->task.fields.id.value : reply.error().message;
    };
    std::vector<std::future<std::string>> asked;
    for (int i = 0; i < 4; ++i) asked.push_back(std::async(std::launch::async, ask));
    for (auto& one : asked) CHECK(one.get() == *wanted.id);
    CHECK(shop.orange.call(rpc::TaskList{}).tasks.size() == 1);
}

TEST_CASE("A client whose daemon is killed in the middle of a creation gets its one task from the next") {
    Shop shop;
    const auto flag = shop.orange.root() / "setup-runs";
    const auto go = shop.orange.root() / "go";
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = {
        {"sh", "-c", "echo >'" + flag.string() + "'; until [ -e '" + go.string() + "' ]; do sleep 0.05; done"}};
    shop.orange.call(update);
    const std::vector<std::vector<std::string>> commands = {{"task", "create"}, {"run"}};
    for (const auto& words : commands) {
        fs::remove(flag);
        fs::remove(go);
        auto args = words;
        for (const char* arg : {"--harness", "idle", "--review-harness", "idle", "--json", "Hold", "it"}) {
            args.push_back(arg);
        }
        Background client(shop.orange, words.front(), args, shop.repo);
        shop.orange.eventually("the setup runs", [&] { return fs::exists(flag); });
        shop.orange.kill_daemon();
        fs::remove(flag);
        shop.orange.start_daemon();
        shop.orange.eventually("the next setup runs", [&] { return fs::exists(flag); });
        write_file(go, "");
        const auto status = client.status();
        INFO(client.out() << client.err());
        REQUIRE(status == 0);
        const auto reply = Json::parse(client.out());
        CHECK(reply.at("task").at("fields").at("status") == "planning");
        CHECK_FALSE(reply.at("notes").empty());
    }
    CHECK(shop.orange.call(rpc::TaskList{}).tasks.size() == 2);
}

TEST_CASE("The client takes the same, with the context from standard input") {
    Shop shop;
    shop.add_branch("mine", shop.repo);
    const auto ran = shop.orange.orange({"task", "create", "--harness", "demo", "--branch", "mine", "--status",
                                         "reviewing", "--context", "-", "--json", "Done", "by", "hand"},
                                        shop.repo, "# Why\nBecause.\n");
    REQUIRE(ran.status == 0);
    const auto id = Json::parse(ran.out).at("task").at("fields").at("id").get<std::string>();
    CHECK(shop.orange.status(id) == "reviewing");
    CHECK_THAT(shop.orange.body(id), Holds("## Context") && Holds("### Why"));
    const auto refused =
        shop.orange.orange({"task", "create", "--harness", "demo", "--status", "working", "x"}, shop.repo);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("clarification, agent-review, reviewing"));
}

}  // namespace orange::tests

TEST_CASE("A commit is a base, too") {
    Shop shop;
    const auto first = shop.orange.git({"rev-parse", "main"}, shop.repo);
    shop.add_branch("feature", shop.repo);
    shop.orange.git({"merge", "-q", "feature"}, shop.repo);
    auto wanted = shop.params("Another", "idle");
    wanted.base = first.substr(0, 12);
    const auto id = shop.create(wanted);
    CHECK(shop.field(id, "base") == first);
    CHECK(shop.orange.git({"rev-parse", "HEAD"}, shop.orange.worktree(id)) == first);
}
