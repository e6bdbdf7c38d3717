#include "daemon/rpc/methods/task_create.hpp"

#include <algorithm>

#include "common/base/branch_name.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_methods.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/git/branch_names.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/own.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/attempt_specs.hpp"
#include "daemon/rpc/methods/draft.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/rpc/methods/registration.hpp"
#include "daemon/rpc/methods/start_notes.hpp"
#include "daemon/rpc/methods/subtasks.hpp"
#include "daemon/rpc/methods/task_fork.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/placing/networks.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

/// `task.create`. All checks come before the first write, so that a refused call leaves no folder, no branch and no
/// project. Names that were free (of the branch, of the project) are checked again after the last co_await, because
/// another call may have taken them.
namespace orange::rpc {
namespace {

constexpr std::size_t k_longest_context = 512 * 1024;
constexpr int k_most_names = 1000;

/// Chooses the workflow and the first status of the task.
Result<void> choose_workflow(World& world, const TaskCreate& params, Draft& draft) {
    auto& task = draft.record.task;
    task.workflow = params.workflow.value_or(draft.project.workflow.value_or("default"));
    auto definition = world.workflows.find(task.workflow);
    if (!definition && !params.workflow && draft.project.workflow) {
        return in_context("project " + draft.project.name + " in " + world.paths.projects().string(),
                          definition.error());
    }
    if (!definition) return definition.error();
    draft.definition = *definition;
    task.status = draft.definition->initial().name;
    if (!params.status) return {};
    TRY(const auto decision, engine::decide_start(*draft.definition, task, *params.status));
    draft.record.start = *params.status;
    draft.needs_workspace = engine::needs_workspace(decision);
    draft.work_is_there = !draft.definition->means(*params.status, engine::Meaning::clarification);
    return {};
}

/// Returns the task whose files a new one begins with before a human has merged them: its parent, or the task of a wall
/// on whose branch it is built.
Result<store::RecordPtr> task_below(Api& api, const TaskCreate& params, const Draft& draft) {
    const auto& tasks = api.world().tasks;
    if (params.parent) return tasks.read({*params.parent});
    for (const auto& name : {params.base, params.branch}) {
        constexpr std::string_view k_heads = "refs/heads/";
        const auto branch = !name ? "" : name->starts_with(k_heads) ? name->substr(k_heads.size()) : *name;
        const auto holder = branch.empty() ? std::nullopt : tasks.on_branch(draft.project.name, branch);
        if (!holder || !holder->readable) continue;
        TRY(const auto found, tasks.read(holder->task));
        if (walls::wall_of(api.world(), found->task)) return found;
    }
    return store::RecordPtr();
}

/// A sub-task runs where its parent does: else an agent could leave its executor by way of one.
Result<void> choose_executor(Api& api, const TaskCreate& params, const std::optional<Origin>& origin, Draft& draft) {
    auto& task = draft.record.task;
    if (origin && origin->like) {
        const auto& old = origin->like->task;
        task.executor = old.executor;
        task.executor_hash = old.executor_hash;
        task.executor_options = old.executor_options;
        return {};
    }
    TRY(const auto parent, task_below(api, params, draft));
    const auto settings = settings_of(api.world(), draft.project);
    Choices choices;
    choices.executor = params.executor;
    choices.executor_options = params.executor_options;
    if (parent && !params.executor) {
        task.executor = parent->task.executor;
        task.executor_hash = parent->task.executor_hash;
        task.executor_options = parent->task.executor_options;
    } else if (!params.executor) {
        choices.executor = settings.executor;
    }
    TRY(api.runner().edits.choose_executor(draft.record, choices));
    const bool is_projects = !parent && choices.executor == settings.executor && !params.executor_options;
    if (!is_projects || task.executor.empty()) return {};
    Choices usual;
    usual.executor_options = settings.executor_options;
    return api.runner().edits.choose_executor(draft.record, usual);
}

/// A sub-task's programs ask where its parent's do: the human looks there.
Result<void> take_permits(Api& api, const TaskCreate& params, Task& task) {
    if (params.permits || !params.parent) return choose_permits(task, params);
    TRY(const auto parent, api.world().tasks.read({*params.parent}));
    task.permits = parent->task.permits;
    return {};
}

/// Refuses an executor that cannot be used, as a harness that is not installed is refused.
Awaitable<Result<void>> check_executor_of(World& world, const Draft& draft) {
    const auto& task = draft.record.task;
    CO_TRY(const auto harness, world.harnesses.find(task.harness));
    auto env = environment_for(world, draft.project, harness);
    if (task.executor.empty()) co_return networks::check(world, task.project, nullptr, env);
    CO_TRY(auto executor, world.executors.pinned(task.executor, task.executor_hash));
    const auto options = executor_values(world, task, executor, env).lists["options"];
    CO_TRY(agents::check_visible(executor, harness, env, options));
    for (const auto& name : executor.unset) env.erase(name);  // as at the start, which the answer counts for
    const auto usable = co_await check_executor(world, std::move(executor), task.project, std::move(env));
    if (usable) world.executors.note_usable(task.id, task.executor_hash);
    if (usable) co_return Result<void>{};
    co_return Error(usable.error().code, usable.error().message + "\n" + to_try_executor(task, task.executor),
                    usable.error().details);
}

/// Does so for each of the agents that try the task, too.
Awaitable<Result<void>> check_executors_of(World& world, Draft& draft) {
    if (draft.record.attempts.empty()) co_return co_await check_executor_of(world, draft);
    for (const auto& row : draft.record.attempts) {
        draft.record.task.harness = row.harness;
        CO_TRY(co_await check_executor_of(world, draft));
    }
    draft.record.task.harness = draft.record.attempts.front().harness;
    co_return Result<void>{};
}

Awaitable<Result<Draft>> choose_project(Api& api, const TaskCreate& params) {
    Draft draft;
    auto found = co_await api.select_project(params.project, params.cwd);
    // If the file is broken, its earlier contents are still in force and may be outdated.
    if (const auto& problem = api.world().projects.problem(); !problem.empty()) {
        co_return Error(ErrorCode::io, problem);
    }
    if (found) {
        draft.project = std::move(*found);
        co_return draft;
    }
    if (!params.add_project || params.project || !params.cwd) co_return found.error();
    ProjectAdd add;
    add.path = *params.cwd;
    auto made = co_await new_project(api, std::move(add));
    if (!made) {  // another call may have registered the repository meanwhile
        auto known = co_await api.select_project(params.project, params.cwd);
        if (!known) co_return made.error();
        draft.project = std::move(*known);
        co_return draft;
    }
    draft.project = std::move(made->project);
    draft.new_project = true;
    draft.notes.push_back("registered " + draft.project.path + " as project " + draft.project.name +
                          ", default branch " + draft.project.default_branch);
    draft.notes.insert(draft.notes.end(), made->notes.begin(), made->notes.end());
    co_return draft;
}

Error exists(const TaskId& id) {
    return {ErrorCode::conflict, "task " + id.value + " already exists"};
}

Error taken(const std::string& branch, const store::BranchHolder& other) {
    return {ErrorCode::conflict, "branch " + branch + " belongs to task " + other.task.value + " (" + other.status +
                                     ")\n  " +
                                     (other.readable ? "orange task show " + other.task.value : "orange doctor")};
}

/// Returns the first of `wanted`, wanted-2, wanted-3 … that no branch and no task has.
Awaitable<Result<std::string>> unused_branch(World& world, Project project, std::string wanted) {
    auto name = wanted;
    for (int n = 2; n < k_most_names; ++n) {
        CO_TRY(const auto state, co_await git::branch_state(world.git, project.path, name));
        const bool free = !state.exists() && state.clash.empty() && name != project.default_branch;
        if (free && !world.tasks.on_branch(project.name, name)) co_return name;
        name = wanted + "-" + std::to_string(n);
    }
    co_return Error(ErrorCode::conflict,
                    "there are too many branches called " + wanted + "; choose a name with --branch");
}

Awaitable<Result<void>> fetch(World& world, Draft& draft) {
    auto& known = world.pool.known();
    CO_TRY(const auto origin, co_await known.has_origin(world.git, draft.project.path));
    if (!origin) {
        const auto remote = co_await known.unused_remote(world.git, draft.project.path, draft.project.default_branch);
        if (!remote.empty()) draft.why_not_fetched = "; " + remote;
        co_return Result<void>{};
    }
    auto fetched = co_await git::fetch(world.git, draft.project.path, git::k_fetch_patience);
    if (!fetched) draft.why_not_fetched = "; origin could not be fetched: " + first_line(fetched.error().message);
    co_return Result<void>{};
}

Error no_such_branch(const Draft& draft) {
    const auto& task = draft.record.task;
    return {ErrorCode::not_found, "there is no branch " + task.branch +
                                      " in this repository or on origin, so there is nothing to " +
                                      (draft.needs_workspace ? "review" : "merge") + draft.why_not_fetched};
}

/// Makes the error for a branch that is checked out in a worktree whose folder is missing.
Error is_of_missing_worktree(const git::BranchState& state, const Draft& draft) {
    const auto in_repo = "\n  git -C " + shell_word(draft.project.path) + " worktree ";
    const auto unlock = state.is_locked ? in_repo + "unlock " + shell_word(state.checkout) : std::string();
    return {ErrorCode::conflict,
            "branch " + draft.record.task.branch + " is checked out in the worktree " + state.checkout +
                ", whose folder is missing" + (state.is_locked ? ", and which is locked" : "") +
                ". Choose another --branch, or remove that worktree from git's list:" + unlock + in_repo + "prune"};
}

Awaitable<Result<void>> refuse_checked_out(World& world, const git::BranchState& state, const Draft& draft) {
    if (state.is_gone) co_return is_of_missing_worktree(state, draft);
    auto instead = "switch " + shell_word(draft.project.default_branch);
    CO_TRY(const auto other, co_await git::branch_state(world.git, draft.project.path, draft.project.default_branch));
    if (!other.checkout.empty()) instead = "switch --detach";
    co_return Error(ErrorCode::conflict, "branch " + draft.record.task.branch + " is checked out in " + state.checkout +
                                             ", and git allows a branch in one worktree only. Choose another "
                                             "--branch, or free the branch there:\n  git -C " +
                                             shell_word(state.checkout) + " " + instead);
}

/// Looks up the branch, and checks that the task can use it.
Awaitable<Result<void>> check_branch(World& world, Draft& draft) {
    const auto repo = draft.project.path, branch = draft.record.task.branch;
    CO_TRY(auto state, co_await git::branch_state(world.git, repo, branch));
    if (draft.work_is_there) {
        CO_TRY(co_await fetch(world, draft));
        CO_TRY(state, co_await git::branch_state(world.git, repo, branch));
        if (!state.exists()) co_return no_such_branch(draft);
    }
    if (state.exists() && draft.only_new_branch) {
        co_return Error(
            ErrorCode::forbidden,
            "branch " + branch + " already exists, and an agent may not take it over; choose another --branch");
    }
    if (draft.only_new_branch) CO_TRY(co_await git::check_agents_branch(world.git, repo, branch));
    if (!state.exists() && !state.clash.empty()) {
        co_return Error(ErrorCode::conflict, "git cannot have both a branch " + branch + " and " + state.clash +
                                                 "; choose another --branch");
    }
    if (draft.needs_workspace && state.is_gone) {  // an agent may have added such a worktree, and removed its folder
        const auto lock = co_await world.repositories.acquire(repo);
        auto project = draft.project;
        auto refs = "refs/orange/" + project.name;
        (void)co_await world.pool.forget_strays(std::move(project), std::move(refs));
        CO_TRY(state, co_await git::branch_state(world.git, repo, branch));
    }
    if (draft.needs_workspace && !state.checkout.empty()) co_return co_await refuse_checked_out(world, state, draft);
    draft.is_at_origin = state.remote;
    if (state.exists()) {
        draft.notes.push_back("continues the existing branch " + branch + (state.local ? "" : " of origin"));
    }
    if (state.local && state.remote) {
        CO_TRY(const auto whole,
               co_await git::contains(world.git, repo, "refs/heads/" + branch, "refs/remotes/origin/" + branch));
        if (!whole) draft.notes.push_back("origin's " + branch + " has commits that the local branch does not have");
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> choose_branch(World& world, const TaskCreate& params, Draft& draft) {
    auto& task = draft.record.task;
    if (!params.branch && draft.work_is_there) {
        co_return Error(ErrorCode::invalid_argument, "no branch given; a task that starts with the status " +
                                                         *draft.record.start +
                                                         " needs a branch with existing work (--branch NAME)");
    }
    if (!params.branch && params.name_branch) {
        auto wanted = git::branch_name_from(task.summary);
        task.branch = "orange-tasks/" + task.id.value;
        if (wanted.empty()) co_return Result<void>{};
        CO_TRY(task.branch, co_await unused_branch(world, draft.project, wanted));
        co_return Result<void>{};
    }
    task.branch = params.branch ? branch_name(*params.branch) : "orange-tasks/" + task.id.value;
    if (params.branch) {
        note_branch(*params.branch, draft.notes);
        CO_TRY(co_await git::check_branch_name(world.git, task.branch));
    }
    if (task.branch == draft.project.default_branch) {
        co_return Error(ErrorCode::invalid_argument,
                        "a task cannot work on the default branch " + task.branch + "; choose another branch");
    }
    if (const auto other = world.tasks.on_branch(draft.project.name, task.branch)) {
        co_return taken(task.branch, *other);
    }
    if (!params.branch) co_return Result<void>{};
    co_return co_await check_branch(world, draft);
}

Awaitable<Result<void>> check_is_new(World& world, std::string repo, std::string branch,
                                     std::string option = "--base") {
    CO_TRY(const auto state, co_await git::branch_state(world.git, repo, branch));
    if (!state.exists()) co_return Result<void>{};
    co_return Error(ErrorCode::invalid_argument, option + " is the start of a new branch, but branch " + branch +
                                                     " already exists; omit " + option +
                                                     ", or choose another --branch");
}

/// Chooses the branch of a task that begins with other work, which has to be a new one.
Awaitable<Result<void>> choose_forked_branch(World& world, const TaskCreate& params, const Origin& origin,
                                             Draft& draft) {
    auto& task = draft.record.task;
    if (origin.branch.empty()) {
        CO_TRY(co_await choose_branch(world, params, draft));
        CO_TRY(co_await check_is_new(world, draft.project.path, task.branch, "--from-session"));
    } else {
        CO_TRY(task.branch, co_await unused_branch(world, draft.project, origin.branch));
    }
    draft.record.forked = origin.work;
    task.base = origin.base;
    draft.notes.insert(draft.notes.end(), origin.notes.begin(), origin.notes.end());
    co_return Result<void>{};
}

/// Returns the task of `blocked_by` whose branch --base names; that branch does not need to exist yet.
std::optional<store::Brief> stacked_on(World& world, const TaskCreate& params, const Task& task) {
    const auto base = branch_name(params.base.value_or(std::string()));
    for (const auto& id : task.blocked_by) {
        const auto* blocker = world.tasks.brief(id);
        if (blocker && blocker->project.text() == task.project && blocker->branch == base) return *blocker;
    }
    return std::nullopt;
}

/// Chooses the task that the new one is built on. Its branch then begins there, and nowhere else.
Result<void> choose_other(const World& world, const TaskCreate& params, TaskRecord& record) {
    if (!params.on) return {};
    if (params.base) {
        return {ErrorCode::invalid_argument,
                "--on says where the branch begins, and --base does, too; omit one of them"};
    }
    if (params.parent) {
        return {ErrorCode::invalid_argument,
                "the branch of a sub-task begins with its parent's, and --on says otherwise; omit --on or --parent"};
    }
    if (record.start) {
        return {ErrorCode::invalid_argument,
                "a task that is built on another one begins with the first status; omit "
                "--on or --status"};
    }
    return build_on(world, record, *params.on);
}

/// The branch of a task that is built on another one begins when that one is in review.
Awaitable<Result<void>> begin_at_other(World& world, Draft& draft) {
    auto& record = draft.record;
    CO_TRY(co_await check_is_new(world, draft.project.path, record.task.branch, "--on"));
    const auto below = below_of(world, record);
    if (below->state == engine::Below::State::done) co_return Result<void>{};
    const auto* other = world.tasks.brief(record.task.on);
    if (!other) co_return Error(ErrorCode::not_found, "task " + record.task.on.value + " is deleted");
    record.stacked_on = record.task.on;
    record.task.base = "refs/heads/" + other->branch;
    draft.notes.push_back("starts from the reviewed commit of task " + record.task.on.value +
                          (record.blocked() ? ", when that is in review" : std::string()));
    co_return Result<void>{};
}

/// Makes the new branch of a sub-task start at its parent's branch, as committed at the time of the sub-task's start.
Awaitable<Result<void>> begin_at_parent(World& world, Draft& draft) {
    auto& record = draft.record;
    const auto* parent = world.tasks.brief(record.task.parent);
    if (!parent || draft.work_is_there) co_return Result<void>{};
    const auto below = parent->branch, repo = draft.project.path;
    CO_TRY(const auto state, co_await git::branch_state(world.git, repo, record.task.branch));
    if (state.exists()) co_return Result<void>{};
    record.stacked_on = record.task.parent;
    record.task.base = "refs/heads/" + below;
    co_return Result<void>{};
}

/// Chooses the start of a new branch. The start is stored as a ref, so that the task is always compared with the ref's
/// current commit.
Awaitable<Result<void>> choose_base(World& world, const TaskCreate& params, Draft& draft) {
    if (params.on) co_return co_await begin_at_other(world, draft);
    if (!params.base) co_return co_await begin_at_parent(world, draft);
    auto& task = draft.record.task;
    const auto repo = draft.project.path;
    if (const auto below = stacked_on(world, params, task)) {
        CO_TRY(co_await check_is_new(world, repo, task.branch));
        draft.record.stacked_on = below->id;
        task.base = "refs/heads/" + below->branch;
        const bool sibling = below->parent == task.parent && below->into_parent;
        const auto target = merge_target(world, draft.record, draft.project).branch;
        draft.notes.push_back("starts from the branch of task " + below->id.value + ", " + *params.base +
                              ", when that is merged, and with " + (sibling ? target : draft.project.default_branch) +
                              " merged into it");
        co_return Result<void>{};
    }
    auto found = co_await git::resolve_base(world.git, repo, *params.base);
    CO_TRY(co_await fetch(world, draft));
    if (!found) found = co_await git::resolve_base(world.git, repo, *params.base);
    if (!found) {
        auto error = found.error();
        error.message += " to start from" + draft.why_not_fetched;
        co_return error;
    }
    CO_TRY(co_await check_is_new(world, repo, task.branch));
    task.base = std::move(*found);
    CO_TRY(const auto target, co_await target_ref(world, draft.record, draft.project));
    CO_TRY(const auto merged, co_await git::contains(world.git, repo, target, *task.base));
    if (!merged) {
        const auto into = merge_target(world, draft.record, draft.project).branch;
        draft.notes.push_back("starts from " + *params.base + ", whose commits " + into +
                              " does not have; merging the task merges them too");
    }
    co_return Result<void>{};
}

/// From here to the writes of Creation::create() there is no co_await, so no other call can come in between.
Result<void> register_project(Api& api, Draft& draft) {
    if (!draft.new_project) return {};
    auto& world = api.world();
    auto& project = draft.project;
    if (const auto* known =
            world.projects.at_path(project.path)) {  // another call has registered the repository meanwhile
        project = *known;
        draft.new_project = false;
    } else {
        project.name = unused_project_name(api, project.name);
        TRY(world.projects.put(project));
    }
    draft.record.task.project = project.name;
    return {};
}

Result<void> take_texts(const TaskCreate& params, Task& task) {
    task.summary = std::string(trim(params.summary));
    TRY(check_summary(task.summary));
    const auto context = params.context.value_or("");
    if (context.size() <= k_longest_context && is_valid_utf8(context)) return {};
    return Error(ErrorCode::invalid_argument, "the context must be UTF-8 text of at most 512 KiB");
}

/// Takes from the task in `like` what the call does not give. Efforts and models are only taken with their program.
Result<void> take_like(Api& api, TaskCreate& params, const Call& call) {
    if (!params.like) return {};
    TRY(const auto id, api.select({params.like, {}}, call));
    TRY(const auto record, api.world().tasks.read(id));
    const auto& old = record->task;
    const auto take = [](auto& into, const auto& from) {
        if (!into) into = from;
    };
    if (!params.parent) take(params.project, old.project);
    if (params.summary.empty()) params.summary = old.summary;
    take(params.workflow, old.workflow);
    if (!params.harness) take(params.effort, old.effort), take(params.model, old.model);
    if (!params.review_harness) {
        take(params.review_effort, old.review_effort), take(params.review_model, old.review_model);
    }
    take(params.harness, old.harness);
    take(params.review_harness, old.review_harness);
    if (!params.executor) take(params.executor_options, old.executor_options);
    take(params.executor, old.executor.empty() ? std::string(agents::k_local) : old.executor);
    take(params.permissions, old.permissions);
    if (!old.budget.empty()) take(params.budget, old.budget);
    take(params.permits, old.permits);
    if (!params.context) {
        TRY(params.context, context_with(api.world(), *record, {}));
    }
    return {};
}

/// Keeps the work that the task begins with until it has its branch.
Awaitable<Result<void>> hold_origin(World& world, const Draft& draft) {
    const auto& record = draft.record;
    if (!record.forked) co_return Result<void>{};
    auto repository = draft.project.path;
    auto id = record.task.id;
    auto commit = record.forked->commit;
    co_return co_await hold_work(world, std::move(repository), std::move(id), std::move(commit));
}

/// Writes the task, when everything about it is decided. Names that were free are checked again.
Awaitable<Result<TaskReply>> make_from(Api& api, TaskCreate params, Call call, Draft draft) {
    auto& world = api.world();
    auto& task = draft.record.task;
    const auto id = task.id;
    task.created_at = task.updated_at = world.clock.now();
    if (world.tasks.brief(id)) co_return exists(id);
    if (const auto other = world.tasks.on_branch(task.project, task.branch)) co_return taken(task.branch, *other);
    CO_TRY(join_parent(world, params, draft.record, call.caller));
    CO_TRY(task.workflow_hash, world.workflows.pin(task.workflow));
    CO_TRY(register_project(api, draft));
    for (const auto& name : draft.new_project ? std::vector<std::string>() : params.trust) {
        auto consenting = name;
        auto project = draft.project.name;
        CO_TRY(co_await record_consent(api, std::move(project), std::move(consenting)));
    }
    const auto context = context_of(world, params, call.caller);
    auto created =
        co_await api.runner().creation.create(draft.record, context, params.no_spawn, call.caller, params.files);
    if (!created) {
        if (draft.new_project) (void)world.projects.remove(draft.project.name);
        co_return created.error();
    }
    created->notes.insert(created->notes.begin(), draft.notes.begin(), draft.notes.end());
    const auto record = world.tasks.awake(id);
    if (record && draft.is_at_origin) api.runner().pull_sync.poll_soon(*record);
    auto outcome = *created;
    if (!draft.record.attempts.empty()) {
        if (!params.no_spawn) co_await start_attempts(api, id, outcome);
        co_return api.reply(id, std::move(outcome));
    }
    if (record && outcome.spawn_error.empty() && !params.no_spawn && draft.needs_workspace) {
        const auto notes = start_notes(api, *record);
        outcome.notes.insert(outcome.notes.begin(), notes.begin(), notes.end());
    }
    // The reply shows the task as it was created, even if its agent acts while its start is watched.
    auto reply = api.reply(id, std::move(outcome));
    if (created->spawn_error.empty()) created->spawn_error = co_await api.runner().exits.failed_start(id);
    if (created->spawn_error.empty()) co_return reply;
    co_return api.reply(id, std::move(*created));
}

Awaitable<Result<TaskReply>> create_as(Api& api, TaskId id, TaskCreate params, Call call,
                                       std::optional<Origin> origin) {
    auto& world = api.world();
    if (call.caller.role == Role::human) api.take_path_of(params.caller);
    CO_TRY(complete_for_agent(world, params, call.caller));
    CO_TRY(api.check_files(params.files, call));
    CO_TRY(check_attempt_options(params));
    CO_TRY(take_like(api, params, call));
    CO_TRY(take_parent(world, params));
    CO_TRY(auto draft, co_await choose_project(api, params));
    auto& task = draft.record.task;
    task.id = id;
    task.project = draft.project.name;
    draft.only_new_branch = call.caller.role != Role::human;
    CO_TRY(take_texts(params, task));
    CO_TRY(choose_workflow(world, params, draft));
    CO_TRY(add_blockers(world, draft.record, params.blocked_by));
    CO_TRY(choose_other(world, params, draft.record));
    CO_TRY(join_parent(world, params, draft.record, call.caller));
    if (params.attempts.empty()) CO_TRY(choose_harnesses(api, params, draft));
    CO_TRY(choose_executor(api, params, origin, draft));
    if (!params.attempts.empty()) CO_TRY(co_await choose_attempts(api, params, draft));
    CO_TRY(choose_budget(task, params));
    CO_TRY(take_permits(api, params, task));
    const bool starts = !params.no_spawn && blockers_of(world, draft.record).empty();
    if (starts) CO_TRY(co_await check_executors_of(world, draft));
    if (params.from_session) {
        CO_TRY(origin, co_await origin_of_session(api, params, draft));
    }
    if (origin) {
        CO_TRY(co_await choose_forked_branch(world, params, *origin, draft));
        if (world.tasks.brief(id)) co_return exists(id);  // a repeated call: the ref is that task's
        CO_TRY(co_await hold_origin(world, draft));
    } else {
        CO_TRY(co_await choose_branch(world, params, draft));
        CO_TRY(co_await choose_base(world, params, draft));
    }
    const auto repository = draft.project.path;
    auto made = co_await make_from(api, std::move(params), std::move(call), std::move(draft));
    const bool is_there = world.tasks.brief(id) != nullptr;
    if (origin && !is_there) co_await let_go_of_work(world, repository, id);
    co_return made;
}

/// Answers a repeated call, whose first reply was lost, with the task as it is once the first call has ended.
Awaitable<Result<TaskReply>> made_before(Api& api, TaskId id) {
    if (const auto record = api.world().tasks.awake(id); record && record->queued) {
        co_await api.runner().queue.look(record->task.project);
    }
    co_await api.runner().turns.free(id);
    if (!api.world().tasks.brief(id)) {
        co_return Error(ErrorCode::not_found, "task " + id.value + " was created, and has been deleted since");
    }
    Outcome outcome;
    outcome.notes.push_back("an earlier call with the same id created this task");
    co_return api.reply(id, std::move(outcome));
}

/// Makes a task's id from its project and the caller's key, so that the same call always gives the same id.
Awaitable<Result<std::string>> id_from_key(Api& api, TaskCreate params) {
    constexpr std::size_t k_longest = 1000;
    const auto key = std::string(trim(*params.key));
    if (params.id) co_return Error(ErrorCode::invalid_argument, "give an id or a key, not both");
    if (key.empty() || key.size() > k_longest) {
        co_return Error(ErrorCode::invalid_argument, "the id must be a text of 1 to 1000 bytes");
    }
    CO_TRY(take_parent(api.world(), params));
    CO_TRY(const auto project, co_await api.select_project(params.project, params.cwd));
    co_return sha256(project.name + "\n" + key).substr(0, k_task_id_length);
}

}  // namespace

Result<std::string> context_with(const World& world, const TaskRecord& record,
                                 const std::vector<std::string>& sections) {
    TRY(const auto body, store::read_body(world.files, world.tasks.folder(record) / "TASK.md"));
    const auto artifacts = store::parse_sections(body);
    const auto text_of = [&](const std::string& name) {
        const auto found = artifacts.sections.find(name);
        return found == artifacts.sections.end() ? std::string() : std::string(trim(found->second.text));
    };
    auto context = text_of("Context");
    for (const auto& name : sections) {
        const auto text = text_of(name);
        if (!text.empty()) context += (context.empty() ? "### " : "\n\n### ") + name + "\n\n" + text;
    }
    return context;
}

/// Behind a wall, a caller can name its own task and the family of that.
Result<void> check_names(Api& api, TaskCreate& params, const Call& call) {
    if (call.wall.empty()) return {};
    std::vector<std::string*> names;
    for (auto& name : params.blocked_by) names.push_back(&name);
    if (params.parent) names.push_back(&*params.parent);
    if (params.on) names.push_back(&*params.on);
    for (auto* name : names) {
        TRY(const auto id, api.select({*name, {}}, call));
        *name = id.value;
    }
    if (params.id && api.world().tasks.brief(TaskId{*params.id}) && !api.is_shown(TaskId{*params.id}, call))
        return engine::hidden_by_wall("every other task");
    return {};
}

Awaitable<Result<TaskReply>> create_task(Api& api, TaskCreate params, Call call, std::optional<Origin> origin) {
    CO_TRY(check_names(api, params, call));
    if (params.like && !params.project && !params.parent) {  // an id that is made of a key is of its project, too
        CO_TRY(const auto old, api.select({params.like, {}}, call));
        if (const auto* brief = api.world().tasks.brief(old)) params.project = std::string(brief->project);
    }
    if (params.key) {
        auto asked = params;
        CO_TRY(params.id, co_await id_from_key(api, std::move(asked)));
    }
    if (params.id && !is_task_id(*params.id)) {
        co_return Error(ErrorCode::invalid_argument,
                        "\"id\" must be 21 characters of 0-9, A-Z and a-z, chosen at random; or omit it");
    }
    const bool repeatable = params.id.has_value();
    const TaskId id{params.id.value_or(random_id(k_task_id_length))};
    const auto there = [&api, &id] { return api.world().tasks.brief(id) != nullptr; };
    if (repeatable && there()) {
        auto before = co_await made_before(api, id);
        co_return before;
    }
    auto created = co_await create_as(api, id, std::move(params), std::move(call), std::move(origin));
    // The original call was still running and has created the task first.
    if (repeatable && !created && created.error().code == ErrorCode::conflict && there()) {
        created = co_await made_before(api, id);
    }
    co_return created;
}

void add_task_create(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskCreate>(
        Access::agent, "Creates a task and starts it; for an agent, a sub-task of its own task.",
        {invalid_argument, not_found, conflict, workflow_invalid}, api,
        [](Api& at, TaskCreate params, Call call) { return create_task(at, std::move(params), std::move(call)); });
}

}  // namespace orange::rpc
