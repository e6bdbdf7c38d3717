#include <map>

#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/integration/sandbox.hpp"

/// What an agent can make of its worktree, and the daemon must not follow. All the variants are in
/// tests/unit/pool/hostile_test.cpp; these are the two as somebody would type them.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

struct Attacked {
    Sandbox orange;
    fs::path repo = orange.add_project("shop", 1);
    fs::path victim = orange.root() / "victim";
    std::string id;
    fs::path worktree;

    Attacked() {
        add_idle_harness(orange);
        fs::create_directories(victim);
        write_file(victim / "Cargo.lock", "precious\n");
        write_file(victim / "README", "the victim's\n");
        id = id_of(orange.call(idle_task("shop", "Wait")));
        orange.wait_for_status(id, "planning");
        worktree = orange.worktree(id);
        write_file(worktree / "draft", "unfinished\n");
    }
    std::map<std::string, std::string> victims() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(victim)) {
            all[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
        }
        return all;
    }
    void cancel() {
        rpc::TaskCancel cancel;
        cancel.id = id;
        orange.call(cancel);
        CHECK(orange.status(id) == "cancelled");
    }
    std::string draft() { return orange.git({"show", "refs/orange/" + id + "/wip:draft"}, repo); }
};

}  // namespace

TEST_CASE("A task whose .git names another folder is cancelled in its own, and its history tells") {
    Attacked at;
    const auto before = at.victims();
    at.orange.run({"sh", "-c", "echo \"gitdir: " + at.victim.string() + "\" >.git"}, at.worktree);
    at.cancel();
    CHECK(at.victims() == before);
    CHECK(at.draft() == "unfinished");
    CHECK(at.orange.fields(at.id).at("workspace").is_null());
    const auto told = at.orange.history(at.id, "workspace.mended");
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("what") == ".git");
    CHECK_THAT(read_file(told[0].at("kept").get<std::string>()), Holds(at.victim.string()));
}

TEST_CASE(
    "A task whose worktree is a link to another folder is cancelled without touching that, and says how to go on") {
    Attacked at;
    const auto before = at.victims();
    const auto moved = at.worktree.parent_path() / "x";
    fs::rename(at.worktree, moved);
    fs::create_directory_symlink(at.victim, at.worktree);
    at.cancel();
    CHECK(at.victims() == before);
    CHECK(at.orange.fields(at.id).at("workspace") == "shop--1");
    const auto failed = at.orange.history(at.id, "hook.failed");
    REQUIRE_FALSE(failed.empty());
    CHECK_THAT(failed.back().at("error").get<std::string>(), Tells("orange workspace gc"));

    fs::remove(at.worktree);
    fs::rename(moved, at.worktree);
    at.orange.run({program("orange").string(), "workspace", "gc"});
    CHECK(at.draft() == "unfinished");
    CHECK(at.orange.fields(at.id).at("workspace").is_null());
    CHECK(at.victims() == before);
}

}  // namespace orange::tests
