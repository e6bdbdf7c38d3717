// workflows/workflow.schema.json, which is for editors, has what the loader has.
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "daemon/workflow/actions.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

nlohmann::json schema() {
    std::ifstream file(std::string(ORANGE_SOURCE_DIR) + "/workflows/workflow.schema.json");
    REQUIRE(file);
    return nlohmann::json::parse(file);
}

std::set<std::string> keys_of(const nlohmann::json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
    return keys;
}

}  // namespace

TEST_CASE("the schema knows exactly the actions and parameters that the loader knows") {
    const auto hooks = schema().at("$defs").at("hook").at("oneOf");
    std::set<std::string> in_schema, in_loader;
    for (const auto& hook : hooks) {
        const auto& action = hook.at("properties").at("action");
        const auto names = action.contains("const") ? nlohmann::json::array({action.at("const")}) : action.at("enum");
        for (const auto& name : names) {
            in_schema.insert(name.get<std::string>());
            const auto* spec = workflow::find_action(name.get<std::string>());
            INFO(name);
            REQUIRE(spec != nullptr);
            std::set<std::string> params{"action"}, required{"action"};
            for (const auto& param : spec->params) {
                params.insert(param.name);
                if (param.required) required.insert(param.name);
            }
            CHECK(keys_of(hook) == params);
            CHECK(hook.at("required").get<std::set<std::string>>() == required);
            CHECK(hook.at("additionalProperties") == false);
        }
    }
    for (const auto& spec : workflow::action_specs()) in_loader.insert(spec.name);
    CHECK(in_schema == in_loader);
}

TEST_CASE("the schema has the keys of the format") {
    const auto root = schema();
    using Keys = std::set<std::string>;
    CHECK(root.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
    CHECK(keys_of(root) == Keys{"name", "version", "states", "transitions", "exit_monitoring", "prompts", "messages"});
    const auto& defs = root.at("$defs");
    CHECK(keys_of(defs.at("state")) == Keys{"terminal", "agent", "respawn_prompt", "means", "needs", "children"});
    CHECK(keys_of(defs.at("gate")) == Keys{"section", "required", "fields", "verdict", "verdict_line", "fresh",
                                           "comments", "commits", "clean", "checks", "merges", "reviewed_head",
                                           "children", "attempts"});
    CHECK(keys_of(defs.at("transition")) == Keys{"from", "to", "by", "gate", "when", "force", "hooks"});
    CHECK(keys_of(defs.at("exit_rule")) ==
          Keys{"status", "has_artifact", "no_artifact", "then", "then_when", "action", "stuck_after", "respawn"});
}
