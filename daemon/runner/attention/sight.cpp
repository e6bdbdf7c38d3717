#include "daemon/runner/attention/attention.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/offers.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

/// Returns true if the folder of the task's repository is gone: it was moved, or its disk is not mounted. Nothing of a
/// task that has begun or waits to begin goes on without it.
bool lacks_repository(const Runner& runner, const TaskRecord& record) {
    const auto* project = runner.world.projects.find(record.task.project);
    return project != nullptr && !store::has_ended(record) && runner.missing_repositories.contains(project->path);
}

/// Returns true if the project has a command with which its tasks' work can be tried. The text of the repository's own
/// one may be another by now, which its start checks.
bool has_dev(const Runner& runner, const TaskRecord& record) {
    const auto* project = runner.world.projects.find(record.task.project);
    if (project == nullptr) return false;
    const auto is_own = [](const std::string& entry) { return entry.starts_with(".orange/dev "); };
    return !project->dev.empty() || std::ranges::any_of(project->trusted, is_own);
}

std::optional<engine::PermitNeed> permit_need(const Runner& runner, const TaskRecord& record) {
    const auto open = runner.permits.of(record.task.id);
    if (open.empty()) return std::nullopt;
    const auto& first = *open.front();
    const auto& request = first.request;
    engine::PermitNeed need{first.number, {}, request.is_short(), first.since};
    need.text = first.harness + " asks to use " + request.tool + ": " + request.line;
    if (!request.whole) need.text += " (too large to be allowed here)";
    if (open.size() > 1) need.text += " (and " + std::to_string(open.size() - 1) + " more)";
    return need;
}

}  // namespace

void look_for_repositories(Runner& runner) {
    runner.missing_repositories.clear();
    for (const auto& project : runner.world.projects.list()) {
        if (is_missing(runner.world.files, project.path)) runner.missing_repositories.insert(project.path);
    }
}

Needs needs_of(const Runner& runner, const TaskRecord& record) {
    const auto& task = record.task;
    if (lacks_repository(runner, record)) {
        const auto& path = runner.world.projects.find(task.project)->path;
        return {Need::help, "the repository of " + task.project + " is not at " + printable(path) + " any more",
                OrangeCommand::from_text("orange project update " + task.project + " --path NEW_PATH"),
                record.entered_at.value_or(task.updated_at)};
    }
    const auto definition = runner.turns.definition_of(task);
    if (!definition) {
        return {Need::help, definition.error().message, task_command("update", task.id.value, "--workflow default"),
                record.entered_at.value_or(task.updated_at)};
    }
    engine::NeedFacts sight;
    const auto* state = (*definition)->state(task.status);
    const auto needed = state ? engine::agent_of(**definition, *state) : std::nullopt;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!runner.agents.alive(record, role)) continue;
        sight.living.emplace_back(name_of(role));
        if (state && (!needed || needed == role)) sight.agent_alive = true;
    }
    if (state && state->agent) {
        const auto seen = runner.activities.of(record, *state->agent);
        sight.idle = seen && seen->activity == Activity::idle;
        const auto* project = runner.world.projects.find(task.project);
        const auto patience =
            std::chrono::seconds(*settings_of(runner.world, project ? *project : Project{}).idle_after);
        sight.idle_long = sight.idle && runner.world.clock.now() - seen->since >= patience;
    }
    sight.restarting = !sight.agent_alive && runner.exits.is_restarting(task.id);
    // The write that counts an agent's end also removes its run from the record.
    const auto* run = state && state->agent ? record.run_of(*state->agent) : nullptr;
    sight.ending = run != nullptr && !run->place && !sight.agent_alive;
    sight.under_way = Merges::under_way(record);
    if (auto checks = runner.checks.under_way(task.id); !checks.empty()) {
        sight.under_way = std::move(checks);
        if (record.asked) sight.under_way += "; the task moves to " + record.asked->to + " when they pass";
    }
    sight.answered = runner.comments.counts(record).answered;
    sight.permit = permit_need(runner, record);
    sight.clash = runner.forecast.clause_in_review(record);
    sight.preview_url = runner.previews.url_of(task.id);
    if (!record.continued_by.empty()) sight.continued_by = runner.world.tasks.short_id(record.continued_by);
    if (runner.queue.is_starting(task.id)) sight.under_way = "its workspace is being prepared (fetch, checkout, setup)";
    if (record.blocked()) {
        sight.waits_for = waits_shown(runner.world, record);
        sight.gone = gone_text(runner.world, record);
    }
    if (const auto below = below_of(runner.world, record); below && below->state != engine::Below::State::done) {
        sight.below = below->id;
        sight.merged_first = below->short_id;
        sight.below_gone = below->fate;
    }
    sight.children = children_of(runner.world, record);
    sight.waits_for_pick = waits_for_pick(runner.world, record);
    const auto* parent = runner.world.tasks.brief(task.parent);
    sight.parent_there = parent != nullptr && !parent->ended;
    if (const auto wait = runner.capacity.wait_of(record)) {
        sight.held_back = wait->text;
        sight.held_for_human = wait->reason == "resume" && wait->for_human;
    } else if (!record.held.empty()) {
        sight.held_back = "the " + name_text(record.held.front().role) + " is being started";
    } else if (state && state->children && engine::have_come_back(**definition, task, sight.children) &&
               !runner.budgets.may_begin(record)) {
        sight.held_back = runner.budgets.sentence_of(task.id).first;
        sight.held_for_human = true;
    }
    if (record.queued) {
        const auto* project = runner.world.projects.find(task.project);
        sight.queue_place = runner.world.tasks.queue_place(record);
        sight.room = project && runner.world.pool.free(*project) >= sight.queue_place;
    }
    return engine::needs_of(**definition, record, sight);
}

std::vector<std::string> offers_of(const Runner& runner, const TaskRecord& record, const Needs& needs) {
    const auto definition = runner.turns.definition_of(record.task);
    if (!definition) return {"delete"};
    const bool worker = runner.agents.alive(record, Role::worker);
    const bool reviewer = runner.agents.alive(record, Role::reviewer);
    const auto alive = [&](Role role) { return role == Role::worker ? worker : reviewer; };
    engine::Offering sight;
    sight.alive = worker || reviewer;
    const auto need = engine::respawn_need(**definition, record.task);
    sight.state_alive = need && alive(need->role);
    const auto* state = (*definition)->state(record.task.status);
    sight.works = state && state->agent && alive(*state->agent);
    sight.under_way = !Merges::under_way(record).empty() || runner.queue.is_starting(record.task.id);
    sight.merges_later = !check_below_is_merged(runner.world, record);
    sight.into_parent = record.into_parent && !has_lost_its_target(runner.world, record);
    sight.children_unapproved =
        std::ranges::any_of(children_of(runner.world, record), [](const auto& child) { return child.unapproved; });
    sight.is_compared = !record.attempts.empty() || !record.attempt.empty();
    const bool may_pick = !record.attempts.empty() && record.picked.empty() && !store::has_ended(record);
    sight.can_be_picked = may_pick || (waits_for_pick(runner.world, record) && !store::has_ended(record));
    if (const auto picked = record.picked.empty() ? nullptr : runner.world.tasks.awake(record.picked)) {
        sight.of_picked = offers_of(runner, *picked, needs_of(runner, *picked));
    }
    sight.has_dev = has_dev(runner, record) || runner.previews.of(record.task.id) != nullptr;
    sight.needs_answer = needs.kind == Need::answer;
    sight.asks_permit = !runner.permits.of(record.task.id).empty();
    sight.shows_dialog = std::ranges::any_of(
        record.notices, [](const Notice& notice) { return notice.kind == NoticeKind::agent_dialog; });
    return engine::offers_of(**definition, record, sight);
}

}  // namespace orange
