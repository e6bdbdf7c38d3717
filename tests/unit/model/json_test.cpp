#include "common/model/json.hpp"

#include <fstream>
#include <functional>
#include <set>

#include "common/model/fields.hpp"
#include "common/model/record_fields.hpp"
#include "tests/golden.hpp"
#include "tests/unit/model/full_records.hpp"

using namespace orange;
using namespace orange::test;

namespace {

void add_names(const Json& schema, std::set<std::string>& names) {
    if (!schema.contains("properties")) return;
    for (const auto& [name, field] : schema["properties"].items()) {
        names.insert(name);
        add_names(field, names);
        add_names(field.value("items", Json::object()), names);
    }
}

/// Every name that its description has, at every depth.
template <class T>
std::set<std::string> names_of() {
    std::set<std::string> names;
    add_names(schema_of<T>(), names);
    return names;
}

/// Through text, as it goes to disk.
Json through_text(const Json& json) {
    auto parsed = parse_json(dump(json));
    REQUIRE(parsed);
    return *parsed;
}

}  // namespace

TEST_CASE("Records on disk look as they always have") {
    check_golden("state.json", dump(to_json(full_record())) + "\n");
    check_golden("state-minimal.json", dump(to_json(TaskRecord{})) + "\n");
    check_golden("project.json", dump(to_json(full_project())) + "\n");
    check_golden("project-minimal.json", dump(to_json(Project{})) + "\n");
    check_golden("caller-minimal.json", dump(written(Caller{})) + "\n");
}

TEST_CASE("Every field that is described is in a record that says everything, and in docs/files.md") {
    std::ifstream in(ORANGE_SOURCE_DIR "/docs/files.md");
    const std::string docs{std::istreambuf_iterator<char>(in), {}};
    const auto check = [&](const std::set<std::string>& names, const Json& full) {
        const auto text = dump(full);
        for (const auto& name : names) {
            CAPTURE(name);
            CHECK_THAT(text, Holds("\"" + name + "\":"));
            CHECK(docs.find("`" + name + "`") != std::string::npos);
        }
    };
    check(names_of<TaskRecord>(), to_json(full_record()));
    check(names_of<Project>(), to_json(full_project()));
    CHECK(names_of<TaskRecord>().size() > 80);
}

TEST_CASE("A task comes back from its JSON as it was") {
    const auto read = task_from_json(through_text(to_json(full_task())));
    REQUIRE(read);
    CHECK(*read == full_task());
    const auto empty = task_from_json(through_text(to_json(Task{})));
    REQUIRE(empty);
    CHECK(*empty == Task{});
}

TEST_CASE("A whole state comes back from its JSON as it was, an unfinished intent included") {
    const auto read = record_from_json(through_text(to_json(full_record())));
    REQUIRE(read);
    CHECK(*read == full_record());
    const auto empty = record_from_json(through_text(to_json(TaskRecord{})));
    REQUIRE(empty);
    CHECK(*empty == TaskRecord{});
}

TEST_CASE("A project comes back from its JSON as it was") {
    auto project = full_project();
    auto read = project_from_json(through_text(to_json(project)));
    REQUIRE(read);
    CHECK(*read == project);
    project = {"shop", "/src/shop", "main", 2, std::nullopt, std::nullopt, {}, {}, {}};
    read = project_from_json(through_text(to_json(project)));
    REQUIRE(read);
    CHECK(*read == project);
}

TEST_CASE("An event comes back from its JSON with each kind of field") {
    const HistoryEvent event{
        "agent.exited", k_full_time, {{"role", std::string("worker")}, {"code", std::int64_t{-1}}, {"marked", true}}};
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
    CHECK_THAT(message(event_from_json(Json{{"timestamp", to_rfc3339(k_full_time)}})), Tells("\"type\""));
    CHECK_THAT(message(record_from_json(Json::object())), Tells("\"fields\""));
    auto record = to_json(full_record());
    record["intent"]["by"]["role"] = "emperor";
    CHECK_THAT(message(record_from_json(record)), Tells("intent.by.role"));
    record = to_json(full_record());
    record["runs"][0]["pid"] = "4711";
    CHECK_THAT(message(record_from_json(record)), Tells("runs[].pid"));
    record = to_json(full_record());
    record["outbox"] = "none";
    CHECK_THAT(message(record_from_json(record)), Tells("\"outbox\""));
}

TEST_CASE("Each key of a state may hold anything, and reading it only ever fails with an error") {
    const Json state = to_json(full_record());
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
    auto json = to_json(full_record());
    json["schema"] = 99;
    const auto read = record_from_json(json);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Tells("upgrade"));
}

TEST_CASE("What a newer Orange has written in a state stays in it, and a restricted task is not for an older one") {
    auto record = full_record();
    record.task.executor.clear();
    record.task.permissions.reset();
    auto json = to_json(record);
    CHECK(json["schema"] == 1);
    json["future"] = "wall";
    json["fields"]["future_field"] = 7;
    const auto read = record_from_json(json);
    REQUIRE(read);
    CHECK(to_json(*read) == json);
    record.task.executor = "bwrap";
    CHECK(to_json(record)["schema"] == 2);
    record.task.executor.clear();
    record.task.permissions = "reduced";
    CHECK(to_json(record)["schema"] == 2);
    CHECK(record_from_json(to_json(record)));
}

TEST_CASE("JSON text is refused with a reason: broken, empty, or nested too deep") {
    for (const std::string text : {"", "{", "[1,]", "{\"a\":}", "nul", "\"\\x\"", "{} {}", "\xff"}) {
        CAPTURE(text);
        const auto parsed = parse_json(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().code == ErrorCode::invalid_argument);
    }
    CHECK_FALSE(parse_json(std::string("{}\0{}", 5)));
    CHECK_FALSE(parse_json(std::string("{}\0", 3)));
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
