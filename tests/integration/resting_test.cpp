#include <filesystem>
#include <map>

#include "common/rpc/event_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/doctor.hpp"

/// Tasks that have ended before the daemon started: it has only their briefs in memory. Every command has to work with
/// them as with tasks whose records are in memory.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

struct Ended {
    Sandbox orange{"poll_interval: 3600\n"};
    fs::path repository = orange.add_project("shop");
    std::string merged, cancelled, parent, part, waiting;

    Ended() {
        merged = orange.create("shop", "Add a greeting");
        orange.wait_for_status(merged, "reviewing");
        rpc::TaskMerge merge;
        merge.id = merged;
        orange.call(merge);
        parent = orange.create("shop", "The whole", true);
        rpc::TaskCreate create;
        create.parent = parent;
        create.summary = "A part";
        create.no_spawn = true;
        part = orange.call(create).task.fields.id.value;
        create.parent.reset();
        create.project = "shop";
        create.summary = "Something later";
        create.blocked_by = {part};
        waiting = orange.call(create).task.fields.id.value;
        cancelled = orange.create("shop", "Never mind", true);
        for (const auto& id : {part, cancelled}) orange.update_status(id, "cancelled").value();
        restart();
    }
    void restart() {
        orange.stop_daemon();
        orange.start_daemon();
    }
    Ran run(std::vector<std::string> words) { return orange.orange(std::move(words), repository); }
    Json json(std::vector<std::string> words) {
        words.emplace_back("--json");
        const auto ran = run(words);
        INFO(ran.out + ran.err);
        CHECK(ran.status == 0);
        return Json::parse(ran.out);
    }
    std::set<std::string> listed(std::vector<std::string> words) {
        std::set<std::string> ids;
        const auto list = json(std::move(words));
        for (const auto& task : list.at("tasks")) ids.insert(task.at("fields").at("id").get<std::string>());
        return ids;
    }
    /// Returns the name of the command's error; empty: it succeeded.
    std::string error_of(std::vector<std::string> words) {
        words.emplace_back("--json");
        const auto ran = run(words);
        if (ran.status == 0) return {};
        return Json::parse(ran.out).at("error").at("data").at("name").get<std::string>();
    }
    fs::path state_of(const std::string& id) { return orange.folder(id) / "state.json"; }
    void remove(const std::string& id) {
        rpc::TaskDelete doomed;
        doomed.id = id;
        orange.call(doomed);
    }
};

using TaskIds = std::set<std::string>;

}  // namespace

TEST_CASE("An ended task is found by its id, its branch and its words, and shown with all that it has") {
    Ended home;
    const auto branch = home.orange.fields(home.cancelled).at("branch").get<std::string>();
    for (const auto& name : {home.cancelled, home.cancelled.substr(0, 8), branch, std::string("never mind")}) {
        INFO(name);
        CHECK(home.json({"task", "show", name}).at("task").at("fields").at("id") == home.cancelled);
    }
    const auto shown = home.json({"task", "show", home.merged});
    CHECK(shown.at("task").at("fields").at("status") == "done");
    CHECK(shown.at("task").at("means") == "done");
    CHECK_FALSE(shown.at("history").empty());
    CHECK_FALSE(shown.at("body").get<std::string>().empty());
    CHECK(home.orange.history(home.merged, "status.changed").back().at("to") == "done");
    CHECK(home.json({"task", "why", home.merged}).at("task").at("fields").at("status") == "done");
    CHECK(home.run({"task", "log", home.merged}).status == 0);
    CHECK(home.run({"task", "history", home.merged}).status == 0);
    const auto diff = home.run({"task", "diff", home.merged});
    CHECK(diff.status == 0);  // of its merge: its branch was removed
    CHECK_THAT(diff.out, Holds("+++ b/"));
    CHECK(home.run({"task", "wait", home.merged, "--for", "ended"}).status == 0);
    CHECK(home.run({"task", "wait", home.merged, "--for", "working"}).status != 0);
}

TEST_CASE("Lists, searches and events have ended tasks") {
    Ended home;
    const TaskIds open = {home.parent, home.waiting}, ended = {home.merged, home.cancelled, home.part};
    auto all = open;
    all.insert(ended.begin(), ended.end());
    CHECK(home.listed({"task", "list"}) == open);
    CHECK(home.json({"task", "list"}).at("hidden") == 3);
    CHECK(home.listed({"task", "list", "--all"}) == all);
    CHECK(home.listed({"task", "list", "--all", "--everywhere"}) == all);
    CHECK(home.listed({"task", "list", "--all", "--search", "greeting"}) == TaskIds{home.merged});
    CHECK(home.json({"task", "list", "--search", "greeting"}).at("hidden") == 1);
    CHECK(home.listed({"task", "list", "--status", "cancelled"}) == TaskIds{home.cancelled, home.part});
    CHECK(home.listed({"task", "list", "--all", "--limit", "3"}).size() == 3);
    CHECK(home.run({"task", "tree", "--all"}).out.find("A part") != std::string::npos);
    rpc::EventsList events;
    events.limit = 4096;
    events.task = home.merged;
    const auto its = home.orange.call(events).events;
    REQUIRE_FALSE(its.empty());
    for (const auto& event : its) CHECK(event.task == home.merged);
    events.task.reset();
    std::set<std::string> tasks;
    for (const auto& event : home.orange.call(events).events) tasks.insert(event.task);
    CHECK(tasks == all);
}

TEST_CASE("Other tasks know their ended sub-tasks, parents and blockers") {
    Ended home;
    const auto shown = home.json({"task", "show", home.parent});
    REQUIRE(shown.at("children").size() == 1);
    CHECK(shown.at("children")[0].at("status") == "cancelled");
    CHECK(home.json({"task", "show", home.part}).at("parent").at("id") == home.parent);
    const auto waits = home.json({"task", "show", home.waiting}).at("task");
    CHECK(waits.at("blockers")[0].at("state") == "gone");
    CHECK(waits.at("needs").at("kind") != "nothing");
    CHECK(home.error_of({"task", "create", "x", "--no-spawn", "--blocked-by", home.cancelled}) == "conflict");
    const auto next = home.json({"task", "create", "x", "--no-spawn", "--blocked-by", home.merged}).at("task");
    CHECK(next.at("blockers")[0].at("state") == "done");
    CHECK(home.error_of({"task", "create", "x", "--no-spawn", "--parent", home.merged}) == "conflict");
    CHECK(home.run({"task", "update", home.waiting, "--unblock", home.part}).status == 0);
    // The blocker's branch is gone, but where it was is known.
    const auto base = home.orange.fields(home.merged).at("branch").get<std::string>();
    const auto stacked =
        home.json({"task", "create", "y", "--no-spawn", "--blocked-by", home.merged, "--base", base}).at("task");
    CHECK(stacked.at("fields").at("base") == "refs/heads/" + base);
}

TEST_CASE("What an ended task can do no more is refused, and what it can is done and stays") {
    Ended home;
    for (const auto* command : {"spawn", "respawn", "stop", "complete", "cancel", "merge", "update-branch"}) {
        INFO(command);
        const auto error = home.error_of({"task", command, home.cancelled});
        CHECK_FALSE(error.empty());
        CHECK(error != "not_found");
        CHECK(error != "internal");
    }
    CHECK(home.run({"task", "ack", home.cancelled}).status == 0);
    CHECK(home.run({"task", "update", home.cancelled, "--summary", "Never again"}).status == 0);
    CHECK(home.run({"task", "restore", home.merged, "--branch", "again"}).status == 0);
    CHECK_FALSE(home.orange.git({"rev-parse", "again"}, home.repository).empty());
    home.restart();
    CHECK(home.orange.fields(home.cancelled).at("summary") == "Never again");
    CHECK(home.listed({"task", "list", "--all", "--search", "never again"}) == TaskIds{home.cancelled});
    // An ended task keeps no branch from others.
    const auto branch = home.orange.fields(home.cancelled).at("branch").get<std::string>();
    CHECK(home.run({"task", "create", "x", "--no-spawn", "--branch", branch}).status == 0);
}

TEST_CASE("Ended tasks are deleted, and a project goes with ended tasks left") {
    Ended home;
    home.remove(home.merged);
    home.remove(home.part);
    CHECK(home.error_of({"task", "show", home.merged}) == "not_found");
    CHECK(home.json({"task", "show", home.waiting}).at("task").at("blockers")[0].at("state") == "gone");
    CHECK(home.error_of({"project", "remove", "shop"}) == "conflict");
    for (const auto& id : {home.parent, home.waiting}) home.orange.update_status(id, "cancelled").value();
    home.restart();
    CHECK(home.run({"project", "remove", "shop"}).status == 0);
    CHECK(home.listed({"task", "list", "--all", "--everywhere"}) == TaskIds{home.parent, home.waiting, home.cancelled});
    home.remove(home.cancelled);
    CHECK(home.listed({"task", "list", "--all", "--everywhere"}) == TaskIds{home.parent, home.waiting});
}

TEST_CASE("An ended task whose state.json is broken or gone says so, is found by doctor, and can be deleted") {
    Ended home;
    const auto file = home.state_of(home.cancelled), file_of_part = home.state_of(home.part);
    const auto whole = read_file(file);
    auto odd = whole;
    const auto at = odd.find("\"created_at\"");
    odd.insert(at, "\"blocked_by\": 5, ");  // which no brief needs
    const std::vector<std::string> texts = {whole.substr(0, whole.size() / 2), odd, ""};
    for (const auto& text : texts) {
        INFO(text);
        if (text.empty()) fs::remove(file);
        if (!text.empty()) write_file(file, text);
        const auto refused = home.run({"task", "show", home.cancelled});
        CHECK(refused.status == 1);
        CHECK_THAT(refused.err, Holds("state.json"));
        CHECK_THAT(refused.err, !Holds("delete") && !Holds("there is no task"));
        CHECK_THAT(home.run({"task", "create", "x", "--no-spawn", "--parent", home.cancelled}).err,
                   Holds("state.json"));
        CHECK_THAT(home.run({"task", "wait", home.cancelled}).err, Holds("state.json"));
        CHECK(diagnose(home.orange).command("tasks").starts_with("orange task delete "));
    }
    const auto branch = home.orange.run({"git", "-C", home.repository.string(), "branch", "--list"});
    rpc::TaskDelete doomed;
    doomed.id = home.cancelled;
    CHECK_FALSE(home.orange.call(doomed).notes.empty());
    CHECK_FALSE(fs::exists(file.parent_path()));
    CHECK(home.orange.run({"git", "-C", home.repository.string(), "branch", "--list"}) == branch);
    CHECK(diagnose(home.orange).said("tasks").empty());
    // A file that is whole and says that the task goes on, or that a newer Orange wrote, is no broken file.
    const auto part = Json::parse(read_file(file_of_part));
    auto goes_on = part, newer = part;
    goes_on["ended"] = false;
    goes_on["fields"]["status"] = "pending";
    newer["schema"] = 99;
    for (const auto& json : {goes_on, newer}) {
        write_file(file_of_part, json.dump());
        CHECK(home.error_of({"task", "delete", "--yes", home.part}) == "conflict");
        CHECK(home.error_of({"task", "delete", "--yes", "--force", home.part}) == "conflict");
        CHECK(read_file(file_of_part) == json.dump());
    }
}

TEST_CASE("No command changes a task that cannot be read since the start, whatever its TASK.md says") {
    Ended home;
    const std::map<std::string, fs::path> folders = {{home.cancelled, home.orange.folder(home.cancelled)},
                                                     {home.merged, home.orange.folder(home.merged)}};
    home.orange.stop_daemon();
    auto goes_on = Json::parse(read_file(folders.at(home.cancelled) / "state.json"));
    goes_on["schema"] = 99;
    goes_on["ended"] = false;
    goes_on["fields"]["status"] = "working";  // but TASK.md says cancelled
    write_file(folders.at(home.cancelled) / "state.json", goes_on.dump());
    write_file(folders.at(home.merged) / "state.json", "{");
    home.orange.start_daemon();
    for (const auto& [id, folder] : folders) {
        const auto before = read_file(folder / "state.json");
        for (const auto& name : {id, id.substr(0, 8)}) {
            INFO(name);
            CHECK(home.error_of({"task", "delete", "--yes", name}) == "conflict");
            CHECK(home.error_of({"task", "delete", "--yes", "--force", name}) == "conflict");
            CHECK(home.error_of({"task", "update", name, "--summary", "x"}) == "conflict");
            CHECK_THAT(home.run({"task", "show", name}).err, Holds(folder.string()));
        }
        CHECK(read_file(folder / "state.json") == before);
        CHECK(fs::exists(folder / "TASK.md"));
    }
    for (const auto& [id, folder] : folders) fs::remove_all(folder);
    home.restart();
    CHECK(home.listed({"task", "list", "--all"}) == TaskIds{home.part, home.waiting, home.parent});
}

TEST_CASE("A task that ends between two pages is in one of them, and so is one that goes on") {
    Ended home;
    rpc::TaskList list;
    list.all = true;
    list.after = "";
    const auto first = home.orange.call(list);
    CHECK_FALSE(first.next);
    // The daemon says where a page ends; a client that asks for less of it is this test.
    const auto& newest = first.tasks.at(first.tasks.size() - 3).fields;  // the first of the three that have ended
    list.after = to_rfc3339(newest.created_at) + " " + newest.id.value;
    const auto ids = [&] {
        std::set<std::string> behind;
        for (const auto& task : home.orange.call(list).tasks) behind.insert(task.fields.id.value);
        return behind;
    };
    const auto before = ids();
    CHECK(before == TaskIds{home.merged, home.part, home.parent, home.waiting});
    home.orange.update_status(home.parent, "cancelled").value();
    CHECK(ids() == before);
}

}  // namespace orange::tests
