#include "daemon/runner/activity.hpp"

#include <map>
#include <vector>

#include "daemon/process/proc_info.hpp"

namespace orange {
namespace {

/// A dialog is on the visible screen; what has scrolled away was answered.
constexpr int k_visible_screen = 0;

/// The processes below `ancestor`, itself included: a program may sit behind a wrapper of its own.
std::vector<std::int64_t> family_of(std::int64_t ancestor) {
    std::map<std::int64_t, std::vector<std::int64_t>> children;
    for (const auto pid : process::all_pids()) {
        if (const auto parent = process::parent_of(pid)) children[*parent].push_back(pid);
    }
    std::vector<std::int64_t> family = {ancestor};
    for (std::size_t i = 0; i < family.size(); ++i) {
        const auto found = children.find(family[i]);
        if (found != children.end()) family.insert(family.end(), found->second.begin(), found->second.end());
    }
    return family;
}

std::string with_pid(std::string path, std::int64_t pid) {
    constexpr std::string_view k_pid = "{pid}";
    if (const auto at = path.find(k_pid); at != std::string::npos) path.replace(at, k_pid.size(), std::to_string(pid));
    return path;
}

agents::Activity told_by_file(const World& world, const AgentControl& control, const TaskRecord& record,
                              const AgentRun& run, const agents::Harness& harness) {
    const auto& file = harness.state_file;
    if (file.path.empty()) return agents::Activity::unknown;
    const auto env = control.environment(record, harness.env, run.role, run.run);
    const auto home = env.find("HOME");
    const auto path = agents::below_home(file.path, home == env.end() ? std::string{} : home->second);
    for (const auto pid : family_of(run.pid)) {
        const auto text = world.files.read(with_pid(path, pid));
        if (text) return agents::activity_in(file, *text);
    }
    return agents::Activity::unknown;
}

}  // namespace

Awaitable<agents::Activity> activity_of(World& world, const AgentControl& control, const TaskRecord& record,
                                        Role role) {
    const auto* current = record.run_of(role);
    if (!current || current->pane_id.empty()) co_return agents::Activity::unknown;
    const auto run = *current;
    const auto harness = world.harnesses.find(run.harness);
    if (!harness) co_return agents::Activity::unknown;
    if (const auto told = told_by_file(world, control, record, run, harness->harness);
        told != agents::Activity::unknown) {
        co_return told;
    }
    const auto screen = co_await world.tmux.capture(run.pane_id, k_visible_screen);
    if (!screen) co_return agents::Activity::unknown;
    const auto& titles = harness->harness.titles;
    std::string title;
    if (!titles.idle.empty() || !titles.busy.empty() || !titles.waiting.empty()) {
        const auto state = co_await world.tmux.list();
        for (const auto& pane : state ? state->panes : std::vector<PaneInfo>{}) {
            if (pane.ref.pane_id == run.pane_id) title = pane.title;
        }
    }
    co_return agents::activity_on(harness->harness, *screen, title);
}

}  // namespace orange
