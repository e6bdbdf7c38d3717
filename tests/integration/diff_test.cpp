#include <filesystem>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// `orange task diff` shows what a merge would publish, whatever an agent has put into the repository.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A task whose branch has a file with the line "work"; its commit.
std::string with_work(Sandbox& box, std::string& id) {
    id = box.create("shop", "Look at me");
    box.wait_for_status(id, "reviewing");
    const auto tree = box.worktree(id);
    write_file(tree / "work.txt", "work\n");
    box.git({"add", "work.txt"}, tree);
    box.git({"commit", "-qm", "work"}, tree);
    return box.git({"rev-parse", "HEAD"}, tree);
}

}  // namespace

TEST_CASE("task diff runs no program of the repository, and shows each change as it is") {
    Sandbox box;
    const auto repo = box.add_project("shop");
    std::string id;
    const auto tip = with_work(box, id);
    const auto mark = box.root() / "ran", evil = box.root() / "evil";
    write_file(evil, "#!/bin/sh\ntouch " + mark.string() + "\ncat\n");
    fs::permissions(evil, fs::perms::owner_all);
    for (const char* key : {"diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager", "pager.diff",
                            "core.fsmonitor", "core.sshCommand", "interactive.diffFilter"}) {
        box.git({"config", key, evil.string()}, repo);
    }
    SECTION("programs") {
        write_file(repo / ".git" / "info" / "attributes", "* diff=evil\n");
    }
    SECTION("a file that is called binary") {
        write_file(repo / ".git" / "info" / "attributes", "* -diff\n");
    }
    SECTION("a replaced object") {
        write_file(box.root() / "good", "good\n");
        const auto good = box.git({"hash-object", "-w", (box.root() / "good").string()}, repo);
        box.git({"replace", box.git({"rev-parse", tip + ":work.txt"}, repo), good}, repo);
    }
    const auto shown = box.orange({"task", "diff", id});
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, Holds("\n+work"));
    const auto on_terminal = box.on_terminal("orange task diff " + id + " --stat", repo);
    CHECK(on_terminal.status == 0);
    CHECK_FALSE(fs::exists(mark));
}

TEST_CASE("task diff shows what an ended task has brought, or what is kept of it") {
    Sandbox box;
    const auto repo = box.add_project("shop", 2);
    std::string id;
    with_work(box, id);
    for (const std::string strategy : {"merge", "squash", "ff"}) {
        INFO(strategy);
        if (id.empty()) with_work(box, id);
        write_file(repo / (strategy + ".txt"), "beside it\n");
        box.git({"add", "."}, repo);
        if (strategy != "ff") box.git({"commit", "-qm", "beside"}, repo);
        REQUIRE(box.orange({"task", "merge", id, "--strategy", strategy, "--force", "--yes"}).status == 0);
        const auto names = box.orange({"task", "diff", id, "--name-only"});
        CHECK(names.status == 0);
        CHECK_THAT(names.out, Holds("work.txt") && !Holds(strategy + ".txt"));
        box.git({"rm", "-q", "work.txt"}, repo);
        box.git({"commit", "-qm", "again"}, repo);
        id.clear();
    }
    const auto cancelled = box.create("shop", "Never mind");
    box.wait_for_status(cancelled, "reviewing");
    write_file(box.worktree(cancelled) / "kept.txt", "kept\n");
    REQUIRE(box.orange({"task", "cancel", cancelled, "--yes"}).status == 0);
    CHECK_THAT(box.orange({"task", "diff", cancelled, "--name-only"}).out, Holds("kept.txt"));
}

TEST_CASE("task diff uses the user's own pager, and is limited to the files that are named") {
    Sandbox box;
    const auto repo = box.add_project("shop");
    std::string id;
    with_work(box, id);
    const auto mark = box.root() / "ran", pager = box.root() / "pager";
    write_file(pager, "#!/bin/sh\ntouch " + mark.string() + "\nexec cat\n");
    fs::permissions(pager, fs::perms::owner_all);
    box.git({"config", "--global", "core.pager", pager.string()}, repo);
    CHECK_THAT(box.on_terminal("orange task diff " + id + " work.txt", repo).out, Holds("+work"));
    CHECK(fs::exists(mark));
    CHECK(box.orange({"task", "diff", id, "--name-only", "work.txt"}).out == "work.txt\n");
}

TEST_CASE("task diff pages with what is there if the pager is not, or prints plainly") {
    Sandbox box;
    const auto repo = box.add_project("shop");
    std::string id;
    with_work(box, id);
    const auto folder = box.root() / "pagers";
    fs::create_directory(folder);
    const auto shows = [&](const std::string& how, const std::string& variable) {
        INFO(how);
        const auto command = variable + "PATH=" + folder.string() + ":$PATH orange task diff " + id;
        fs::remove(folder / "more");
        const auto plain = box.on_terminal(command, repo);
        CHECK(plain.status == 0);
        CHECK_THAT(plain.out, Holds("+work"));
        write_file(folder / "more", "#!/bin/sh\necho paged\nexec cat\n");
        fs::permissions(folder / "more", fs::perms::owner_all);
        const auto paged = box.on_terminal(command, repo);
        CHECK(paged.status == 0);
        CHECK_THAT(paged.out, Holds("paged") && Holds("+work"));
    };
    shows("one of git's own choice", "");
    shows("a variable", "GIT_PAGER='LESS=R no-such-pager -R' ");
    box.git({"config", "--global", "core.pager", "no-such-pager -R"}, repo);
    shows("a setting", "");
    box.git({"config", "--global", "pager.diff", "/no/such/pager"}, repo);
    shows("the setting of git diff", "");
}

TEST_CASE("What a merge asks and where it conflicts is known before it, and only what was not said is asked then") {
    Sandbox box;
    const auto repo = box.add_project("shop");
    std::string id;
    const auto look = [&] {
        rpc::TaskDiff diff;
        diff.id = id;
        diff.merge = true;
        return box.call(diff);
    };
    const auto commit = [&](const fs::path& tree, const std::string& file, const std::string& text) {
        fs::create_directories((tree / file).parent_path());
        write_file(tree / file, text);
        box.git({"add", file}, tree);
        box.git({"commit", "-qm", "Write " + file}, tree);
    };
    id = box.create("shop", "Sell lemons");
    box.wait_for_status(id, "reviewing");
    CHECK(look().concerns.empty());
    CHECK(look().conflicts.empty());
    commit(box.worktree(id), "price.txt", "2\n");
    commit(repo, "price.txt", "3\n");
    auto seen = look();
    CHECK_THAT(seen.concerns, Tells("1"));
    CHECK_THAT(seen.concerns, Holds("since the review"));
    CHECK(seen.conflicts == std::vector<std::string>{"price.txt"});
    for (const auto& entry : fs::directory_iterator(box.home() / "workspaces")) {
        CHECK_FALSE(entry.path().filename().string().starts_with(".preview"));
    }
    rpc::TaskMerge merge;
    merge.id = id;
    merge.tip = seen.commit;
    const auto code = [&] {
        const auto merged = box.try_call(merge);
        return merged ? ErrorCode::internal : merged.error().code;
    };
    CHECK(code() == ErrorCode::needs_force);
    merge.confirmed = seen.confirms;
    CHECK(code() == ErrorCode::conflict);  // what was said is not asked again
    commit(repo, "price.txt", "2\n");
    CHECK(look().conflicts.empty());
    commit(box.worktree(id), "pears.txt", "1\n");
    merge.tip.reset();
    CHECK(code() == ErrorCode::needs_force);  // this was not said
    seen = look();
    merge.tip = seen.commit;
    merge.confirmed = seen.confirms;
    CHECK(box.try_call(merge));
    CHECK(box.status(id) == "done");
}

TEST_CASE("While git's settings have changed, a preview lets git run nothing") {
    Sandbox box;
    const auto repo = box.add_project("shop");
    std::string id;
    with_work(box, id);
    const auto mark = box.root() / "ran";
    box.git({"config", "merge.evil.driver", "touch " + mark.string() + "; false"}, repo);
    write_file(repo / ".git" / "info" / "attributes", "* merge=evil\n");
    write_file(repo / "work.txt", "other\n");
    box.git({"add", "work.txt"}, repo);
    box.git({"commit", "-qm", "other"}, repo);
    rpc::TaskDiff diff;
    diff.id = id;
    diff.merge = true;
    const auto seen = box.call(diff);
    CHECK_FALSE(seen.alarm.empty());
    CHECK(seen.conflicts.empty());  // not known
    CHECK_FALSE(fs::exists(mark));
}

}  // namespace orange::tests
