#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/text.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/sandbox.hpp"

/// Many tasks that have ended: of each only what lists show is in the daemon's memory, and lists come in pages.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

constexpr int k_ended = 600;

std::string with(std::string text, const std::string& word, const std::string& by) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
        text.replace(at, word.size(), by);
    }
    return text;
}

/// A home with one open task, and with ended ones that are copies of each other.
struct Home {
    Sandbox orange{"poll_interval: 3600\n"};
    fs::path repository = orange.add_project("shop");
    std::string open = orange.create("shop", "open", true);
    std::set<std::string> ended;

    Home() {
        const auto first = orange.create("shop", "ended", true);
        orange.update_status(first, "cancelled").value();
        const auto folder = orange.folder(first);
        orange.stop_daemon();
        for (int n = 0; n < k_ended; ++n) {
            const auto id = std::to_string(100000 + n) + first.substr(6);
            ended.insert(id);
            fs::create_directory(folder.parent_path() / id);
            for (const auto* name : {"state.json", "TASK.md", "history.jsonl"}) {
                write_file(folder.parent_path() / id / name, with(read_file(folder / name), first, id));
            }
        }
        ended.insert(first);
        orange.start_daemon();
    }

    rpc::TaskList::Reply page(const std::string& after) {
        rpc::TaskList list;
        list.all = true;
        list.after = after;
        return orange.call(list);
    }
};

std::set<std::string> ids_of(const Json& reply) {
    std::set<std::string> ids;
    for (const auto& task : reply.at("tasks")) ids.insert(task.at("fields").at("id").get<std::string>());
    return ids;
}

}  // namespace

TEST_CASE("A list of ended tasks comes in pages, in which no task is missing or comes twice") {
    Home home;
    const auto first = home.page("");
    REQUIRE(first.next);
    REQUIRE_FALSE(first.tasks.empty());
    CHECK(first.tasks.front().fields.id.value == home.open);
    std::vector<std::string> seen;
    for (const auto& task : first.tasks) seen.push_back(task.fields.id.value);
    // Meanwhile the last task of the page and one of the next pages are deleted, and one is created.
    std::string other;
    for (const auto& id : home.ended) {
        if (other.empty() && std::ranges::find(seen, id) == seen.end()) other = id;
    }
    for (const auto& id : {seen.back(), other}) {
        rpc::TaskDelete doomed;
        doomed.id = id;
        home.orange.call(doomed);
    }
    home.orange.create("shop", "new", true);
    auto next = first.next;
    while (next) {
        const auto page = home.page(*next);
        for (const auto& task : page.tasks) {
            if (task.fields.id.value != home.open) seen.push_back(task.fields.id.value);  // it was in the first page
        }
        next = page.next;
    }
    const std::set<std::string> all(seen.begin(), seen.end());
    CHECK(all.size() == seen.size());
    auto wanted = home.ended;
    wanted.insert(home.open);
    wanted.erase(other);
    CHECK(all == wanted);
    rpc::TaskList list;
    list.all = true;
    list.after = "yesterday";
    const auto refused = home.orange.try_call(list);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("The client prints the pages as one list") {
    Home home;
    auto wanted = home.ended;
    wanted.insert(home.open);
    const auto whole = home.orange.orange({"task", "list", "--all", "--json"}, home.repository);
    REQUIRE(whole.status == 0);
    const auto json = Json::parse(whole.out);
    CHECK(ids_of(json) == wanted);
    CHECK(json.at("tasks").size() == wanted.size());
    CHECK_FALSE(json.contains("next"));
    rpc::TaskList list;
    list.all = true;
    auto reply = home.orange.call(list);
    CHECK(reply.tasks.size() == wanted.size());
    CHECK_FALSE(reply.next);
    const auto table = home.orange.orange({"task", "list", "--all"}, home.repository);
    REQUIRE(table.status == 0);
    CHECK(split_lines(table.out).size() == 1 + wanted.size());
    const auto form = home.orange.orange({"task", "list", "--all", "--format", "{id}"}, home.repository);
    REQUIRE(form.status == 0);
    CHECK(split_lines(form.out).size() == wanted.size());
    const auto some = home.orange.orange({"task", "list", "--all", "--limit", "300"}, home.repository);
    CHECK(split_lines(some.out).size() == 1 + 300 + 1);  // the last line counts the tasks that are not shown
    const auto cancelled = home.orange.orange({"task", "list", "--status", "cancelled", "--json"}, home.repository);
    CHECK(ids_of(Json::parse(cancelled.out)) == home.ended);
}

TEST_CASE("An ended task is named, shown and waited for like any other, and says so if its file is broken") {
    Home home;
    const auto id = *home.ended.begin();
    rpc::TaskShow show;
    show.id = id.substr(0, 6);
    CHECK(home.orange.call(show).task.fields.id.value == id);
    show.id = "orange-tasks/" + id;
    CHECK(home.orange.call(show).task.fields.id.value == id);
    rpc::TaskCreate again;
    again.project = "shop";
    again.id = id;
    again.no_spawn = true;
    CHECK(home.orange.call(again).task.fields.status == "cancelled");  // the same creation, asked for again
    again.id.reset();
    again.blocked_by = {id};
    const auto refused = home.orange.try_call(again);  // a cancelled task will never be done
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);

    const auto file = home.orange.folder(id) / "state.json";
    const auto text = read_file(file);
    home.orange.stop_daemon();
    home.orange.start_daemon();  // which has not read the whole of any ended task
    write_file(file, text.substr(0, 100));
    CHECK_FALSE(home.orange.try_call(show));
    rpc::TaskList list;
    list.all = true;
    const auto reply = home.orange.call(list);
    const auto broken = std::ranges::find_if(reply.tasks, [](const auto& task) { return task.unreadable.has_value(); });
    REQUIRE(broken != reply.tasks.end());
    CHECK(broken->fields.id.value == id);
    CHECK(broken->fields.summary == "ended");
    CHECK(read_file(file) == text.substr(0, 100));
    write_file(file, text);
    CHECK(home.orange.call(show).task.fields.id.value == id);
}

}  // namespace orange::tests
