#include "daemon/workflow/load.hpp"

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
    std::string from, to;  ///< what is replaced in the sound workflow, once
    std::string place;     ///< "line:column" of the one problem
    std::string message;   ///< its beginning
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
        const auto expected = "small.yml:" + one.place + ": " + one.message;
        CHECK(problems.front().substr(0, expected.size()) == expected);
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
    CHECK(definition.hash == content_hash(k_sound));
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
        {"name: small", "name: other", "1:7", "the name must be that of the file: small, but is other"},
        {"name: small", "name: \"Not A Name\"", "1:7", "\"Not A Name\" is no name"},
        {"name: small", "name: [a]", "1:7", "name must be a text, but is a list"},
        {"name: small\n", "", "1:1", "a workflow needs a \"name\""},
        {"version: 1", "version: 2", "2:10", "version must be a whole number from 1 to 1, but is \"2\""},
        {"version: 1", "version: \"1\"", "2:10", "version must be a whole number"},
        {"version: 1\n", "", "1:1", "a workflow needs a \"version\""},
        {"version: 1", "version: 1\nextra: x", "3:1", "unknown key \"extra\" in a workflow"},
        {"prompts:", "promts:", "51:1", "unknown key \"promts\" in a workflow; did you mean prompts?"},
        {"poll_interval: 30", "poll_interval: 0", "35:18",
         "poll_interval must be a whole number from 1 to 3600, but is \"0\""},
        {"poll_interval: 30", "poll_interval: 3601", "35:18", "poll_interval must be"},
        {"poll_interval: 30", "poll_interval: 30s", "35:18", "poll_interval must be"},
        {"poll_interval: 30", "poll: 30", "35:3", "unknown key \"poll\" in exit_monitoring"},
        {"look: Look at {branch}.", "look: \"\"", "55:9", "the prompt look must be a text, but is empty"},
        {"  look: Look", "  Look: x\n  look: Look", "55:3", "\"Look\" is no prompt's name"},
    });
}

TEST_CASE("wrong states are refused where they stand") {
    check_all({
        {"stuck: {}", "stuck: {terminal: yes}", "7:21", "terminal must be true or false, but is \"yes\""},
        {"stuck: {}", "stuck: {final: true}", "7:11", "unknown key \"final\" in a state"},
        {"stuck: {}", "stuck: [x]", "7:10", "the state stuck must be a map"},
        {"agent: worker", "agent: wroker", "5:20",
         "agent must be one of worker, reviewer, but is \"wroker\"; did you mean worker?"},
        {"stuck: {}", "stuck: {}\n  Odd Name: {}", "8:3", "\"Odd Name\" is no state's name"},
        {"stuck: {}", "stuck: {}\n  lost: {}", "8:3", "the state lost is unreachable"},
        {"done: {terminal: true}", "done: {terminal: true, agent: worker}", "8:33",
         "the terminal state done cannot have an agent"},
        {"done: {terminal: true}", "done: {terminal: true, respawn_prompt: go}", "8:42",
         "the terminal state done cannot have a respawn_prompt"},
        {"stuck: {}", "stuck: {agent: worker}", "7:18", "the state stuck has an agent and needs a respawn_prompt"},
        {"respawn_prompt: look", "respawn_prompt: lok", "6:47", "there is no prompt \"lok\"; did you mean look?"},
        {"{terminal: true}", "{terminal: false}", "4:3", "no state is terminal"},
        {"action: spawn_reviewer, prompt: look, increment", "action: increment, field", "6:21",
         "nothing spawns a reviewer"},
        {"action: spawn_agent\n        prompt: go", "action: spawn_reviewer\n        prompt: go", "5:20",
         "nothing spawns a worker"},
        {"- from: \"*\"\n    to: done", "- from: [pending, working, checking]\n    to: done", "7:3",
         "the state stuck is a dead end"},
        {"  - from: \"*\"\n    to: done",
         "  - from: [pending, working, checking]\n    to: done\n  - {from: stuck, to: stuck}", "7:3",
         "the state stuck is a dead end"},
        {"{terminal: false}", "{}\n  over: {terminal: true}", "5:3", "the state over is unreachable"},
    });
}

TEST_CASE("wrong transitions are refused where they stand") {
    check_all({
        {"to: stuck", "to: stick", "21:9", "there is no state \"stick\"; did you mean stuck?"},
        {"from: pending", "from: panding", "10:11", "there is no state \"panding\"; did you mean pending?"},
        {"[working, checking]", "[working, cheking]", "20:21", "there is no state \"cheking\"; did you mean checking?"},
        {"[working, checking]", "[working, working]", "20:21", "\"working\" is in this list twice"},
        {"[working, checking]", "[working, \"*\"]", "20:21", "\"*\" stands alone"},
        {"[working, checking]", "[]", "20:11", "from must name at least one state"},
        {"[working, checking]", "[working, done, checking]", "20:21",
         "no transition leads out of the terminal state done"},
        {"    to: stuck\n", "", "20:5", "a transition needs a \"to\""},
        {"by: [human, system]", "by: [humans, system]", "22:10",
         "by must be one of worker, reviewer, human, system, but is \"humans\"; did you mean human?"},
        {"by: [human, system]", "by: human", "22:9", "by must be a list"},
        {"by: [human, system]", "by: []", "22:9", "by is empty"},
        {"by: [human, system]", "by: [human, system, human]", "22:25", "\"human\" is in this list twice"},
        {"by: [human, system]", "force: maybe", "22:12", "force must be true or false"},
        {"by: [human, system]", "bye: [human]", "22:5", "unknown key \"bye\" in a transition; did you mean by?"},
        {"section: \"## Handoff\", f", "section: Handoff, f", "17:21",
         "section must be a level-2 heading, as \"## Handoff\""},
        {"section: \"## Handoff\", f", "section: \"### Handoff\", f", "17:21", "section must be a level-2 heading"},
        {"section: \"## Handoff\", f", "f", "17:11", "a gate needs a \"section\""},
        {"fields: [DONE]", "fields: DONE", "17:43", "fields must be a list"},
        {"fields: [DONE]", "fields: []", "17:43", "fields must name at least one field"},
        {"fields: [DONE]", "fields: [\"DONE:\"]", "17:44", "a field is a name without its colon"},
        {"fresh: true", "fresh: 1", "17:58", "fresh must be true or false"},
        {"fresh: true", "frsh: true", "17:51", "unknown key \"frsh\" in a gate; did you mean fresh?"},
        {"verdict: FAIL", "verdict: FAILED", "26:43",
         "verdict must be one of PASS, FAIL, but is \"FAILED\"; did you mean FAIL?"},
        {"verdict: FAIL, ", "", "26:48", "verdict_line means something only beside a verdict"},
        {"verdict_line: first", "verdict_line: last", "26:63", "verdict_line must be one of first, any"},
        {"when: \"review_round < 2\"\n    gate", "when: \"review_round\"\n    gate", "25:11",
         "\"review_round\" is no condition"},
        {"by: [human, system]", "when: \"revew_round < 2\"", "22:11",
         "nothing counts \"revew_round\"; did you mean review_round?"},
        {"when: \"review_round >= 2\"\n    hooks", "when: \"review_round >= 1\"\n    hooks", "29:11",
         "ambiguous: checking → working is in line 23 too, and both hold for review_round = 1"},
        {"    when: \"review_round >= 2\"\n", "", "27:5",
         "ambiguous: checking → working is in line 23 too, and both hold for review_round = 0"},
        {"- from: \"*\"\n", "- {from: [working, checking], to: stuck, when: \"crash_count > 3\"}\n  - from: \"*\"\n",
         "32:50", "ambiguous: working → stuck is in line 20 too"},
        {"when: \"review_round >= 2\"\n    hooks", "when: \"review_round > 9223372036854775807\"\n    hooks", "29:11",
         "no number satisfies"},
    });
}

TEST_CASE("wrong hooks are refused where they stand") {
    check_all({
        {"action: spawn_agent", "action: spawn_agnt", "13:17",
         "unknown action \"spawn_agnt\"; did you mean spawn_agent?"},
        {"        prompt: go\n", "", "13:9", "the action spawn_agent needs a \"prompt\""},
        {"        prompt: go\n", "        prompt: goo\n", "14:17", "there is no prompt \"goo\"; did you mean go?"},
        {"        prompt: go\n", "        prompt: go\n        harness: other\n", "15:18",
         "spawn_agent's harness must be one of task, review"},
        {"        prompt: go\n", "        prompt: go\n        permissions: all\n", "15:22",
         "spawn_agent's permissions must be one of full, reduced"},
        {"increment: review_round", "increment: status", "19:59", "spawn_reviewer's increment may not change status"},
        {"increment: review_round", "increment: crash_count", "19:59",
         "spawn_reviewer's increment may not change crash_count"},
        {"increment: review_round", "increment: \"Review Round\"", "19:59",
         "spawn_reviewer's increment must be the name of a number"},
        {"argv: [make, test]", "argv: make test", "31:37", "argv must be a list"},
        {"argv: [make, test]", "argv: []", "31:37", "argv needs at least the program"},
        {"argv: [make, test], ", "", "31:9", "the action run_command needs a \"argv\""},
        {"timeout: 5", "timeout: 0", "31:60", "run_command's timeout must be a whole number from 1 to 3600"},
        {"timeout: 5", "shell: true", "31:51", "unknown key \"shell\" in the action run_command"},
        {"{action: run_command, argv: [make, test], timeout: 5}", "{action: kill_session, prompt: go}", "31:32",
         "unknown key \"prompt\" in the action kill_session"},
        {"{action: run_command, argv: [make, test], timeout: 5}", "{action: notify_worker, message: pased}", "31:42",
         "notify_worker's message must be one of passed, failed, changes_requested, but is \"pased\"; did you mean "
         "passed?"},
        {"{action: run_command, argv: [make, test], timeout: 5}", "{action: notify_worker}", "31:9",
         "the action notify_worker needs a \"message\""},
        {"{action: run_command, argv: [make, test], timeout: 5}",
         "{action: set_field, field: review_round, value: none}", "31:57",
         "set_field's value must be a whole number, but is \"none\""},
        {"{action: run_command, argv: [make, test], timeout: 5}", "{field: review_round}", "31:9",
         "a hook needs a \"action\""},
        {"{action: run_command, argv: [make, test], timeout: 5}", "kill_session", "31:9", "a hook must be a map"},
    });
}

TEST_CASE("wrong exit rules are refused where they stand") {
    check_all({
        {"then: checking", "then: cheking", "39:13", "there is no state \"cheking\"; did you mean checking?"},
        {"then: checking", "then: pending", "39:13",
         "there is no transition working → pending that this rule could take"},
        {"    by: [human, system]\n", "    by: [human]\n", "48:45",
         "the transition checking → stuck is not open to the exit monitor"},
        {"- status: working\n      has", "- status: wroking\n      has", "37:15",
         "there is no state \"wroking\"; did you mean working?"},
        {"status: stuck", "status: done", "49:15", "the terminal state done has no agent that could exit"},
        {"action: crash", "action: explode", "42:15", "action must be one of crash, mark_dead"},
        {"action: crash", "action: crash\n      then: checking", "42:15",
         "an exit rule has one of then, then_when and action"},
        {"      action: mark_dead\n", "", "49:7", "an exit rule needs one of then, then_when and action"},
        {"action: mark_dead", "action: mark_dead\n      stuck_after: 2", "51:20",
         "stuck_after means something only beside action: crash"},
        {"action: mark_dead", "action: mark_dead\n      respawn: true", "51:16",
         "respawn means something only beside action: crash"},
        {"action: mark_dead", "action: crash\n      respawn: true", "51:16",
         "respawn needs a respawn_prompt in the state stuck"},
        {"action: mark_dead", "action: crash\n      stuck_after: 1", "51:20",
         "stuck_after needs a transition stuck → stuck"},
        {"from: [working, checking]", "from: [checking]", "43:20",
         "stuck_after needs a transition working → stuck, and there is none"},
        {"stuck_after: 2", "stuck_after: 0", "43:20", "stuck_after must be a whole number from 1 to 1000"},
        {"no_artifact: true", "no_artifact: false", "41:20", "no_artifact can only be true"},
        {"no_artifact: true", "no_artifact: true\n      has_artifact: {section: \"## Handoff\"}", "41:20",
         "a rule has either has_artifact or no_artifact"},
        {"- status: stuck\n", "- status: stuck\n      no_artifact: true\n", "50:20",
         "no_artifact needs a has_artifact rule for stuck before it"},
        {"action: mark_dead", "action: mark_dead\n    - status: stuck\n      action: mark_dead", "51:7",
         "never reached: the rule for stuck in line 49 always applies"},
        {"when: \"review_round >= 2\", then: stuck", "when: \"review_round > 2\", then: stuck", "47:9",
         "then_when does not cover everything: no case holds for review_round = 2"},
        {"when: \"review_round >= 2\", then: stuck", "when: \"review_round >= 1\", then: stuck", "48:45",
         "ambiguous: \"review_round < 2\" and \"review_round >= 1\" both hold for review_round = 1"},
        {"when: \"review_round >= 2\", then: stuck", "then: stuck", "48:11", "a case of then_when needs a \"when\""},
        {"      then: checking\n", "", "37:7", "an exit rule needs one of"},
    });
}

TEST_CASE("what is no list or no map where one belongs is refused where it stands") {
    const auto first = [](const std::string& text) { return problems_of("name: small\nversion: 1\n" + text).front(); };
    CHECK(first("states: [a]\ntransitions: []\n") ==
          "small.yml:3:9: states must be a map of keys and values, but is a list");
    CHECK(first("states: {}\ntransitions: []\n") == "small.yml:3:9: states must hold at least one state");
    CHECK(first("states: {a: {}}\ntransitions: {}\n") == "small.yml:4:14: transitions must be a list, but is a map");
    CHECK(first("states: {a: {}}\ntransitions: []\n") ==
          "small.yml:4:14: transitions must hold at least one transition");
    CHECK(first("states: {a: {}}\ntransitions: [x]\n") ==
          "small.yml:4:15: a transition must be a map of keys and values, but is \"x\"");
    check_all({
        {"hooks:\n      - action: spawn_agent\n        prompt: go\n  - from: working\n    to: checking",
         "hooks: none\n  - from: working\n    to: checking", "12:12", "hooks must be a list, but is \"none\""},
        {"argv: [make, test]", "argv: [make, [test]]", "31:44", "an argument must be a text, but is a list"},
        {"gate: {section: \"## Review\", verdict: FAIL, verdict_line: first}", "gate: \"## Review\"", "26:11",
         "a gate must be a map"},
        {"- {when: \"review_round < 2\", then: working}\n        - {when: \"review_round >= 2\", then: stuck}", "[]",
         "47:9", "then_when must hold at least one case"},
        {"has_artifact: {section: \"## Handoff\"}", "has_artifact: Handoff", "38:21", "has_artifact must be a map"},
        {"- status: stuck\n      action", "- action", "49:7", "an exit rule needs a \"status\""},
    });
}

TEST_CASE("unknown variables of prompts are found in their line") {
    check_all({
        {"in {project}.", "in {projekt}.", "54:8",
         "unknown variable {projekt} in the prompt go; did you mean project?"},
        {"Look at {branch}.", "Look at {task}.", "55:17", "unknown variable {task} in the prompt look"},
    });
    CHECK(problems_of(broken({"{summary}", "{\"a\": 1} {} { branch } {", "", ""})).empty());
}

TEST_CASE("syntax errors have their place too") {
    CHECK(problems_of("name: [a\n").front().starts_with("small.yml:2:"));
    CHECK(problems_of("name: a\nname: b\n") ==
          std::vector<std::string>{"small.yml:2:1: the key \"name\" is there twice"});
    CHECK(problems_of("") ==
          std::vector<std::string>{"small.yml:1:1: a workflow must be a map of keys and values, but is empty"});
    CHECK(problems_of("- a").front().starts_with("small.yml:1:1: a workflow must be a map"));
}

TEST_CASE("all problems come at once, in the order of the file") {
    auto text = broken({"version: 1", "version: 9", "", ""});
    text.replace(text.find("to: stuck"), 9, "to: stick");
    text.replace(text.find("{branch}"), 8, "{brunch}");
    const auto problems = problems_of(text);
    REQUIRE(problems.size() >= 3);
    CHECK(problems[0].starts_with("small.yml:2:10:"));
    CHECK(problems[1].starts_with("small.yml:21:9:"));
    CHECK(problems.back().starts_with("small.yml:55:17:"));
}

TEST_CASE("tasks cannot begin where they end") {
    CHECK(problems_of("name: small\nversion: 1\nstates:\n  done: {terminal: true}\n  on: {}\ntransitions:\n"
                      "  - {from: on, to: done}\n")
              .front() == "small.yml:4:3: tasks begin in done, so it cannot be terminal");
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
    for (int i = 0; i < 5'000; ++i) many += "  s" + std::to_string(i) + ": {}\n";
    many += "transitions:\n";
    for (int i = 0; i < 5'000; ++i) many += "  - {from: [t, u], to: x" + std::to_string(i) + "}\n";
    const auto loaded = load(many, "big.yml", "big");
    REQUIRE(loaded.problems.size() == 2);
    CHECK(loaded.problems[0].message == "states has 5000 entries; the limit is 100");
    CHECK(loaded.problems[1].message == "transitions has 5000 entries; the limit is 100");
}

TEST_CASE("of many problems the first hundred are kept, and long names are not repeated in each") {
    std::string text = "name: big\nversion: 1\nstates:\n  " + std::string(1'000, 'a') + ": {}\ntransitions:\n";
    for (int i = 0; i < 60; ++i) text += "  - {from: [t, u, v], to: x}\n";
    const auto loaded = load(text, "big.yml", "big");
    CHECK(loaded.problems.size() == 100);
    CHECK(describe(loaded.problems, "big.yml").size() < 500'000);
}
