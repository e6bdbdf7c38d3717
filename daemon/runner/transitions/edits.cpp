#include "daemon/runner/transitions/edits.hpp"

#include <algorithm>
#include <utility>

#include "common/base/branch_name.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/usage.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/own.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/agents/agent_control.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/pulls/pulls.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_summary = 500;

Error taken_by(const std::string& branch, const store::BranchHolder& other) {
    return Error(ErrorCode::conflict, "branch " + branch + " belongs to task " + other.task.value);
}

/// An open pull request keeps the branch that it was opened with: the forge would continue with the old one.
Result<void> check_may_leave_branch(const TaskRecord& record, const std::string& branch) {
    const auto& task = record.task;
    if (branch == task.branch || !pulls::may_be_open(record)) return {};
    const auto& id = task.id.value;
    return Error(ErrorCode::conflict,
                 "task " + id + " has an open pull request (" + *task.pr_url + ") of branch " + task.branch +
                     ", and a pull request cannot change its branch. To add the work of " + branch +
                     " to it, merge that into " + task.branch + ". To work on " + branch +
                     " in a task of its own:\n  orange task create --project " + task.project + " --branch " +
                     shell_word(branch) + " \"...\"",
                 {{"why", "pull_request_open"}});
}

/// Refuses to check out a branch beside a living agent behind a wall, which could lead git elsewhere meanwhile.
Result<void> check_may_switch(const TaskRecord& record, const git::Pinned& worktree, const std::string& branch) {
    if (!worktree.is_walled() || record.runs.empty()) return {};
    const auto& id = record.task.id.value;
    return Error(
        ErrorCode::conflict,
        "an agent is at work behind a wall, where Orange switches no branch. Stop it first:\n  orange task stop " + id +
            "\nOr let the agent switch, then run:\n  git switch " + shell_word(branch) + "\n  orange task update " +
            id + " --branch");
}

/// Returns true if a start of the task's agent may succeed now, although it failed before.
bool starts_otherwise(const Task& was, const Task& is) {
    return is.branch != was.branch || is.executor != was.executor || is.executor_hash != was.executor_hash ||
           is.executor_options != was.executor_options || is.harness != was.harness ||
           is.review_harness != was.review_harness;
}

Result<void> choose_pr_feedback(Task& task, const std::string& who) {
    if (!who.empty() && who != "notice" && who != "agent") {
        return Error(ErrorCode::invalid_argument,
                     "feedback on a pull request goes to notice (you) or agent, not to \"" + who + "\"");
    }
    task.pr_feedback = who.empty() ? std::nullopt : std::optional(who);
    return {};
}

}  // namespace

Result<void> check_summary(const std::string& summary) {
    if (!is_valid_utf8(summary)) return Error(ErrorCode::invalid_argument, "the summary is not valid UTF-8");
    if (summary.find_first_of("\n\r") != std::string::npos) {
        return Error(ErrorCode::invalid_argument,
                     "the summary must be one line; put the rest into --context, which may have many");
    }
    if (summary.size() > k_longest_summary) {
        return Error(ErrorCode::invalid_argument, "the summary has " + std::to_string(summary.size()) +
                                                      " bytes, at most 500 are allowed; put the "
                                                      "rest into --context");
    }
    return {};
}

Result<void> choose_budget(Task& task, const Choices& choices) {
    if (!choices.budget) return {};
    const auto budget = trim(*choices.budget);
    if (!budget.empty() && !tokens_in(budget)) {
        return Error(ErrorCode::invalid_argument,
                     "the budget must be a number of tokens, " + std::string(k_tokens_form));
    }
    task.budget = std::string(budget);
    return {};
}

Result<void> choose_permits(Task& task, const Choices& choices) {
    if (!choices.permits) return {};
    const auto& where = *choices.permits;
    if (!where.empty() && where != "window" && where != "inbox") {
        return Error(ErrorCode::invalid_argument,
                     "permits must be window (the program asks there) or inbox (you answer with orange allow), not \"" +
                         ellipsized(where, 80) + "\"");
    }
    task.permits = where.empty() ? std::nullopt : choices.permits;
    return {};
}

Result<void> Edits::choose_agents(TaskRecord& record, const Choices& choices, bool must_be_installed) {
    auto& task = record.task;
    struct Part {
        const std::optional<std::string>& harness;
        const std::optional<std::string>& effort;
        const std::optional<std::string>& model;
        std::string& its_harness;
        std::optional<std::string>& its_effort;
        std::optional<std::string>& its_model;
    };
    for (const Part& part :
         {Part{choices.harness, choices.effort, choices.model, task.harness, task.effort, task.model},
          Part{choices.review_harness, choices.review_effort, choices.review_model, task.review_harness,
               task.review_effort, task.review_model}}) {
        if (!part.harness && !part.effort && !part.model) continue;
        TRY(const auto entry, world_.harnesses.find(part.harness.value_or(part.its_harness)));
        if (part.harness) {
            if (must_be_installed && entry.program.empty()) return world_.harnesses.not_installed(entry);
            // Another program does not know this one's models.
            if (*part.harness != part.its_harness) part.its_model.reset();
            part.its_harness = *part.harness;
            record.harness_hashes[*part.harness] = entry.hash;
        }
        if (part.effort) part.its_effort = part.effort->empty() ? std::nullopt : part.effort;
        if (part.its_effort) TRY(agents::check_effort(entry.harness, *part.its_effort));
        if (part.model) part.its_model = part.model->empty() ? std::nullopt : part.model;
        if (part.its_model) TRY(agents::check_model(entry.harness, *part.its_model));
        if (task.permissions == "reduced" &&
            agents::argv_name(entry.harness, "reduced") == agents::argv_name(entry.harness, "full")) {
            return Error(ErrorCode::invalid_argument,
                         "harness " + part.its_harness + " has no reduced permissions; choose another");
        }
    }
    return {};
}

Result<void> Edits::check_named_agents(TaskRecord& record, const engine::Definition& definition,
                                       bool must_be_installed) const {
    const auto& task = record.task;
    for (const auto& name : harnesses_of(world_, definition, task)) {
        if (name == task.harness || name == task.review_harness) continue;  // choose_agents() has checked these
        const auto entry = world_.harnesses.find(name);
        const auto where = "the workflow " + definition.name + " starts " + name;
        if (!entry) return in_context(where, entry.error());
        if (must_be_installed && entry->program.empty())
            return in_context(where, world_.harnesses.not_installed(*entry));
        if (task.permissions == "reduced" &&
            agents::argv_name(entry->harness, "reduced") == agents::argv_name(entry->harness, "full")) {
            return Error(ErrorCode::invalid_argument, where + ", which has no reduced permissions");
        }
        record.harness_hashes[name] = entry->hash;
    }
    return {};
}

Result<void> Edits::choose_executor(TaskRecord& record, const Choices& choices) {
    if (!choices.executor && !choices.executor_options) return {};
    auto& task = record.task;
    agents::Executor executor;
    if (choices.executor) {
        TRY(const auto entry, world_.executors.find(*choices.executor));
        executor = entry.executor;
        const bool leaves_wall = !executor.has_own_repository && walls::wall_of(world_, task) &&
                                 is_folder(world_.files, walls::repository_of(world_, task.id.value));
        if (leaves_wall) {
            const auto& id = task.id.value;
            return Error(ErrorCode::conflict, "the agent of task " + id +
                                                  " has a repository of its own behind the wall of " + task.executor +
                                                  ". To go on without the wall, take its work into a new "
                                                  "task:\n  orange task cancel " +
                                                  id + "\n  orange task restore " + id + " --create");
        }
        task.executor_options.clear();  // they belong to the previous executor
        task.executor = executor.is_direct() ? std::string() : executor.name;
        task.executor_hash.clear();
        if (!executor.is_direct()) {
            TRY(task.executor_hash, world_.executors.pin(entry));
        }
    } else if (!task.executor.empty()) {
        TRY(executor, world_.executors.pinned(task.executor, task.executor_hash));
    }
    if (!choices.executor_options) return {};
    TRY(const auto words, shell_words(*choices.executor_options));
    if (!words.empty() && !executor.takes("options")) {
        return Error(ErrorCode::invalid_argument, "executor " +
                                                      (executor.name.empty() ? agents::k_local : executor.name) +
                                                      " takes no options: its definition has no {options}");
    }
    task.executor_options = std::string(trim(*choices.executor_options));
    return {};
}

Awaitable<Result<Edited>> Edits::apply(TaskRecord record, const Edit& edit, Caller by) {
    const auto was = record.task;
    Edited edited{std::move(record)};
    auto& changed = edited.record;
    if (edit.summary) {
        CO_TRY(check_summary(*edit.summary));
        changed.task.summary = *edit.summary;
    }
    if (edit.feedback) changed.unwritten_feedback = *edit.feedback;
    if (edit.pr_feedback) CO_TRY(choose_pr_feedback(changed.task, *edit.pr_feedback));
    CO_TRY(choose_agents(changed, edit, true));
    CO_TRY(choose_executor(changed, edit));
    CO_TRY(choose_budget(changed.task, edit));
    CO_TRY(choose_permits(changed.task, edit));
    const auto stood_on = changed.stands_on_other() ? changed.task.base : std::nullopt;
    CO_TRY(drop_blockers(world_, changed, edit.unblock));
    if (stood_on && changed.task.on.empty()) co_await void_review(world_, changed, *stood_on);
    CO_TRY(add_blockers(world_, changed, edit.blocked_by));
    if (edit.workflow) CO_TRY(change_workflow(changed, *edit.workflow, by));
    if (edit.branch) {
        const auto old_branch = changed.task.branch;
        auto branch = branch_name(*edit.branch);
        if (by.role != Role::human && branch != old_branch) {
            CO_TRY(const auto project, registered_project(world_, changed.task.project));
            CO_TRY(co_await git::check_agents_branch(world_.git, project.path, branch));
        }
        CO_TRY(edited.moved_branch, co_await change_branch(changed, std::move(branch)));
    }
    if (!edit.branch && edit.sync_branch) CO_TRY(co_await take_over_branch(changed));
    if (edit.branch || edit.sync_branch) co_await watch_branch(world_, changed);
    if (starts_otherwise(was, changed.task)) (void)clear(changed, NoticeKind::start_failed);
    co_return edited;
}

Awaitable<Result<std::vector<std::string>>> Edits::commit(TaskRecord& changed, Caller by) {
    CO_TRY(const auto before, turns_.record_of(changed.task.id));
    std::vector<std::string> notes;
    const auto& was = before.task;
    const auto& is = changed.task;
    if (is.branch != was.branch) {  // git took time: another task may use this branch by now
        const auto other = world_.tasks.on_branch(is.project, is.branch);
        if (other && other->task != is.id) co_return taken_by(is.branch, *other);
    }
    if (is.blocked_by != was.blocked_by) CO_TRY(check_cycle(world_, changed));  // no co_await until the save
    CO_TRY(turns_.try_save(changed));
    note_model(was.model, is.model, "worker", is.harness, notes);
    note_model(was.review_model, is.review_model, "reviewer", is.review_harness, notes);
    const auto who = name_text(by.role);
    if (is.summary != was.summary) {
        world_.journal.write(changed, "summary.changed", {{"from", was.summary}, {"to", is.summary}, {"by", who}});
    }
    if (is.workflow_hash != was.workflow_hash || is.workflow != was.workflow) {
        tell_workflow(changed, was.workflow);
        notes.push_back("workflow is now " + is.workflow);
    }
    if (is.executor != was.executor || is.executor_hash != was.executor_hash) {
        const auto shown = [](const Task& task) { return task.executor.empty() ? agents::k_local : task.executor; };
        world_.journal.write(changed, "executor.changed", {{"from", shown(was)}, {"to", shown(is)}, {"by", who}});
        notes.push_back("its agents run in " + shown(is) + ", from their next start");
    }
    if (is.budget != was.budget) {
        const auto shown = [](const Task& task) { return task.budget.empty() ? std::string("none") : task.budget; };
        world_.journal.write(changed, "budget.changed", {{"from", shown(was)}, {"to", shown(is)}, {"by", who}});
        notes.push_back(is.budget.empty() ? "it has no budget of its own any more" : "its budget is now " + is.budget);
    }
    if (is.permits != was.permits) {
        notes.push_back("its programs ask " +
                        (is.permits ? "in the " + *is.permits : std::string("where the setting permits says")) +
                        ", from their next start");
    }
    const bool withdrawn = engine::find_notice(before, NoticeKind::start_failed) != nullptr &&
                           engine::find_notice(changed, NoticeKind::start_failed) == nullptr;
    if (withdrawn) {
        const auto definition = turns_.definition_of(is);
        const bool has_begun = definition && engine::respawn_need(**definition, is);
        notes.push_back("to try the start again:\n  " +
                        task_command(has_begun ? "respawn" : "spawn", is.id.value).text());
    }
    if (is.blocked_by != was.blocked_by || is.on != was.on) {
        std::vector<std::string> ids;
        for (const auto& id : is.blocked_by) ids.push_back(id.value);
        if (!is.on.empty()) ids.push_back(is.on.value);
        world_.journal.write(changed, "blockers.changed", {{"blockers", join(ids, " ")}, {"by", who}});
    }
    if (is.on != was.on && changed.reviewed_commit != before.reviewed_commit) {
        notes.push_back("a merge now also brings the commits of task " + world_.tasks.short_id(was.on) +
                        ", which its review did not cover, and asks you first. To look at all of them:\n  " +
                        task_command("diff", is.id.value).text());
    }
    if (is.branch != was.branch) {
        world_.journal.write(changed, "branch.changed", {{"from", was.branch}, {"to", is.branch}, {"by", who}});
        notes.push_back("branch is now " + is.branch);
        co_await rename_session(changed);
    }
    co_return notes;
}

void Edits::note_model(const std::optional<std::string>& before, const std::optional<std::string>& now,
                       const std::string& role, const std::string& harness, std::vector<std::string>& notes) const {
    if (now == before) return;
    if (!now) return notes.push_back("the " + role + " now uses the model that " + harness + " chooses");
    const auto entry = world_.harnesses.find(harness);
    auto note = entry ? agents::model_note(entry->harness, *now) : std::string();
    if (!note.empty()) notes.push_back(std::move(note));
}

Awaitable<void> Edits::undo(Edited edited) {
    if (!edited.moved_branch) co_return;
    const auto& changed = edited.record;
    const auto project = registered_project(world_, changed.task.project);
    const auto saved = turns_.record_of(changed.task.id);
    if (!project || !saved) co_return;
    const auto& before = *saved;
    const auto repo = project->path;
    const auto lock = co_await world_.repositories.acquire(repo);
    auto worktree = Result<git::Place>(repo);
    if (before.task.workspace) {
        auto opened = co_await open_worktree(world_, before);
        worktree = opened ? Result<git::Place>(std::move(*opened)) : opened.error();
    }
    if (!worktree) {
        log::warn("runner", worktree.error().message, {{"task", before.task.id.value}});
        co_return;
    }
    const auto old = co_await git::commit_of(world_.git, repo, "refs/heads/" + before.task.branch);
    auto undone = Result<void>{};
    if (!old) {
        undone = old.error();
    } else if (old->empty()) {  // it was renamed; otherwise another one was checked out
        undone = co_await git::rename_branch(world_.git, *worktree, changed.task.branch, before.task.branch);
    } else if (const auto now = co_await git::current_branch(world_.git, *worktree);
               worktree->pinned() && now && *now != before.task.branch) {
        const auto back =
            co_await git::checkout_branch(world_.git, repo, *worktree->pinned(), before.task.branch, *old);
        if (!back) undone = back.error();
    }
    if (!undone) log::warn("runner", undone.error().message, {{"task", before.task.id.value}});
}

Result<workflow::Library::DefinitionPtr> Edits::workflow_for(const TaskRecord& record, const std::string& name,
                                                             const Caller& by) {
    TRY(engine::may_change_workflow(by));
    auto definition = world_.workflows.find(name);
    if (!definition || (*definition)->state(record.task.status)) return definition;
    std::vector<std::string> states;
    for (const auto& state : (*definition)->states) states.push_back(state.name);
    return Error(ErrorCode::conflict, "workflow " + name + " has no status " + printable(record.task.status) +
                                          ", which the task has now; known: " + join(states, ", "));
}

Result<void> Edits::change_workflow(TaskRecord& record, const std::string& name, const Caller& by) {
    TRY(const auto definition, workflow_for(record, name, by));
    TRY(check_named_agents(record, *definition, true));
    TRY(auto hash, world_.workflows.pin(name));
    record.task.workflow = name;
    record.task.workflow_hash = hash;
    const auto* state = definition->state(record.task.status);
    record.ended = state && state->terminal;
    return {};
}

void Edits::tell_workflow(const TaskRecord& record, const std::string& from) {
    const auto& task = record.task;
    world_.journal.write(record, "workflow.changed",
                         {{"from", from}, {"to", task.workflow}, {"hash", task.workflow_hash}});
}

Result<void> Edits::leave_lost_workflow(TaskRecord& record, const Edit& edit, const Caller& by) {
    if (!edit.workflow || !record.intent || turns_.definition_of(record.task)) return {};
    const auto from = record.task.workflow;
    TRY(change_workflow(record, *edit.workflow, by));
    TRY(turns_.try_save(record));
    tell_workflow(record, from);
    return {};
}

Awaitable<Result<bool>> Edits::change_branch(TaskRecord& record, std::string branch) {
    auto& task = record.task;
    if (branch == task.branch) co_return false;
    CO_TRY(co_await git::check_branch_name(world_.git, branch));
    CO_TRY(check_may_leave_branch(record, branch));
    if (const auto other = world_.tasks.on_branch(task.project, branch); other && other->task != task.id) {
        co_return taken_by(branch, *other);
    }
    CO_TRY(const auto project, registered_project(world_, task.project));
    if (branch == project.default_branch) {
        co_return Error(ErrorCode::invalid_argument,
                        "a task cannot work on the default branch " + branch + "; choose another branch");
    }
    const auto lock = co_await world_.repositories.acquire(project.path);
    CO_TRY(const auto existing, co_await git::commit_of(world_.git, project.path, "refs/heads/" + branch));
    CO_TRY(const auto remote, co_await git::commit_of(world_.git, project.path, "refs/remotes/origin/" + branch));
    const bool is_free = existing.empty() && remote.empty();
    bool moved = false;
    if (!task.workspace) {
        CO_TRY(const auto old, co_await git::commit_of(world_.git, project.path, "refs/heads/" + task.branch));
        CO_TRY(const auto had_branch, has_had_branch(world_, record));
        moved = !old.empty() && had_branch && is_free;  // otherwise the branch is only a name so far
        if (moved) {
            CO_TRY(const auto common, co_await world_.pool.known().git_dir(world_.git, project.path));
            for (const auto& name : {task.branch, branch}) CO_TRY(git::check_branch_files(common, name));
            CO_TRY(co_await git::rename_branch(world_.git, project.path, task.branch, branch));
        }
        task.branch = branch;
        co_return moved;
    }
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    if (is_free) {
        CO_TRY(co_await git::rename_branch(world_.git, worktree, task.branch, branch));
        moved = true;
        if (auto place = walls::place_of(world_, task, worktree))
            CO_TRY(co_await walls::rename_there(world_, std::move(*place), task.branch, branch));
    } else {
        CO_TRY(const auto now, co_await git::current_branch(world_.git, worktree));
        if (now != branch) {
            CO_TRY(check_may_switch(record, worktree, branch));
            CO_TRY(auto base, co_await git::base_ref(world_.git, project.path, project.default_branch,
                                                     merges_of(world_, project)));
            CO_TRY(co_await git::checkout_branch(world_.git, project.path, worktree, branch, base));
            moved = true;
        }
    }
    task.branch = branch;
    co_return moved;
}

Awaitable<Result<void>> Edits::take_over_branch(TaskRecord& record) {
    auto& task = record.task;
    if (!task.workspace) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace to read a branch from");
    }
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    CO_TRY(auto now, co_await git::current_branch(world_.git, worktree));
    if (now.empty()) {
        co_return Error(ErrorCode::conflict,
                        "the workspace is on no branch (detached HEAD). Switch to one in the worktree, then try "
                        "again:\n  git switch " +
                            task.branch);
    }
    const auto* project = world_.projects.find(task.project);
    if (project && now == project->default_branch) {
        co_return Error(ErrorCode::invalid_argument, "the workspace is on the default branch " + now +
                                                         ". Switch back in the worktree:\n  git switch " + task.branch);
    }
    CO_TRY(co_await git::check_branch_name(world_.git, now));
    CO_TRY(check_may_leave_branch(record, now));
    if (const auto other = world_.tasks.on_branch(task.project, now); other && other->task != task.id) {
        co_return taken_by(now, *other);
    }
    task.branch = now;
    co_return Result<void>{};
}

Awaitable<void> Edits::rename_session(TaskRecord& record) {
    if (record.runs.empty() || !record.task.tmux_session) co_return;
    const auto wanted = session_name_for(record.task.project, record.task.branch);
    const auto session = record.runs.front().session_id;
    if (session.empty() || wanted == *record.task.tmux_session) co_return;
    auto name = wanted;
    auto renamed = co_await world_.tmux.rename_session(session, name);
    for (int n = 2; !renamed && renamed.error().code == ErrorCode::conflict && n < 100; ++n) {
        name = wanted + "-" + std::to_string(n);
        renamed = co_await world_.tmux.rename_session(session, name);
    }
    if (!renamed) {
        log::warn("runner", renamed.error().message, {{"task", record.task.id.value}});
        co_return;  // the name is only for people; Orange uses ids
    }
    record.task.tmux_session = name;
    turns_.save(record);
}

}  // namespace orange
