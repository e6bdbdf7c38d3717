#include "common/rpc/project_methods.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/sandbox.hpp"

/// Kinds of repositories (docs/reliability.md, "Repositories that are tried"): a task's whole life in each, with the
/// real git.
namespace orange::tests {
namespace {

/// A checkout `shop` with a remote `origin`, which tasks are merged into.
struct Shop {
    Sandbox orange;
    std::filesystem::path origin = orange.root() / "origin.git", shop = orange.root() / "shop";

    /// Three commits, so that there is a history to leave out.
    void fill_origin(std::vector<std::string> format = {}) {
        const auto first = orange.root() / "first";
        std::vector<std::string> init = {"init", "-q", "-b", "main"};
        init.insert(init.end(), format.begin(), format.end());
        std::filesystem::create_directories(first);
        orange.git(init, first);
        for (const char* version : {"one", "two", "three"}) {
            write_file(first / "version", std::string(version) + "\n");
            write_file(first / ("only-" + std::string(version)), version);
            orange.git({"add", "-A"}, first);
            orange.git({"commit", "-q", "-m", version}, first);
        }
        orange.git({"clone", "-q", "--bare", first.string(), origin.string()}, orange.root());
        orange.git({"config", "uploadpack.allowFilter", "true"}, origin);
    }

    void clone(std::vector<std::string> options) {
        options.insert(options.begin(), {"clone", "-q"});
        options.insert(options.end(), {"file://" + origin.string(), shop.string()});
        orange.git(options, orange.root());
    }

    /// From its creation to its merge; the task's id.
    std::string live() {
        rpc::ProjectAdd add;
        add.path = shop.string();
        add.name = "shop";
        add.harness = "demo";
        orange.call(add);
        const auto id = orange.create("shop", "Add a line");
        orange.wait_for_status(id, "reviewing");
        rpc::TaskMerge merge;
        merge.id = id;
        orange.call(merge);
        CHECK(orange.status(id) == "done");
        CHECK_THAT(orange.git({"ls-tree", "-r", "--name-only", "main"}, origin), Holds("orange-demo/" + id + ".md"));
        CHECK(orange.git({"show", "main:version"}, origin) == "three");
        return id;
    }
};

}  // namespace

TEST_CASE("A task lives from its creation to its merge in a clone without the whole history, files or SHA-1") {
    Shop world;
    auto& orange = world.orange;
    SECTION("shallow: the history ends at the last commit") {
        world.fill_origin();
        world.clone({"--depth", "1"});
        world.live();
        CHECK(orange.git({"rev-parse", "--is-shallow-repository"}, world.shop) == "true");
        CHECK(orange.git({"rev-list", "--count", "--first-parent", "main"}, world.origin) == "4");
    }
    SECTION("partial: files of old commits are on the remote alone") {
        world.fill_origin();
        world.clone({"--filter=blob:none"});
        world.live();
        CHECK(orange.git({"rev-list", "--count", "--first-parent", "main"}, world.origin) == "4");
    }
    SECTION("objects are named by SHA-256") {
        world.fill_origin({"--object-format=sha256"});
        world.clone({});
        world.live();
        CHECK(orange.git({"rev-parse", "main"}, world.origin).size() == 64);
    }
}

TEST_CASE("Files that a filter of the user's own converts, as LFS does, are converted in worktrees and merges") {
    Shop world;
    auto& orange = world.orange;
    world.fill_origin();
    orange.git({"config", "--global", "filter.upper.clean", "tr a-z A-Z"}, orange.root());
    orange.git({"config", "--global", "filter.upper.smudge", "tr A-Z a-z"}, orange.root());
    orange.git({"config", "--global", "filter.upper.required", "true"}, orange.root());
    world.clone({});
    write_file(world.shop / ".gitattributes", "*.md filter=upper\n");
    write_file(world.shop / "large.md", "content\n");
    orange.git({"add", "-A"}, world.shop);
    orange.git({"commit", "-q", "-m", "Filter"}, world.shop);
    orange.git({"push", "-q", "origin", "main"}, world.shop);
    CHECK(orange.git({"show", "main:large.md"}, world.origin) == "CONTENT");
    const auto id = world.live();
    CHECK_THAT(orange.git({"show", "main:orange-demo/" + id + ".md"}, world.origin), Holds("ROUND 0"));
    CHECK_THAT(read_file(world.shop / "orange-demo" / (id + ".md")), Holds("round 0"));
}

TEST_CASE("A repository whose path has a line break is refused with a sentence, and one of its folders may have one") {
    Sandbox orange;
    const auto odd = orange.root() / "odd\nname";
    std::filesystem::create_directories(odd);
    orange.git({"init", "-q", "-b", "main"}, odd);
    orange.git({"commit", "-q", "--allow-empty", "-m", "first"}, odd);
    const auto refused = orange.orange({"project", "add", odd.string()});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.out + refused.err, Holds("line break"));
    CHECK(orange.call(rpc::ProjectList{}).projects.empty());
    // A worktree of somebody's beside it, and a folder in it, are no reason to refuse.
    const auto shop = orange.add_project("shop");
    orange.git({"worktree", "add", "-q", "--detach", (orange.root() / "side\nways").string()}, shop);
    const auto id = orange.create("shop", "Go on", true);
    CHECK(orange.orange({"task", "why", id}).status == 0);
    CHECK(orange.orange({"doctor"}).out.find("unexpected output") == std::string::npos);
}

}  // namespace orange::tests
