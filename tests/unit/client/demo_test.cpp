// The tour against a daemon that plays the task's life in one breath.
#include <map>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using test::FakeDaemon;

namespace {

std::string event(Json fields) {
    return dump({{"jsonrpc", "2.0"},
                 {"method", "event"},
                 {"params", {{"cursor", "c"}, {"task", "t"}, {"project", "p"}, {"event", std::move(fields)}}}}) +
           "\n";
}

std::string moved(const char* from, const char* to) {
    return event({{"type", "status.changed"}, {"from", from}, {"to", to}, {"by", "worker"}});
}

Json task(const std::string& status) {
    return {{"fields", {{"id", "4f2aBcDeFgHiJkLmNoPqR"}, {"status", status}}},
            {"path", "/t"},
            {"worker", "none"},
            {"reviewer", "none"}};
}

struct Tour {
    test::Ran run(std::vector<std::string> words) {
        words.insert(words.begin(), {ORANGE_BINARY_DIR "/bin/orange", "demo"});
        std::filesystem::create_directories(scratch);
        daemon.meet();
        auto ran =
            test::run(words, {"ORANGE_HOME=" + folder.path().string(), "TMPDIR=" + scratch.string(), "HOME=/nowhere"},
                      folder.path());
        daemon.meet();
        return ran;
    }
    std::vector<std::string> answer(const Json& request) {
        const std::string method = request["method"].get<std::string>();
        Json result = results[method];
        if (method == "project.add") {
            result = {{"project", request["params"]}};
            for (const char* key : {"workflow", "default_branch"}) result["project"][key] = "x";
            result["project"]["active_tasks"] = 0;
            result["project"].erase("setup");
        }
        return {FakeDaemon::reply(request, result) + events[method]};
    }
    std::vector<std::string> methods() const {
        std::vector<std::string> all;
        for (const auto& request : daemon.requests()) all.push_back(request["method"].get<std::string>());
        return all;
    }

    test::TemporaryFolder folder;
    std::filesystem::path scratch = folder.path() / "scratch";
    std::map<std::string, Json> results = {
        {"events.subscribe", {{"cursor", "0"}, {"resync", false}}},
        {"task.create", {{"task", task("pending")}}},
        {"task.merge", {{"task", task("done")}, {"commit", "0123"}, {"pushed", false}}},
        {"task.respawn", {{"tasks", Json::array()}}},
        {"task.delete", {{"id", "x"}}},
        {"task.why", {{"task", task("stuck")}, {"waiting_for", "a human's word"}, {"edges", Json::array()}}},
        {"project.remove", {{"notes", Json::array()}}},
        {"workspace.list", {{"workspaces", {{{"name", "d--1"}, {"project", "d"}, {"path", "/w"}, {"state", "free"}}}}}},
    };
    std::map<std::string, std::string> events;
    FakeDaemon daemon{folder.path() / "orange.sock", [this](const Json& r) { return answer(r); }};
};

}  // namespace

TEST_CASE("The tour prints each step as it happens, merges, and leaves nothing behind") {
    Tour tour;
    tour.events["task.create"] = moved("pending", "planning") + moved("planning", "working") +
                                 moved("working", "agent-review") + moved("agent-review", "working") +
                                 moved("working", "agent-review") + moved("agent-review", "reviewing");
    tour.events["task.merge"] = moved("reviewing", "done");
    const auto ran = tour.run({});
    INFO(ran.err);
    CHECK(ran.status == 0);
    std::size_t at = 0;
    for (const char* step : {"project add", "orange create", "pending → planning", "agent-review → working", "FAIL",
                             "agent-review → reviewing", "PASS", "orange merge", "reviewing → done", "Begin",
                             "workspace d--1: free", "Done"}) {
        CAPTURE(step);
        const auto found = ran.out.find(step, at);
        CHECK(found != std::string::npos);
        if (found != std::string::npos) at = found;
    }
    CHECK(std::filesystem::is_empty(tour.scratch));
    CHECK(tour.methods() == std::vector<std::string>{"project.add", "events.subscribe", "task.create", "task.merge",
                                                     "workspace.list", "task.delete", "project.remove"});
    const auto requests = tour.daemon.requests();
    CHECK(requests[0]["params"]["harness"] == "demo");
    CHECK(requests[1]["params"]["project"] == requests[0]["params"]["name"]);
    CHECK_THAT(requests[2]["params"]["summary"].get<std::string>(), Tells("demo:fail-once"));
}

TEST_CASE("A tour that gets stuck says why, cleans up and fails, and --keep leaves everything and says where") {
    Tour tour;
    tour.events["task.create"] = moved("working", "stuck");
    auto ran = tour.run({});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("stuck"));
    CHECK(std::filesystem::is_empty(tour.scratch));
    ran = tour.run({"--keep"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.out, Tells("orange project remove demo-") && Tells("rm -r " + tour.scratch.string()));
    CHECK_FALSE(std::filesystem::is_empty(tour.scratch));
}

TEST_CASE("A tour that nothing happens on ends at its time limit", "[slow]") {
    Tour tour;
    const auto ran = tour.run({"--timeout", "1"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("1"));
    CHECK(std::filesystem::is_empty(tour.scratch));
}

TEST_CASE("A crashed worker is respawned as a human would, and every event is a line of JSON with --json") {
    Tour tour;
    tour.events["task.create"] = event({{"type", "agent.crashed"}, {"role", "worker"}});
    tour.events["task.respawn"] = moved("agent-review", "reviewing");
    const auto ran = tour.run({"--crash", "--json"});
    CHECK(ran.status == 0);
    for (const auto line : split_lines(ran.out)) CHECK(parse_json(line));
    CHECK(split_lines(ran.out).size() == 3);
    const auto requests = tour.daemon.requests();
    CHECK_THAT(requests[2]["params"]["summary"].get<std::string>(), Tells("demo:crash-once"));
    CHECK(requests[3]["method"] == "task.respawn");
}
