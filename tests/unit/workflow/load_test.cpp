#include "daemon/workflow/load.hpp"

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::workflow;

namespace {

/// A small sound workflow, of which each test breaks one line. Its lines are counted from 1.
const std::string k_sound =
    R"(name: small
version: 1
states:
  pending: {terminal: false}
  working: {agent: worker, respawn_prompt: go}
  checking: {agent: reviewer, respawn_prompt: look}
  stuck: {}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks:
      - action: spawn_agent
        prompt: go
  - from: working
    to: checking
    gate: {section: "## Handoff", fields: [DONE], fresh: true}
    hooks:
      - {action: spawn_reviewer, prompt: look, increment: review_round}
  - from: [working, checking]
    to: stuck
    by: [human, system]
  - from: checking
    to: working
    when: "review_round < 2"
    gate: {section: "## Review", verdict: FAIL, verdict_line: first}
  - from: checking
    to: working
    when: "review_round >= 2"
    hooks:
      - {action: run_command, argv: [make, test], timeout: 5}
  - from: "*"
    to: done
exit_monitoring:
  poll_interval: 30
  rules:
    - status: working
      has_artifact: {section: "## Handoff"}
      then: checking
    - status: working
      no_artifact: true
      action: crash
      stuck_after: 2
      respawn: true
    - status: checking
      then_when:
        - {when: "review_round < 2", then: working}
        - {when: "review_round >= 2", then: stuck}
    - status: stuck
      action: mark_dead
prompts:
  go: |
    Do {summary}
    in {project}.
  look: Look at {branch}.
)";

struct Case {
    std::string from, to;            ///< what is replaced in the sound workflow, once
    std::string place;               ///< "line:column" of the one problem
    std::vector<std::string> names;  ///< what the problem is about, and what would be right
};

std::string broken(const Case& one) {
    std::string text = k_sound;
    const auto at = text.find(one.from);
    INFO(one.from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, one.from.size(), one.to);
}

std::vector<std::string> problems_of(std::string_view text, std::string_view name = "small") {
    const auto loaded = load(text, "small.yml", name);
    std::vector<std::string> lines;
    const auto text_of_all = describe(loaded.problems, "small.yml");
    for (const auto line : split_lines(text_of_all)) lines.emplace_back(line);
    return lines;
}

void check_all(const std::vector<Case>& cases) {
    for (const auto& one : cases) {
        const auto problems = problems_of(broken(one));
        INFO("in place of \"" << one.from << "\": \"" << one.to << "\"");
        REQUIRE_FALSE(problems.empty());
        CHECK_THAT(problems.front(), Catch::StartsWith("small.yml:" + one.place + ": "));
        for (const auto& name : one.names) CHECK_THAT(problems.front(), Tells(name));
        CHECK(problems.size() == 1);
    }
}

}  // namespace

TEST_CASE("a sound workflow is read as it is written") {
    const auto loaded = load(k_sound, "small.yml", "small");
    INFO(describe(loaded.problems, "small.yml"));
    REQUIRE(loaded.ok());
    const auto& definition = loaded.definition;
    CHECK(definition.name == "small");
    CHECK(definition.hash == sha256(k_sound));
    CHECK(definition.states.size() == 5);
    CHECK(definition.state("checking")->agent == Role::reviewer);
    CHECK(definition.transitions[0].hooks[0].param("harness") == "task");
    CHECK(definition.transitions[0].hooks[0].param("permissions") == "full");
    CHECK(definition.transitions[1].hooks[0].param("permissions") == "reduced");
    CHECK(definition.transitions[1].gate ==
          engine::Gate{"Handoff", true, {"DONE"}, {}, engine::VerdictLine::any, true});
    CHECK(definition.transitions[2].by == std::vector<Role>{Role::human, Role::system});
    CHECK(definition.transitions[3].gate->verdict == engine::Verdict::fail);
    CHECK(definition.transitions[4].hooks[0].argv == std::vector<std::string>{"make", "test"});
    CHECK(definition.transitions[5].any_active);
    REQUIRE(definition.exit_rules.size() == 4);
    CHECK(definition.exit_rules[1].stuck_after == 2);
    CHECK(definition.exit_rules[1].respawn);
    CHECK(definition.exit_rules[2].targets.size() == 2);
    CHECK(definition.prompts.at("go") == "Do {summary}\nin {project}.\n");
}

TEST_CASE("wrong keys and types at the top are refused where they stand") {
    check_all({
        {"name: small", "name: other", "1:7", {"name", "other"}},
        {"name: small", "name: \"Not A Name\"", "1:7", {"\"Not A Name\"", "name"}},
        {"name: small", "name: [a]", "1:7", {"name"}},
        {"name: small\n", "", "1:1", {"\"name\""}},
        {"version: 1", "version: 2", "2:10", {"\"2\"", "version", "1"}},
        {"version: 1", "version: \"1\"", "2:10", {"version"}},
        {"version: 1\n", "", "1:1", {"\"version\""}},
        {"version: 1", "version: 1\nextra: x", "3:1", {"\"extra\""}},
        {"prompts:", "promts:", "51:1", {"\"promts\"", "prompts"}},
        {"poll_interval: 30", "poll_interval: 0", "35:18", {"\"0\"", "poll_interval", "1", "3600"}},
        {"poll_interval: 30", "poll_interval: 3601", "35:18", {"poll_interval"}},
        {"poll_interval: 30", "poll_interval: 30s", "35:18", {"poll_interval"}},
        {"poll_interval: 30", "poll: 30", "35:3", {"\"poll\"", "exit_monitoring"}},
        {"look: Look at {branch}.", "look: \"\"", "55:9", {"look"}},
        {"  look: Look", "  Look: x\n  look: Look", "55:3", {"\"Look\""}},
    });
}

TEST_CASE("wrong states are refused where they stand") {
    check_all({
        {"stuck: {}", "stuck: {terminal: yes}", "7:21", {"\"yes\"", "terminal"}},
        {"stuck: {}", "stuck: {final: true}", "7:11", {"\"final\""}},
        {"stuck: {}", "stuck: [x]", "7:10", {"stuck"}},
        {"agent: worker", "agent: wroker", "5:20", {"\"wroker\"", "agent", "worker"}},
        {"stuck: {}", "stuck: {}\n  Odd Name: {}", "8:3", {"\"Odd Name\""}},
        {"stuck: {}", "stuck: {}\n  lost: {}", "8:3", {"lost"}},
        {"done: {terminal: true}", "done: {terminal: true, agent: worker}", "8:33", {"terminal", "done", "agent"}},
        {"done: {terminal: true}",
         "done: {terminal: true, respawn_prompt: go}",
         "8:42",
         {"terminal", "done", "respawn_prompt"}},
        {"stuck: {}", "stuck: {agent: worker}", "7:18", {"stuck", "agent", "respawn_prompt"}},
        {"respawn_prompt: look", "respawn_prompt: lok", "6:47", {"\"lok\"", "look"}},
        {"{terminal: true}", "{terminal: false}", "4:3", {"terminal"}},
        {"action: spawn_reviewer, prompt: look, increment", "action: increment, field", "6:21", {"reviewer"}},
        {"action: spawn_agent\n        prompt: go", "action: spawn_reviewer\n        prompt: go", "5:20", {"worker"}},
        {"- from: \"*\"\n    to: done", "- from: [pending, working, checking]\n    to: done", "7:3", {"stuck"}},
        {"  - from: \"*\"\n    to: done",
         "  - from: [pending, working, checking]\n    to: done\n  - {from: stuck, to: stuck}",
         "7:3",
         {"stuck"}},
        {"{terminal: false}", "{}\n  over: {terminal: true}", "5:3", {"over"}},
    });
}

TEST_CASE("wrong transitions are refused where they stand") {
    check_all({
        {"to: stuck", "to: stick", "21:9", {"\"stick\"", "stuck"}},
        {"from: pending", "from: panding", "10:11", {"\"panding\"", "pending"}},
        {"[working, checking]", "[working, cheking]", "20:21", {"\"cheking\"", "checking"}},
        {"[working, checking]", "[working, working]", "20:21", {"\"working\""}},
        {"[working, checking]", "[working, \"*\"]", "20:21", {"\"*\""}},
        {"[working, checking]", "[]", "20:11", {"from"}},
        {"[working, checking]", "[working, done, checking]", "20:21", {"done"}},
        {"    to: stuck\n", "", "20:5", {"\"to\""}},
        {"by: [human, system]", "by: [humans, system]", "22:10", {"\"humans\"", "human", "system"}},
        {"by: [human, system]", "by: human", "22:9", {"by"}},
        {"by: [human, system]", "by: []", "22:9", {"by"}},
        {"by: [human, system]", "by: [human, system, human]", "22:25", {"\"human\""}},
        {"by: [human, system]", "force: maybe", "22:12", {"force"}},
        {"by: [human, system]", "bye: [human]", "22:5", {"\"bye\"", "by"}},
        {"section: \"## Handoff\", f", "section: Handoff, f", "17:21", {"\"## Handoff\"", "section"}},
        {"section: \"## Handoff\", f", "section: \"### Handoff\", f", "17:21", {"section", "\"## Handoff\""}},
        {"section: \"## Handoff\", f", "f", "17:11", {"\"section\""}},
        {"fields: [DONE]", "fields: DONE", "17:43", {"fields"}},
        {"fields: [DONE]", "fields: []", "17:43", {"fields"}},
        {"fields: [DONE]", "fields: [\"DONE:\"]", "17:44", {}},
        {"fresh: true", "fresh: 1", "17:58", {"fresh"}},
        {"fresh: true", "frsh: true", "17:51", {"\"frsh\"", "fresh"}},
        {"verdict: FAIL", "verdict: FAILED", "26:43", {"\"FAILED\"", "verdict", "PASS", "FAIL"}},
        {"verdict: FAIL, ", "", "26:48", {"verdict_line", "verdict"}},
        {"verdict_line: first", "verdict_line: last", "26:63", {"verdict_line"}},
        {"when: \"review_round < 2\"\n    gate", "when: \"review_round\"\n    gate", "25:11", {"\"review_round\""}},
        {"by: [human, system]", "when: \"revew_round < 2\"", "22:11", {"\"revew_round\"", "review_round"}},
        {"when: \"review_round >= 2\"\n    hooks",
         "when: \"review_round >= 1\"\n    hooks",
         "29:11",
         {"checking → working", "23", "review_round", "1"}},
        {"    when: \"review_round >= 2\"\n", "", "27:5", {"checking → working", "23", "review_round", "0"}},
        {"- from: \"*\"\n",
         "- {from: [working, checking], to: stuck, when: \"crash_count > 3\"}\n  - from: \"*\"\n",
         "32:50",
         {"working → stuck", "20"}},
        {"when: \"review_round >= 2\"\n    hooks",
         "when: \"review_round > 9223372036854775807\"\n    hooks",
         "29:11",
         {}},
    });
}

TEST_CASE("wrong hooks are refused where they stand") {
    check_all({
        {"action: spawn_agent", "action: spawn_agnt", "13:17", {"\"spawn_agnt\"", "action", "spawn_agent"}},
        {"        prompt: go\n", "", "13:9", {"\"prompt\"", "spawn_agent"}},
        {"        prompt: go\n", "        prompt: goo\n", "14:17", {"\"goo\"", "prompt", "go"}},
        {"        prompt: go\n",
         "        prompt: go\n        harness: Other\n",
         "15:18",
         {"spawn_agent", "harness", "second_review"}},
        {"spawn_reviewer, prompt: look",
         "spawn_reviewer, harness: task, prompt: look",
         "19:43",
         {"reviewer", "worker"}},
        {"  - from: [working, checking]\n",
         "  - {from: stuck, to: checking, hooks: [{action: spawn_reviewer, harness: codex, prompt: look}]}\n"
         "  - from: [working, checking]\n",
         "20:5",
         {"reviewer", "checking", "codex", "15"}},
        {"        prompt: go\n",
         "        prompt: go\n        permissions: all\n",
         "15:22",
         {"spawn_agent", "permissions"}},
        {"increment: review_round", "increment: status", "19:59", {"spawn_reviewer", "increment", "status"}},
        {"increment: review_round", "increment: crash_count", "19:59", {"spawn_reviewer", "increment", "crash_count"}},
        {"increment: review_round", "increment: \"Review Round\"", "19:59", {"spawn_reviewer", "increment"}},
        {"argv: [make, test]", "argv: make test", "31:37", {"argv"}},
        {"argv: [make, test]", "argv: []", "31:37", {"argv"}},
        {"argv: [make, test], ", "", "31:9", {"\"argv\"", "run_command"}},
        {"timeout: 5", "timeout: 0", "31:60", {"run_command", "timeout", "1", "3600"}},
        {"timeout: 5", "shell: true", "31:51", {"\"shell\"", "run_command"}},
        {"{action: run_command, argv: [make, test], timeout: 5}",
         "{action: kill_session, prompt: go}",
         "31:32",
         {"\"prompt\"", "action", "kill_session"}},
        {"{action: run_command, argv: [make, test], timeout: 5}",
         "{action: notify_worker, message: pased}",
         "31:42",
         {"\"pased\"", "notify_worker", "message", "changes_requested", "passed"}},
        {"{action: run_command, argv: [make, test], timeout: 5}",
         "{action: notify_worker}",
         "31:9",
         {"\"message\"", "action", "notify_worker"}},
        {"{action: run_command, argv: [make, test], timeout: 5}",
         "{action: set_field, field: review_round, value: none}",
         "31:57",
         {"\"none\"", "set_field", "value"}},
        {"{action: run_command, argv: [make, test], timeout: 5}", "{field: review_round}", "31:9", {"\"action\""}},
        {"{action: run_command, argv: [make, test], timeout: 5}", "kill_session", "31:9", {}},
    });
}

TEST_CASE("a message of one word is a text for the human, and a misspelt choice for the worker") {
    const std::string replaced = "{action: run_command, argv: [make, test], timeout: 5}";
    CHECK(problems_of(broken({replaced, "{action: notify, message: done}", {}, {}})).empty());
    check_all({{replaced, "{action: notify_worker, message: done}", "31:42", {"notify_worker", "passed"}}});
}

TEST_CASE("no field of the frontmatter that is not a number can be counted") {
    std::vector<Case> cases;
    for (const auto& field : frontmatter_fields()) {
        if (field.is_number) continue;
        cases.push_back({"increment: review_round", "increment: " + field.name, "19:59", {"increment", field.name}});
    }
    CHECK(cases.size() > 15);
    check_all(cases);
}

TEST_CASE("wrong exit rules are refused where they stand") {
    check_all({
        {"then: checking", "then: cheking", "39:13", {"\"cheking\"", "checking"}},
        {"then: checking", "then: pending", "39:13", {"working → pending"}},
        {"    by: [human, system]\n", "    by: [human]\n", "48:45", {"checking → stuck"}},
        {"- status: working\n      has", "- status: wroking\n      has", "37:15", {"\"wroking\"", "working"}},
        {"status: stuck", "status: done", "49:15", {"done"}},
        {"action: crash", "action: explode", "42:15", {"action", "mark_dead"}},
        {"action: crash", "action: crash\n      then: checking", "42:15", {"then", "then_when", "action"}},
        {"      action: mark_dead\n", "", "49:7", {"then_when", "action"}},
        {"action: mark_dead", "action: mark_dead\n      stuck_after: 2", "51:20", {"stuck_after", "action"}},
        {"action: mark_dead", "action: mark_dead\n      respawn: true", "51:16", {"respawn", "action"}},
        {"action: mark_dead", "action: crash\n      respawn: true", "51:16", {"respawn", "respawn_prompt"}},
        {"action: mark_dead", "action: crash\n      stuck_after: 1", "51:20", {"stuck → stuck", "stuck_after"}},
        {"from: [working, checking]", "from: [checking]", "43:20", {"working → stuck", "stuck_after"}},
        {"stuck_after: 2", "stuck_after: 0", "43:20", {"stuck_after", "1", "1000"}},
        {"no_artifact: true", "no_artifact: false", "41:20", {"no_artifact"}},
        {"no_artifact: true",
         "no_artifact: true\n      has_artifact: {section: \"## Handoff\"}",
         "41:20",
         {"has_artifact", "no_artifact"}},
        {"- status: stuck\n",
         "- status: stuck\n      no_artifact: true\n",
         "50:20",
         {"no_artifact", "has_artifact", "stuck"}},
        {"action: mark_dead",
         "action: mark_dead\n    - status: stuck\n      action: mark_dead",
         "51:7",
         {"stuck", "49"}},
        {"when: \"review_round >= 2\", then: stuck",
         "when: \"review_round > 2\", then: stuck",
         "47:9",
         {"then_when", "review_round", "2"}},
        {"when: \"review_round >= 2\", then: stuck",
         "when: \"review_round >= 1\", then: stuck",
         "48:45",
         {"\"review_round < 2\"", "\"review_round >= 1\"", "review_round", "1"}},
        {"when: \"review_round >= 2\", then: stuck", "then: stuck", "48:11", {"\"when\"", "then_when"}},
        {"      then: checking\n", "", "37:7", {"then_when"}},
    });
}

TEST_CASE("gates on facts are read as they are written, with a section or without") {
    const std::string gate = R"({section: "## Handoff", fields: [DONE], fresh: true})";
    const auto facts_of = [&](const std::string& written) {
        const auto text = broken({gate, written, "", {}});
        const auto loaded = load(text, "small.yml", "small");
        INFO(describe(loaded.problems, "small.yml"));
        REQUIRE(loaded.ok());
        return *loaded.definition.transitions[1].gate;
    };
    auto all = facts_of(R"({section: "## Handoff", commits: 2, clean: true, checks: true, merges: true})");
    CHECK(all.section == "Handoff");
    CHECK(all.facts == engine::GateFacts{2, true, true, false, true, {}});
    auto own = facts_of("{checks: [[make, test], [./lint]]}");
    CHECK(own.section.empty());
    CHECK(own.facts.argvs == engine::Argvs{{"make", "test"}, {"./lint"}});
    CHECK(facts_of("{reviewed_head: true}").facts.reviewed_head);
    CHECK_FALSE(facts_of(R"({section: "## Handoff", checks: false, clean: false})").facts.any());
}

TEST_CASE("wrong gates on facts, and such as never hold, are refused where they stand") {
    const std::string gate = R"({section: "## Handoff", fields: [DONE], fresh: true})";
    const std::string rule = R"({section: "## Handoff"})";
    check_all({
        {gate, "{commits: 0}", "17:21", {"1"}},
        {gate, "{clean: perhaps}", "17:19", {"clean"}},
        {gate, "{checks: []}", "17:20", {"checks"}},
        {gate, "{checks: [make]}", "17:21", {"check"}},
        {gate, "{checks: [[]]}", "17:21", {"check"}},
        {gate, "{clean: true, fresh: true}", "17:11", {"section"}},
        {gate, "{}", "17:11", {"section"}},
        {gate, "{clean: false}", "17:11", {"section"}},
        {rule, R"({section: "## Handoff", clean: true})", "38:52", {"clean", "TASK.md"}},
        {"    to: working\n    hooks:", "    to: working\n    gate: {commits: 1}\n    hooks:", "12:21", {"pending"}},
    });
    auto text = broken({gate, "{reviewed_head: true}", "", {}});
    const std::string agent = "agent: reviewer, ";
    text.erase(text.find(agent), agent.size());
    const auto problems = problems_of(text);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front(), Catch::StartsWith("small.yml:17:27: "));
}

TEST_CASE("what is no list or no map where one belongs is refused where it stands") {
    const auto first = [](const std::string& text) { return problems_of("name: small\nversion: 1\n" + text).front(); };
    const auto at = [](const std::string& place) { return Catch::StartsWith("small.yml:" + place + ": "); };
    CHECK_THAT(first("states: [a]\ntransitions: []\n"), at("3:9") && Tells("states"));
    CHECK_THAT(first("states: {}\ntransitions: []\n"), at("3:9") && Tells("states"));
    CHECK_THAT(first("states: {a: {}}\ntransitions: {}\n"), at("4:14") && Tells("transitions"));
    CHECK_THAT(first("states: {a: {}}\ntransitions: []\n"), at("4:14") && Tells("transitions"));
    CHECK_THAT(first("states: {a: {}}\ntransitions: [x]\n"), at("4:15") && Tells("\"x\""));
    check_all({
        {"hooks:\n      - action: spawn_agent\n        prompt: go\n  - from: working\n    to: checking",
         "hooks: none\n  - from: working\n    to: checking",
         "12:12",
         {"\"none\"", "hooks"}},
        {"argv: [make, test]", "argv: [make, [test]]", "31:44", {}},
        {"gate: {section: \"## Review\", verdict: FAIL, verdict_line: first}",
         "gate: \"## Review\"",
         "26:11",
         {"gate"}},
        {"- {when: \"review_round < 2\", then: working}\n        - {when: \"review_round >= 2\", then: stuck}",
         "[]",
         "47:9",
         {"then_when"}},
        {"has_artifact: {section: \"## Handoff\"}", "has_artifact: Handoff", "38:21", {"has_artifact"}},
        {"- status: stuck\n      action", "- action", "49:7", {"\"status\""}},
    });
}

TEST_CASE("unknown variables of prompts are found in their line") {
    check_all({
        {"in {project}.", "in {projekt}.", "54:8", {"{projekt}", "project"}},
        {"Look at {branch}.", "Look at {task}.", "55:17", {"{task}"}},
    });
    CHECK(problems_of(broken({"{summary}", "{\"a\": 1} {} { branch } {", "", {}})).empty());
}

TEST_CASE("syntax errors have their place too") {
    CHECK(problems_of("name: [a\n").front().starts_with("small.yml:1:7: "));
    const auto only = [](const std::string& text) {
        const auto problems = problems_of(text);
        REQUIRE(problems.size() == 1);
        return problems.front();
    };
    CHECK_THAT(only("name: a\nname: b\n"), Catch::StartsWith("small.yml:2:1: ") && Tells("\"name\""));
    CHECK(only("").starts_with("small.yml:1:1: "));
    CHECK(only("- a").starts_with("small.yml:1:1: "));
}

TEST_CASE("all problems come at once, in the order of the file") {
    auto text = broken({"version: 1", "version: 9", "", {}});
    text.replace(text.find("to: stuck"), 9, "to: stick");
    text.replace(text.find("{branch}"), 8, "{brunch}");
    const auto problems = problems_of(text);
    REQUIRE(problems.size() >= 3);
    CHECK(problems[0].starts_with("small.yml:2:10:"));
    CHECK(problems[1].starts_with("small.yml:21:9:"));
    CHECK(problems.back().starts_with("small.yml:55:17:"));
}

TEST_CASE("tasks cannot begin where they end") {
    CHECK_THAT(problems_of("name: small\nversion: 1\nstates:\n  done: {terminal: true}\n  on: {}\ntransitions:\n"
                           "  - {from: on, to: done}\n")
                   .front(),
               Catch::StartsWith("small.yml:4:3: ") && Tells("done"));
}

TEST_CASE("a name is not held against anything where none is expected") {
    CHECK(load(k_sound, "x", "").ok());
}

TEST_CASE("no cut of a workflow, and no byte put into it, is fatal") {
    for (std::size_t cut = 0; cut < k_sound.size(); cut += 3) load(k_sound.substr(0, cut), "f", "small");
    for (std::size_t at = 0; at < k_sound.size(); at += 5) {
        for (const char c : {'{', ']', ':', '"', '\t', '*', '&', '-'}) {
            std::string text = k_sound;
            text[at] = c;
            const auto loaded = load(text, "f", "small");
            for (const auto& problem : loaded.problems) CHECK(problem.line >= 1);
        }
    }
}

TEST_CASE("a workflow of thousands of entries is refused before each is compared with each") {
    std::string many = "name: big\nversion: 1\nstates:\n";
    for (int i = 0; i < 1'000; ++i) many += "  s" + std::to_string(i) + ": {}\n";
    many += "transitions:\n";
    for (int i = 0; i < 1'000; ++i) many += "  - {from: [t, u], to: x" + std::to_string(i) + "}\n";
    const auto loaded = load(many, "big.yml", "big");
    REQUIRE(loaded.problems.size() == 2);
    CHECK_THAT(loaded.problems[0].message, Tells("states") && Tells("1000") && Tells("100"));
    CHECK_THAT(loaded.problems[1].message, Tells("transitions") && Tells("1000") && Tells("100"));
}

TEST_CASE("of many problems the first hundred are kept, and long names are not repeated in each") {
    std::string text = "name: big\nversion: 1\nstates:\n  " + std::string(1'000, 'a') + ": {}\ntransitions:\n";
    for (int i = 0; i < 60; ++i) text += "  - {from: [t, u, v], to: x}\n";
    const auto loaded = load(text, "big.yml", "big");
    CHECK(loaded.problems.size() == 100);
    CHECK(describe(loaded.problems, "big.yml").size() < 500'000);
}

namespace {

/// A small sound workflow in which a task waits for its sub-tasks.
const std::string k_split =
    R"(name: split
version: 1
states:
  pending: {}
  working: {agent: worker, respawn_prompt: go}
  waiting: {children: {all_done: {when_commits: working, otherwise: done}, any_ended_otherwise: help}}
  done: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: spawn_agent, prompt: go}]}
  - {from: working, to: waiting, by: [worker], gate: {section: "## Parts", children: true}}
  - {from: waiting, to: working, by: [human, system]}
  - {from: waiting, to: done, by: [system]}
prompts: {go: Go.}
)";

std::vector<std::string> split_problems(const std::string& from, const std::string& to) {
    std::string text = k_split;
    const auto at = text.find(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    const auto loaded = load(text.replace(at, from.size(), to), "split.yml", "split");
    const auto all = describe(loaded.problems, "split.yml");
    std::vector<std::string> lines;
    for (const auto line : split_lines(all)) lines.emplace_back(line);
    return lines;
}

}  // namespace

TEST_CASE("a state that waits for sub-tasks is read as it is written") {
    const auto loaded = load(k_split, "split.yml", "split");
    INFO(describe(loaded.problems, "split.yml"));
    REQUIRE(loaded.ok());
    const auto& rule = loaded.definition.state("waiting")->children;
    REQUIRE(rule);
    CHECK(rule->when_commits == "working");
    CHECK(rule->otherwise == "done");
    CHECK(loaded.definition.transitions[1].gate->children);
    CHECK_FALSE(loaded.definition.transitions[1].gate->facts.any());
    // Without a section, it is enough that there are sub-tasks.
    CHECK(split_problems("section: \"## Parts\", ", "").empty());
}

TEST_CASE("what makes a state that waits for sub-tasks a dead end is refused where it stands") {
    const std::vector<Case> cases = {
        {"otherwise: done}", "otherwise: dne}", "6:", {"\"dne\"", "done"}},
        {"otherwise: done}", "otherwise: pending}", "6:", {"waiting → pending"}},
        {", otherwise: done}", "}", "6:", {"\"otherwise\""}},
        {"when_commits: working, ", "", "6:", {"\"when_commits\""}},
        {"all_done: {when_commits: working, otherwise: done}, ", "", "6:", {"\"all_done\""}},
        {"any_ended_otherwise: help", "any_ended_otherwise: ignore", "6:", {"any_ended_otherwise", "help"}},
        {"any_ended_otherwise", "any_ended", "6:", {"\"any_ended\"", "any_ended_otherwise"}},
        {"{children: {all", "{agent: worker, respawn_prompt: go, children: {all", "6:", {"waiting", "agent"}},
        {"done: {terminal: true}",
         "done: {terminal: true, children: {all_done: {when_commits: done, otherwise: done}}}",
         "7:",
         {"terminal", "done"}},
        {"to: done, by: [system]", "to: done, by: [human]", "6:", {"waiting → done", "system"}},
        {"to: done, by: [system]", "to: done, force: true", "6:", {"waiting → done", "force"}},
        {"to: done, by: [system]", "to: done, when: crash_count < 1", "6:", {"waiting → done", "when"}},
        {"to: done, by: [system]", "to: done, gate: {section: \"## Parts\"}", "6:", {"waiting → done", "gate"}},
        {"to: working, by: [human, system]", "to: working, by: [system]", "6:", {"waiting → working", "human"}},
        {", children: true}", "}", "10:", {"waiting", "children: true"}},
        {", gate: {section: \"## Parts\", children: true}", "", "10:", {"waiting", "children: true"}},
        {"children: true}", "children: yes}", "10:", {"children", "\"yes\""}},
    };
    for (const auto& one : cases) {
        const auto problems = split_problems(one.from, one.to);
        INFO("in place of \"" << one.from << "\": \"" << one.to << "\"");
        REQUIRE_FALSE(problems.empty());
        CHECK_THAT(problems.front(), Catch::StartsWith("split.yml:" + one.place));
        for (const auto& name : one.names) CHECK_THAT(problems.front(), Tells(name));
        CHECK(problems.size() == 1);
    }
    const auto initial =
        split_problems("pending: {}", "pending: {children: {all_done: {when_commits: working, otherwise: working}}}");
    REQUIRE_FALSE(initial.empty());
    CHECK_THAT(initial.front(), Tells("pending"));
}

TEST_CASE("A workflow that is too large is refused at once, with the limit") {
    const auto padded = [](std::size_t size) { return k_sound + "#" + std::string(size - k_sound.size() - 1, 'x'); };
    CHECK(load(padded(k_largest_file), "small.yml", "small").ok());
    const auto loaded = load(padded(k_largest_file + 1), "small.yml", "small");
    REQUIRE(loaded.problems.size() == 1);
    CHECK_THAT(loaded.problems.front().message, Tells(std::to_string(k_largest_file / 1024)));
}

TEST_CASE("a valid workflow is warned of what its author may have forgotten") {
    const std::string by_agents = "may set done itself";
    const auto warned = [&](const std::string& text) {
        const auto loaded = load(text, "small.yml", "small");
        INFO(describe(loaded.problems, "small.yml"));
        REQUIRE(loaded.ok());
        auto others = loaded.warnings;
        std::erase_if(others, [&](const Problem& each) { return each.message.find(by_agents) != std::string::npos; });
        return others;
    };
    CHECK(warned(k_sound).empty());
    SECTION("a transition by which an agent ends its task") {
        const auto loaded = load(k_sound, "small.yml", "small");
        REQUIRE(loaded.warnings.size() == 1);
        CHECK_THAT(loaded.warnings.front().message, Tells("by: [system]"));
        auto text = k_sound;
        const std::string to = "    to: done\n";
        text.replace(text.find(to), to.size(), to + "    by: [system]\n");
        CHECK(load(text, "small.yml", "small").warnings.empty());
    }
    const auto at = [](const std::vector<Problem>& warnings) {
        std::vector<int> lines;
        for (const auto& warning : warnings) lines.push_back(warning.line);
        return lines;
    };
    using Lines = std::vector<int>;
    SECTION("a state whose agent is not named") {
        const auto found =
            warned(broken({"working: {agent: worker, respawn_prompt: go}", "working: {respawn_prompt: go}", "", {}}));
        REQUIRE(at(found) == Lines{5});
        CHECK_THAT(found.front().message, Tells("working") && Tells("agent: worker") && Tells("needs: review"));
    }
    SECTION("a state that an agent is to leave") {
        auto text = broken({"stuck: {}", "stuck: {}\n  testing: {}", "", {}});
        const std::string all = "  - from: \"*\"";
        text.replace(text.find(all), all.size(),
                     "  - {from: working, to: testing}\n  - {from: testing, to: checking}\n" + all +
                         "\n    by: [system]\n    force: true");
        CHECK(at(warned(text)) == Lines{8});
        for (const auto& [from, to] : {std::pair<std::string, std::string>("testing: {}", "testing: {needs: review}"),
                                       {"to: checking}", "to: checking, by: [human]}"}}) {
            auto decided = text;
            CHECK(warned(decided.replace(decided.find(from), from.size(), to)).empty());
        }
    }
    SECTION("a state whose agent's end no rule is about") {
        const std::string rule = "    - status: checking\n";
        auto text = k_sound;
        const auto begin = text.find(rule);
        text.erase(begin, text.find("    - status: stuck\n") - begin);
        const auto found = warned(text);
        REQUIRE(at(found) == Lines{6});
        CHECK_THAT(found.front().message, Tells("checking") && Tells("exit_monitoring"));
    }
    SECTION("no rules at all") {
        auto text = k_sound;
        const auto begin = text.find("exit_monitoring:");
        text.erase(begin, text.find("prompts:") - begin);
        const auto found = warned(text);
        REQUIRE(found.size() == 1);
        CHECK_THAT(found.front().message, Tells("exit_monitoring"));
    }
    SECTION("one that does not load has problems alone") {
        CHECK(load("name: small\n", "small.yml", "small").warnings.empty());
    }
}
