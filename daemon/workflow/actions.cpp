#include "daemon/workflow/actions.hpp"

#include "daemon/engine/definition.hpp"

namespace orange::workflow {

const std::vector<ActionSpec>& action_specs() {
    using enum ParamKind;
    static const ParamSpec prompt_param{"prompt", prompt, true};
    static const ParamSpec increment_param{"increment", field, false};
    static const std::vector<std::string> permission_levels{"full", "reduced"};
    static const std::vector<ActionSpec> specs{
        {"acquire_workspace", {}},
        {"release_workspace", {}},
        // The default of `permissions` depends on the role that the harness stands for: full for the worker, reduced
        // for a reviewer (read_transitions.cpp).
        {"spawn_agent",
         {prompt_param,
          {"harness",
           harness,
           false,
           {engine::k_task_harness, engine::k_review_harness, engine::k_second_harness},
           engine::k_task_harness},
          {"permissions", choice, false, permission_levels},
          increment_param}},
        {"spawn_reviewer",
         {prompt_param,
          {"harness", harness, false, {engine::k_review_harness, engine::k_second_harness}},
          {"permissions", choice, false, permission_levels, "reduced"},
          increment_param}},
        {"kill_session", {}},
        {"kill_reviewer", {}},
        {"notify_worker", {{"message", message, true, {"passed", "failed", "changes_requested"}}}},
        {"notify", {{"message", text, false}}},
        {"spawn_next", {}},
        {"push_branch", {}},
        {"create_pr", {}},
        {"delete_remote_branch", {}},
        {"run_command", {{"argv", argv, true}, {"timeout", seconds, false, {}, "60"}}},
        {"set_field", {{"field", field, true}, {"value", integer, true}}},
        {"increment", {{"field", field, true}}},
    };
    return specs;
}

const ActionSpec* find_action(std::string_view name) {
    for (const auto& spec : action_specs()) {
        if (spec.name == name) return &spec;
    }
    return nullptr;
}

}  // namespace orange::workflow
