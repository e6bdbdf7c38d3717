#include "common/model/json.hpp"

#include <functional>

#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

const Timestamp k_time{1795258143120ms};

Task some_task() {
    Task task;
    task.id.value = "4f2aBcDeFgHiJkLmNoPqR";
    task.project = "shop";
    task.branch = "fix/total";
    task.workflow = "relay";
    task.workflow_hash = "0011";
    task.harness = "demo";
    task.review_harness = "claude";
    task.effort = "high";
    task.status = "agent-review";
    task.counters = {{"review_round", 2}, {"crash_count", 1}, {"polish", 4}};
    task.summary = "Round \"the\" total — \u202e\x1b";
    task.workspace = "shop--1";
    task.attention = "look";
    task.created_at = k_time;
    task.updated_at = k_time + 5s;
    task.extra_frontmatter = "labels: [a, b]\n";
    return task;
}

TaskRecord some_record() {
    TaskRecord record;
    record.reviewed_commit = "0123456789abcdef";
    record.branch_start = "fedcba9876543210";
    MergeRecord merge;
    merge.phase = MergePhase::pushed;
    merge.tx = "m1";
    merge.target = "main";
    merge.strategy = "ff";
    merge.tip = "aa";
    merge.base = "bb";
    merge.commit = "cc";
    merge.push = false;
    merge.include_unpushed = merge.keep_branch = merge.elsewhere = true;
    merge.forced = "not reviewed";
    merge.attempts = 3;
    merge.by.evidence = "terminal";
    merge.at = k_time;
    merge.failure = "none";
    record.merge = merge;
    record.programs = std::map<std::string, std::string>{{"filter.lfs.clean", "0011"}};
    record.programs_changed = {"filter.lfs.clean", "hooks/pre-push"};
    record.harness_hashes = {{"claude", "shipped 1.0.0 0011"}};
    record.harnesses_changed = {"claude"};
    record.unwritten_feedback = "Once more.";
    record.imported = true;
    record.task = some_task();
    Intent intent;
    intent.id = "i1";
    intent.from = "working";
    intent.to = "agent-review";
    intent.by = {
        Role::worker, record.task.id, RunId{"run1"}, 4711, "ancestor orange-agent 4711", "claude > make > orange",
        "make"};
    intent.auto_reason = "exited";
    intent.attested = false;
    intent.actions = {{{"spawn_agent", {{"prompt", "worker"}}, {}}, true},
                      {{"run_command", {}, {"echo", "a b"}}, true, "it ended with 3"}};
    intent.at = k_time;
    record.intent = intent;
    AgentRun run;
    run.run.value = "run1";
    run.role = Role::reviewer;
    run.harness = "claude";
    run.harness_hash = "0011";
    run.prompt = "reviewer";
    run.intent = "i1";
    run.window_name = "review-2";
    run.session_id = "$3";
    run.window_id = "@7";
    run.pane_id = "%7";
    run.server_pid = 1;
    run.server_start = 3;
    run.pid = 1LL << 40;
    run.start_time = 99;
    run.ending = true;
    run.spawned_at = k_time;
    record.runs = {run};
    record.outbox = {{"m1", Role::worker, Role::human, "line\nline", k_time}};
    record.entry_sections = {{"Handoff", "abcd"}};
    record.body_hash = "ffff";
    record.queued = true;
    record.queued_seq = 12;
    return record;
}

/// Through text, as it goes to disk.
Json through_text(const Json& json) {
    auto parsed = parse_json(dump(json));
    REQUIRE(parsed);
    return *parsed;
}

}  // namespace

TEST_CASE("A task comes back from its JSON as it was") {
    const auto read = task_from_json(through_text(to_json(some_task())));
    REQUIRE(read);
    CHECK(*read == some_task());
    const auto empty = task_from_json(through_text(to_json(Task{})));
    REQUIRE(empty);
    CHECK(*empty == Task{});
}

TEST_CASE("A whole state comes back from its JSON as it was, an unfinished intent included") {
    const auto read = record_from_json(through_text(to_json(some_record())));
    REQUIRE(read);
    CHECK(*read == some_record());
    const auto empty = record_from_json(through_text(to_json(TaskRecord{})));
    REQUIRE(empty);
    CHECK(*empty == TaskRecord{});
}

TEST_CASE("A project comes back from its JSON as it was") {
    Project project{"shop", "/src/shop", "main", 3, "relay", "demo", {"npm", "ci"}, {{"A", "b"}}};
    auto read = project_from_json(through_text(to_json(project)));
    REQUIRE(read);
    CHECK(*read == project);
    project = {"shop", "/src/shop", "main", 2, std::nullopt, std::nullopt, {}, {}};
    read = project_from_json(through_text(to_json(project)));
    REQUIRE(read);
    CHECK(*read == project);
}

TEST_CASE("An event comes back from its JSON with each kind of field") {
    const HistoryEvent event{
        "agent.exited", k_time, {{"role", std::string("worker")}, {"code", std::int64_t{-1}}, {"marked", true}}};
    const auto read = event_from_json(through_text(to_json(event)));
    REQUIRE(read);
    CHECK(*read == event);
}

TEST_CASE("Missing and unknown keys are no error: the file may be older or newer") {
    const auto task = task_from_json(Json{{"id", "x"}, {"from_the_future", {1, 2}}});
    REQUIRE(task);
    CHECK(task->workflow == "default");
    CHECK(task->review_round() == 0);
    CHECK(event_from_json(Json{{"type", "x"}, {"deep", {{"a", 1}}}}));
}

TEST_CASE("A wrong type is an error that names the key, wherever it is") {
    const auto message = [](const auto& result) {
        REQUIRE_FALSE(result);
        CHECK(result.error().code == ErrorCode::invalid_argument);
        return result.error().message;
    };
    CHECK_THAT(message(task_from_json(Json{{"summary", 5}})), Tells("\"summary\""));
    CHECK_THAT(message(task_from_json(Json{{"created_at", "yesterday"}})), Tells("\"created_at\""));
    CHECK_THAT(message(task_from_json(Json{{"review_round", 1.5}})), Tells("\"review_round\""));
    CHECK_THAT(message(task_from_json(Json::array())), Tells("object"));
    CHECK_THAT(message(project_from_json(Json{{"name", "x"}})), Tells("\"path\""));
    CHECK_THAT(message(project_from_json(Json{{"name", "x"}, {"path", "/x"}, {"pool_size", 1LL << 40}})),
               Tells("\"pool_size\""));
    CHECK_THAT(message(task_from_json(Json{{"crash_count", std::uint64_t{1} << 63}})), Tells("crash_count"));
    CHECK_THAT(message(event_from_json(Json{{"timestamp", to_rfc3339(k_time)}})), Tells("\"type\""));
    CHECK_THAT(message(record_from_json(Json::object())), Tells("\"fields\""));
    auto record = to_json(some_record());
    record["intent"]["by"]["role"] = "emperor";
    CHECK_THAT(message(record_from_json(record)), Tells("\"role\""));
    record = to_json(some_record());
    record["runs"][0]["pid"] = "4711";
    CHECK_THAT(message(record_from_json(record)), Tells("\"pid\""));
    record = to_json(some_record());
    record["outbox"] = "none";
    CHECK_THAT(message(record_from_json(record)), Tells("\"outbox\""));
}

TEST_CASE("Each key of a state may hold anything, and reading it only ever fails with an error") {
    const Json state = to_json(some_record());
    const std::vector<Json> hostile = {nullptr,
                                       true,
                                       -1,
                                       1.5,
                                       "x",
                                       Json::array(),
                                       Json::array({nullptr}),
                                       Json::object(),
                                       Json{{"a", Json::array({1})}}};
    int refused = 0;
    const std::function<void(Json&, Json&)> visit = [&](Json& root, Json& at) {
        if (at.is_structured()) {
            for (auto& child : at) visit(root, child);
        }
        const Json kept = at;
        for (const auto& value : hostile) {
            at = value;
            if (!record_from_json(root)) ++refused;
        }
        at = kept;
    };
    Json copy = state;
    visit(copy, copy);
    CHECK(copy == state);
    CHECK(refused > 100);
}

TEST_CASE("A state of a newer schema is refused with what to do") {
    auto json = to_json(some_record());
    json["schema"] = 99;
    const auto read = record_from_json(json);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Tells("upgrade"));
}

TEST_CASE("JSON text is refused with a reason: broken, empty, or nested too deep") {
    for (const std::string text : {"", "{", "[1,]", "{\"a\":}", "nul", "\"\\x\"", "{} {}", "\xff"}) {
        CAPTURE(text);
        const auto parsed = parse_json(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().code == ErrorCode::invalid_argument);
    }
    CHECK(parse_json(std::string(64, '[') + std::string(64, ']')));
    CHECK_FALSE(parse_json(std::string(65, '[') + std::string(65, ']')));
    CHECK_FALSE(parse_json(std::string(1'000'000, '[')));
    CHECK(parse_json("\"" + std::string(200, '[') + "\\\"[[\""));
    CHECK_FALSE(parse_json("[[1]]", 1));
}

TEST_CASE("Invalid UTF-8 in a string is replaced when written, never thrown about") {
    const auto text = dump(Json{{"a", "x\xff"}});
    CHECK(parse_json(text));
}
