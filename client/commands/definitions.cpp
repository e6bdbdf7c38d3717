#include "client/commands/definitions.hpp"

#include <filesystem>

#include "client/commands/files.hpp"
#include "client/output/listings.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/workflow_methods.hpp"

namespace orange::commands {
Status workflow_list(Context& context) {
    return answer(context, rpc::WorkflowList{}, output::workflows_page);
}

Status workflow_show(Context& context, const std::string& name, bool source) {
    return answer(context, rpc::WorkflowShow{name}, [&](const rpc::WorkflowShow::Reply& reply) {
        return source ? printable(reply.text, true) : output::workflow_page(reply, context.style);
    });
}

Status workflow_graph(Context& context, const std::string& name, const std::string& format) {
    const rpc::WorkflowGraph params{name, format, static_cast<int>(context.style.width)};
    return answer(context, params, [](const rpc::WorkflowGraph::Reply& reply) { return printable(reply.text, true); });
}

Status workflow_export(Context& context, const rpc::WorkflowExport& params) {
    return answer(context, params, output::export_page);
}

namespace {

/// Returns `file` if it exists, otherwise the file of the workflow with that name.
Result<std::string> file_of_workflow(Context& context, const std::string& file) {
    std::error_code error;
    if (file == "-" || file.find('/') != std::string::npos || std::filesystem::exists(file, error)) return file;
    TRY(const auto known, context.call(rpc::WorkflowList{}));
    for (const auto& workflow : known.workflows) {
        if (workflow.name == file) return workflow.path;
    }
    return file;
}

}  // namespace

Status workflow_validate(Context& context, const std::string& name) {
    TRY(const auto file, file_of_workflow(context, name));
    rpc::WorkflowValidate params;
    TRY(params.text, named_text(file));
    params.file = file == "-" ? "" : std::filesystem::path(file).filename().string();
    TRY(auto reply, context.call_json(params.k_name, written(params)));
    TRY(auto typed, connection::reply_as<rpc::WorkflowValidate::Reply>(params.k_name, reply));
    if (context.json) {
        put_json(reply);
    } else {
        output::put(output::validation_page(file, typed));
    }
    return typed.valid ? 0 : 1;
}

}  // namespace orange::commands
