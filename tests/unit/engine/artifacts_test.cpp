#include "daemon/engine/artifacts.hpp"

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange::engine;

namespace {

using Entry = std::map<std::string, std::string>;

Artifacts with(const std::string& heading, const std::string& text) {
    Artifacts artifacts;
    artifacts.sections[heading] = {text};
    return artifacts;
}

Gate handoff() {
    Gate gate;
    gate.section = "Handoff";
    gate.fields = {"DONE", "REMAINING", "DECISIONS", "UNCERTAIN"};
    gate.fresh = true;
    return gate;
}

Gate review(Verdict verdict, VerdictLine line = VerdictLine::first) {
    Gate gate;
    gate.section = "Review";
    gate.verdict = verdict;
    gate.verdict_line = line;
    return gate;
}

std::string problem(const Gate& gate, const Artifacts& artifacts, const Entry& entry = {}) {
    return gate_problem(gate, artifacts, entry).value_or("holds");
}

}  // namespace

TEST_CASE("a missing section is named with exactly what to write") {
    CHECK_THAT(problem(handoff(), {}), Tells("## Handoff") && Tells("missing") && Tells("DONE: …") &&
                                           Tells("REMAINING: …") && Tells("DECISIONS: …") && Tells("UNCERTAIN: …"));
    CHECK_THAT(problem(review(Verdict::pass), {}), Tells("## Review") && Tells("missing") && Tells("Verdict: PASS"));
    Gate plain;
    plain.section = "Notes";
    CHECK_THAT(problem(plain, {}), Tells("## Notes") && Tells("missing"));
    plain.required = false;
    CHECK_THAT(problem(plain, {}), Tells("## Notes") && Tells("missing"));
}

TEST_CASE("a heading that an unclosed fence swallows, or that is misspelt, is named as the reason") {
    Artifacts artifacts;
    artifacts.swallowed_by_fence["Handoff"] = 12;
    CHECK_THAT(problem(handoff(), artifacts), Tells("## Handoff") && Tells("12"));
    CHECK_THAT(problem(handoff(), with("handoff", "DONE: x")), Tells("## Handoff") && Tells("## handoff"));
}

TEST_CASE("an empty section counts only where it need not have content") {
    Gate plain;
    plain.section = "Notes";
    CHECK_THAT(problem(plain, with("Notes", " \n\t\n")), Tells("## Notes") && Tells("empty"));
    CHECK(problem(plain, with("Notes", "x")) == "holds");
    plain.required = false;
    CHECK(problem(plain, with("Notes", "")) == "holds");
}

TEST_CASE("one of the fields with text after its colon is enough, at a line's beginning only") {
    CHECK(problem(handoff(), with("Handoff", "intro\nUNCERTAIN: the cache\n")) == "holds");
    CHECK(problem(handoff(), with("Handoff", "DONE:x")) == "holds");
    CHECK(problem(handoff(), with("Handoff", "DONE: x\r\n")) == "holds");
    for (const auto* text :
         {"done: x", "DONE:", "DONE:   \nall of it", " DONE: x", "- DONE: x", "**DONE:** x", "DONENESS: x", "DONE x"}) {
        INFO(text);
        CHECK_THAT(problem(handoff(), with("Handoff", text)), Tells("## Handoff") && Tells("DONE: …"));
    }
    CHECK_THAT(problem(handoff(), with("Handoff", "- DONE: all")), Holds("\"- DONE: all\""));
}

TEST_CASE("a section from before the state was entered is stale, whatever it says") {
    const Entry entry{{"Handoff", orange::sha256("DONE: x")}};
    CHECK_THAT(problem(handoff(), with("Handoff", "DONE: x"), entry),
               Tells("## Handoff") && Tells("changed") && Tells("DONE: …") && Tells("UNCERTAIN: …"));
    CHECK(problem(handoff(), with("Handoff", "DONE: y"), entry) == "holds");
    Gate tolerant = handoff();
    tolerant.fresh = false;
    CHECK(problem(tolerant, with("Handoff", "DONE: x"), entry) == "holds");
}

TEST_CASE("a verdict on the first non-empty line is read in any case, and nothing else is one") {
    for (const auto* text : {"Verdict: PASS", "\n\n  verdict:pass  \nmore", "VERDICT:\tPass\r\n"}) {
        CHECK(verdict_of(text, VerdictLine::first) == Verdict::pass);
    }
    CHECK(verdict_of("Verdict: FAIL\nVerdict: PASS", VerdictLine::first) == Verdict::fail);
    for (const auto* text : {"", "intro\nVerdict: PASS", "Verdict: PASSED", "Verdict: PASS|FAIL", "Verdict:", "PASS",
                             "**Verdict: PASS**", "Verdict PASS", "> Verdict: PASS", "Verdict: PASS or FAIL"}) {
        INFO(text);
        CHECK_FALSE(verdict_of(text, VerdictLine::first));
    }
}

TEST_CASE("a verdict anywhere is the first whole word") {
    CHECK(verdict_of("It does not bypass; I say: fail.\nPASS", VerdictLine::any) == Verdict::fail);
    CHECK(verdict_of("tests passed\nfailure\n**PASS**", VerdictLine::any) == Verdict::pass);
    CHECK(verdict_of("PASS_1 FAIL2 pass-through", VerdictLine::any) == Verdict::pass);
    CHECK_FALSE(verdict_of("passed, FAILED, éPASSé_", VerdictLine::any) == Verdict::fail);
    CHECK_FALSE(verdict_of("nothing here", VerdictLine::any));
}

TEST_CASE("a verdict that does not fit says so") {
    CHECK(problem(review(Verdict::pass), with("Review", "Verdict: PASS\n")) == "holds");
    CHECK_THAT(problem(review(Verdict::pass), with("Review", "Verdict: FAIL\n")),
               Tells("## Review") && Tells("FAIL") && Tells("PASS"));
    CHECK_THAT(problem(review(Verdict::fail), with("Review", "Looks good")),
               Tells("## Review") && Tells("Verdict: PASS") && Tells("Verdict: FAIL"));
    CHECK_THAT(problem(review(Verdict::fail, VerdictLine::any), with("Review", "Looks good")),
               Tells("## Review") && Tells("FAIL") && !Holds("Verdict:"));
}

TEST_CASE("hashes are those of the sections, and those that an older version recorded are understood") {
    const auto plan = with("Plan", "x");
    CHECK(plan.hashes() == Entry{{"Plan", orange::sha256("x")}});
    CHECK(is_unchanged(plan, plan.hashes(), "Plan"));
    CHECK(is_unchanged(plan, {{"Plan", orange::fast_hash("x")}}, "Plan"));
    CHECK_FALSE(is_unchanged(plan, {{"Plan", orange::fast_hash("y")}}, "Plan"));
}

TEST_CASE("what is wanted of a section names the verdict and the fields that its gate asks for, and no more") {
    auto anywhere = review(Verdict::fail, VerdictLine::any);
    CHECK_THAT(problem(anywhere, {}), Tells("## Review") && Tells("missing") && Tells("FAIL"));
    anywhere.fields = {"REASON"};
    CHECK_THAT(problem(anywhere, with("Review", " \n")),
               Tells("## Review") && Tells("empty") && Tells("FAIL") && Tells("REASON: …"));
    Gate optional;
    optional.section = "Notes";
    optional.required = false;
    optional.fields = {"WHY"};
    CHECK_THAT(problem(optional, {}), Tells("## Notes") && Tells("missing") && Tells("WHY: …"));
    auto verdict = review(Verdict::pass);
    verdict.required = false;
    CHECK_THAT(problem(verdict, {}), Tells("Verdict: PASS"));
}

TEST_CASE("a section of another name is no misspelling") {
    CHECK_THAT(problem(handoff(), with("Hand off", "DONE: x")),
               Tells("## Handoff") && Tells("missing") && !Holds("Hand off"));
    auto both = with("Plan", "x");
    both.sections["handoff"] = {"DONE: x"};
    CHECK_THAT(problem(handoff(), both), Tells("## handoff") && Tells("## Handoff"));
}

TEST_CASE("a field's name within a sentence is no near miss of a field") {
    CHECK_THAT(problem(handoff(), with("Handoff", "all is DONE: really")), !Holds("all is DONE: really"));
    CHECK_THAT(problem(handoff(), with("Handoff", "- **DONE**: x")), Holds("\"- **DONE**: x\""));
}

TEST_CASE("The first question is one line without the mark of a list, and says whether there is more") {
    CHECK(first_question("").empty());
    CHECK(first_question("\n<!-- what you need to know -->\n\n").empty());
    for (const char* text :
         {"Half up?", "\n- Half up?\n", "* Half up?", "> Half up?", "1. Half up?", "12) Half up?", "- [ ] Half up?"}) {
        CHECK(first_question(text) == "Half up?");
    }
    CHECK(first_question("- [x] Half up?\n- [X] Net?\n- [ ] How many digits?") == "How many digits? (more in TASK.md)");
    CHECK(first_question("- [x] Half up?") == "Half up?");
    CHECK(first_question("- [x] Half up?\n  Yes.\n- [ ] How many digits?") == "How many digits? (more in TASK.md)");
    CHECK(first_question("Half up, or\nhalf even?") == "Half up, or (more in TASK.md)");
    CHECK(first_question("2.5 or 3?") == "2.5 or 3?");
    CHECK(first_question("-v or -q?") == "-v or -q?");
    CHECK(first_question("1. Half up?\n2. How many digits?\n") == "Half up? (more in TASK.md)");
    CHECK(first_question("\x1b[2JHalf\x07 up?").find('\x1b') == std::string::npos);
    CHECK(first_question(std::string(500, 'x')).size() < 170);
}

TEST_CASE("the first point of a review is the first line that says something") {
    CHECK(first_point("Verdict: FAIL\n\n<!-- two -->\n### Points\n- **No** test\n- No docs\n") == "**No** test");
    CHECK(first_point("Verdict: PASS\n").empty());
    CHECK(first_point(std::string(300, 'x')).size() <= 102);
}
