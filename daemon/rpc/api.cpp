#include "daemon/rpc/api.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange::rpc {

void Api::add_to(MethodTable& table) {
    add_task_create(table, *this);
    add_task_fork(table, *this);
    add_task_methods(table, *this);
    add_merge_methods(table, *this);
    add_attempt_methods(table, *this);
    add_task_answers(table, *this);
    add_task_comments(table, *this);
    add_permit_methods(table, *this);
    add_task_list(table, *this);
    add_task_views(table, *this);
    add_project_methods(table, *this);
    add_workspace_methods(table, *this);
    add_workflow_methods(table, *this);
    add_harness_methods(table, *this);
    add_executor_methods(table, *this);
    add_harness_explain(table, *this);
    add_daemon_methods(table, *this);
    add_event_methods(table, *this);
    add_file_methods(table, *this);
    add_task_wait(table, *this);
    add_task_log(table, *this);
    add_task_search(table, *this);
    add_log_methods(table, *this);
    add_usage_methods(table, *this);
}

bool Api::is_shown(const TaskId& id, const Call& call) const {
    if (call.wall.empty() || id == call.wall) return true;
    if (call.shows == engine::BehindWall::own) return false;
    const auto* own = world_.tasks.brief(call.wall);
    const auto* other = world_.tasks.brief(id);
    return (own && own->parent == id) || (other && other->parent == call.wall);
}

bool Api::is_other_attempt(const TaskId& id, const Call& call) const {
    if (call.wall.empty() || id == call.wall) return false;
    const auto own = world_.tasks.awake(call.wall);
    const auto parent = own && !own->attempt.empty() ? world_.tasks.awake(own->task.parent) : nullptr;
    return parent && parent->attempt_of(id) != nullptr;
}

void Api::hide(TaskView& view, const Call& call) const {
    if (call.wall.empty()) return;
    const auto* own = world_.tasks.brief(call.wall);
    if (view.attempts > 0 && own && own->parent == view.fields.id) {  // an attempt does not know of the others
        view.attempts = view.children_done = 0;
        view.children.clear();
        view.picked.clear();
        view.needs = {};
    }
    if (!is_shown(view.fields.id, call)) {
        TaskView brief;
        brief.fields.id = view.fields.id;
        brief.fields.project = view.fields.project;
        brief.fields.branch = view.fields.branch;
        brief.fields.status = view.fields.status;
        brief.fields.workflow.clear();
        brief.short_id = view.short_id;
        brief.worker = brief.reviewer = "unknown";
        view = std::move(brief);
    }
    for (auto& each : view.blockers) {
        if (!is_shown(TaskId{each.id}, call)) each.summary.clear();
    }
    std::erase_if(view.clashes,
                  [&](const Clash& clash) { return !clash.with.empty() && !is_shown(TaskId{clash.with}, call); });
}

Result<TaskId> Api::select(const TaskSelector& selector, const Call& call, store::Naming by) const {
    // Words would find out what the summaries of hidden tasks are.
    if (call.wall.empty()) return named(selector, call, by);
    auto id = named(selector, call, store::Naming::id_or_branch);
    // The answer is the same if there is no such task.
    if (!id || !is_shown(*id, call)) return engine::hidden_by_wall("every other task");
    return id;
}

Result<TaskId> Api::named(const TaskSelector& selector, const Call& call, store::Naming by) const {
    if (selector.id) return world_.tasks.resolve(*selector.id, by);
    if (selector.cwd) {
        if (const auto task = world_.pool.task_at(*selector.cwd)) return *task;
    }
    if (!call.caller.task.empty()) return call.caller.task;
    if (!call.wall.empty()) return call.wall;
    return Error(
        ErrorCode::invalid_argument,
        "no task id given, and this directory is not the workspace of a task. To see the ids:\n  orange task list");
}

Result<TaskId> Api::select_for_text(const TaskSelector& selector, const Call& call, const std::string& text,
                                    const std::string& command) const {
    auto id = select(selector, call, store::Naming::id_or_branch);
    if (selector.id) return id;
    const std::string words(trim(text));
    const auto named = world_.tasks.resolve(words, store::Naming::id_or_branch);
    if (!named) return id;
    // In a worktree, a short answer may look like the beginning of an id.
    const auto* task = world_.tasks.brief(*named);
    const bool exactly =
        words == named->value || words == world_.tasks.short_id(*named) || (task && words == task->branch);
    if (id && !exactly) return id;
    return Error(ErrorCode::invalid_argument, "the text is missing. Write it behind the task:\n  orange task " +
                                                  command + " " + named->value + " \"...\"");
}

Awaitable<Result<Project>> Api::select_project(std::optional<std::string> name, std::optional<std::string> cwd) {
    if (name) {
        if (const auto* project = world_.projects.find(*name)) co_return *project;
        std::string known;
        for (const auto& project : world_.projects.list()) known += (known.empty() ? "" : ", ") + project.name;
        co_return Error(ErrorCode::not_found,
                        "there is no project \"" + *name + "\"" +
                            (known.empty() ? ". Add one:\n  orange project add PATH" : "; known: " + known));
    }
    if (cwd) {
        if (const auto in_workspace = world_.pool.project_at(*cwd)) {
            if (const auto* project = world_.projects.find(*in_workspace)) co_return *project;
        }
        const auto root = co_await git::main_worktree(world_.git, *cwd);
        if (root) {
            if (const auto* project = world_.projects.at_path(*root)) co_return *project;
            co_return Error(ErrorCode::not_found,
                            *root + " is not a project. Add it:\n  orange project add " + shell_word(*root));
        }
    }
    co_return Error(
        ErrorCode::invalid_argument,
        "no project given, and this directory is not in a project. Give --project NAME, or add a project in "
        "its repository:\n  orange project add");
}

std::optional<std::string> Api::project_near(const std::string& directory) const {
    if (auto project = world_.pool.project_at(directory)) return project;
    std::optional<Project> nearest;
    for (const auto& project : world_.projects.list()) {
        const bool inside = directory == project.path || directory.starts_with(project.path + "/");
        if (inside && (!nearest || project.path.size() > nearest->path.size())) nearest = project;
    }
    if (!nearest) return std::nullopt;
    return nearest->name;
}

/// Shows an agent that Orange is ending as alive until it has exited, and then as none: it did not die by itself.
std::string Api::agent_view(const TaskRecord& record, Role role) const {
    if (runner_.respawns.is_dead(record, role)) return std::string(agents::name_of(agents::Liveness::dead));
    const auto liveness = runner_.agents.liveness(record, role);
    const auto* run = record.run_of(role);
    if (liveness == agents::Liveness::alive && !run->has_begun())
        return run->place->queued_since ? "queued" : "starting";
    return std::string(agents::name_of(liveness == agents::Liveness::dead ? agents::Liveness::none : liveness));
}

PlacedRun Api::placed(const AgentRun& run) const {
    const auto& place = *run.place;
    PlacedRun view;
    view.role = name_text(run.role);
    view.executor = place.executor;
    view.name = agents::name_in_executor(run.run.value);
    view.state = run.has_begun() ? "running" : place.queued_since ? "queued" : "starting";
    view.since = place.queued_since ? place.queued_since : run.began_at();
    view.place = place.place;
    view.network = place.network;
    return view;
}

TaskView Api::view(const TaskRecord& record) const {
    TaskView view;
    view.fields = record.task;
    view.short_id = world_.tasks.short_id(record.task.id);
    view.path = world_.tasks.folder(record).string();
    view.worktree = runner_.agents.worktree_of(record).string();
    view.needs = needs_of(runner_, record);
    view.can = offers_of(runner_, record, view.needs);
    view.notices = all_notices(record);
    if (const auto definition = runner_.turns.definition_of(record.task)) {
        if (const auto* state = (*definition)->state(record.task.status)) view.means = name_of(state->meaning);
    }
    view.worker = agent_view(record, Role::worker);
    view.reviewer = agent_view(record, Role::reviewer);
    view.worker_activity = runner_.activities.of(record, Role::worker);
    view.reviewer_activity = runner_.activities.of(record, Role::reviewer);
    for (const auto& run : record.runs) {
        if (run.place) view.places.push_back(placed(run));
    }
    view.queue_place = world_.tasks.queue_place(record);
    view.start_wait = runner_.capacity.wait_of(record);
    if (record.intent) view.in_progress = record.intent->from + " → " + record.intent->to;
    if (auto merge = Merges::under_way(record); !merge.empty() && !view.in_progress) view.in_progress = merge;
    if (const auto* keeping = world_.pool.keeping(record.task.id)) {
        view.in_progress = (view.in_progress ? *view.in_progress + "; Orange " : "Orange ") + keeping->text();
    }
    view.pull_request = record.pull_request;
    view.blockers = blockers(record);
    const auto children = children_of(world_, record);
    for (const auto& child : children) {
        const bool has_none = !child.made || (child.deleted && child.state != engine::ChildState::done);
        if (!has_none) view.children.push_back(child.id.value);
    }
    view.attempt = record.attempt;
    view.unpicked = !record.attempt.empty() && is_unpicked(world_, record);
    view.attempts = static_cast<std::int64_t>(record.attempts.size());
    view.picked = record.picked.value;
    view.children_done = static_cast<std::int64_t>(engine::how_many(children, engine::ChildState::done));
    view.merges_into = parents_branch(world_, record);
    view.checked = record.last_checked();
    if (view.checked) view.checked->tail.clear();
    view.checking = runner_.checks.running_for(record.task.id);
    if (record.asked) view.asked = record.asked->to;
    view.usage = usage_of(record);
    if (const auto* preview = runner_.previews.of(record.task.id)) {
        view.preview = PreviewView{preview->state, preview->url, preview->since};
    }
    if (const auto comments = runner_.comments.counts(record); comments.any()) view.comments = comments;
    view.clashes = runner_.forecast.of(record.task.id);
    if (auto alarm = alarm_of(record); !alarm.empty()) view.alarm = std::move(alarm);
    return view;
}

RelatedTask Api::related(const TaskId& id, bool is_done) const {
    RelatedTask view;
    view.id = id.value;
    view.short_id = world_.tasks.short_id(id);
    view.state = name_of(is_done ? BlockerState::done : blocker_state(world_, id));
    if (const auto* task = world_.tasks.brief(id)) {
        view.status = task->status;
        view.project = task->project;
        view.summary = task->summary;
    }
    return view;
}

RelatedTask Api::related(const engine::Child& child) const {
    auto view = related(child.id, child.state == engine::ChildState::done);
    if (child.state != engine::ChildState::unreadable) return view;
    view.state = name_of(BlockerState::open);  // the true state is unknown, and may be open
    view.status = child.status;
    view.summary = child.summary;
    return view;
}

std::vector<RelatedTask> Api::blockers(const TaskRecord& record) const {
    std::vector<RelatedTask> all;
    for (const auto& id : record.task.blocked_by) all.push_back(related(id, record.blockers_done.contains(id)));
    if (const auto& on = record.task.on; !on.empty()) all.push_back(related(on, record.blockers_done.contains(on)));
    return all;
}

Result<TaskView> Api::view(const TaskId& id) const {
    TRY(const auto record, runner_.turns.record_of(id));
    return view(record);
}

Result<TaskReply> Api::reply(const TaskId& id, Outcome outcome) const {
    TaskReply reply;
    TRY(reply.task, view(id));
    reply.notes = sentences(std::move(outcome.notes));
    if (!outcome.spawn_error.empty()) reply.spawn_error = world_.tasks.with_short_ids(std::move(outcome.spawn_error));
    return reply;
}

std::vector<std::string> Api::sentences(std::vector<std::string> notes) const {
    for (auto& note : notes) note = world_.tasks.with_short_ids(std::move(note));
    return notes;
}

}  // namespace orange::rpc
