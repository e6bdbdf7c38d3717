#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_queries.hpp"
#include "daemon/async/async.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"

/// Lists of tasks. Only the briefs of ended tasks are in memory (docs/architecture.md).
namespace orange::rpc {

std::string place_text(const store::Age& age) {
    return to_rfc3339(age.created_at) + " " + age.id.value;
}

Result<std::optional<store::Age>> place_from(const std::optional<std::string>& text) {
    if (!text || text->empty()) return std::optional<store::Age>();
    const auto parts = split(*text, ' ');
    const auto time = from_rfc3339(parts.front());
    if (parts.size() != 2 || !time) {
        return {ErrorCode::invalid_argument, "after: \"" + *text + "\" is not the `next` of a reply"};
    }
    return std::optional(store::Age{*time, TaskId{std::string(parts[1])}});
}

namespace {

/// The number of tasks in a page of a list, besides those that have not ended; of views that are made at once; and of
/// briefs that are looked at for them.
constexpr std::size_t k_page = 250, k_views_at_once = 32, k_briefs_at_once = 2000;

/// Sorts a list: tasks that need something first, most urgent and longest waiting on top; then running tasks in the
/// order of creation, so that rows do not move while agents work; then waiting tasks.
bool comes_first(const TaskView& a, const TaskView& b) {
    if (a.needs.kind != b.needs.kind) return more_urgent(a.needs.kind, b.needs.kind);
    if (a.needs.kind != Need::nothing) return a.needs.since < b.needs.since;
    const auto blocked = [](const TaskView& task) {
        return std::ranges::any_of(task.blockers, [](const RelatedTask& each) { return each.state != "done"; });
    };
    const auto waits = [&](const TaskView& task) { return blocked(task) ? 2 : task.queue_place > 0 ? 1 : 0; };
    if (waits(a) != waits(b)) return waits(a) < waits(b);
    if (waits(a) == 1 && a.fields.project == b.fields.project) return a.queue_place < b.queue_place;
    return a.fields.created_at < b.fields.created_at;
}

/// Returns the statuses of all workflows that new or open tasks follow.
std::vector<std::string> known_statuses(Api& api) {
    std::vector<std::string> names;
    const auto take = [&](const auto& definition) {
        if (!definition) return;
        for (const auto& state : (*definition)->states) {
            if (std::ranges::find(names, state.name) == names.end()) names.push_back(state.name);
        }
    };
    for (const auto& entry : api.world().workflows.list()) take(api.world().workflows.find(entry.name));
    api.world().tasks.each_open([&](const TaskRecord& record) {
        take(api.runner().turns.definition_of(record.task));
        return true;
    });
    return names;
}

/// Refuses a status that no workflow has: an empty list would look as if there were no such tasks.
Result<void> check_status(Api& api, const std::string& status) {
    const auto known = known_statuses(api);
    if (std::ranges::find(known, status) != known.end()) return {};
    const auto meant = nearest(status, known);
    return {ErrorCode::not_found, "no workflow has a status \"" + status + "\"" +
                                      (meant ? "; did you mean " + *meant + "?" : "") +
                                      (meant ? " Known: " : "; known: ") + join(known, ", ")};
}

/// Adds the numbers of committed changes. A task whose changes could not be counted gets none, because a list should
/// not fail for an error of git.
void add_committed(Api& api, std::vector<TaskView>& tasks) {
    for (auto& task : tasks) {
        const bool has_begun = !task.unreadable && task.means != "initial";
        const auto* counted = has_begun ? api.runner().committed.of(task.fields.id) : nullptr;
        if (counted == nullptr) continue;
        task.committed = counts_of(counted->changes);
        task.committed->counted_at = counted->at;
    }
}

/// Selects the tasks of a list.
struct Wanted {
    std::optional<std::string> project;
    std::optional<std::string> status;
    std::optional<std::string> search;
    std::function<bool(const TaskId&)> only = {};  ///< empty: all

    /// `task` is a Task or a brief.
    bool has_text(const auto& task) const {
        if (!search) return true;
        const auto has = [&](const std::string& text) { return found_in(text, *search); };
        return has(task.branch) || has(task.summary) || has(task.id.value) || has(task.project);
    }
    bool operator()(const auto& task) const {
        const std::string& its_project = task.project;
        const std::string& its_status = task.status;
        if (only && !only(task.id)) return false;
        return (!project || its_project == *project) && (!status || its_status == *status) && has_text(task);
    }
};

/// Some of the tasks, newest first, and where the next ones begin.
struct Batch {
    std::vector<TaskId> tasks;
    std::optional<store::Age> next;
};

/// Leaves out the tasks that are `listed`. Takes all others, and not only those that have ended: a task may have been
/// listed as open and end before its turn comes, or the other way round.
Batch next_batch(const store::TaskStore& tasks, const Wanted& wanted, const std::set<TaskId>& listed,
                 const std::optional<store::Age>& after, std::size_t most) {
    Batch batch;
    const store::Brief* last = nullptr;
    bool is_full = false;
    std::size_t looked = 0;
    tasks.each(
        [&](const store::Brief& task) {
            is_full = looked == k_briefs_at_once || batch.tasks.size() == most;
            if (is_full) return false;
            ++looked;
            last = &task;
            if (!listed.contains(task.id) && wanted(task)) batch.tasks.push_back(task.id);
            return true;
        },
        after);
    if (is_full && last) batch.next = store::Age{last->created_at, last->id};
    return batch;
}

TaskView unreadable_view(const World& world, Task shown, const std::string& why) {
    TaskView view;
    view.fields = std::move(shown);
    view.short_id = world.tasks.short_id(view.fields.id);
    view.fields.status = "unreadable";
    view.worker = view.reviewer = "unknown";
    view.unreadable = why;
    return view;
}

/// The whole record of a task that has ended may be in its file only.
TaskView view_of(Api& api, const TaskId& id) {
    const auto record = api.world().tasks.read(id);
    if (record) return api.view(**record);
    Task shown;
    shown.id = id;
    if (const auto* brief = api.world().tasks.brief(id)) {
        shown.project = brief->project;
        shown.branch = brief->branch;
        shown.summary = brief->summary;
        shown.created_at = shown.updated_at = brief->created_at;
    }
    return unreadable_view(api.world(), std::move(shown), record.error().message);
}

/// Adds tasks that are not `listed` to the reply until it has `most` tasks. With thousands of tasks, other calls have
/// their turns in between. Returns the place of the last task if there are more.
Awaitable<std::optional<store::Age>> add_others(Api& api, TaskList::Reply& reply, const Wanted& wanted,
                                                const std::set<TaskId>& listed, std::optional<store::Age> after,
                                                std::size_t most) {
    auto& tasks = api.world().tasks;
    while (reply.tasks.size() < most) {
        const auto room = std::min(k_views_at_once, most - reply.tasks.size());
        const auto batch = next_batch(tasks, wanted, listed, after, room);
        for (const auto& id : batch.tasks) reply.tasks.push_back(view_of(api, id));
        after = batch.next;
        if (!after) break;
        co_await async::yield();
    }
    co_return after;
}

/// Returns the number of wanted tasks that are not `listed`.
Awaitable<std::int64_t> count_others(Api& api, const Wanted& wanted, const std::set<TaskId>& listed) {
    std::int64_t count = 0;
    std::optional<store::Age> after;
    do {
        const auto batch = next_batch(api.world().tasks, wanted, listed, after, k_briefs_at_once);
        count += static_cast<std::int64_t>(batch.tasks.size());
        after = batch.next;
        co_await async::yield();
    } while (after);
    co_return count;
}

/// Adds the tasks that have not ended, in the order of comes_first(), or only their number. Returns all wanted tasks
/// that have not ended.
std::set<TaskId> add_open(Api& api, const TaskList& params, const Wanted& wanted, TaskList::Reply& reply) {
    std::set<TaskId> listed;
    // A task may have ended and still have an alarm, which is about its repository. each_open() includes such tasks.
    api.world().tasks.each_open([&](const TaskRecord& record) {
        if (!wanted(record.task)) return true;
        listed.insert(record.task.id);
        if (reply.count) {
            if (needs_of(api.runner(), record).kind != Need::nothing) ++*reply.count;
            return true;
        }
        auto view = api.view(record);
        if (!params.needs || view.needs.kind != Need::nothing) reply.tasks.push_back(std::move(view));
        return true;
    });
    std::stable_sort(reply.tasks.begin(), reply.tasks.end(), comes_first);
    return listed;
}

void add_unreadable(Api& api, const Wanted& wanted, TaskList::Reply& reply) {
    for (const auto& broken : api.world().tasks.unreadable()) {
        auto shown = broken.shown.value_or(Task{});
        shown.id.value = broken.id;
        shown.project = broken.project;
        if ((wanted.project && broken.project != *wanted.project) || !wanted.has_text(shown)) continue;
        if (wanted.only && !wanted.only(shown.id)) continue;
        if (reply.count) {
            ++*reply.count;
        } else {
            reply.tasks.push_back(unreadable_view(api.world(), std::move(shown), broken.why));
        }
    }
}

Awaitable<Result<TaskList::Reply>> list(Api& api, TaskList params, Call call) {
    auto& world = api.world();
    if (const auto* own = world.tasks.brief(call.wall); !call.wall.empty()) {
        const auto project = own ? std::string(own->project) : std::string();
        if (params.project && *params.project != project)
            co_return engine::hidden_by_wall("project " + *params.project);
        params.project = project;
    }
    Wanted wanted{params.project, params.status, params.search};
    // A result would tell in which hidden tasks a text or a need is found.
    if (!call.wall.empty() && (params.search || params.needs || params.count)) {
        wanted.only = [&api, call](const TaskId& id) { return api.is_shown(id, call); };
    }
    if (wanted.project && !world.projects.find(*wanted.project)) {
        CO_TRY(co_await api.select_project(wanted.project, std::nullopt));
    }
    if (!wanted.project && params.cwd) wanted.project = api.project_near(*params.cwd);
    CO_TRY(const auto after, place_from(params.after));
    TaskList::Reply reply;
    if (params.count) reply.count = 0;
    params.needs = params.needs || params.count;
    std::set<TaskId> listed;
    if (!after) listed = add_open(api, params, wanted, reply);
    auto most = params.limit > 0 ? static_cast<std::size_t>(params.limit) : std::numeric_limits<std::size_t>::max();
    if (params.after) most = reply.tasks.size() + k_page;
    if (reply.tasks.size() > most) {
        reply.beyond_limit = static_cast<std::int64_t>(reply.tasks.size() - most);
        reply.tasks.resize(most);
    }
    if (params.needs) {
        // A task that has ended needs nothing.
    } else if (params.all || params.status) {
        const auto open = static_cast<std::int64_t>(reply.tasks.size());
        const auto last = co_await add_others(api, reply, wanted, listed, after, most);
        if (params.after && last) reply.next = place_text(*last);
        if (!params.after && reply.tasks.size() == most) {
            const auto all = co_await count_others(api, wanted, listed);
            reply.beyond_limit += std::max(std::int64_t{0}, all - (static_cast<std::int64_t>(most) - open));
        }
    } else if (params.search) {
        reply.hidden = co_await count_others(api, wanted, listed);
    } else {
        reply.hidden = static_cast<decltype(reply.hidden)>(world.tasks.closed(wanted.project));
    }
    if (params.changes) {
        add_committed(api, reply.tasks);
        reply.counting = api.runner().committed.is_counting();
    }
    if (params.status && reply.tasks.empty() && !after) CO_TRY(check_status(api, *params.status));
    if (!reply.next) add_unreadable(api, wanted, reply);
    std::erase_if(reply.tasks, [&](const TaskView& task) { return api.is_other_attempt(task.fields.id, call); });
    for (auto& task : reply.tasks) api.hide(task, call);
    co_return reply;
}

}  // namespace

void add_task_list(MethodTable& table, Api& api) {
    table.add<TaskList>(Access::read, "Lists tasks, newest first.", {ErrorCode::not_found}, api, list);
}

}  // namespace orange::rpc
