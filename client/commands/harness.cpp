#include "client/commands/harness.hpp"

#include <filesystem>

#include "client/output/harnesses.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

int harness_list(Context& context, rpc::HarnessList params) {
    complete_with_cwd(context, params, params.project.has_value());
    return answer(context, params,
                  [&](const rpc::HarnessList::Reply& reply) { return output::harnesses_page(reply, context.style); });
}

int harness_show(Context& context, const rpc::HarnessShow& params, bool source) {
    return answer(context, params, [&](const rpc::HarnessShow::Reply& reply) {
        return source ? printable(reply.text, true) : output::harness_page(reply, context.style);
    });
}

int harness_trust(Context& context, rpc::HarnessTrust params, bool yes) {
    if (params.cwd && context.cwd) {
        params.cwd = (std::filesystem::path(*context.cwd) / *params.cwd).lexically_normal().string();
    }
    complete_with_cwd(context, params, params.project.has_value() || params.cwd.has_value());
    if (!yes) {
        params.dry_run = true;
        auto reply = context.call_json(params.k_name, written(params));
        if (!reply) return fail(context, reply.error());
        auto plan = connection::reply_as<rpc::HarnessTrust::Reply>(params.k_name, *reply);
        if (!plan) return fail(context, plan.error());
        if (!context.json) output::put(output::trust_page(*plan, context.style));
        if (output::is_trusted(*plan)) return context.json ? put_json(*reply) : 0;
        if (output::has_conflict(*plan)) {
            return fail(context, {ErrorCode::conflict,
                                  "left as it is: Orange only adds what is missing. Change it there, or start the "
                                  "program once in the repository and answer its question"});
        }
        if (context.json || !output::is_interactive()) {
            return fail(context, {ErrorCode::needs_force, "nothing was written; with --yes it is"});
        }
        if (!output::confirmed("Write this?")) return fail(context, {ErrorCode::needs_force, "left as it is"});
    }
    params.dry_run = false;
    return answer(context, params, [&](const rpc::HarnessTrust::Reply& reply) {
        return (yes ? output::trust_page(reply, context.style) : std::string{}) + (reply.written ? "written\n"
                                                                                   : yes         ? ""
                                                                                         : "nothing left to write\n");
    });
}

}  // namespace orange::commands
