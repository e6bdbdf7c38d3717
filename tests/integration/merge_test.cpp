#include <unistd.h>

#include <chrono>

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
    CHECK(log.find("Merge branch '" + orange.fields(one).at("branch").get<std::string>()) != std::string::npos);
    CHECK(log.find("Merge branch '" + orange.fields(two).at("branch").get<std::string>()) != std::string::npos);
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
}

TEST_CASE("A push that is rejected leaves everything as it was") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto remote = orange.add_origin(repo);
    write_file(remote / "hooks" / "pre-receive", "#!/bin/sh\necho protected branch >&2\nexit 1\n");
    std::filesystem::permissions(remote / "hooks" / "pre-receive", std::filesystem::perms::owner_all);
    const auto id = reviewed(orange);
    const auto before = orange.git({"rev-parse", "main"}, repo);
    const auto refused = merge(orange, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("protected branch") != std::string::npos);
    CHECK(orange.git({"rev-parse", "main"}, repo) == before);
    CHECK(orange.git({"rev-parse", "main"}, remote) == before);
    CHECK(orange.status(id) == "reviewing");
}

TEST_CASE("A conflict lists its files and changes nothing") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = reviewed(orange);
    const auto changed =
        orange.git({"diff", "--name-only", "main..." + orange.fields(id).at("branch").get<std::string>()}, repo);
    const auto file = changed.substr(0, changed.find('\n'));
    REQUIRE_FALSE(file.empty());
    std::filesystem::create_directories((repo / file).parent_path());
    write_file(repo / file, "something else\n");
    orange.git({"add", "-A"}, repo);
    orange.git({"commit", "-q", "-m", "In the way"}, repo);
    const auto before = orange.git({"rev-parse", "main"}, repo);
    const auto refused = merge(orange, id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(refused.error().message.find(file) != std::string::npos);
    CHECK(orange.git({"rev-parse", "main"}, repo) == before);
    CHECK(orange.git({"status", "--porcelain"}, repo).empty());
    CHECK(orange.git({"worktree", "list"}, repo).find(".merge-") == std::string::npos);
    CHECK(orange.status(id) == "reviewing");
}

TEST_CASE("The human's uncommitted work is never touched by a merge") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto id = reviewed(orange);
    const auto changed =
        orange.git({"diff", "--name-only", "main..." + orange.fields(id).at("branch").get<std::string>()}, repo);
    const auto file = changed.substr(0, changed.find('\n'));

    SECTION("where it overlaps, the merge is refused") {
        std::filesystem::create_directories((repo / file).parent_path());
        write_file(repo / file, "mine, not committed\n");
        const auto before = orange.git({"rev-parse", "main"}, repo);
        const auto refused = merge(orange, id);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find(file) != std::string::npos);
        CHECK(read_file(repo / file) == "mine, not committed\n");
        CHECK(orange.git({"rev-parse", "main"}, repo) == before);
    }
    SECTION("elsewhere, it stays as it is while the checkout moves on") {
        write_file(repo / "README.md", "edited, not committed\n");
        write_file(repo / "notes.txt", "untracked\n");
        REQUIRE(merge(orange, id));
        CHECK(read_file(repo / "README.md") == "edited, not committed\n");
        CHECK(read_file(repo / "notes.txt") == "untracked\n");
        CHECK(std::filesystem::exists(repo / file));
    }
}

TEST_CASE("A default branch that nobody has checked out moves all the same") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    orange.git({"checkout", "-q", "-b", "elsewhere"}, repo);
    const auto id = reviewed(orange);
    const auto merged = merge(orange, id, "ff");
    REQUIRE(merged);
    CHECK(orange.git({"rev-parse", "main"}, repo) == merged->commit);
    CHECK(orange.git({"branch", "--show-current"}, repo) == "elsewhere");
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
    CHECK(refused.error().message.find("the reviewer was given " + seen.substr(0, 12)) != std::string::npos);
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
    CHECK(refused.error().message.find("is not what was reviewed") != std::string::npos);
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
    CHECK(found.error().code == ErrorCode::conflict);
    CHECK(found.error().message.find("meanwhile; try again") != std::string::npos);
    CHECK(merge(orange, id).error().code == ErrorCode::needs_force);
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
    CHECK(merged->notes[0].find("refs/orange/" + id + "/wip") != std::string::npos);
    CHECK(orange.git({"show", "refs/orange/" + id + "/wip:draft.txt"}, repo) == "a draft");
}

}  // namespace orange::tests
