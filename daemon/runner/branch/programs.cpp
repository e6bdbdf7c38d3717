#include "daemon/runner/branch/branch.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/git/programs.hpp"
#include "daemon/log/log.hpp"

namespace orange {
namespace {

constexpr std::size_t k_named = 5, k_columns = 80;  ///< in a sentence
constexpr std::size_t k_told = 4000;                ///< columns of all names, in an event

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < k_named; ++i) {
        text += (i > 0 ? ", " : "") + ellipsized(names[i], k_columns);
    }
    if (names.size() > k_named) text += " and " + std::to_string(names.size() - k_named) + " more";
    return text;
}

}  // namespace

Awaitable<std::optional<git::Programs>> note_programs(World& world, TaskRecord& record) {
    const auto worktree = co_await open_worktree(world, record);
    Result<git::Programs> found = git::Programs{};
    if (worktree) found = co_await world.programs.of(world.git, *worktree);
    if (!worktree) found = worktree.error();
    if (!found) {
        log::warn("runner", found.error().message, {{"task", record.task.id.value}});
        co_return std::nullopt;
    }
    record.programs.emplace();
    for (const auto& [name, program] : *found) record.programs->emplace(name, program.hash);
    co_return std::move(*found);
}

namespace {

/// Adds the names of changed programs to the record's alarm, and returns them.
std::vector<std::string> add_changed(TaskRecord& record, std::vector<std::string> names) {
    auto& changed = record.programs_changed;
    for (const auto& name : names) {
        if (std::find(changed.begin(), changed.end(), name) == changed.end()) changed.push_back(name);
    }
    return names;
}

}  // namespace

Awaitable<void> watch_programs(World& world, TaskRecord& record) {
    if (!record.task.workspace) co_return;
    const auto before = record.programs;
    const auto found = co_await note_programs(world, record);
    if (!before || !found) co_return;  // not known, or the task is from an older version
    const auto names = add_changed(record, git::changed_programs(*before, *found));
    if (names.empty()) co_return;
    std::string state;  // the same names may change again
    for (const auto& [name, hash] : *record.programs) state += name + " " + hash + "\n";
    const std::map<std::string, Scalar> fields = {{"what", ellipsized(join(names, ", "), k_told)},
                                                  {"state", sha256(state)}};
    if (!world.journal.note_once(record, "repository.changed", fields)) {
        record.programs = before;  // the next look finds the change again
    }
}

Awaitable<std::string> current_alarm(World& world, TaskRecord record) {
    const auto* project = world.projects.find(record.task.project);
    if (!project || !record.task.workspace || !record.programs) co_return alarm_of(record);
    auto copy = *project;
    auto name = *record.task.workspace;
    const auto worktree = co_await world.pool.verify(std::move(copy), std::move(name));  // repairs nothing
    Result<git::Programs> found = git::Programs{};
    if (worktree) found = co_await world.programs.of(world.git, *worktree);
    if (worktree && found) add_changed(record, git::changed_programs(*record.programs, *found));
    co_return alarm_of(record);
}

void watch_harness(World& world, TaskRecord& record, const AgentRun& run, const std::string& earlier_hash) {
    const auto known = record.harness_hashes.find(run.harness);
    const bool changed =
        known != record.harness_hashes.end() && agents::is_changed(known->second, run.harness_hash, earlier_hash);
    if (changed) {
        world.journal.note_once(record, "harness.changed",
                                {{"harness", run.harness},
                                 {"role", name_text(run.role)},
                                 {"run", run.run.value},
                                 {"hash", run.harness_hash}});
        auto& names = record.harnesses_changed;
        if (std::find(names.begin(), names.end(), run.harness) == names.end()) names.push_back(run.harness);
    }
    record.harness_hashes[run.harness] = run.harness_hash;
}

std::string programs_alarm(const TaskRecord& record) {
    if (record.programs_changed.empty()) return {};
    return "git's configuration or hooks in this repository were changed: " + list_of(record.programs_changed) +
           ". Check them before you continue (`git config --show-scope --list`, .git/hooks)";
}

std::string harness_alarm(const TaskRecord& record) {
    if (record.harnesses_changed.empty()) return {};
    return "an agent was started with a harness definition that has changed since you last used it for this task: " +
           list_of(record.harnesses_changed) + ". Check it before you continue (orange harness show " +
           record.harnesses_changed.front() + ")";
}

std::string alarm_of(const TaskRecord& record) {
    auto alarm = programs_alarm(record);
    if (const auto harness = harness_alarm(record); !harness.empty()) alarm += (alarm.empty() ? "" : "; ") + harness;
    if (alarm.empty()) return {};
    return alarm + ". If you want the change: orange task ack " + record.task.id.value;
}

}  // namespace orange
