#include "client/commands/task.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

int task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words) {
    if (!words.empty() && !params.summary.empty()) {
        return fail(context, {ErrorCode::invalid_argument, "the summary is there twice: once bare, once as --summary"});
    }
    if (!words.empty()) params.summary = join(words, " ");
    if (params.context) {
        auto text = text_argument(*params.context);
        if (!text) return fail(context, text.error());
        params.context = std::move(*text);
    }
    complete_with_cwd(context, params, params.project.has_value());
    return answer(context, params, [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
    });
}

}  // namespace orange::commands
