#include "client/output/tree.hpp"

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;
using output::tree_json;
using output::tree_of;
using output::tree_page;
using output::TreeTask;

namespace {

TreeTask tree_task(const std::string& id, const std::vector<std::string>& blocked_by = {},
                   const std::string& summary = "") {
    return {id, id, "pending", summary.empty() ? "Task " + id : summary, blocked_by, blocked_by};
}

rpc::TaskView view(const std::string& id, int age, const std::vector<rpc::RelatedTask>& blockers = {}) {
    rpc::TaskView view;
    view.fields.id.value = view.short_id = id;
    view.fields.status = "pending";
    view.fields.branch = "branch-" + id;
    view.fields.created_at = Timestamp{std::chrono::seconds(1000 - age)};
    view.blockers = blockers;
    return view;
}

rpc::RelatedTask blocker(const std::string& id, const std::string& state, const std::string& status) {
    return {id, id, state, status, "shop", "Blocker"};
}

std::vector<std::string> drawn(const std::vector<TreeTask>& tasks) {
    std::vector<std::string> ids;
    for (const auto& task : tasks) ids.push_back(task.id);
    return ids;
}

}  // namespace

TEST_CASE("A chain, a fork and a diamond are drawn, each task whole once") {
    const auto page = tree_page({tree_task("aaaa"), tree_task("bbbb", {"aaaa"}), tree_task("cccc", {"aaaa"}),
                                 tree_task("dddd", {"bbbb", "cccc"}), tree_task("eeee", {"dddd"}), tree_task("ffff"),
                                 tree_task("gggg", {"ffff"})},
                                {});
    CHECK(page ==
          "aaaa  pending  Task aaaa\n"
          "|-- bbbb  pending  Task bbbb\n"
          "|   `-- dddd  pending  Task dddd\n"
          "|       `-- eeee  pending  Task eeee\n"
          "`-- cccc  pending  Task cccc\n"
          "    `-- dddd  (above)\n"
          "ffff  pending  Task ffff\n"
          "`-- gggg  pending  Task gggg\n");
}

TEST_CASE("A drawing is never wider than its screen, and no task is left out of it, however deep or round it is") {
    std::vector<TreeTask> tasks = {tree_task("t0", {"t499"}, std::string(300, 'w'))};
    for (int i = 1; i < 500; ++i) {
        tasks.push_back(
            tree_task("t" + std::to_string(i), {"t" + std::to_string(i - 1)}, "Über " + std::string(200, 'x')));
    }
    for (const std::size_t width : {60, 80, 200}) {
        const auto page = tree_page(tasks, {false, width});
        CHECK(split_lines(page).size() == 501);  // the first one again below the last
        for (const auto line : split_lines(page)) CHECK(columns_of(line) <= width);
    }
}

TEST_CASE("What a summary says is printable in a drawing") {
    CHECK(tree_page({tree_task("aaaa", {}, "a\x1b[2J")}, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("The drawing has who waits and who is waited for, the ended ones too, oldest first") {
    const std::vector<rpc::TaskView> views = {
        view("cccc", 1, {blocker("bbbb", "open", "working"), blocker("gone", "gone", "")}),
        view("lone", 2),
        view("bbbb", 3, {blocker("ended", "done", "done")}),
    };
    const auto tree = tree_of(views);
    CHECK(drawn(tree) == std::vector<std::string>{"ended", "bbbb", "gone", "cccc"});
    CHECK(tree[0].status == "done");
    CHECK(tree[2].status == "deleted");
    CHECK(tree[3].blocked_by == std::vector<std::string>{"bbbb", "gone"});
    CHECK(tree[1].waits_for.empty());
    CHECK(tree_of({view("lone", 1)}).empty());
    const auto json = tree_json(tree);
    CHECK(json["tasks"][3]["waits_for"] == Json({"bbbb", "gone"}));
}

TEST_CASE("About one task the drawing has what is connected with it, in both directions") {
    const std::vector<rpc::TaskView> views = {view("aaaa", 9), view("bbbb", 8, {blocker("aaaa", "open", "working")}),
                                              view("cccc", 7, {blocker("aaaa", "open", "working")}), view("xxxx", 6),
                                              view("yyyy", 5, {blocker("xxxx", "open", "working")})};
    CHECK(drawn(tree_of(views, "bbbb")) == std::vector<std::string>{"aaaa", "bbbb", "cccc"});
    CHECK(drawn(tree_of(views, "yyyy")) == std::vector<std::string>{"xxxx", "yyyy"});
    CHECK(tree_of(views, "none").empty());
}

TEST_CASE("Sub-tasks stand below their task, or below the sibling that they wait for") {
    auto whole = view("aaaa", 9), first = view("bbbb", 8),
         second = view("cccc", 7, {blocker("bbbb", "open", "pending")});
    whole.children = {"bbbb", "cccc", "dddd"};
    whole.children_done = 1;
    first.fields.parent.value = second.fields.parent.value = "aaaa";
    const auto tree = tree_of({second, first, whole, view("lone", 1)});
    CHECK(drawn(tree) == std::vector<std::string>{"aaaa", "bbbb", "cccc"});
    const auto lines = tree_page(tree, {});
    CHECK_THAT(lines, Holds("aaaa  pending 1/3  ") && Holds("\n`-- bbbb  ") && Holds("\n    `-- cccc  "));
    CHECK(drawn(tree_of({second, first, whole}, "cccc")) == std::vector<std::string>{"aaaa", "bbbb", "cccc"});
    CHECK(tree_json(tree)["tasks"][1]["parent"] == "aaaa");
    CHECK(drawn(tree_of({first})).empty());  // its task has ended, and is not in the list
}
