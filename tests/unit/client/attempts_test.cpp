#include "client/output/attempts.hpp"

#include "client/output/row.hpp"
#include "client/output/task_cells.hpp"
#include "client/output/tasks.hpp"
#include "client/output/tree.hpp"
#include "common/base/text.hpp"
#include "tests/facts.hpp"

using namespace orange;

namespace {

rpc::ComparedAttempt tried(const std::string& short_id, const std::string& name, const std::string& status) {
    rpc::ComparedAttempt attempt;
    attempt.id = short_id + "AbCdEfGhIjKlMnOpQ";
    attempt.short_id = short_id;
    attempt.name = name;
    attempt.harness = name.substr(0, name.find_first_of(": "));
    attempt.version = "2.1.34";
    attempt.model = "a-model-of-a-long-name-2026-11-01";
    attempt.status = status;
    attempt.checks = "passed";
    attempt.verdict = "PASS";
    attempt.verdict_by = "codex";
    attempt.rounds = 2;
    attempt.changes = rpc::ChangeCounts{3, 12, 120, 30, false};
    attempt.worked = 3 * 3600 + 5 * 60;
    attempt.tokens = 210'000;
    attempt.money = 1'200'000;
    return attempt;
}

rpc::TaskCompare::Reply three() {
    rpc::TaskCompare::Reply reply;
    reply.task.fields.id.value = "9x2kAbCdEfGhIjKlMnOpQ";
    reply.task.short_id = "9x2k";
    reply.task.fields.status = "delegated";
    reply.task.attempts = 3;
    reply.rows = {tried("4f2a", "claude:high", "reviewing"), tried("7c1d", "codex", "working"),
                  tried("5b3e", "claude 2", "working")};
    reply.rows[1].checks = "not run";
    reply.rows[1].verdict = reply.rows[1].verdict_by = "";
    reply.rows[1].changes.reset();
    reply.rows[1].note = "its agent crashed";
    reply.rows[0].only = {"cache.py"};
    reply.common = {"import.py", "test_import.py"};
    return reply;
}

std::string line_with(std::string_view page, std::string_view begin) {
    for (const auto line : split_lines(page)) {
        if (line.starts_with(begin)) return std::string(line);
    }
    return {};
}

}  // namespace

TEST_CASE("The attempts of a task stand side by side in 80 columns, with what only one changes below") {
    const auto page = output::compare_page(three(), {});
    for (const auto line : split_lines(page)) {
        INFO(line);
        CHECK(output::columns(output::clean(line)) <= 80);
    }
    const auto row = line_with(page, "claude:high");
    CHECK_THAT(row, Holds("reviewing") && Holds("passed") && Holds("PASS"));
    CHECK_THAT(row, Holds(" 3 ") && Holds(" 12 ") && Holds("+120 -30") && Holds("3h05m") && Holds("210k"));
    CHECK_THAT(line_with(page, "codex"), !Holds("PASS") && !Holds("+0"));
    CHECK_THAT(page, Holds("2.1.34") && Holds("a-model-of-a-long-name-2026-11-01") && Holds("$1.20"));
    CHECK_THAT(page, Holds("! its agent crashed"));
    CHECK_THAT(page, Holds("import.py, test_import.py") && Holds("Only claude:high changes cache.py"));
    CHECK_THAT(page, Tells("orange pick 9x2k codex") && Tells("orange pick 9x2k claude:high"));
    CHECK_THAT(page, Tells("orange pick 9x2k 5b3e"));  // a name of two words
    CHECK_THAT(page, Tells("orange compare 9x2k --diff claude:high codex"));
}

TEST_CASE("A comparison says what is next: a merge after a pick, and nothing after the end") {
    auto reply = three();
    reply.rows[0].picked = true;
    reply.rows[1].unpicked = reply.rows[2].unpicked = true;
    reply.rows[1].status = reply.rows[2].status = "cancelled";
    auto page = output::compare_page(reply, {});
    CHECK_THAT(page, Tells("orange merge 9x2k") && !Holds("orange pick"));
    CHECK_THAT(line_with(page, "codex"), Holds("unpicked"));
    reply.task.means = "done";
    page = output::compare_page(reply, {});
    CHECK_THAT(page, !Holds("orange merge") && !Holds("orange pick"));
    reply.rows.clear();
    CHECK(split_lines(output::compare_page(reply, {})).size() == 1);
}

TEST_CASE("The lines of a comparison say which attempt they are about") {
    const auto reply = three();
    const auto shown = output::compared(reply, {});
    REQUIRE(shown.lines.size() == shown.of_line.size());
    std::size_t last = 0;
    for (std::size_t i = 0; i < shown.lines.size(); ++i) {
        const auto text = shown.lines[i].text();
        for (std::size_t each = 0; each < reply.rows.size(); ++each) {
            if (text.starts_with(reply.rows[each].name)) CHECK(shown.of_line[i] == each + 1);
        }
        if (shown.of_line[i] > 0) CHECK(shown.of_line[i] >= last);
        last = std::max(last, shown.of_line[i]);
    }
    CHECK(shown.of_line.front() == 0);
    CHECK(shown.of_line.back() == 0);
    CHECK(last == 3);
}

TEST_CASE("An attempt is named by its name, its number or its id") {
    const auto reply = three();
    CHECK(output::attempt_named(reply, "codex")->id == reply.rows[1].id);
    CHECK(output::attempt_named(reply, "claude 2")->id == reply.rows[2].id);
    CHECK(output::attempt_named(reply, "3")->id == reply.rows[2].id);
    CHECK(output::attempt_named(reply, "4f2a")->id == reply.rows[0].id);
    CHECK(output::attempt_named(reply, "4f2aAb")->id == reply.rows[0].id);
    for (const char* wrong : {"", "claude", "0", "4", "-1", "2x"}) {
        INFO(wrong);
        const auto found = output::attempt_named(reply, wrong);
        REQUIRE_FALSE(found);
        CHECK(found.error().code == ErrorCode::not_found);
        CHECK_THAT(found.error().message, Tells("orange compare 9x2k") && Tells("codex"));
    }
}

TEST_CASE("The question before a pick names what ends, and nothing that has ended") {
    auto reply = three();
    auto facts = join(output::pick_facts(reply, reply.rows[1]), "\n");
    CHECK_THAT(facts, Holds("claude:high (reviewing, 3 commits)") && Holds("claude 2 (working, 3 commits)"));
    CHECK_THAT(facts, !Holds("codex"));
    reply.rows[0].means = "cancelled";
    facts = join(output::pick_facts(reply, reply.rows[1]), "\n");
    CHECK_THAT(facts, !Holds("claude:high") && Holds("claude 2"));
    reply.rows[2].means = "done";
    CHECK(output::pick_facts(reply, reply.rows[1]).empty());
}

TEST_CASE("Lists and trees name attempts, and say which were not picked") {
    rpc::TaskView parent;
    parent.fields.id.value = "9x2kAbCdEfGhIjKlMnOpQ";
    parent.short_id = "9x2k";
    parent.fields.status = "delegated";
    parent.fields.summary = "Speed up the import";
    parent.worker = parent.reviewer = "none";
    parent.attempts = 2;
    parent.children = {"4f2aAbCdEfGhIjKlMnOpQ"};
    parent.picked = parent.children.front();
    auto picked = parent;
    picked.attempts = 0;
    picked.children.clear();
    picked.picked.clear();
    picked.fields.id.value = "4f2aAbCdEfGhIjKlMnOpQ";
    picked.short_id = "4f2a";
    picked.fields.parent = parent.fields.id;
    picked.fields.status = "working";
    picked.attempt = "claude:high";
    auto lost = picked;
    lost.fields.id.value = "7c1dAbCdEfGhIjKlMnOpQ";
    lost.short_id = "7c1d";
    lost.fields.status = lost.means = "cancelled";
    lost.attempt = "codex";
    lost.unpicked = true;
    CHECK(output::status_of(output::row_of(lost)) == "unpicked");
    CHECK(output::status_of(output::row_of(parent)) == "delegated 0/1");
    CHECK(output::title_of(output::row_of(picked)) == "claude:high: Speed up the import");
    CHECK(output::title_of(output::row_of(parent)) == "Speed up the import");
    rpc::TaskList::Reply list;
    list.tasks = {parent, picked, lost};
    const auto page = output::task_list_page(list, {}, {});
    CHECK_THAT(page, Holds("claude:high: Speed up") && Holds("codex: Speed up") && Holds("unpicked"));
    const auto tree = output::tree_page(output::tree_of(list.tasks), {});
    CHECK_THAT(tree, Holds("7c1d  unpicked") && Holds("9x2k  delegated 0/1"));
}
