#include "daemon/engine/blocking.hpp"

#include <algorithm>
#include <map>

#include "daemon/engine/needs.hpp"
#include "daemon/engine/offers.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

using Graph = std::map<std::string, std::vector<std::string>>;

std::vector<TaskId> ids(const std::vector<std::string>& names) {
    std::vector<TaskId> all;
    for (const auto& name : names) all.push_back({name});
    return all;
}

/// "a b a" for a cycle.
std::string cycle(const Graph& graph, const std::string& task, const std::vector<std::string>& blockers,
                  int* looks = nullptr) {
    const auto of = [&](const TaskId& id) {
        if (looks) ++*looks;
        const auto found = graph.find(id.value);
        return found == graph.end() ? std::vector<TaskId>() : ids(found->second);
    };
    std::string text;
    for (const auto& id : cycle_through({task}, ids(blockers), of)) text += (text.empty() ? "" : " ") + id.value;
    return text;
}

}  // namespace

TEST_CASE("A cycle is found and is told as the way that the waiting goes") {
    const Graph graph = {{"b", {"c"}}, {"c", {"d", "e"}}, {"e", {"f"}}};
    CHECK(cycle(graph, "a", {"b"}).empty());
    CHECK(cycle(graph, "e", {"e"}) == "e e");
    CHECK(cycle(graph, "c", {"b"}) == "c b c");
    CHECK(cycle(graph, "f", {"x", "b"}) == "f b c e f");
    CHECK(cycle({}, "a", {}).empty());
}

TEST_CASE("A cycle that the task is no part of is none of its, and ends the search") {
    const Graph graph = {{"b", {"c"}}, {"c", {"b"}}};
    CHECK(cycle(graph, "a", {"b"}).empty());
}

TEST_CASE("However many ways lead to a task, it is looked at once") {
    Graph graph;
    for (int i = 0; i < 60; ++i) {
        for (const auto* side : {"l", "r"}) {
            graph[side + std::to_string(i)] = {"l" + std::to_string(i + 1), "r" + std::to_string(i + 1)};
        }
    }
    int looks = 0;
    CHECK(cycle(graph, "a", {"l0", "r0"}, &looks).empty());
    CHECK(looks == 122);
}

TEST_CASE("A chain of many thousand tasks is followed to its end", "[slow]") {
    Graph graph;
    for (int i = 0; i < 20'000; ++i) graph["t" + std::to_string(i)] = {"t" + std::to_string(i + 1)};
    CHECK(cycle(graph, "a", {"t0"}).empty());
    graph["t20000"] = {"a"};
    CHECK(cycle(graph, "a", {"t0"}).ends_with("t19999 t20000 a"));
}

TEST_CASE("A task that waits for others leaves its first state only to end") {
    const auto definition = small_definition();
    TaskRecord record;
    record.task.id.value = "4f2a";
    record.task.status = definition.initial().name;
    record.task.blocked_by = ids({"aaaa", "bbbb"});
    record.blockers_done = {TaskId{"aaaa"}};
    CHECK(record.waits_for() == ids({"bbbb"}));
    Decision start;
    start.from = record.task.status;
    start.to = "working";
    Decision end = start;
    end.to = "cancelled";
    const auto refused = may_leave(record, definition, start, "it waits for bbbb");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::guard_failed);
    CHECK(refused.error().message == "it waits for bbbb");
    CHECK(may_leave(record, definition, end, "bbbb"));
    record.blockers_done.insert(TaskId{"bbbb"});
    CHECK(may_leave(record, definition, start, ""));
}

TEST_CASE("What waits for others needs nothing while they can be done, and help when one cannot") {
    const auto definition = small_definition();
    TaskRecord record;
    record.task.id.value = "4f2a";
    record.task.status = definition.initial().name;
    record.task.blocked_by = ids({"aaaa"});
    record.queued = true;
    NeedFacts sight;
    sight.room = true;
    sight.waits_for = "aaaa";
    CHECK(needs_of(definition, record, sight).kind == Need::nothing);
    CHECK_THAT(needs_of(definition, record, sight).text, Tells("aaaa"));
    sight.gone = "aaaa";
    CHECK(needs_of(definition, record, sight).kind == Need::help);
    CHECK(needs_of(definition, record, sight).command == task_command("update", "4f2a", "--unblock aaaa"));
    // It is no use to start it by hand; to have it started later is one.
    const auto offers = [&] { return offers_of(definition, record, {}); };
    const auto now = offers();
    CHECK(std::ranges::find(now, "spawn") == now.end());
    record.queued = false;
    const auto all = offers();
    CHECK(std::ranges::find(all, "spawn") != all.end());
    record.blockers_done = {TaskId{"aaaa"}};
    CHECK(needs_of(definition, record, {}).kind == Need::start);
}
