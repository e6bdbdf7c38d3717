#include <fstream>
#include <sstream>

#include "daemon/workflow/load.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(std::string(ORANGE_SOURCE_DIR) + "/" + path);
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

engine::Definition loaded(const std::string& text, const std::string& name) {
    auto result = workflow::load(text, name + ".yml", name);
    INFO(workflow::describe(result.problems, name + ".yml"));
    REQUIRE(result.ok());
    return std::move(result.definition);
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

}  // namespace

TEST_CASE("the shipped default workflow validates and is the map that it promises") {
    const auto definition = loaded(content("workflows/default.yml"), "default");
    CHECK(definition.initial().name == "pending");
    CHECK(definition.targets_from("pending") == Names{"planning", "clarification", "cancelled", "done"});
    CHECK(definition.targets_from("planning") == Names{"working", "clarification", "stuck", "cancelled", "done"});
    CHECK(definition.targets_from("clarification") == Names{"planning", "working", "cancelled", "done"});
    CHECK(definition.targets_from("working") == Names{"agent-review", "clarification", "stuck", "cancelled", "done"});
    CHECK(definition.targets_from("agent-review") == Names{"reviewing", "working", "stuck", "cancelled", "done"});
    CHECK(definition.targets_from("reviewing") == Names{"working", "done", "cancelled"});
    CHECK(definition.targets_from("stuck") == Names{"reviewing", "cancelled", "done"});
    CHECK(definition.targets_from("done").empty());

    CHECK(hooks_of(definition, "pending", "planning") == Names{"acquire_workspace", "spawn_agent"});
    CHECK(hooks_of(definition, "pending", "cancelled").empty());
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
    CHECK(minimal.state(engine::k_stuck) == nullptr);
    const auto relay = loaded(content("tests/data/workflows/default_003.yml"), "default");
    CHECK(relay.states.size() == 8);
    CHECK(relay.transitions.size() == 18);
}

TEST_CASE("seed 003's eight-state workflow takes the additive keys") {
    auto text = content("tests/data/workflows/default_003.yml");
    text = replaced(text, "respawn_prompt: worker_respawn", "agent: worker\n    respawn_prompt: worker_respawn");
    text = replaced(text, "respawn_prompt: reviewer", "agent: reviewer\n    respawn_prompt: reviewer");
    text = replaced(text, "section: \"## Handoff\"\n      required: true",
                    "section: \"## Handoff\"\n      required: true\n      fresh: true");
    text = replaced(
        text, "exit_monitoring:",
        "  - from: \"*\"\n    to: done\n    by: [system]\n    force: true\n    hooks:\n      - action: kill_session\n\n"
        "exit_monitoring:");
    const auto definition = loaded(text, "default");
    CHECK(definition.state("agent-review")->agent == Role::reviewer);
    CHECK(definition.between("stuck", "done").front()->force);
}

TEST_CASE("the example of the documentation is complete") {
    const auto text = content("docs/workflow.md");
    const auto begin = text.find("```yaml\nname: pair\n");
    REQUIRE(begin != std::string::npos);
    const auto first = begin + std::string("```yaml\n").size();
    loaded(text.substr(first, text.find("```", first) - first), "pair");
}
