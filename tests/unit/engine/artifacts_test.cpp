#include "daemon/engine/artifacts.hpp"

#include "tests/catch.hpp"

using namespace orange::engine;

namespace {

using Entry = std::map<std::string, std::string>;

Artifacts with(const std::string& heading, const std::string& text, const std::string& hash = "new") {
    Artifacts artifacts;
    artifacts.sections[heading] = {text, hash};
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
    CHECK(
        problem(handoff(), {}) ==
        "## Handoff is missing: add a section \"## Handoff\" to TASK.md with at least one line DONE: …, REMAINING: …, "
        "DECISIONS: … or UNCERTAIN: …");
    CHECK(problem(review(Verdict::pass), {}) ==
          "## Review is missing: add a section \"## Review\" to TASK.md with the first line \"Verdict: PASS\"");
    Gate plain;
    plain.section = "Notes";
    CHECK(problem(plain, {}) ==
          "## Notes is missing: add a section \"## Notes\" to TASK.md with at least one line of text");
    plain.required = false;
    CHECK(problem(plain, {}) == "## Notes is missing: add the heading \"## Notes\" to TASK.md");
}

TEST_CASE("a heading that an unclosed fence swallows, or that is misspelt, is named as the reason") {
    Artifacts artifacts;
    artifacts.swallowed_by_fence["Handoff"] = 12;
    CHECK(problem(handoff(), artifacts).find("inside the code fence that opens at line 12") != std::string::npos);
    CHECK(problem(handoff(), with("handoff", "DONE: x")).find("must read exactly \"## Handoff\"") != std::string::npos);
}

TEST_CASE("an empty section counts only where it need not have content") {
    Gate plain;
    plain.section = "Notes";
    CHECK(problem(plain, with("Notes", " \n\t\n")).starts_with("## Notes is empty: write at least one line"));
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
        CHECK(problem(handoff(), with("Handoff", text))
                  .starts_with("## Handoff has no field: add at least one line DONE: …"));
    }
    CHECK(problem(handoff(), with("Handoff", "- DONE: all")).find("the line \"- DONE: all\" does not count") !=
          std::string::npos);
}

TEST_CASE("a section from before the state was entered is stale, whatever it says") {
    const Entry entry{{"Handoff", "old"}};
    CHECK(problem(handoff(), with("Handoff", "DONE: x", "old"), entry) ==
          "## Handoff is stale: it is still the one from before this state was entered; update it in TASK.md with at "
          "least "
          "one line DONE: …, REMAINING: …, DECISIONS: … or UNCERTAIN: …");
    CHECK(problem(handoff(), with("Handoff", "DONE: x", "new"), entry) == "holds");
    Gate tolerant = handoff();
    tolerant.fresh = false;
    CHECK(problem(tolerant, with("Handoff", "DONE: x", "old"), entry) == "holds");
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
    CHECK(problem(review(Verdict::pass), with("Review", "Verdict: FAIL\n"))
              .starts_with("## Review says FAIL, and this transition is for PASS"));
    CHECK(problem(review(Verdict::fail), with("Review", "Looks good"))
              .starts_with("## Review has no verdict: its first line must be \"Verdict: PASS\" or \"Verdict: FAIL\""));
    CHECK(problem(review(Verdict::fail, VerdictLine::any), with("Review", "Looks good"))
              .starts_with("## Review has no verdict: add a line that holds the word FAIL"));
}

TEST_CASE("hashes are those of the sections") {
    CHECK(with("Plan", "x", "h").hashes() == Entry{{"Plan", "h"}});
}

TEST_CASE("what is wanted of a section names the verdict and the fields that its gate asks for, and no more") {
    auto anywhere = review(Verdict::fail, VerdictLine::any);
    CHECK(problem(anywhere, {}) ==
          "## Review is missing: add a section \"## Review\" to TASK.md with a line that holds the word FAIL");
    anywhere.fields = {"REASON"};
    CHECK(
        problem(anywhere, with("Review", " \n")) ==
        "## Review is empty: write a line that holds the word FAIL and at least one line REASON: … under that heading "
        "in TASK.md");
    Gate optional;
    optional.section = "Notes";
    optional.required = false;
    optional.fields = {"WHY"};
    CHECK(problem(optional, {}) ==
          "## Notes is missing: add a section \"## Notes\" to TASK.md with at least one line WHY: …");
    auto verdict = review(Verdict::pass);
    verdict.required = false;
    CHECK(problem(verdict, {}).ends_with("with the first line \"Verdict: PASS\""));
}

TEST_CASE("a section of another name is no misspelling") {
    CHECK(problem(handoff(), with("Hand off", "DONE: x")).starts_with("## Handoff is missing: add a section"));
    auto both = with("Plan", "x");
    both.sections["handoff"] = {"DONE: x", "new"};
    CHECK(problem(handoff(), both).find("\"## handoff\" must read exactly \"## Handoff\"") != std::string::npos);
}

TEST_CASE("a field's name within a sentence is no near miss of a field") {
    CHECK(problem(handoff(), with("Handoff", "all is DONE: really")).find("does not count") == std::string::npos);
    CHECK(problem(handoff(), with("Handoff", "- **DONE**: x")).find("the line \"- **DONE**: x\" does not count") !=
          std::string::npos);
}
