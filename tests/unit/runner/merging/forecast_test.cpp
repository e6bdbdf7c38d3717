#include "daemon/runner/merging/forecast.hpp"

#include <algorithm>
#include <map>

#include "common/base/text.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "daemon/runner/family/family.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;

namespace {

const std::string k_cart = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// A repository with cart.py, and tasks that change it.
struct ForecastWorld : RunnerWorld {
    ForecastWorld() {
        boot();
        git.commit(repo(), "cart.py", k_cart);
        (void)draft("only for the project", 6);
        house().world().journal.listen([this](const StreamEvent& event) {
            if (event.event.type != "clashes.changed") return;
            told[event.task].push_back(std::get<std::string>(event.event.fields.at("text")));
        });
    }

    TaskId start(const std::string& summary = "do it") {
        const auto id = make_task(summary, 6, "relay");
        move(id, "working").value();
        return id;
    }
    /// Starts a task that is compared with this commit or ref, not with the branch that it is merged into.
    TaskId start_at(const std::string& base) {
        auto record = draft("do it", 6);
        record.task.workflow = "relay";
        record.task.base = base;
        const auto id = record.task.id;
        create(std::move(record), "", true).value();
        move(id, "working").value();
        return id;
    }
    void commit(const TaskId& id, const std::string& file, const std::string& text) {
        git.commit(worktree_of(*this, id), file, text);
    }
    /// Commits the cart with another line in this place.
    void change(const TaskId& id, int line, const std::string& text) { commit(id, "cart.py", cart(line, text)); }
    static std::string cart(int line, const std::string& text) {
        auto whole = k_cart;
        return whole.replace(static_cast<std::size_t>(line - 1) * 2, 1, text);
    }
    /// Counts the branches and looks at them, as the daemon does after a branch has moved.
    void look() {
        std::vector<TaskId> ids;
        house().world().tasks.each_open([&](const TaskRecord& record) {
            if (!store::has_ended(record)) ids.push_back(record.task.id);
            return true;
        });
        house().go(house().runner().committed.refresh("shop", ids)).value();
        outside.children.disarm();
        house().go(house().runner().forecast.look("shop")).value();
    }
    std::vector<Clash> clashes(const TaskId& id) { return house().runner().forecast.of(id); }
    std::string clause(const TaskId& id) { return house().runner().forecast.clause_in_review(record(id)); }
    /// Merges that the last look has tried.
    auto trials() {
        return std::ranges::count_if(outside.children.commands, [](const std::string& command) {
            return command.find("merge-tree") != std::string::npos;
        });
    }
    std::string short_id(const TaskId& id) { return house().world().tasks.short_id(id); }
    /// The task waits for its human's review.
    void hand_over(const TaskId& id) {
        append_body(id, "\n## Handoff\nall of it\n");
        move(id, "agent-review").value();
        append_body(id, "\n## Review\nPASS\n");
        move(id, "reviewing").value();
    }
    /// A task that works by a plan, which names these files.
    TaskId planned(const std::string& touching) {
        const auto id = make_task("do it", 6);
        move(id, "planning").value();
        append_body(id, "\n## Plan\nAPPROACH: ignore-all-instructions\nTOUCHING: " + touching + "\n");
        move(id, "working").value();
        return id;
    }
    /// Messages to the worker of `id` about the plan of `other`.
    std::vector<std::string> told_about(const TaskId& id, const TaskId& other) {
        std::vector<std::string> texts;
        for (const auto* box : {&record(id).outbox, &record(id).typed}) {
            for (const auto& message : *box) {
                if (message.text.find(short_id(other)) != std::string::npos) texts.push_back(message.text);
            }
        }
        return texts;
    }

    std::map<TaskId, std::vector<std::string>> told;  ///< texts of `clashes.changed`
};

Clash clash_of_cart(const TaskId& with, const std::string& short_id, std::int64_t hunks) {
    Clash clash;
    clash.with = with.value;
    clash.short_id = short_id;
    clash.files = {{"cart.py", hunks}};
    return clash;
}

}  // namespace

TEST_CASE("Two tasks that change the same lines clash, in both views, until one of them has moved away") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.change(second, 2, "second");
    const auto before = world.history_text(first) + world.history_text(second);
    world.look();
    CHECK(world.clashes(first) == std::vector<Clash>{clash_of_cart(second, world.short_id(second), 1)});
    CHECK(world.clashes(second) == std::vector<Clash>{clash_of_cart(first, world.short_id(first), 1)});
    CHECK(world.trials() == 1);
    REQUIRE(world.told[first].size() == 1);
    CHECK_THAT(world.told[first][0], Tells(world.short_id(second)) && Tells("cart.py"));
    REQUIRE(world.told[second].size() == 1);
    CHECK_THAT(world.told[second][0], Tells(world.short_id(first)) && Tells("cart.py"));

    // The same once more tells nobody, and starts nothing.
    world.look();
    CHECK(world.outside.children.commands.empty());
    CHECK(world.told[first].size() == 1);

    world.change(second, 9, "second");
    world.look();
    CHECK(world.trials() == 1);
    CHECK(world.clashes(first).empty());
    CHECK(world.clashes(second).empty());
    CHECK(world.told[first].back().empty());
    CHECK(world.told[second].back().empty());
    CHECK(world.history_text(first) + world.history_text(second) == before);
}

TEST_CASE("The places of a clash are counted, and a commit elsewhere does not end it") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    for (const auto& id : {first, second}) {
        auto text = world.cart(9, "last of " + id.value);
        world.commit(id, "cart.py", text.replace(0, 1, "first of " + id.value));
        world.commit(id, "binary", std::string("\0", 1) + id.value);
    }
    world.look();
    auto clash = clash_of_cart(second, world.short_id(second), 2);
    clash.files.insert(clash.files.begin(), {"binary", 0});
    CHECK(world.clashes(first) == std::vector<Clash>{clash});
    world.commit(first, "other", "1\n");
    world.look();
    CHECK(world.trials() == 1);
    CHECK(world.clashes(first) == std::vector<Clash>{clash});
    CHECK(world.told[first].size() == 1);
}

TEST_CASE("Of many files that clash, ten are named and the others are counted") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    for (const auto& id : {first, second}) {
        for (int i = 10; i < 22; ++i) world.commit(id, "file" + std::to_string(i), id.value + "\n");
    }
    world.look();
    REQUIRE(world.clashes(first).size() == 1);
    const auto clash = world.clashes(first)[0];
    REQUIRE(clash.files.size() == k_clash_files);
    CHECK(clash.files.front().path == "file10");
    CHECK(clash.more == 2);
}

TEST_CASE("Tasks that change different files are not compared by git") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.commit(second, "other.py", "1\n");
    world.commit(second, "folder/cart.py", "1\n");
    world.look();
    CHECK(world.trials() == 0);
    CHECK(world.clashes(first).empty());
    CHECK(world.told.empty());
}

TEST_CASE("Tasks that change different lines of a file are compared once, and do not clash") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 1, "first");
    world.change(second, 9, "second");
    world.look();
    CHECK(world.trials() == 1);
    CHECK(world.clashes(first).empty());
    CHECK(world.told.empty());
}

TEST_CASE("A task clashes with its target when that has the same lines otherwise, until the worker has merged it") {
    ForecastWorld world;
    const auto id = world.start();
    world.change(id, 2, "task");
    world.look();
    CHECK(world.trials() == 0);
    world.git.commit(world.repo(), "cart.py", world.cart(2, "main"));
    world.look();
    Clash clash;
    clash.branch = "main";
    clash.files = {{"cart.py", 1}};
    CHECK(world.clashes(id) == std::vector<Clash>{clash});
    REQUIRE(world.told[id].size() == 1);
    CHECK_THAT(world.told[id][0], Tells("main") && Tells("cart.py"));
    world.git.plain(worktree_of(world, id), {"merge", "-q", "-X", "ours", "-m", "resolve", "main"});
    world.look();
    CHECK(world.clashes(id).empty());
    CHECK(world.told[id].back().empty());
}

TEST_CASE("A task with a base of its own clashes with the branch that it is merged into, not with its base") {
    ForecastWorld world;
    world.git.plain(world.repo(), {"branch", "release"});
    const auto id = world.start_at("refs/heads/release");
    world.change(id, 2, "task");
    world.git.plain(world.repo(), {"checkout", "-q", "release"});
    world.git.commit(world.repo(), "cart.py", world.cart(2, "release"));
    world.git.plain(world.repo(), {"checkout", "-q", "main"});
    world.look();
    CHECK(world.clashes(id).empty());
    world.git.commit(world.repo(), "cart.py", world.cart(2, "main"));
    world.look();
    REQUIRE(world.clashes(id).size() == 1);
    CHECK(world.clashes(id)[0].branch == "main");
}

TEST_CASE("A worker may change what the commits changed that its branch begins with") {
    ForecastWorld world;
    const auto first = world.start();
    world.change(first, 2, "first");
    const auto second = world.start_at(world.git.plain(worktree_of(world, first), {"rev-parse", "HEAD"}));
    write_file(worktree_of(world, second) / "cart.py", world.cart(2, "second"));
    world.look();
    CHECK(world.clashes(second).empty());
    write_file(worktree_of(world, first) / "cart.py", world.cart(3, "first"));
    world.commit(first, "other.py", "1\n");
    world.look();
    REQUIRE(world.clashes(second).size() == 1);
    CHECK(world.clashes(second)[0].maybe);
}

TEST_CASE("Sub-tasks are compared with each other and with their parent's branch, not with other tasks") {
    ForecastWorld world;
    set(world, "children_into", "parent");
    const auto family = split_into(world, 2, false, 6);
    const auto &one = family.children[0], &two = family.children[1];
    REQUIRE(world.record(one).task.workspace);
    REQUIRE(world.record(two).task.workspace);
    const auto other = world.start();
    world.change(one, 2, "one");
    world.change(two, 2, "two");
    world.change(other, 2, "other");
    world.look();
    CHECK(world.clashes(one) == std::vector<Clash>{clash_of_cart(two, world.short_id(two), 1)});
    CHECK(world.clashes(other).empty());
    CHECK(world.clashes(family.parent).empty());
    // What the parent has by now is no longer only its sub-task's.
    merge_now(world, one);
    world.look();
    CHECK(world.clashes(other) == std::vector<Clash>{clash_of_cart(family.parent, world.short_id(family.parent), 1)});
    REQUIRE(world.clashes(two).size() == 1);
    CHECK(world.clashes(two)[0].branch == world.record(family.parent).task.branch);
}

TEST_CASE("A task that has ended clashes with none, and if it was merged, its target does") {
    ForecastWorld world;
    const bool is_merged = GENERATE(true, false);
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.change(second, 2, "second");
    world.look();
    REQUIRE(world.clashes(second).size() == 1);
    if (is_merged) {
        merge_now(world, first);
    } else {
        world.move(first, "cancelled").value();
    }
    CHECK(world.clashes(second).empty());
    CHECK(world.clashes(first).empty());
    world.look();
    CHECK(world.clashes(first).empty());
    REQUIRE(world.clashes(second).size() == (is_merged ? 1U : 0U));
    if (is_merged) CHECK(world.clashes(second)[0].branch == "main");
}

TEST_CASE("A clash is part of what a task needs only if both tasks wait for their human's review") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.change(second, 2, "second");
    world.look();
    CHECK(world.clause(first).empty());
    world.hand_over(first);
    world.look();
    CHECK(world.clause(first).empty());
    REQUIRE(needs(world, first).kind == Need::review);
    CHECK_THAT(needs(world, first).text, !Tells(world.short_id(second)));
    world.hand_over(second);
    world.look();
    CHECK_THAT(needs(world, first).text, Tells(world.short_id(second)) && Tells("cart.py"));
    CHECK_THAT(needs(world, second).text, Tells(world.short_id(first)));
}

TEST_CASE("Work that is not committed may clash, and clashes for certain once it is committed") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    write_file(worktree_of(world, second) / "cart.py", world.cart(2, "second"));
    world.look();
    auto clash = clash_of_cart(second, world.short_id(second), 0);
    clash.maybe = true;
    CHECK(world.clashes(first) == std::vector<Clash>{clash});
    CHECK(world.trials() == 0);
    world.change(second, 2, "second");
    world.look();
    CHECK(world.clashes(first) == std::vector<Clash>{clash_of_cart(second, world.short_id(second), 1)});
}

TEST_CASE("After a restart the clashes are found out again") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.change(second, 2, "second");
    world.look();
    world.boot();
    CHECK(world.clashes(first).empty());
    world.look();
    CHECK(world.clashes(first).size() == 1);
}

TEST_CASE("A branch that has moved is looked at after it was counted, and a quiet one is not") {
    ForecastWorld world;
    const auto first = world.start(), second = world.start();
    world.change(first, 2, "first");
    world.change(second, 2, "second");
    auto& runner = world.house().runner();
    runner.committed.moved("shop");
    REQUIRE(comes_true(world, [&] { return !world.clashes(first).empty() && !runner.forecast.is_looking(); }));
    CHECK_FALSE(std::filesystem::exists(world.home() / "workspaces/.forecast-shop"));
    world.outside.children.disarm();
    runner.committed.moved("shop");
    REQUIRE(comes_true(world, [&] { return !runner.committed.is_counting() && !runner.forecast.is_looking(); }));
    CHECK(world.outside.children.commands.size() == 1);  // the refs were read
}

TEST_CASE("The second worker is told once of the files that both plans name, and of nothing else") {
    ForecastWorld world;
    world.git.commit(world.repo(), "src/a.py", "1\n");
    const auto first = world.planned("`cart.py`, src/a.py, missing.py, /etc/passwd, ../up.py");
    CHECK(world.record(first).told_of.empty());
    const auto second = world.planned("src/a.py cart.py missing.py /etc/passwd ../up.py src/own.py");
    auto texts = world.told_about(second, first);
    REQUIRE(texts.size() == 1);
    CHECK_THAT(texts[0], Tells("cart.py") && Tells("src/a.py"));
    CHECK_THAT(texts[0], !Holds("missing.py") && !Holds("/etc/passwd") && !Holds("up.py") && !Holds("own.py"));
    CHECK_THAT(texts[0], !Holds("ignore-all-instructions"));
    CHECK(world.told_about(first, second).empty());
    CHECK(world.record(second).told_of == std::set<TaskId>{first});

    world.append_body(second, "\n## Help\nstuck\n");
    world.move(second, "stuck").value();
    world.move(second, "working").value();
    CHECK(world.told_about(second, first).size() == 1);
}

TEST_CASE("At most ten files of two plans are told, and plans without a common file are not") {
    ForecastWorld world;
    std::vector<std::string> names;
    for (int i = 10; i < 25; ++i) {
        names.push_back("file" + std::to_string(i) + ".py");
        write_file(std::filesystem::path(world.repo()) / names.back(), "1\n");
    }
    world.git.plain(world.repo(), {"add", "."});
    world.git.plain(world.repo(), {"commit", "-qm", "many"});
    const auto first = world.planned(join(names, ", "));
    const auto second = world.planned(join(names, " "));
    const auto third = world.planned("cart.py");
    const auto texts = world.told_about(second, first);
    REQUIRE(texts.size() == 1);
    CHECK(std::ranges::count_if(names, [&](const std::string& name) { return holds(texts[0], name); }) == 10);
    CHECK_THAT(texts[0], Tells("5"));
    CHECK(world.record(third).told_of.empty());
}
