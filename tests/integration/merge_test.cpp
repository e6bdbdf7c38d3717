#include <unistd.h>

#include <chrono>
#include <memory>

#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/integration/sandbox.hpp"

/// `orange task merge`, with real repositories: with and without a remote, with what may stand in its way.
namespace orange::tests {
namespace {

std::string reviewed(Sandbox& orange, const std::string& summary = "Add a greeting") {
    const auto id = orange.create("shop", summary);
    orange.wait_for_status(id, "reviewing");
    return id;
}

Result<rpc::TaskMerge::Reply> merge(Sandbox& orange, const std::string& id, const std::string& strategy = "merge",
                                    bool force = false) {
    rpc::TaskMerge params;
    params.id = id;
    params.strategy = strategy;
    params.force = force;
    return orange.try_call(params);
}

}  // namespace

TEST_CASE("A merge pushes where there is a remote, and deletes the merged branch there") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    const auto id = reviewed(orange);
    const auto merged = merge(orange, id);
    REQUIRE(merged);
    CHECK(merged->pushed);
    CHECK(orange.git({"rev-parse", "main"}, remote) == merged->commit);
    CHECK(orange.git({"rev-parse", "main"}, repo) == merged->commit);
    CHECK(orange.status(id) == "done");
}

TEST_CASE("merge --reviewed merges each task that waits for its merge, and no other") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 3);
    const auto later = orange.create("shop", "Later", true);
    CHECK(orange.orange({"merge", "--reviewed", "--yes"}, repo).status == 1);
    const auto one = reviewed(orange, "Add a greeting"), two = reviewed(orange, "Add a farewell");
    CHECK(orange.orange({"merge", one, "--reviewed", "--yes"}, repo).status == 1);
    CHECK(orange.orange({"merge", "--reviewed", "--yes"}, repo).status == 0);
    CHECK(orange.status(one) == "done");
    CHECK(orange.status(two) == "done");
    CHECK(orange.status(later) == "pending");
}

TEST_CASE("Several tasks are merged together, after one run of the checks on the result of all") {
    Sandbox orange;
    const auto repo = orange.add_project("shop", 3);
    const auto remote = orange.add_origin(repo);
    const auto one = reviewed(orange, "Add a greeting"), two = reviewed(orange, "Add a farewell");
    const auto ran = orange.root() / "ran";
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] = Json::array({{"sh", "-c", "echo x >>" + ran.string()}});
    orange.call(update);
    const auto merged = orange.orange({"merge", two, one, "--as-given", "--json"}, repo);
    INFO(merged.err);
    REQUIRE(merged.status == 0);
    const auto ends = Json::parse(merged.out).at("ends");
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].at("outcome") == "merged");
    CHECK(read_file(ran) == "x\n");
    CHECK(orange.status(one) == "done");
    CHECK(orange.status(two) == "done");
    CHECK(orange.git({"rev-parse", "main"}, remote) == ends[1].at("commit").get<std::string>());
    CHECK(orange.git({"rev-parse", "main^1"}, remote) == ends[0].at("commit").get<std::string>());
    CHECK(orange.git({"rev-parse", "main"}, remote) == orange.git({"rev-parse", "main"}, repo));
}

TEST_CASE("Two merges of one project at once follow one another, and both arrive") {
    Sandbox orange("poll_interval: 3600\n");
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    const auto begun = orange.root() / "begun", go_on = orange.root() / "go-on";
    write_file(remote / "hooks" / "pre-receive", "#!/bin/sh\necho x >>" + begun.string() + "\nwhile [ ! -e " +
                                                     go_on.string() + " ]; do sleep 0.05; done\n");
    std::filesystem::permissions(remote / "hooks" / "pre-receive", std::filesystem::perms::owner_all);
    const auto one = reviewed(orange, "Add a greeting"), two = reviewed(orange, "Add a farewell");
    Background first(orange, "first", {"task", "merge", one});
    orange.eventually("the first is pushed", [&] { return !read_file(begun).empty(); });
    const auto connections = orange.call(rpc::DaemonStatus{}).connections;
    Background second(orange, "second", {"task", "merge", two});
    orange.eventually("the second is asked for",
                      [&] { return orange.call(rpc::DaemonStatus{}).connections > connections; });
    // It is to wait for its turn: two seconds are plenty for a push that does not.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (read_file(begun).size() < 3 && std::chrono::steady_clock::now() < end) ::usleep(20'000);
    CHECK(read_file(begun) == "x\n");
    write_file(go_on, "");
    CHECK(first.status() == 0);
    CHECK(second.status() == 0);
    INFO(first.err() + second.err());
    for (const auto& id : {one, two}) CHECK(orange.status(id) == "done");
    CHECK(orange.git({"rev-parse", "main"}, remote) == orange.git({"rev-parse", "main"}, repo));
    const auto log = orange.git({"log", "--format=%s", "main"}, remote);
    CHECK_THAT(log, Holds("Merge branch '" + orange.fields(one).at("branch").get<std::string>()));
    CHECK_THAT(log, Holds("Merge branch '" + orange.fields(two).at("branch").get<std::string>()));
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
}

TEST_CASE("What is not reviewed is merged only with force") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting demo:fail-twice");
    orange.wait_for_status(id, "stuck");
    const auto refused = merge(orange, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    REQUIRE(merge(orange, id, "merge", true));
    CHECK(orange.status(id) == "done");
}

TEST_CASE("What came to the branch after its review, or another branch, is merged only with force") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = reviewed(orange);
    const auto worktree = orange.worktree(id);
    const auto seen = orange.git({"rev-parse", "HEAD"}, worktree);
    write_file(worktree / "unseen", "evil\n");
    orange.git({"add", "unseen"}, worktree);
    orange.git({"commit", "-qm", "after the review"}, worktree);
    const auto refused = merge(orange, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    CHECK_THAT(refused.error().details.at("facts"), Tells("1"));
    CHECK_THAT(refused.error().details.at("facts"), Tells("orange task diff " + id + " --since-review"));
    CHECK(orange.orange({"task", "diff", id, "--since-review", "--name-only"}).out == "unseen\n");
    rpc::TaskWhy why;
    why.id = id;
    const auto hints = orange.call(why).hints;
    CHECK(std::find(hints.begin(), hints.end(), refused.error().message) != hints.end());
    CHECK(std::find(hints.begin(), hints.end(), "orange task merge " + id) == hints.end());
    CHECK(orange.status(id) == "reviewing");

    orange.git({"reset", "-q", "--hard", seen}, worktree);
    const auto calm = orange.call(why).hints;
    CHECK(std::find(calm.begin(), calm.end(), refused.error().message) == calm.end());
    orange.git({"branch", "evil", "main"}, repo);
    rpc::TaskUpdate update;
    update.id = id;
    update.branch = "evil";
    orange.call(update);
    CHECK(orange.history(id, "branch.changed").back().at("by") == "human");
    CHECK(merge(orange, id).error().code == ErrorCode::needs_force);
    REQUIRE(merge(orange, id, "merge", true));
    CHECK(orange.status(id) == "done");
}

namespace {

/// The task's branch is at origin alone.
void leave_to_origin(Sandbox& orange, const std::string& id, const std::filesystem::path& repo) {
    const auto worktree = orange.worktree(id);
    const auto branch = orange.fields(id).at("branch").get<std::string>();
    orange.git({"push", "-q", "origin", branch}, worktree);
    orange.git({"checkout", "-q", "--detach"}, worktree);
    orange.git({"branch", "-D", branch}, repo);
}

}  // namespace

TEST_CASE("Origin's branch in place of a reviewed one that is gone is merged only with force") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    orange.add_origin(repo);
    const auto id = reviewed(orange);
    orange.git({"commit", "-q", "--allow-empty", "-m", "after the review"}, orange.worktree(id));
    leave_to_origin(orange, id, repo);
    const auto refused = merge(orange, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    CHECK_THAT(refused.error().details.at("facts"), Tells("1"));
}

TEST_CASE("What somebody else pushed to a reviewed branch is found by the merge's own fetch") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    const auto id = reviewed(orange);
    const auto branch = orange.fields(id).at("branch").get<std::string>();
    leave_to_origin(orange, id, repo);
    const auto other = orange.root() / "other";
    orange.git({"clone", "-q", "-b", branch, remote.string(), other.string()}, orange.root());
    orange.git({"commit", "-q", "--allow-empty", "-m", "after the review"}, other);
    orange.git({"push", "-q"}, other);
    const auto before = orange.git({"rev-parse", "main"}, remote);
    const auto found = merge(orange, id);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == ErrorCode::needs_force);
    CHECK(found.error().details.at("tip") == orange.git({"rev-parse", "HEAD"}, other));
    CHECK(orange.git({"rev-parse", "main"}, remote) == before);
}

TEST_CASE("Uncommitted work of the agent is kept when its task is merged") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = reviewed(orange);
    write_file(orange.worktree(id) / "draft.txt", "a draft");
    const auto merged = merge(orange, id);
    REQUIRE(merged);
    REQUIRE_FALSE(merged->notes.empty());
    CHECK_THAT(merged->notes[0], Tells("refs/orange/" + id + "/wip"));
    CHECK(orange.git({"show", "refs/orange/" + id + "/wip:draft.txt"}, repo) == "a draft");
}

namespace {

void make_hook(const std::filesystem::path& remote, const std::string& name, const std::string& text) {
    write_file(remote / "hooks" / name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(remote / "hooks" / name, std::filesystem::perms::owner_all);
}

/// A task that is only to be merged, on a branch with one commit; neither agent nor workspace.
std::string mergeable(Sandbox& orange, const std::filesystem::path& repo, const std::string& name) {
    orange.git({"branch", name, "main"}, repo);
    const auto tree = (orange.root() / ("tree-" + name)).string();
    orange.git({"worktree", "add", "-q", tree, name}, repo);
    write_file(std::filesystem::path(tree) / name, name + "\n");
    orange.git({"add", name}, tree);
    orange.git({"commit", "-qm", "work on " + name}, tree);
    orange.git({"worktree", "remove", tree}, repo);
    rpc::TaskCreate create;
    create.project = "shop";
    create.branch = name;
    create.summary = name;
    create.status = "reviewing";
    create.harness = create.review_harness = "demo";
    return orange.call(create).task.fields.id.value;
}

/// Done once: one task.merged, and its commit is the one on origin's main that merged the task.
void is_merged_once(Sandbox& orange, const std::string& id, const std::filesystem::path& remote) {
    CHECK(orange.status(id) == "done");
    const auto told = orange.history(id, "task.merged");
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("commit") == orange.git({"log", "--format=%H", "--grep", "^Task: " + id, "main"}, remote));
    if (!std::filesystem::exists(orange.home() / "workspaces")) return;
    for (const auto& entry : std::filesystem::directory_iterator(orange.home() / "workspaces")) {
        CHECK_FALSE(entry.path().filename().string().starts_with(".merge-"));
    }
}

bool is_settled(Sandbox& orange, const std::string& id) {
    const auto state = Json::parse(read_file(orange.folder(id) / "state.json"));
    const auto merge = state.value("merge", Json());
    const auto phase = merge.is_object() ? merge.value("phase", "") : "";
    return state.at("intent").is_null() && phase != "planned" && phase != "merged" && phase != "pushed";
}

}  // namespace

TEST_CASE("A daemon that is killed when origin has just taken the merge leaves it to the next one, which finishes it") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    make_hook(remote, "post-receive",
              "[ -e killed ] || { touch killed; kill -9 $(cat " + (orange.home() / "oranged.lock").string() +
                  "); sleep 1; }\n");
    const auto id = mergeable(orange, repo, "work");
    const auto state = orange.folder(id) / "state.json";
    CHECK_FALSE(merge(orange, id));
    orange.kill_daemon();
    CHECK(Json::parse(read_file(state)).at("merge").at("phase") == "merged");
    orange.start_daemon();
    orange.wait_for_status(id, "done");
    orange.eventually("it is finished", [&] { return is_settled(orange, id); });
    is_merged_once(orange, id, remote);
    // The same command again is a success, with the same commit.
    const auto again = orange.orange({"task", "merge", id});
    CHECK(again.status == 0);
    is_merged_once(orange, id, remote);
}

TEST_CASE("A daemon that is killed at any moment of a merge leaves one that is undone, or that the next one finishes") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(merge(orange, mergeable(orange, repo, "first")));
    const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    for (int n = 0; n < 8; ++n) {  // moments all over the time that one takes, and a little after it
        const auto id = mergeable(orange, repo, "work-" + std::to_string(n));
        Background client(orange, "client-" + std::to_string(n), {"task", "merge", id});
        ::usleep(static_cast<useconds_t>(whole.count() * n / 6));
        orange.kill_daemon();
        orange.eventually("the client has ended", [&] { return client.ended(); });
        orange.start_daemon();
        orange.eventually("it is settled", [&] { return is_settled(orange, id); });
        if (orange.status(id) != "done") REQUIRE(merge(orange, id));
        is_merged_once(orange, id, remote);
    }
}

TEST_CASE("Ten merges at once, while somebody else pushes all the time, all land with one command each") {
    Sandbox orange("poll_interval: 3600\n");
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    std::vector<std::string> ids;
    for (int n = 0; n < 10; ++n) ids.push_back(mergeable(orange, repo, "work-" + std::to_string(n)));
    const auto other = orange.root() / "other", stop = orange.root() / "stop", stopped = orange.root() / "stopped";
    orange.git({"clone", "-q", remote.string(), other.string()}, orange.root());
    orange.run({"sh", "-c",
                "(cd \"$0\"; while [ ! -e \"$1\" ]; do git pull -q --rebase; git commit -q --allow-empty -m theirs; "
                "git push -q; sleep 1; done; touch \"$2\") >/dev/null 2>&1 &",
                other.string(), stop.string(), stopped.string()});
    // All its later ones may lose against the merges.
    orange.eventually("the other one has pushed", [&] {
        return orange.git({"rev-list", "--count", "--grep", "theirs", "main"}, remote) != "0";
    });
    std::vector<std::unique_ptr<Background>> clients;
    for (const auto& id : ids) {
        clients.push_back(
            std::make_unique<Background>(orange, "merge-" + id, std::vector<std::string>{"task", "merge", id}));
    }
    for (const auto& client : clients) {
        orange.eventually(
            "a merge has ended", [&] { return client->ended(); }, std::chrono::minutes(3));
        INFO(client->err());
        CHECK(client->status() == 0);
    }
    write_file(stop, "");
    orange.eventually("the other one has stopped", [&] { return std::filesystem::exists(stopped); });
    for (const auto& id : ids) is_merged_once(orange, id, remote);
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
}

}  // namespace orange::tests
