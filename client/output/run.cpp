#include "client/output/run.hpp"

#include <algorithm>
#include <array>

#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

std::string command_line(std::string command, const std::string& what) {
    constexpr std::size_t k_column = 32;
    command.resize(std::max(command.size() + 2, k_column), ' ');
    return "  " + command + what + "\n";
}

}  // namespace

std::string run_page(const rpc::TaskReply& reply, const std::string& folder, const Style& style) {
    const auto& fields = reply.task.fields;
    const auto id = short_id(reply.task);
    const auto workspace = printable(fields.workspace.value_or(""));
    auto out = task_line(reply.task, style) + notes_text(reply.notes, style);
    out += "  branch " + printable(fields.branch) + "\n";
    if (!workspace.empty()) out += "  worktree " + printable(folder) + "/" + workspace + "\n";
    out += "\n";
    if (reply.task.attempts > 0) out += command_line("orange compare " + id, "compare the attempts side by side");
    if (!workspace.empty()) out += command_line("orange attach " + id, "open the agent's terminal");
    out += command_line("orange list", "show all tasks; those that need you come first");
    out += command_line("orange why " + id, "show what the task is waiting for");
    return out;
}

std::string run_event(const Json& event, const Style& style) {
    static constexpr std::array k_shown = {"status.changed", "agent.crashed",      "agent.respawned",
                                           "spawn.failed",   "hook.failed",        "session.lost",
                                           "task.deleted",   "repository.changed", "harness.changed"};
    const auto type = text_of(event, "type");
    if (std::find(k_shown.begin(), k_shown.end(), type) == k_shown.end()) return {};
    const auto stamp = text_of(event, "timestamp");
    const auto clock = stamp.size() >= 19 ? stamp.substr(11, 8) : stamp;
    const auto room = style.row > clock.size() + 24 ? style.row - clock.size() - 4 : 20;
    return "  " + style.paint(clock, k_dim) + "  " + cut(event_sentence(event), room) + "\n";
}

}  // namespace orange::output
