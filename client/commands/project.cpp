#include "client/commands/project.hpp"

#include "client/output/listings.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

std::string absolute_path(const Context& context, const std::string& path) {
    const std::filesystem::path given(path);
    if (given.is_absolute() || !context.cwd) return path;
    if (path == ".") return *context.cwd;
    return (std::filesystem::path(*context.cwd) / given).lexically_normal().string();
}

}  // namespace

Status project_add(Context& context, rpc::ProjectAdd params) {
    params.path = absolute_path(context, params.path.empty() ? "." : params.path);
    return answer(context, params, output::project_page);
}

Status project_list(Context& context) {
    return answer(context, rpc::ProjectList{}, output::projects_page);
}

Status project_update(Context& context, rpc::ProjectUpdate params, const std::vector<std::string>& set) {
    for (const auto& word : set) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            return Error(ErrorCode::invalid_argument, "--set " + printable(word) + " has no value; write KEY=VALUE");
        }
        params.settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
    complete_with_cwd(context, params, params.name.has_value());
    if (params.path) params.path = absolute_path(context, *params.path);
    return answer(context, params, output::project_page);
}

Status project_remove(Context& context, rpc::ProjectRemove params) {
    const auto name = params.name;
    return answer(context, params, [&](const rpc::ProjectRemove::Reply& reply) {
        return "removed project " + name + "\n" + output::notes_text(reply.notes, context.style);
    });
}

Status workspace_init(Context& context, rpc::WorkspaceInit params) {
    complete_with_cwd(context, params, params.project.has_value());
    return answer(context, params, output::workspaces_page);
}

Status workspace_list(Context& context, rpc::WorkspaceList params) {
    return answer(context, params, output::workspaces_page);
}

Status workspace_gc(Context& context, rpc::WorkspaceGc params) {
    return answer(context, params, output::workspaces_page);
}

}  // namespace orange::commands
