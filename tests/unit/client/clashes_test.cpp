#include "client/output/clashes.hpp"

#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

const Timestamp k_clash_time = *from_rfc3339("2026-12-01T11:00:00.000Z");

/// The id of a task is its short id and more.
std::string id_of(const std::string& short_id) {
    return short_id + "AbCdEfGhIjKlMnOpQ";
}

Clash clash_with(const std::string& short_id, const std::string& path, std::int64_t hunks = 0, bool maybe = false) {
    return {id_of(short_id), short_id, "", {{path, hunks}}, 0, maybe};
}

Clash clash_with_branch(const std::string& branch, const std::string& path) {
    return {"", "", branch, {{path, 1}}};
}

rpc::TaskView clashing(const std::string& short_id, std::vector<Clash> clashes) {
    rpc::TaskView task;
    task.fields.id.value = id_of(short_id);
    task.short_id = short_id;
    task.fields.project = "shop";
    task.fields.status = "working";
    task.fields.summary = "Summary of " + short_id;
    task.fields.updated_at = k_clash_time;
    task.worker = "alive";
    task.reviewer = "none";
    task.clashes = std::move(clashes);
    return task;
}

std::string list_of(std::vector<rpc::TaskView> tasks, const output::Style& style = {}) {
    rpc::TaskList::Reply reply;
    reply.tasks = std::move(tasks);
    return output::task_list_page(reply, k_clash_time, style);
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("A list marks the tasks that clash, and names each pair once below") {
    const auto page = list_of({clashing("a1b2", {clash_with("7c1d", "cart.py", 2)}),
                               clashing("7c1d", {clash_with("a1b2", "cart.py", 2), clash_with_branch("main", "b.c")}),
                               clashing("9x2k", {})});
    std::vector<std::string> marked;
    for (const auto line : split_lines(page)) {
        if (line.find("● working ≠") != line.npos) marked.emplace_back(line.substr(line.find("Summary of ") + 11));
    }
    CHECK(marked == std::vector<std::string>{"a1b2", "7c1d"});
    CHECK_THAT(page, Holds("\n  ≠ 7c1d clashes with main in b.c, 1 hunk\n"
                           "  ≠ a1b2 clashes with 7c1d in cart.py, 2 hunks\n"));
    CHECK(count_of(page, "cart.py") == 1);
    CHECK_THAT(list_of({clashing("a1b2", {}), clashing("9x2k", {})}), !Holds("≠"));
}

TEST_CASE("A clash with a task that the list leaves out is named, too") {
    CHECK_THAT(list_of({clashing("a1b2", {clash_with("7c1d", "cart.py", 0, true)})}),
               Holds("  ≠ a1b2 may clash with 7c1d in cart.py, not committed yet\n"));
}

TEST_CASE("A list names five clashes, counts the others, and says which command shows them") {
    const std::vector<std::string> others = {"b111", "b222", "b333", "b444", "b555", "b666", "b777"};
    std::vector<rpc::TaskView> tasks;
    for (const auto& other : others) tasks.push_back(clashing(other, {clash_with("a000", other + ".py")}));
    const auto page = list_of(tasks);
    CHECK(count_of(page, " clashes with a000 in ") == 5);
    CHECK_THAT(page, Holds("b555.py") && !Holds("b666.py") && Holds("and 2 more") && Tells("orange show b666"));
    tasks.resize(5);
    CHECK_THAT(list_of(tasks), Holds("b555.py") && !Holds("more") && !Holds("orange show"));
}

TEST_CASE("A list names certain clashes before those that may come, whatever their order is") {
    std::vector<rpc::TaskView> tasks;
    for (const char* id : {"b111", "b222", "b333", "b444", "b555"}) {
        tasks.push_back(clashing(id, {clash_with("a000", "x.py", 0, true)}));
    }
    tasks.push_back(clashing("b666", {clash_with("a000", "y.py"), clash_with_branch("main", "z.c")}));
    const auto page = list_of(tasks);
    CHECK(page.find("b666 clashes with main") < page.find("b666 clashes with a000"));
    CHECK(page.find("b666 clashes with a000") < page.find("b111 may clash"));
    CHECK_THAT(page,
               Holds("b333 may clash") && !Holds("b444 may clash") && Holds("and 2 more") && Tells("orange show b444"));
}

TEST_CASE("The parts of a long list have one set of sentences") {
    output::ClashNotes notes;
    notes.add({clashing("a1b2", {clash_with("7c1d", "cart.py", 2)})});
    notes.add(
        {clashing("7c1d", {clash_with("a1b2", "cart.py", 2)}), clashing("9x2k", {clash_with("7c1d", "cart.py", 1)})});
    CHECK(notes.text({}) ==
          "  ≠ a1b2 clashes with 7c1d in cart.py, 2 hunks\n  ≠ 9x2k clashes with 7c1d in cart.py, 1 hunk\n");
    CHECK(output::ClashNotes().text({}).empty());
}

TEST_CASE("A list with clashes fits its width and harms no terminal") {
    const std::string evil = "src/\x1b[2J" + std::string(200, 'w') + ".py";
    for (const std::size_t width : {80U, 40U}) {
        const auto page = list_of({clashing("a1b2", {clash_with("7c1d", evil, 2)})}, {false, width});
        CHECK_THAT(page, !Holds("\x1b"));
        for (const auto line : split_lines(page)) {
            CAPTURE(line);
            CHECK((columns_of(line) <= width || line.find("src/") != line.npos));
        }
    }
}

TEST_CASE("A task's page and why have a line for each clash") {
    const std::vector<Clash> clashes = {clash_with("7c1d", "cart.py", 2), clash_with_branch("main", "b.c"),
                                        clash_with("9x2k", "tax.py", 0, true)};
    rpc::TaskShow::Reply shown;
    shown.task = clashing("a1b2", clashes);
    CHECK_THAT(output::task_page(shown, k_clash_time, {}), Holds("clashes with 7c1d in cart.py, 2 hunks\n") &&
                                                               Holds("clashes with main in b.c, 1 hunk\n") &&
                                                               Holds("may clash with 9x2k in tax.py"));
    rpc::TaskWhy::Reply why;
    why.task = clashing("a1b2", clashes);
    CHECK_THAT(output::Style{}.paint(output::why_lines(why, {})), Holds("clashes with 7c1d in cart.py, 2 hunks\n") &&
                                                                      Holds("clashes with main in b.c, 1 hunk\n") &&
                                                                      Holds("may clash with 9x2k in tax.py"));
    why.task.clashes.clear();
    CHECK_THAT(output::Style{}.paint(output::why_lines(why, {})), !Holds("clash"));
}

TEST_CASE("Two clashes are named in a row, and more are counted") {
    std::vector<Clash> clashes;
    CHECK(output::clashes_text(clashes).empty());
    clashes = {clash_with("7c1d", "cart.py", 2), clash_with("9x2k", "tax.py", 0, true)};
    CHECK(output::clashes_text(clashes) ==
          "clashes with 7c1d in cart.py, 2 hunks; may clash with 9x2k in tax.py, not committed yet");
    clashes.resize(5, clash_with_branch("main", "b.c"));
    CHECK(output::clashes_text(clashes) ==
          "clashes with main in b.c, 1 hunk; clashes with main in b.c, 1 hunk; and 3 more");
}

TEST_CASE("A merge says which other tasks conflict after it, certain ones first, and counts more than three") {
    std::vector<Clash> clashes = {clash_with("b111", "x.py", 0, true), clash_with_branch("main", "b.c"),
                                  clash_with("b222", "y.py", 2)};
    using Facts = std::vector<std::string>;
    CHECK(output::merge_clash_facts(clashes) == Facts{"After this, b222 will conflict in y.py, 2 hunks",
                                                      "After this, b111 may conflict in x.py, not committed yet"});
    for (const char* other : {"b333", "b444", "b555"}) clashes.push_back(clash_with(other, "z.py"));
    const auto facts = output::merge_clash_facts(clashes);
    REQUIRE(facts.size() == 4);
    CHECK_THAT(facts[2], Holds("b444 will conflict"));
    CHECK(facts[3] == "and 2 more tasks");
    CHECK(output::merge_clash_facts({clash_with_branch("main", "b.c")}).empty());
}

TEST_CASE("The event of changed clashes says with whom, or that there are none any more") {
    CHECK_THAT(output::event_sentence({{"type", "clashes.changed"}, {"text", "with 7c1d in cart.py, 2 hunks"}}),
               Holds("clashes with 7c1d in cart.py, 2 hunks"));
    const auto none = output::event_sentence({{"type", "clashes.changed"}, {"text", ""}});
    CHECK_THAT(none, Holds("no clashes") && !Holds("clashes.changed"));
}
