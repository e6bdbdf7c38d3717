#include "client/output/executors.hpp"

#include <algorithm>

#include "client/output/harnesses.hpp"
#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

std::string separated(const rpc::ExecutorView& executor) {
    return executor.separates.empty() ? "nothing" : join(executor.separates, ", ");
}

/// Returns the limits that its definition has: "network, memory".
std::string limited(const rpc::ExecutorView& executor) {
    auto limits = executor.limits;
    if (executor.limits_network) limits.insert(limits.begin(), "network");
    return join(limits, ", ");
}

/// A heading and the command below it; nothing if the definition has none.
std::string command_part(const char* heading, const std::vector<std::string>& words, const Style& style) {
    if (words.empty()) return {};
    return std::string("\n") + heading + "\n" + wrapped(command_words(words), "  ", style.width);
}

}  // namespace

std::string executors_page(const rpc::ExecutorList::Reply& reply, const Style& style) {
    Table table({{"EXECUTOR", 10}, {"USABLE"}, {"SEPARATES", 12}, {"LIMITS", 7, 2}, {"PROJECTS", 10, 1}});
    for (const auto& executor : reply.executors) {
        table.row({{executor.name, k_bold},
                   {executor.problem ? "no" : "yes", executor.problem ? k_dim : k_green},
                   {separated(executor)},
                   {limited(executor)},
                   {join(executor.projects, ", ")}});
        const auto problem = executor.problem.value_or("");  // outlives its lines
        for (const auto line : split_lines(problem)) table.remark("! " + std::string(line), k_yellow);
        if (!executor.tried) table.remark("not tried yet with a whole task", k_dim);
    }
    return table.empty() ? "No executors.\n" : table.render(style);
}

std::string executor_page(const rpc::ExecutorShow::Reply& reply, const Style& style) {
    const auto& executor = reply.executor;
    auto out = style.paint(printable(executor.name), k_bold) + "  " + printable(executor.path) + "\n";
    out += wrapped("separates " + printable(separated(executor)) + (executor.tried ? "" : ", not tried"), "  ",
                   style.width);
    if (const auto limits = limited(executor); !limits.empty()) {
        out += wrapped("limits " + printable(limits), "  ", style.width);
    }
    if (reply.no_list) out += notes_text({*reply.no_list}, style);
    if (executor.problem) out += notes_text({"! " + *executor.problem}, style);
    out += command_part("run", reply.run, style);
    const bool has_commands = reply.checks != "outside";
    out += command_part(has_commands ? "checks, setup, teardown, run_command, and git in the agent's repository"
                                     : "git in the agent's repository",
                        reply.inside, style);
    if (!has_commands) out += wrapped("checks, setup, teardown and run_command run outside", "  ", style.width);
    out += command_part("limit of memory", reply.memory, style);
    out += command_part("check", reply.check, style);
    if (!reply.check.empty() && !executor.problem) out += wrapped("passed", "  ", style.width);
    out += command_part("probe", reply.probe, style);
    if (!reply.queued.empty()) {
        out += wrapped("a run waits in the states " + printable(join(reply.queued, ", ")), "  ", style.width);
    }
    return out + command_part("stop", reply.stop, style);
}

}  // namespace orange::output
