#include "daemon/runner/programs.hpp"

#include <string_view>

#include "common/base/text.hpp"
#include "daemon/git/programs.hpp"
#include "daemon/log/log.hpp"

namespace orange {
namespace {

constexpr std::string_view k_changed = "what git runs in this repository, or where it sends to, was changed: ";
constexpr std::size_t k_named = 5;

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < k_named; ++i) text += (i > 0 ? ", " : "") + printable(names[i]);
    if (names.size() > k_named) text += " and " + std::to_string(names.size() - k_named) + " more";
    return text;
}

Awaitable<std::optional<git::Programs>> programs_now(World& world, const TaskRecord& record) {
    auto found = co_await git::programs_of(world.git, world.pool.path_of(*record.task.workspace).string());
    if (found) co_return std::move(*found);
    log::warn("runner", found.error().message, {{"task", record.task.id.value}});
    co_return std::nullopt;
}

}  // namespace

Awaitable<void> note_programs(World& world, TaskRecord& record) {
    record.programs = co_await programs_now(world, record);
}

Awaitable<void> watch_programs(World& world, TaskRecord& record) {
    if (!record.programs || !record.task.workspace) co_return;
    auto now = co_await programs_now(world, record);
    if (!now) co_return;
    const auto names = git::changed_programs(*record.programs, *now);
    if (names.empty()) co_return;
    const auto what = list_of(names);
    std::string state;  // the same names may change again
    for (const auto& [name, hash] : *now) state += name + " " + hash + "\n";
    auto told =
        world.journal.write_once(record, "repository.changed", {{"what", what}, {"state", content_hash(state)}});
    if (!told) log::error("runner", told.error().message, {{"task", record.task.id.value}});
    record.programs = std::move(now);
    const auto* project = world.projects.find(record.task.project);
    const auto where = project ? project->path : world.pool.path_of(*record.task.workspace).string();
    record.task.attention = std::string(k_changed) + what + "; look before you go on: git -C " + where +
                            " config --local --list, and its hooks; if that is wanted: orange task ack " +
                            record.task.id.value;
}

bool is_about_programs(const std::optional<std::string>& attention) {
    return attention && attention->starts_with(k_changed);
}

}  // namespace orange
