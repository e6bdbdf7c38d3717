#include "daemon/store/task_file.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/golden.hpp"
#include "tests/unit/model/full_records.hpp"
#include "tests/unit/store/records.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

namespace {

const std::filesystem::path k_data = ORANGE_SOURCE_DIR "/tests/data/store";

std::string inner(const Task& task) {
    return split_task_text(frontmatter_of(task)).frontmatter;
}

}  // namespace

TEST_CASE("frontmatter on disk looks as it always has") {
    CHECK(task_text(example_record().task, "## Context\n\nText.\n") == read_text(k_data / "TASK.md"));
    check_golden("TASK.md", task_text(test::full_task(), "body\n"));
    check_golden("TASK-minimal.md", task_text({}, ""));
}

TEST_CASE("every field of the frontmatter has a line, is read back and is none of those that Orange does not know") {
    const auto task = test::full_task();
    const auto text = inner(task);
    const auto lines = split_lines(text);
    auto line = lines.begin();
    for (const auto& field : frontmatter_fields()) {
        CAPTURE(field.name);
        line = std::find_if(line, lines.end(), [&](auto at) { return at.starts_with(field.name + ": "); });
        CHECK(line != lines.end());
        CHECK(unknown_fields(field.name + ": 7\n", {}).empty());
    }
    auto read = task_from_frontmatter(text);
    REQUIRE(read);
    CHECK(read->extra_frontmatter == "polish: 4\n" + task.extra_frontmatter);
    read->extra_frontmatter = task.extra_frontmatter;
    read->counters["polish"] = 4;
    CHECK(*read == task);
}

TEST_CASE("a budget is read as it was written, with quotes or without") {
    for (const std::string text : {"5M", "25000", "0", "1.5M"}) {
        for (const auto& line : {"budget: " + text + "\n", "budget: \"" + text + "\"\n"}) {
            const auto read = task_from_frontmatter(line);
            REQUIRE(read);
            CHECK(read->budget == text);
            CHECK(task_from_frontmatter(inner(*read))->budget == text);
        }
    }
    CHECK_THAT(inner(Task{}), !Holds("budget"));
}

TEST_CASE("what a task waits for is a list of ids, however somebody has written it") {
    for (const std::string text : {"blocked_by: [a1, b2]\n", "blocked_by:\n  - a1\n  - \"b2\"\n"}) {
        const auto read = task_from_frontmatter(text);
        REQUIRE(read);
        CHECK(read->blocked_by == std::vector<TaskId>{{"a1"}, {"b2"}});
        CHECK(read->extra_frontmatter.empty());
        auto task = *read;
        CHECK(frontmatter_difference(task, inner(task)).empty());
        CHECK(frontmatter_difference(task, text).find("blocked_by") == std::string::npos);
        task.blocked_by.pop_back();
        CHECK_THAT(frontmatter_difference(task, text), Holds("blocked_by: [a1, b2]"));
        task.blocked_by.clear();
        CHECK_THAT(frontmatter_difference(task, text), Holds("blocked_by: [a1, b2]"));
    }
    CHECK(task_from_frontmatter("blocked_by: a1\n")->blocked_by == std::vector<TaskId>{{"a1"}});
    CHECK(task_from_frontmatter("blocked_by: null\n")->blocked_by.empty());
    CHECK_FALSE(task_from_frontmatter("blocked_by: [[a1]]\n"));
    CHECK_FALSE(task_from_frontmatter("blocked_by: {a: b}\n"));
    CHECK(inner({}).find("blocked_by") == std::string::npos);
}

TEST_CASE("a task survives its frontmatter") {
    auto task = example_record().task;
    for (const std::string summary :
         {"", "null", "true", "12", "- x", "a: b", "#x", "'q'", "\"", "\\n", "ü ☃", "~", "{}"}) {
        CAPTURE(summary);
        task.summary = summary;
        task.extra_frontmatter = "labels: [a, b]\nnested:\n  - x  # why\n";
        auto read = task_from_frontmatter(inner(task));
        REQUIRE(read);
        CHECK(read->extra_frontmatter == "laps: 3\n" + task.extra_frontmatter);
        read->extra_frontmatter = task.extra_frontmatter;
        read->counters["laps"] = 3;
        CHECK(*read == task);
        CHECK(frontmatter_difference(task, inner(task)).empty());
    }
}

TEST_CASE("the body is everything after the frontmatter, byte for byte") {
    const std::string body("\n\0\xff ---\r\n---\nx", 14);
    const auto text = split_task_text("---\nid: x\n---\n" + body);
    CHECK(text.has_frontmatter);
    CHECK(text.frontmatter == "id: x\n");
    CHECK(text.body == body);
    CHECK(split_task_text("\xEF\xBB\xBF---\r\nid: x\r\n--- \r\nbody").body == "body");
    CHECK(split_task_text("---\n---\n").has_frontmatter);
    CHECK(split_task_text("---\n---").body.empty());
    for (const std::string all_body : {"", "---", "---\nid: x\n", "\n---\n---\n", "text", "----\n---\n"}) {
        CHECK(!split_task_text(all_body).has_frontmatter);
        CHECK(split_task_text(all_body).body == all_body);
    }
}

TEST_CASE("older files are read") {
    const auto task = task_from_frontmatter(
        "id: abc123\nproject: orange\nbranch: dark-mode\nharness: pi\nstatus: reviewed\n"
        "description: Implement dark mode\nworkspace: orange--1\ncreated_at: 2024-01-15T10:00:00Z\nowner: me\n");
    REQUIRE(task);
    CHECK(task->summary == "Implement dark mode");
    CHECK(task->status == "reviewing");
    CHECK(task->review_round() == 0);
    CHECK(task->extra_frontmatter == "owner: me\n");
    CHECK(task_from_frontmatter("status: failed\n")->status == "cancelled");
}

TEST_CASE("a frontmatter that cannot be read says where") {
    const auto line = [](const std::string& frontmatter) {
        const auto task = task_from_frontmatter(frontmatter);
        return task ? std::string("fine") : task.error().message;
    };
    CHECK_THAT(line("id: x\nreview_round: many\n"), Tells("2"));
    CHECK_THAT(line("id: x\nsummary: [a]\n"), Tells("2"));
    CHECK_THAT(line("created_at: yesterday\n"), Tells("1"));
    CHECK_THAT(line("id: x\nid: y\n"), Tells("2"));
    CHECK(line("- x\n") != "fine");
    CHECK(line("summary: [open\n") != "fine");
    CHECK(line(std::string(100'000, 'x')) != "fine");
}

TEST_CASE("only a difference in meaning is one") {
    const auto task = example_record().task;
    CHECK(frontmatter_difference(task, inner(task) + "updated_at2: x\n").empty());
    auto found = inner(task);
    found.replace(found.find("status: working"), 15, "status: 'done' ");
    found.replace(found.find("crash_count: 0\n"), 15, "");
    CHECK(frontmatter_difference(task, found) == "status: done");
    CHECK_THAT(frontmatter_difference(task, "id: x"), Tells("project: (missing)"));
    CHECK_FALSE(frontmatter_difference(task, "a: [").empty());
}

TEST_CASE("unknown fields are merged and never dropped") {
    CHECK(with_unknown_fields("a: 1\nb: 2\n", "") == "a: 1\nb: 2\n");
    CHECK(with_unknown_fields("a: 1\nb: 2\n", "c: 4\nb: 3\n") == "a: 1\nb: 3\nc: 4\n");
    CHECK(unknown_fields("id: x\njira: A-1\nlaps: 3\n", example_record().task) == "jira: A-1\n");
}

TEST_CASE("a branch that a task was made from is among its fields, and read back") {
    auto task = example_record().task;
    task.base = "origin/release";
    const auto text = inner(task);
    CHECK_THAT(text, Holds("branch: orange-tasks/V1StGXR8Z5jdHi6BmyT0a\nbase: origin/release\n"));
    CHECK(task_from_frontmatter(text)->base == "origin/release");
    CHECK(unknown_fields(text, task) == "labels: [a, b]\n");
    CHECK_THAT(frontmatter_difference(example_record().task, text), Tells("base: origin/release"));
    task.extra_frontmatter = "owner: me";  // a file that ended there
    CHECK(frontmatter_of(task).ends_with("owner: me\n---\n"));
}

TEST_CASE("fields that say nothing are as good as none") {
    const auto task = task_from_frontmatter(
        "summary: null\nreview_round: null\ncrash_count: 0\ncreated_at: null\nworkspace: ''\neffort: ~\n");
    REQUIRE(task);
    CHECK(task->summary.empty());
    CHECK(task->counters.empty());
    CHECK(task->created_at == Timestamp{});
    CHECK_FALSE(task->workspace);
    CHECK_FALSE(task->effort);
    CHECK(task_from_frontmatter("")->status.empty());
}

TEST_CASE("of several things that are wrong with a frontmatter the first is told") {
    const auto why = [](const std::string& frontmatter) { return task_from_frontmatter(frontmatter).error().message; };
    CHECK_THAT(why("created_at: x\nreview_round: 7x\n"), Tells("2") && Tells("review_round"));
    CHECK_THAT(why("updated_at: x\ncreated_at: y\n"), Tells("2") && Tells("created_at"));
    CHECK_THAT(why("status: {a: b}\n"), Tells("1") && Tells("status"));
    CHECK_THAT(why("review_round: 99999999999999999999\n"), Tells("review_round"));
    CHECK_THAT(why(std::string(70'000, '#')), Tells("64"));
}

TEST_CASE("a value that is no single one differs, and an absent one that was empty does not") {
    auto task = example_record().task;
    task.effort.reset();
    task.attention.reset();
    auto found = inner(task);
    const auto replace = [&](const std::string& line, const std::string& by) {
        const auto at = found.find(line);
        REQUIRE(at != std::string::npos);
        found.replace(at, line.size(), by);
    };
    replace("pr_url: null\n", "pr_url: [a]\n");
    replace("effort: null\n", "");
    replace("laps: 3\n", "");
    CHECK(frontmatter_difference(task, found) == "laps: (missing), pr_url: (not a single value)");
}
