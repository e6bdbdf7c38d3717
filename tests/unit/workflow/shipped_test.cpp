// The shipped workflows, compared with what the documents promise.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "daemon/engine/decide.hpp"
#include "daemon/workflow/load.hpp"
#include "daemon/yaml/node.hpp"
#include "tests/catch.hpp"
#include "tests/unit/workflow/loaded.hpp"

using namespace orange;
using orange::test::loaded;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(std::string(ORANGE_SOURCE_DIR) + "/" + path);
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> hooks_of(const engine::Definition& definition, std::string_view from, std::string_view to,
                                  std::size_t which = 0) {
    const auto edges = definition.between(from, to);
    REQUIRE(edges.size() > which);
    std::vector<std::string> names;
    for (const auto& hook : edges[which]->hooks) names.push_back(hook.name);
    return names;
}

using Names = std::vector<std::string>;

/// The names in a text for reviewers: lines of the verdict, sections of TASK.md, labels and statuses.
std::set<std::string> facts_of_review(const std::string& text) {
    static const std::regex k_fact("Verdict: [A-Z]+|## [A-Z][a-z]+|UNCERTAIN|--status [a-z-]+|toolkit|GitHub|pr_url");
    std::set<std::string> facts;
    for (auto found = std::sregex_iterator(text.begin(), text.end(), k_fact); found != std::sregex_iterator();
         ++found) {
        facts.insert(found->str());
    }
    return facts;
}

/// What `now` has more than `before`, as paths; what was taken away or changed reads "PATH: … is …". Items of a list
/// of maps may only be appended. What prompts say is not compared: they name {task_file} and {base}, and the commands.
void compare(const yaml::Node& before, const yaml::Node& now, const std::string& where, Names& found) {
    if (where.starts_with("prompts.")) return;
    if (before.kind != now.kind || before.scalar != now.scalar) {
        found.push_back(where + ": " + before.scalar + " is " + now.scalar);
        return;
    }
    const auto path = [&](const std::string& key) { return where.empty() ? key : where + "." + key; };
    for (const auto& [key, value] : now.members) {
        const auto* old = before.find(key);
        if (!old) found.push_back(path(key));
        if (old) compare(*old, value, path(key), found);
    }
    for (const auto& [key, value] : before.members) {
        if (!now.find(key)) found.push_back(path(key) + ": is missing");
    }
    for (std::size_t i = 0; i < std::max(before.items.size(), now.items.size()); ++i) {
        const auto item = where + "[" + std::to_string(i) + "]";
        if (i >= now.items.size()) {
            found.push_back(item + ": is missing");
        } else if (i >= before.items.size()) {
            found.push_back(item);
        } else {
            compare(before.items[i], now.items[i], item, found);
        }
    }
}

Names additions(const std::string& before, const std::string& now) {
    const auto old = yaml::parse(content(before), before);
    const auto shipped = yaml::parse(content(now), now);
    REQUIRE(old);
    REQUIRE(shipped);
    Names found;
    compare(*old, *shipped, "", found);
    return found;
}

}  // namespace

TEST_CASE("the shipped default workflow validates and is the map that it promises") {
    const auto definition = loaded(content("workflows/default.yml"), "default");
    CHECK(definition.initial().name == "pending");
    CHECK(definition.targets_from("pending") == Names{"planning", "clarification", "delegated", "cancelled", "done"});
    CHECK(definition.targets_from("planning") ==
          Names{"working", "clarification", "stuck", "delegated", "cancelled", "done"});
    CHECK(definition.targets_from("clarification") == Names{"planning", "working", "cancelled", "done"});
    CHECK(definition.targets_from("working") ==
          Names{"agent-review", "clarification", "stuck", "delegated", "cancelled", "done"});
    CHECK(definition.targets_from("delegated") == Names{"working", "done", "cancelled"});
    CHECK(definition.targets_from("agent-review") == Names{"reviewing", "working", "stuck", "cancelled", "done"});
    CHECK(definition.targets_from("reviewing") == Names{"working", "done", "cancelled"});
    CHECK(definition.targets_from("stuck") == Names{"working", "reviewing", "cancelled", "done"});
    CHECK(definition.targets_from("done").empty());

    CHECK(hooks_of(definition, "pending", "planning") == Names{"acquire_workspace", "spawn_agent"});
    CHECK(hooks_of(definition, "pending", "cancelled").empty());
    CHECK(hooks_of(definition, "working", "delegated") == Names{"kill_session", "release_workspace", "spawn_next"});
    CHECK(hooks_of(definition, "delegated", "working") == Names{"acquire_workspace", "spawn_agent"});
    CHECK(hooks_of(definition, "delegated", "done") == hooks_of(definition, "reviewing", "done"));
    CHECK(hooks_of(definition, "working", "agent-review") == Names{"increment", "spawn_reviewer"});
    CHECK(hooks_of(definition, "agent-review", "stuck") == Names{"kill_reviewer", "spawn_agent", "notify"});
    CHECK(hooks_of(definition, "working", "cancelled") == Names{"kill_reviewer", "kill_session", "release_workspace"});
    CHECK(hooks_of(definition, "reviewing", "done") ==
          Names{"kill_session", "release_workspace", "delete_remote_branch", "spawn_next"});
    CHECK(hooks_of(definition, "stuck", "done") == hooks_of(definition, "reviewing", "done"));
    CHECK_FALSE(definition.between("reviewing", "done").front()->force);
    CHECK(definition.between("working", "done").front()->force);
    CHECK_FALSE(definition.state("reviewing")->agent);
    CHECK(definition.state("reviewing")->respawn_prompt == "worker_respawn");
}

TEST_CASE("the workflows printed in seed 003 load as they stand") {
    const auto minimal = loaded(content("tests/data/workflows/minimal_003.yml"), "minimal");
    CHECK(minimal.transitions.size() == 6);
    CHECK(minimal.exit_rules[1].stuck_after == 2);
    CHECK(minimal.that_means(engine::Meaning::stuck) == nullptr);
    const auto relay = loaded(content("tests/data/workflows/default_003.yml"), "default");
    CHECK(relay.states.size() == 8);
    CHECK(relay.transitions.size() == 18);
}

TEST_CASE("relay is seed 003's workflow with nothing but keys added") {
    const auto added = additions("tests/data/workflows/default_003.yml", "workflows/relay.yml");
    CHECK(added == Names{"name: default is relay",
                         "states.clarification.agent",
                         "states.clarification.respawn_prompt",
                         "states.working.agent",
                         "states.agent-review.agent",
                         "states.delegated",
                         "transitions[2].by",  // nobody but a human cancels
                         "transitions[4].by",
                         "transitions[5].gate.fresh",
                         "transitions[5].gate.comments",
                         "transitions[5].gate.checks",
                         "transitions[8].by",
                         "transitions[9].gate.fresh",
                         "transitions[10].gate.fresh",
                         "transitions[11].gate.fresh",
                         "transitions[12].by",
                         "transitions[13].by",  // done: only after a merge
                         "transitions[14].by",
                         "transitions[17].by",
                         "transitions[18]",  // done, with force
                         "transitions[19]",  // sub-tasks
                         "transitions[20]",
                         "transitions[21]",
                         "transitions[22]",  // attempts
                         "transitions[23]",
                         "exit_monitoring.rules[0].has_artifact.fresh",
                         "exit_monitoring.rules[0].has_artifact.comments",
                         "exit_monitoring.rules[2].has_artifact.fresh",
                         "exit_monitoring.rules[3].has_artifact.fresh",
                         "prompts.integrate"});
    const auto relay = loaded(content("workflows/relay.yml"), "relay");
    CHECK(relay.state("agent-review")->agent == Role::reviewer);
    CHECK_FALSE(relay.state("stuck")->agent);
    CHECK(hooks_of(relay, "working", "agent-review") == Names{"kill_session", "spawn_agent"});
    CHECK(hooks_of(relay, "agent-review", "working") == Names{"kill_session", "spawn_agent"});
    CHECK_FALSE(relay.between("reviewing", "done").front()->force);
    CHECK(relay.between("stuck", "done").front()->force);
    CHECK(hooks_of(relay, "stuck", "done").front() == "kill_session");
}

/// A cancellation that frees a workspace starts the next task there.
Names with_next(Names hooks, const std::string& to) {
    if (to == "cancelled" && !hooks.empty()) hooks.push_back("spawn_next");
    return hooks;
}

TEST_CASE("pr is default with a pull request between reviewing and done") {
    const auto pr = loaded(content("workflows/pr.yml"), "pr");
    const auto usual = loaded(content("workflows/default.yml"), "default");
    CHECK(pr.state("in-pr")->needs == Need::nothing);
    CHECK(pr.targets_from("in-pr") == Names{"working", "done", "cancelled"});
    CHECK(hooks_of(pr, "reviewing", "in-pr").back() == "create_pr");
    CHECK(hooks_of(pr, "agent-review", "in-pr").back() == "create_pr");
    for (const auto& state : usual.states) {
        for (const auto& to : usual.targets_from(state.name)) {
            INFO(state.name << " → " << to);
            CHECK(hooks_of(pr, state.name, to) == with_next(hooks_of(usual, state.name, to), to));
        }
    }
}

TEST_CASE("careful is default with a human between planning and working") {
    const auto careful = loaded(content("workflows/careful.yml"), "careful");
    const auto usual = loaded(content("workflows/default.yml"), "default");
    CHECK(careful.targets_from("planning") == Names{"plan-review", "clarification", "stuck", "cancelled", "done"});
    CHECK(careful.targets_from("plan-review") == Names{"planning", "working", "cancelled", "done"});
    for (const auto& to : {"planning", "working"}) {
        CHECK(careful.between("plan-review", to).front()->by == std::vector<Role>{Role::human});
    }
    Task task;
    task.status = "plan-review";
    CHECK(engine::rejection_target(careful, task)->name == "planning");
    CHECK(engine::approval_target(careful, task)->name == "working");
    for (const auto& state : usual.states) {
        for (const auto& to : usual.targets_from(state.name)) {
            const auto way = state.name + " → " + to;
            const bool is_plan = way == "planning → working" || way == "planning → delegated" ||
                                 way == "clarification → planning" || way == "clarification → working";
            INFO(way);
            if (!is_plan) {
                CHECK(hooks_of(careful, state.name, to) == with_next(hooks_of(usual, state.name, to), to));
            }
        }
    }
}

TEST_CASE("two-reviewers is default with a second review that has its own verdict, section and harness") {
    const auto two = loaded(content("workflows/two-reviewers.yml"), "two-reviewers");
    const auto usual = loaded(content("workflows/default.yml"), "default");
    CHECK(two.targets_from("agent-review") == Names{"second-review", "working", "stuck", "cancelled", "done"});
    CHECK(two.targets_from("second-review") == Names{"reviewing", "working", "stuck", "cancelled", "done"});
    CHECK(hooks_of(two, "agent-review", "second-review") == Names{"kill_reviewer", "spawn_reviewer"});
    CHECK(engine::harness_word(two, "agent-review", Role::reviewer) == "review");
    CHECK(engine::harness_word(two, "second-review", Role::reviewer) == "second_review");
    for (const auto& to : {"reviewing", "working", "stuck"}) {
        INFO(to);
        const auto& first = *usual.between("agent-review", to).front();
        const auto& second = *two.between("second-review", to).front();
        CHECK(second.by == first.by);
        CHECK(second.when == first.when);
        auto gate = *second.gate;
        CHECK(std::exchange(gate.section, "Review") == "Second review");
        CHECK(gate == *first.gate);
        CHECK(hooks_of(two, "second-review", to) == hooks_of(usual, "agent-review", to));
    }
    for (const auto& state : usual.states) {
        for (const auto& to : usual.targets_from(state.name)) {
            if (state.name == "agent-review" && to == "reviewing") continue;
            INFO(state.name << " → " << to);
            CHECK(hooks_of(two, state.name, to) == hooks_of(usual, state.name, to));
        }
    }
}

TEST_CASE("minimal is seed 003's example with nothing but keys added") {
    const auto added = additions("tests/data/workflows/minimal_003.yml", "workflows/minimal.yml");
    CHECK(added == Names{"states.working.agent", "transitions[1].gate.fresh", "transitions[1].gate.comments",
                         "transitions[2].by", "transitions[3].by", "transitions[4].by", "transitions[5].by",
                         "transitions[6]", "exit_monitoring.rules[0].has_artifact.fresh",
                         "exit_monitoring.rules[0].has_artifact.comments"});
    const auto minimal = loaded(content("workflows/minimal.yml"), "minimal");
    CHECK(minimal.targets_from("working") == Names{"reviewing", "cancelled", "done"});
    CHECK(minimal.between("working", "done").front()->force);
}

TEST_CASE("the skill tells a reviewer the same commands, verdicts and sections as the prompts of the workflows") {
    const auto skill = content("skills/orange/SKILL.md");
    const auto begin = skill.find("# Reviewer\n"), end = skill.find("\n# ", begin + 1);
    REQUIRE(end != std::string::npos);
    const auto of_skill = facts_of_review(skill.substr(begin, end - begin));
    std::set<std::string> of_prompts;
    for (const std::string name : {"default", "careful", "pr", "relay", "two-reviewers", "two-reviewers second"}) {
        INFO(name);
        const bool is_second = name.ends_with(" second");
        const auto workflow = is_second ? name.substr(0, name.find(' ')) : name;
        const auto prompts = loaded(content("workflows/" + workflow + ".yml"), workflow).prompts;
        const auto facts = facts_of_review(prompts.at(is_second ? "second_reviewer" : "reviewer"));
        for (const auto* fact : {"Verdict: PASS", "Verdict: FAIL", "## Handoff", "UNCERTAIN", "--status stuck"}) {
            CHECK(facts.contains(fact));
        }
        of_prompts.insert(facts.begin(), facts.end());
    }
    CHECK(of_skill == of_prompts);
}

TEST_CASE("the custom workflows of the tests validate") {
    const auto straight = loaded(content("tests/data/workflows/straight.yml"), "straight");
    CHECK(straight.targets_from("working") == Names{"done", "stuck", "cancelled"});
    const auto rounds = loaded(content("tests/data/workflows/three-rounds.yml"), "three-rounds");
    CHECK(rounds.between("checking", "rejected").front()->when->text() == "checks >= 3");
}

TEST_CASE("the example of the documentation is complete") {
    const auto text = content("docs/workflow.md");
    const auto begin = text.find("```yaml\nname: pair\n");
    REQUIRE(begin != std::string::npos);
    const auto first = begin + std::string("```yaml\n").size();
    loaded(text.substr(first, text.find("```", first) - first), "pair");
}

TEST_CASE("no workflow that Orange ships is warned of anything") {
    const std::string name = GENERATE("careful", "default", "minimal", "pr", "relay", "two-reviewers");
    const auto found = workflow::load(content("workflows/" + name + ".yml"), name + ".yml", name);
    REQUIRE(found.ok());
    INFO(workflow::describe(found.warnings, name + ".yml"));
    CHECK(found.warnings.empty());
}
