#include "daemon/rpc/methods/task_fork.hpp"

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/agents/usage.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/merging/merge_target.hpp"

/// `task.fork`, and the conversations that `task.create` takes over. Both make a task that begins with other work
/// (Origin). What cannot come along is said by name.
namespace orange::rpc {
namespace {

/// Returns the clause that says why a program cannot continue a copy of a conversation in another worktree; empty if it
/// can.
std::string cannot_copy(const agents::Harness& harness) {
    if (harness.mode == agents::Mode::oneshot) return harness.name + " ends after each turn, and continues none";
    if (!harness.session.can_fork()) return harness.name + " cannot continue a copy of one in another worktree";
    return {};
}

/// Returns the file of a task's conversation, if its program needs that for a copy; empty if it is not known.
std::string file_of_talk(const World& world, const TaskRecord& record, const agents::HarnessEntry& entry,
                         const NativeSession& talk) {
    const auto& session = entry.harness.session;
    const auto folder = world.tasks.folder(record);
    if (!session.copy.empty()) {
        const std::map<std::string, std::string> values = {
            {"session", talk.id},
            {"task_dir", folder.string()},
            {"talk_dir", agents::Launcher::talk_folder(folder / "run").string()}};
        return agents::filled(session.file, values);
    }
    const auto* project = world.projects.find(record.task.project);
    const auto env = environment_for(world, project ? std::optional(*project) : std::nullopt, entry);
    const auto found = agents::conversation_files(world.files, entry.harness, env, talk.id);
    return found.empty() ? talk.transcript : found.front().string();
}

/// Returns the conversation that a fork continues; the Error is the clause that says why it does not come along.
Result<NativeSession> talk_of(const World& world, const TaskRecord& record, const std::string& harness) {
    const auto none = [](std::string why) { return Error(ErrorCode::not_found, std::move(why)); };
    const auto* known = record.session_of(Role::worker);
    if (known == nullptr) return none("task " + record.task.id.value + " has none that Orange knows");
    if (known->harness != harness) return none("it is one of " + known->harness + ", and not of " + harness);
    TRY(const auto entry, world.harnesses.find(harness));
    if (auto why = cannot_copy(entry.harness); !why.empty()) return none(std::move(why));
    auto talk = *known;
    if (!entry.harness.session.forks_file()) return talk;
    talk.transcript = file_of_talk(world, record, entry, talk);
    const bool is_there = !talk.transcript.empty() && world.files.facts_of(talk.transcript);
    if (!is_there) return none("its file is not there any more");
    return talk;
}

std::string context_of_fork(const std::string& name, const std::optional<std::string>& message,
                            const std::string& before) {
    std::string context = message ? std::string(trim(*message)) + "\n\n" : std::string();
    context += "This task is a fork of task " + name +
               ": its branch began with a copy of the files of that one, also of those that were not committed. Task " +
               name + " goes on by itself, in its own worktree.";
    const bool has_parts =
        before.find("### Plan") != std::string::npos || before.find("### Handoff") != std::string::npos;
    if (has_parts) context += " Its plan and its handoff, as they were then, are below.";
    return before.empty() ? context : context + "\n\n" + before;
}

/// Returns the task whose work is forked: of a task that several agents try, the attempt that was picked.
Result<store::RecordPtr> task_to_fork(const World& world, const TaskId& id) {
    TRY(auto record, world.tasks.read(id));
    if (record->attempts.empty()) return record;
    if (!record->picked.empty()) return world.tasks.read(record->picked);
    return Error(ErrorCode::conflict, "several agents try task " + id.value +
                                          ", and each attempt has work of its own. To see their ids:\n"
                                          "  orange compare " +
                                          id.value + "\nTo fork one of them:\n  orange fork ID");
}

/// Returns how the new task is made, as `orange create --like` makes one.
Result<TaskCreate> made_like(const World& world, const TaskRecord& record, const TaskFork& params) {
    TaskCreate made;
    made.like = record.task.id.value;
    made.project = record.task.project;
    made.id = params.new_id;
    made.harness = params.harness;
    made.review_harness = params.review_harness;
    made.effort = params.effort;
    made.review_effort = params.review_effort;
    made.model = params.model;
    made.review_model = params.review_model;
    made.summary = params.summary;
    made.no_spawn = params.no_spawn;
    made.caller = params.caller;
    constexpr std::size_t k_longest = 256 * 1024;  // an agent writes both
    TRY(auto before, context_with(world, record, {"Plan", "Handoff"}));
    if (before.size() > k_longest) {
        TRY(before, context_with(world, record, {}));
    }
    made.context = context_of_fork(world.tasks.short_id(record.task.id), params.message, before);
    const auto above = task_above(world, record);  // it is no attempt
    const auto* parent = world.tasks.brief(above);
    if (parent && !parent->ended) made.parent = above.value;
    return made;
}

/// Says what of the task came along.
std::vector<std::string> notes_of_fork(const TaskRecord& record, const WorkToFork& work,
                                       const Result<NativeSession>& talk) {
    const auto& id = record.task.id.value;
    std::vector<std::string> notes;
    notes.push_back("began with the work of task " + id + ", at commit " + work.commit.substr(0, 12) +
                    (work.has_uncommitted ? ", which has its uncommitted files" : ""));
    notes.push_back(talk ? talk->harness + " continues a copy of the conversation of task " + id
                         : "the conversation did not come along: " + talk.error().message);
    const auto& on = record.task.on;
    if (!on.empty()) {
        notes.push_back("it is not built on task " + on.value + ", as task " + id +
                        " is: its changes are compared with the default branch");
    }
    return notes;
}

Awaitable<Result<TaskReply>> fork_task(Api& api, TaskFork params, Call call) {
    auto& world = api.world();
    CO_TRY(const auto selected, api.select(params, call));
    if (params.new_id && world.tasks.brief(TaskId{*params.new_id})) {  // a repeated call
        TaskCreate before;
        before.id = params.new_id;
        auto made = co_await create_task(api, std::move(before), std::move(call));
        co_return made;
    }
    CO_TRY(const auto record, task_to_fork(world, selected));
    const auto& id = record->task.id;
    CO_TRY(auto made, made_like(world, *record, params));
    CO_TRY(auto work, co_await work_of(world, *record));
    const auto talk = talk_of(world, *record, params.harness.value_or(record->task.harness));
    Origin origin;
    origin.work = {id, work.commit, work.base};
    if (talk) origin.work.talk = *talk;
    origin.branch = record->task.branch + "-fork";
    const bool has_own_base = record->stacked_on.empty() && record->task.on.empty();
    if (has_own_base) origin.base = record->task.base;
    origin.like = record;
    origin.notes = api.sentences(notes_of_fork(*record, work, talk));
    auto created = co_await create_task(api, std::move(made), std::move(call), std::move(origin));
    co_return created;
}

/// Refuses what says otherwise where the branch begins.
Result<void> check_only_session(const TaskCreate& params) {
    const std::pair<bool, const char*> others[] = {{params.base.has_value(), "--base"},
                                                   {params.on.has_value(), "--on"},
                                                   {params.parent.has_value(), "--parent"},
                                                   {params.status.has_value(), "--status"},
                                                   {!params.blocked_by.empty(), "--blocked-by"}};
    for (const auto& [is_given, name] : others) {
        if (!is_given) continue;
        return {ErrorCode::invalid_argument,
                std::string("--from-session begins with the files of your worktree, and ") + name +
                    " says otherwise; omit one of them"};
    }
    return {};
}

std::string without_session(const TaskCreate& params) {
    return ". To create the task without the conversation, and without the files that are not committed:\n  orange "
           "create" +
           (params.harness ? " --harness " + shell_word(*params.harness) : std::string()) +
           (params.summary.empty() ? std::string() : " " + shell_word(params.summary));
}

/// Finds the conversation that the call names.
Result<NativeSession> named_talk(const World& world, const TaskCreate& params, const Draft& draft) {
    const auto& id = *params.from_session;
    TRY(const auto entry, world.harnesses.find(draft.record.task.harness));
    const auto& session = entry.harness.session;
    if (auto why = cannot_copy(entry.harness); !why.empty() || session.files.empty()) {
        if (why.empty()) why = "Orange does not know where " + entry.harness.name + " keeps its conversations";
        return Error(ErrorCode::conflict, why + without_session(params));
    }
    const auto env = environment_for(world, draft.project, entry);
    const auto found =
        session.permits(id) ? agents::conversation_files(world.files, entry.harness, env, id) : std::vector<Path>();
    if (found.empty()) {
        const auto& where = session.files.front();
        return Error(ErrorCode::not_found, entry.harness.name + " has no conversation " + printable(id) +
                                               ". Its conversations are in " + where.root +
                                               ", and their ids in the names of the files. If it is a conversation of "
                                               "another program:\n  orange create --harness NAME --from-session " +
                                               shell_word(printable(id)));
    }
    return NativeSession{Role::worker, entry.harness.name, id, {}, found.front().string()};
}

Awaitable<Result<std::vector<std::string>>> notes_of_session(World& world, const Draft& draft, const Origin& origin,
                                                             const WorkToFork& work, std::string head) {
    const auto& talk = *origin.work.talk;
    std::vector<std::string> notes;
    notes.push_back("began with the files of " + talk.worktree +
                    (work.has_uncommitted ? ", also with those that are not committed" : "") +
                    "; nothing was changed there");
    notes.push_back(talk.harness + " continues a copy of the conversation " + talk.id);
    const auto& executor = draft.record.task.executor;
    const auto pinned = world.executors.pinned(executor, draft.record.task.executor_hash);
    if (!executor.empty() && pinned && pinned->calls_back) {
        notes.push_back("executor " + executor +
                        " runs its agents on other machines; if the conversation is not there, they begin a new one");
    }
    CO_TRY(const auto target, co_await target_ref(world, draft.record, draft.project));
    const auto repository = draft.project.path;
    CO_TRY(const auto is_known, co_await git::contains(world.git, repository, target, head));
    if (!is_known) {
        notes.push_back("your commit " + head.substr(0, 12) + " is not in " + git::shown_ref(target) +
                        " yet; merging the task merges it, too");
    }
    co_return notes;
}

}  // namespace

Awaitable<Result<Origin>> origin_of_session(Api& api, const TaskCreate& params, const Draft& draft) {
    auto& world = api.world();
    CO_TRY(check_only_session(params));
    CO_TRY(auto talk, named_talk(world, params, draft));
    if (!params.cwd) {
        co_return Error(ErrorCode::invalid_argument,
                        "--from-session needs the folder in which the conversation was; run orange there");
    }
    if (world.pool.project_at(agents::real_path(*params.cwd))) {
        co_return Error(ErrorCode::conflict, *params.cwd +
                                                 " is the worktree of a task. To begin another task with its work and "
                                                 "its conversation:\n  orange fork");
    }
    CO_TRY(const auto main, co_await git::main_worktree(world.git, *params.cwd));
    if (main != draft.project.path) {
        co_return Error(ErrorCode::conflict, *params.cwd + " is not in the repository of project " +
                                                 draft.project.name + ". Run orange in the folder of the conversation");
    }
    CO_TRY(const auto worktree, co_await git::pin_persons(world.git, *params.cwd));
    CO_TRY(const auto head, co_await git::commit_of(world.git, worktree, "HEAD"));
    CO_TRY(const auto work, co_await work_in(world, worktree, "Uncommitted work, as a task took it over"));
    Origin origin;
    talk.worktree = worktree.path();
    origin.work.commit = work.commit;
    origin.work.talk = std::move(talk);
    CO_TRY(origin.work.base, co_await base_of_work(world, draft.record, draft.project, work.commit));
    CO_TRY(origin.notes, co_await notes_of_session(world, draft, origin, work, head));
    co_return origin;
}

void add_task_fork(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskFork>(Access::human,
                        "Creates a task that begins with the work, and if possible the conversation, of another.",
                        {invalid_argument, not_found, conflict, workflow_invalid}, api, fork_task);
}

}  // namespace orange::rpc
