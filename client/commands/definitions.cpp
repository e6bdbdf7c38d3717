#include "client/commands/definitions.hpp"

#include <filesystem>

#include "client/commands/files.hpp"
#include "client/output/listings.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/workflow_methods.hpp"

namespace orange::commands {
int workflow_list(Context& context) {
    return answer(context, rpc::WorkflowList{},
                  [&](const rpc::WorkflowList::Reply& reply) { return output::workflows_page(reply, context.style); });
}

int workflow_show(Context& context, const std::string& name, bool source) {
    rpc::WorkflowShow params;
    params.name = name;
    return answer(context, params, [&](const rpc::WorkflowShow::Reply& reply) {
        return source ? printable(reply.text, true) : output::workflow_page(reply, context.style);
    });
}

int workflow_graph(Context& context, const std::string& name, const std::string& format) {
    rpc::WorkflowGraph params;
    params.name = name;
    params.format = format;
    params.width = static_cast<int>(context.style.width);
    return answer(context, params, [](const rpc::WorkflowGraph::Reply& reply) { return printable(reply.text, true); });
}

int workflow_export(Context& context, const rpc::WorkflowExport& params) {
    return answer(context, params, [](const rpc::WorkflowExport::Reply& reply) { return output::export_page(reply); });
}

namespace {

/// Returns `file` if it exists, otherwise the file of the workflow with that name.
Result<std::string> file_of_workflow(Context& context, const std::string& file) {
    std::error_code error;
    if (file == "-" || file.find('/') != std::string::npos || std::filesystem::exists(file, error)) return file;
    const rpc::WorkflowList list;
    TRY(const auto reply, context.call_json(list.k_name, written(list)));
    TRY(const auto known, connection::reply_as<rpc::WorkflowList::Reply>(list.k_name, reply));
    for (const auto& workflow : known.workflows) {
        if (workflow.name == file) return workflow.path;
    }
    return file;
}

}  // namespace

int workflow_validate(Context& context, const std::string& name) {
    const auto found = file_of_workflow(context, name);
    if (!found) return fail(context, found.error());
    const auto& file = *found;
    auto text = named_text(file);
    if (!text) return fail(context, text.error());
    rpc::WorkflowValidate params;
    params.text = std::move(*text);
    params.file = file == "-" ? "" : std::filesystem::path(file).filename().string();
    auto reply = context.call_json(params.k_name, written(params));
    if (!reply) return fail(context, reply.error());
    auto typed = connection::reply_as<rpc::WorkflowValidate::Reply>(params.k_name, *reply);
    if (!typed) return fail(context, typed.error());
    if (context.json) {
        put_json(*reply);
    } else {
        output::put(output::validation_page(file, *typed));
    }
    return typed->valid ? 0 : 1;
}

}  // namespace orange::commands
