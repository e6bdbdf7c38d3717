#include "client/commands/harness.hpp"

#include <filesystem>

#include "client/output/harnesses.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {

Status harness_list(Context& context, rpc::HarnessList params) {
    complete_with_cwd(context, params, params.project.has_value());
    return answer(context, params, output::harnesses_page);
}

Status harness_show(Context& context, const rpc::HarnessShow& params, bool source) {
    return answer(context, params, [&](const rpc::HarnessShow::Reply& reply) {
        return source ? printable(reply.text, true) : output::harness_page(reply, context.style);
    });
}

Status harness_trust(Context& context, rpc::HarnessTrust params, bool yes) {
    if (params.cwd && context.cwd) {
        params.cwd = (std::filesystem::path(*context.cwd) / *params.cwd).lexically_normal().string();
    }
    complete_with_cwd(context, params, params.project.has_value() || params.cwd.has_value());
    params.dry_run = !yes;
    TRY(auto reply, context.call(params));
    if (!context.json) output::put(output::trust_page(reply, context.style));
    const bool to_agree = !reply.args.empty() || reply.text;
    if (!reply.trusted && !to_agree && !context.json) return 1;  // the page has shown what to do
    if (!reply.trusted && to_agree) {
        if (context.json || !output::is_interactive()) {
            const auto command = "orange harness trust " + params.name + " --yes" +
                                 (params.project ? " --project " + *params.project : std::string());
            return {ErrorCode::needs_force, "nothing was stored. To agree:\n  " + command};
        }
        if (!output::confirmed("Do you agree?")) return {ErrorCode::needs_force, "nothing was stored"};
        params.dry_run = false;
        params.hash = reply.hash;
        TRY(reply, context.call(params));
    }
    if (context.json) put_json(written(reply));
    if (reply.recorded && !context.json) {
        output::put(reply.text ? "Stored. It applies from now on.\n"
                               : "Stored. It applies to agents that are started from now on.\n");
    }
    if (!context.json) output::put(output::notes_text(reply.notes, context.style));
    return reply.trusted ? 0 : 1;
}

}  // namespace orange::commands
