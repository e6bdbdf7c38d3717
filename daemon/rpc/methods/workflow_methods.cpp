#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

WorkflowView view(Api& api, const workflow::Entry& entry) {
    WorkflowView view;
    view.name = entry.name;
    view.path = entry.path;
    view.shipped = entry.shipped;
    view.valid = entry.valid;
    if (!entry.problem.empty()) view.problem = entry.problem;
    if (const auto definition = api.world().workflows.find(entry.name)) {
        for (const auto& state : (*definition)->states) view.states.push_back(state.name);
    }
    return view;
}

Awaitable<Result<WorkflowList::Reply>> list(Api& api) {
    WorkflowList::Reply reply;
    for (const auto& entry : api.world().workflows.list()) reply.workflows.push_back(view(api, entry));
    co_return reply;
}

std::string gate_text(const engine::Gate& gate) {
    auto text = "## " + gate.section;
    if (gate.verdict) text += " " + std::string(name_of(*gate.verdict));
    if (!gate.fields.empty()) text += " with " + join(gate.fields, "/");
    return gate.fresh ? text + ", fresh" : text;
}

std::string joined_names(const std::vector<Role>& roles) {
    std::vector<std::string> names;
    for (const auto role : roles) names.emplace_back(orange::name_of(role));
    return join(names, ", ");
}

std::string joined_names(const std::vector<Action>& hooks) {
    std::vector<std::string> names;
    for (const auto& hook : hooks) names.push_back(hook.name);
    return join(names, ", ");
}

Awaitable<Result<WorkflowShow::Reply>> show(Api& api, WorkflowShow params) {
    const auto definition = api.world().workflows.find(params.name);
    if (!definition) co_return definition.error();
    auto text = api.world().workflows.text(params.name);
    if (!text) co_return text.error();
    WorkflowShow::Reply reply;
    for (const auto& entry : api.world().workflows.list()) {
        if (entry.name == params.name) reply.workflow = view(api, entry);
    }
    for (const auto& transition : (*definition)->transitions) {
        WorkflowShow::TransitionView row;
        row.from = transition.any_active ? "*" : join(transition.from, ", ");
        row.to = transition.to;
        row.by = transition.by.empty() ? "anyone" : joined_names(transition.by);
        if (transition.force) row.by += " with force";
        if (transition.gate) row.gate = gate_text(*transition.gate);
        if (transition.when) row.when = transition.when->text();
        row.hooks = joined_names(transition.hooks);
        reply.transitions.push_back(std::move(row));
    }
    reply.text = std::move(*text);
    co_return reply;
}

Awaitable<Result<WorkflowValidate::Reply>> validate(WorkflowValidate params) {
    const auto name = std::filesystem::path(params.file).stem().string();
    const auto loaded = workflow::load(params.text, params.file, name);
    WorkflowValidate::Reply reply;
    reply.valid = loaded.ok();
    for (const auto& problem : loaded.problems) {
        WorkflowValidate::ProblemView row;
        row.line = problem.line;
        row.column = problem.column;
        row.message = problem.message;
        reply.problems.push_back(std::move(row));
    }
    co_return reply;
}

Awaitable<Result<HarnessList::Reply>> harnesses(Api& api) {
    HarnessList::Reply reply;
    for (const auto& entry : api.world().harnesses.list()) {
        HarnessList::HarnessView view;
        view.name = entry.harness.name;
        view.path = entry.path.string();
        view.installed = !entry.program.empty();
        view.program = entry.program.empty() ? entry.harness.program : entry.program;
        view.mode = entry.harness.mode == agents::Mode::oneshot ? "oneshot" : "persistent";
        if (!entry.problem.empty()) {
            view.problem = entry.problem;
        } else if (entry.program.empty()) {
            view.problem = entry.harness.install_hint.empty() ? "not installed" : entry.harness.install_hint;
        }
        reply.harnesses.push_back(std::move(view));
    }
    co_return reply;
}

}  // namespace

void add_workflow_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<WorkflowList>(Access::read, "Lists the workflows.", {},
                            [&api](const WorkflowList&, Call) { return list(api); });
    table.add<WorkflowShow>(Access::read, "Shows a workflow.", {not_found, workflow_invalid},
                            [&api](WorkflowShow params, Call) { return show(api, std::move(params)); });
    table.add<WorkflowValidate>(Access::read, "Checks a definition; all problems at once.", {},
                                [](WorkflowValidate params, Call) { return validate(std::move(params)); });
    table.add<HarnessList>(Access::read, "Lists the agent programs.", {},
                           [&api](const HarnessList&, Call) { return harnesses(api); });
}

}  // namespace orange::rpc
