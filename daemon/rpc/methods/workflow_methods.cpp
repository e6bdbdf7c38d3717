// workflow.*: lists workflows, checks a file, and draws a workflow.
#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/workflow_methods.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/workflow/graph.hpp"
#include "daemon/workflow/graph_edges.hpp"

namespace orange::rpc {
namespace {

constexpr int k_widest = 1000;

WorkflowView view(Api& api, const workflow::Entry& entry, const Call& call) {
    WorkflowView view;
    view.name = entry.name;
    view.path = entry.path;
    view.shipped = entry.shipped;
    view.shadows = entry.shadows;
    view.valid = entry.valid;
    view.last_good = entry.last_good;
    if (!entry.problem.empty()) view.problem = entry.problem;
    if (const auto definition = api.world().workflows.find(entry.name)) {
        for (const auto& state : (*definition)->states) view.states.push_back(state.name);
    }
    for (const auto& project : api.world().projects.list()) {
        if (call.wall.empty() && project.workflow.value_or("default") == entry.name)
            view.projects.push_back(project.name);
    }
    return view;
}

Awaitable<Result<WorkflowList::Reply>> list(Api& api, Call call) {
    WorkflowList::Reply reply;
    for (const auto& entry : api.world().workflows.list()) reply.workflows.push_back(view(api, entry, call));
    co_return reply;
}

std::string joined_names(const std::vector<Action>& hooks) {
    std::vector<std::string> names;
    names.reserve(hooks.size());
    for (const auto& hook : hooks) names.push_back(hook.name);
    return join(names, ", ");
}

Awaitable<Result<WorkflowShow::Reply>> show(Api& api, WorkflowShow params, Call call) {
    CO_TRY(const auto definition, api.world().workflows.find(params.name));
    WorkflowShow::Reply reply;
    CO_TRY(reply.text, api.world().workflows.text(params.name));
    for (const auto& entry : api.world().workflows.list()) {
        if (entry.name == params.name) reply.workflow = view(api, entry, call);
    }
    for (const auto& transition : definition->transitions) {
        WorkflowShow::TransitionView row;
        row.from = transition.any_active ? "*" : join(transition.from, ", ");
        row.to = transition.to;
        row.by = workflow::asker_text(transition);
        row.gate = workflow::need_text(transition);
        if (transition.when) row.when = transition.when->text();
        row.hooks = joined_names(transition.hooks);
        reply.transitions.push_back(std::move(row));
    }
    co_return reply;
}

Awaitable<Result<WorkflowGraph::Reply>> graph(Api& api, WorkflowGraph params) {
    CO_TRY(const auto format, workflow::graph_format(params.format));
    CO_TRY(const auto definition, api.world().workflows.find(params.name));
    WorkflowGraph::Reply reply;
    reply.name = params.name;
    reply.format = params.format;
    switch (format) {
        case workflow::GraphFormat::text:
            reply.text =
                workflow::text_graph(*definition, static_cast<std::size_t>(std::clamp(params.width, 0, k_widest)));
            break;
        case workflow::GraphFormat::mermaid:
            reply.text = workflow::mermaid_graph(*definition);
            break;
        case workflow::GraphFormat::dot:
            reply.text = workflow::dot_graph(*definition);
            break;
    }
    co_return reply;
}

Awaitable<Result<WorkflowExport::Reply>> copy(Api& api, WorkflowExport params) {
    WorkflowExport::Reply reply;
    reply.name = params.as.value_or(params.name);
    CO_TRY(const auto copied, api.world().workflows.copy(params.name, reply.name, params.force));
    reply.path = copied.path.string();
    reply.replaced = copied.replaced;
    co_return reply;
}

std::vector<WorkflowValidate::ProblemView> views(const std::vector<workflow::Problem>& problems) {
    std::vector<WorkflowValidate::ProblemView> all;
    for (const auto& problem : problems) {
        WorkflowValidate::ProblemView row;
        row.line = problem.line;
        row.column = problem.column;
        row.message = problem.message;
        all.push_back(std::move(row));
    }
    return all;
}

Awaitable<Result<WorkflowValidate::Reply>> validate(WorkflowValidate params) {
    const auto name = std::filesystem::path(params.file).stem().string();
    const auto loaded = workflow::load(params.text, params.file, name);
    WorkflowValidate::Reply reply;
    reply.valid = loaded.ok();
    reply.problems = views(loaded.problems);
    reply.warnings = views(loaded.warnings);
    co_return reply;
}

}  // namespace

void add_workflow_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<WorkflowList>(Access::read, "Lists the workflows.", {},
                            [&api](const WorkflowList&, Call call) { return list(api, std::move(call)); });
    table.add<WorkflowShow>(Access::read, "Shows a workflow.", {not_found, workflow_invalid}, api, show);
    table.add<WorkflowGraph>(Access::read, "Draws a workflow.", {invalid_argument, not_found, workflow_invalid}, api,
                             graph);
    table.add<WorkflowExport>(Access::human, "Copies a workflow into the user's folder, to be edited.",
                              {invalid_argument, not_found, conflict, workflow_invalid}, api, copy);
    table.add<WorkflowValidate>(Access::read, "Checks a definition; all problems at once.", {},
                                [](WorkflowValidate params, Call) { return validate(std::move(params)); });
}

}  // namespace orange::rpc
