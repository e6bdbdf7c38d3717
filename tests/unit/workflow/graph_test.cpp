#include "daemon/workflow/graph.hpp"

#include <fstream>
#include <sstream>

#include "common/base/text.hpp"
#include "daemon/workflow/load.hpp"
#include "daemon/workflow/renamed.hpp"
#include "tests/catch.hpp"

using namespace orange;
using workflow::dot_graph;
using workflow::mermaid_graph;
using workflow::text_graph;

namespace {

engine::Definition definition(const std::string& text, const std::string& name) {
    auto loaded = workflow::load(text, name + ".yml", name);
    INFO(workflow::describe(loaded.problems, name + ".yml"));
    REQUIRE(loaded.ok());
    return std::move(loaded.definition);
}

std::string file(const std::string& path) {
    std::ifstream in(std::string(ORANGE_SOURCE_DIR) + "/" + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

const std::string k_odd =
    "name: odd\n"
    "version: 1\n"
    "states: {pending: {}, end: {}, done: {terminal: true}}\n"
    "transitions:\n"
    "  - {from: pending, to: end, by: [human], when: crash_count < 2, gate: {section: '## \"a\" \\ <b> #1; |x|'}}\n"
    "  - {from: '*', to: done, by: [system], force: true, hooks: [{action: spawn_next}]}\n"
    "  - {from: end, to: done, by: [system]}\n";

}  // namespace

TEST_CASE("a workflow is drawn state by state, with what each way out of it asks for") {
    CHECK(text_graph(definition(k_odd, "odd"), 80) ==
          "odd: pending ──▶ end ──▶ done ■\n"
          "\n"
          "┌──────────────┐\n"
          "│ pending      │  tasks begin here\n"
          "└─┬────────────┘\n"
          "  └──▶ end        human\n"
          "        when  crash_count < 2\n"
          "        needs ## \"a\" \\ <b> #1; |x|\n"
          "\n"
          "┌──────────────┐\n"
          "│ end          │\n"
          "└─┬────────────┘\n"
          "  └──▶ done ■     system\n"
          "\n"
          "from pending\n"
          "  └──▶ done ■     system, only with --force\n"
          "        does  spawn_next\n"
          "\n"
          "■ the task has ended\n");
}

TEST_CASE("no line of a drawing is wider than the terminal") {
    for (const auto* name : {"default", "careful", "pr", "relay", "minimal", "two-reviewers"}) {
        const auto drawn = definition(file("workflows/" + std::string(name) + ".yml"), name);
        for (const std::size_t width : {60U, 80U, 200U}) {
            const auto text = text_graph(drawn, width);
            for (const auto line : split_lines(text)) CHECK(columns_of(line) <= width);
        }
        CHECK(text_graph(drawn, 0) == text_graph(drawn, 60));
    }
}

TEST_CASE("labels mean nothing to Mermaid, and states go by number") {
    CHECK(mermaid_graph(definition(k_odd, "odd")) ==
          "flowchart TD\n"
          "    s0(\"pending\")\n"
          "    s1(\"end\")\n"
          "    s2[[\"done\"]]\n"
          "    s0 -->|\"human<br/>when crash_count #60; 2<br/>"
          "#35;#35; #34;a#34; #92; #60;b#62; #35;1#59; #124;x#124;\"| s1\n"
          "    s1 -->|\"system\"| s2\n"
          "    s0 -.->|\"system, only with --force\"| s2\n");
}

TEST_CASE("quotes and backslashes in labels stay text in DOT") {
    const auto dot = dot_graph(definition(k_odd, "odd"));
    CHECK_THAT(dot, Holds("    s0 -> s1 [label=\"human\\nwhen crash_count < 2\\n## \\\"a\\\" \\\\ <b> #1; |x|\"];\n"));
    CHECK_THAT(dot, Holds("    s2 [label=\"done\", peripheries=2];\n"));
    CHECK_THAT(dot, Holds("    s0 -> s2 [label=\"system, only with --force\", style=dashed];\n"));
}

TEST_CASE("a copy under another name differs in nothing but the name") {
    CHECK(*workflow::renamed(k_odd, "even") == "name: even\n" + k_odd.substr(10));
    const auto quoted = "# über\nname: \"odd\" # the name\n" + k_odd.substr(10);
    CHECK(*workflow::renamed(quoted, "even") == "# über\nname: even # the name\n" + k_odd.substr(10));
    const std::string flow =
        "{name: odd, version: 1, states: {pending: {}, done: {terminal: true}}, "
        "transitions: [{from: pending, to: done}]}";
    CHECK(workflow::renamed(flow, "even")->starts_with("{name: even, version: 1"));
    for (const auto* name : {"", "Odd", "-a", "1a", "a/b", "..", "a.b"}) {
        CHECK(workflow::renamed(k_odd, name).error().code == ErrorCode::invalid_argument);
    }
    CHECK(workflow::renamed("version: 1\n", "even").error().code == ErrorCode::workflow_invalid);
    CHECK_FALSE(workflow::renamed("a: [", "even"));
}
